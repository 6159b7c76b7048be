package merge3_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openoxide/oxpatch/merge3"
)

const manyLines = 300_000

// large is an 18 MB text, with every 1000th line replaced from the one given on; 0 replaces none.
func large(from int) []byte {
	var b bytes.Buffer
	for i := range manyLines {
		if from > 0 && i%1000 == from {
			fmt.Fprintf(&b, "replaced %d\n", i)
			continue
		}
		fmt.Fprintf(&b, "%06d a line of a length that is usual in source text %05d\n", i, i%777)
	}
	return b.Bytes()
}

// It takes half a second; quadratic time would be many minutes.
func TestALargeText(t *testing.T) {
	t.Parallel()
	base, ours, theirs := large(0), large(250), large(750)
	start := time.Now()
	got := merge3.Merge(base, ours, theirs, merge3.Options{})
	assert.Less(t, time.Since(start), 30*time.Second)
	assert.True(t, got.Clean())
	assert.Equal(t, 600, bytes.Count(got.Content, []byte("replaced")))
	assert.Equal(t, manyLines, bytes.Count(got.Content, []byte("\n")))
}

// Conflicts on every fifth line: what is done for each must not depend on the length of the text.
func TestManyConflicts(t *testing.T) {
	t.Parallel()
	text := func(word string) []byte {
		var b bytes.Buffer
		for i := range manyLines / 10 {
			fmt.Fprintf(&b, "%s %d\nsame %d\nstill the same\nand again\nand once more\n", word, i, i)
		}
		return b.Bytes()
	}
	start := time.Now()
	got := merge3.Merge(text("base"), text("ours"), text("theirs"), merge3.Options{})
	assert.Less(t, time.Since(start), 30*time.Second)
	assert.Len(t, got.Conflicts, manyLines/10)
}

func BenchmarkMerge(b *testing.B) {
	base, ours, theirs := large(0), large(250), large(750)
	noise := func(n int) []byte { return []byte(strings.Repeat(strings.Repeat("a\n", n)+"b\n", manyLines/(n+1))) }
	for name, texts := range map[string][3][]byte{
		"300 changes on each side": {base, ours, theirs},
		"300 conflicts":            {base, ours, bytes.ReplaceAll(ours, []byte("replaced"), []byte("removed"))},
		"few distinct lines":       {noise(2), noise(3), noise(5)},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(texts[0])))
			b.ReportAllocs()
			for b.Loop() {
				merge3.Merge(texts[0], texts[1], texts[2], merge3.Options{})
			}
		})
	}
}
