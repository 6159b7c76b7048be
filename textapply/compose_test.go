package textapply

import (
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawEdits draws a valid list of edits of a text of size bytes, touching and empty ones included.
func drawEdits(t *rapid.T, size int) []change.Edit {
	var edits []change.Edit
	at := 0
	for range rapid.IntRange(0, 6).Draw(t, "edits") {
		start := rapid.IntRange(at, size).Draw(t, "start")
		end := rapid.IntRange(start, min(size, start+5)).Draw(t, "end")
		edits = append(edits, change.Edit{Start: start, End: end, New: []byte(rapid.StringN(0, 4, -1).Draw(t, "new"))})
		at = end
	}
	return edits
}

func TestComposeIsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.ByteRange('a', 'z'), 0, 30).Draw(t, "base")
		first := drawEdits(t, len(base))
		middle := change.ApplyEdits(base, first)
		second := drawEdits(t, len(middle))
		both := compose(len(base), first, second)
		at := 0
		for _, e := range both {
			require.LessOrEqual(t, at, e.Start, "%v", both)
			require.LessOrEqual(t, e.Start, e.End, "%v", both)
			at = e.End
		}
		require.LessOrEqual(t, at, len(base))
		assert.Equal(t, string(change.ApplyEdits(middle, second)), string(change.ApplyEdits(base, both)))
	})
}

func TestCompose(t *testing.T) {
	t.Parallel()
	edit := func(start, end int, s string) change.Edit {
		return change.Edit{Start: start, End: end, New: append([]byte(nil), s...)}
	}
	type list = []change.Edit
	tests := map[string]struct{ first, second, want list }{
		"nothing before":              {nil, list{edit(1, 2, "x")}, list{edit(1, 2, "x")}},
		"nothing after":               {list{edit(1, 2, "x")}, nil, list{edit(1, 2, "x")}},
		"apart":                       {list{edit(1, 2, "xyz")}, list{edit(6, 7, "q")}, list{edit(1, 2, "xyz"), edit(4, 5, "q")}},
		"inside what was put in":      {list{edit(1, 1, "xyz")}, list{edit(2, 3, "q")}, list{edit(1, 1, "xqz")}},
		"across what was put in":      {list{edit(2, 3, "xyz")}, list{edit(1, 6, "")}, list{edit(1, 4, "")}},
		"takes back what was put in":  {list{edit(2, 2, "x")}, list{edit(2, 3, "")}, nil},
		"touching become one":         {list{edit(2, 3, "x")}, list{edit(3, 4, "y")}, list{edit(2, 4, "xy")}},
		"both at the end of the text": {list{edit(9, 9, "x")}, list{edit(10, 10, "y")}, list{edit(9, 9, "xy")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, compose(9, tt.first, tt.second))
		})
	}
}
