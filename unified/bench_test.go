package unified_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/unified"
)

// largeEdit is an 18 MB file of 300,000 lines with 300 lines replaced.
func largeEdit() change.Change {
	var b strings.Builder
	var edits []change.Edit
	for i := range 300_000 {
		at := b.Len()
		fmt.Fprintf(&b, "%06d a line of a length that is usual in source text %05d\n", i, i%777)
		if i%1000 == 500 {
			edits = append(edits, change.Edit{Start: at, End: b.Len(), New: []byte("replaced\n")})
		}
	}
	return edited("large.txt", b.String(), edits...)
}

func BenchmarkLargeFile(b *testing.B) {
	withEdits := largeEdit()
	without := withEdits
	without.Edits = nil
	for name, c := range map[string]change.Change{"edits": withEdits, "compared": without} {
		b.Run("write "+name, func(b *testing.B) {
			b.SetBytes(int64(len(c.Before.Content)))
			for b.Loop() {
				_ = unified.Write(io.Discard, []change.Change{c}, unified.Options{})
			}
		})
		b.Run("stat "+name, func(b *testing.B) {
			b.SetBytes(int64(len(c.Before.Content)))
			for b.Loop() {
				unified.Stat(c)
			}
		})
	}
}
