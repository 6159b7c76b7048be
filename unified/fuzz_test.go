package unified_test

import (
	"bytes"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/unified"
)

// FuzzTexts checks that the diff of any two texts leads a second reader of diffs from the one to
// the other.
func FuzzTexts(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nx\nc"))
	f.Add([]byte("a\na\na\nb\n"), []byte("a\nb\na\n"))
	f.Add([]byte("no newline"), []byte("no newline\n"))
	f.Add([]byte("\n\n\n"), []byte("\r\n\n"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if len(before) == 0 || len(after) == 0 || bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
			return // additions, removals and binary contents have their own tests
		}
		c := change.Change{Path: "a", Before: file(string(before)), After: file(string(after))}
		diff := render(t, []change.Change{c}, unified.Options{})
		if bytes.Equal(before, after) {
			require.Empty(t, diff)
			return
		}
		files, _, err := gitdiff.Parse(bytes.NewReader(diff))
		require.NoError(t, err, "%s", diff)
		require.Len(t, files, 1)
		var got bytes.Buffer
		require.NoError(t, gitdiff.Apply(&got, bytes.NewReader(before), files[0]), "%s", diff)
		require.Equal(t, string(after), got.String(), "%s", diff)
	})
}
