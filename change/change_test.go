package change

import (
	"bytes"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	file := func(mode fs.FileMode, s string) State { return State{Kind: File, Mode: mode, Content: []byte(s)} }
	link := func(s string) State { return State{Kind: Symlink, Content: []byte(s)} }
	tests := map[string]struct {
		a, b  State
		equal bool
	}{
		"same file":                         {file(0o644, "a"), file(0o644, "a"), true},
		"modes that git records alike":      {file(0o600, "a"), file(0o664, "a"), true},
		"unset mode":                        {file(0, "a"), file(0o644, "a"), true},
		"owner may execute":                 {file(0o644, "a"), file(0o744, "a"), false},
		"only others may execute":           {file(0o644, "a"), file(0o655, "a"), true},
		"setuid does not count":             {file(0o755, "a"), file(fs.ModeSetuid|0o755, "a"), true},
		"other bytes":                       {file(0o644, "a"), file(0o644, "b"), false},
		"empty and nil content":             {file(0o644, ""), State{Kind: File, Mode: 0o644}, true},
		"file and nothing":                  {State{Kind: File}, State{}, false},
		"file and link with the same bytes": {file(0o644, "a"), link("a"), false},
		"same link":                         {link("a"), link("a"), true},
		"other target":                      {link("a"), link("b"), false},
		"mode of a link does not count":     {link("a"), State{Kind: Symlink, Mode: 0o777, Content: []byte("a")}, true},
		"directories":                       {State{Kind: Dir, Mode: 0o755}, State{Kind: Dir, Mode: 0o700}, true},
		"nothing":                           {State{}, State{}, true},
		"devices":                           {State{Kind: Other}, State{Kind: Other}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.equal, tt.a.Equal(tt.b))
			assert.Equal(t, tt.equal, tt.b.Equal(tt.a))
		})
	}
}

func TestExecutable(t *testing.T) {
	t.Parallel()
	assert.True(t, State{Kind: File, Mode: 0o100}.Executable())
	assert.False(t, State{Kind: File, Mode: 0o611}.Executable())
	assert.False(t, State{Kind: Dir, Mode: 0o755}.Executable())
}

func TestKindString(t *testing.T) {
	t.Parallel()
	var words []string
	for k := Absent; k <= Other; k++ {
		words = append(words, k.String())
	}
	assert.Equal(t, []string{"absent", "file", "symlink", "directory", "other"}, words)
}

func TestApplyEdits(t *testing.T) {
	t.Parallel()
	edit := func(start, end int, s string) Edit { return Edit{Start: start, End: end, New: []byte(s)} }
	tests := map[string]struct {
		base  string
		edits []Edit
		want  string
	}{
		"none":                    {"abc", nil, "abc"},
		"empty base":              {"", []Edit{edit(0, 0, "x")}, "x"},
		"replace":                 {"abc", []Edit{edit(1, 2, "XY")}, "aXYc"},
		"insert at the ends":      {"abc", []Edit{edit(0, 0, "<"), edit(3, 3, ">")}, "<abc>"},
		"delete all":              {"abc", []Edit{edit(0, 3, "")}, ""},
		"touching":                {"abcd", []Edit{edit(0, 1, "x"), edit(1, 2, "y"), edit(2, 2, "z")}, "xyzcd"},
		"several at one place":    {"ab", []Edit{edit(1, 1, "1"), edit(1, 1, "2")}, "a12b"},
		"offsets are of the base": {"abcdef", []Edit{edit(0, 1, "xxxx"), edit(5, 6, "y")}, "xxxxbcdey"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, string(ApplyEdits([]byte(tt.base), tt.edits)))
		})
	}
}

// Edits made from the last to the first, one at a time, need no care about offsets.
func TestApplyEditsIsOneByOneFromTheEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "base")
		var edits []Edit
		at := 0
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			start := rapid.IntRange(at, len(base)).Draw(t, "start")
			end := rapid.IntRange(start, len(base)).Draw(t, "end")
			edits = append(edits, Edit{start, end, rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "new")})
			at = end
		}
		want := slices.Clone(base)
		for _, e := range slices.Backward(edits) {
			want = slices.Concat(want[:e.Start], e.New, want[e.End:])
		}
		kept := bytes.Clone(base)
		got := ApplyEdits(base, edits)
		assert.True(t, bytes.Equal(want, got), "%q instead of %q", got, want)
		for i := range got {
			got[i] ^= 0xff
		}
		assert.True(t, bytes.Equal(kept, base), "the result shares nothing with the base")
	})
}
