package oxpatch_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

func (g *ground) status() *oxpatch.Status {
	g.t.Helper()
	st, err := g.open().Status(g.t.Context())
	require.NoError(g.t, err)
	return st
}

func TestStatusFollowsTheHistory(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	st := g.status()
	assert.Nil(t, st.Undo)
	assert.Empty(t, st.Stores)
	assert.Empty(t, st.Problems)
	assert.Equal(t, g.dir, st.Root)
	data, err := json.Marshal(st)
	require.NoError(t, err)
	assert.JSONEq(t, `{"root":`+quoted(t, g.dir)+`,"undo":null,"redo":null,"pending":[],"conflicts":[],"stores":[],"operations":0}`, string(data))

	one := g.apply(addition("a.txt", "a"))
	two := g.apply(addition("b.txt", "b"))
	st = g.status()
	require.NotNil(t, st.Undo)
	assert.Equal(t, two.ID, st.Undo.ID)
	assert.Equal(t, []oxpatch.OperationPath{{Path: "b.txt", Change: "add"}}, st.Undo.Paths)
	require.Len(t, st.Stores, 1)
	assert.Equal(t, filepath.Join(g.env["XDG_STATE_HOME"], "oxpatch", "store"), st.Stores[0].Path)
	assert.Positive(t, st.Stores[0].Bytes)
	assert.Equal(t, 2, st.Stores[0].Operations)
	assert.Equal(t, 2, st.Operations)
	g.undo()
	st = g.status()
	assert.Equal(t, one.ID, st.Undo.ID)
	assert.Equal(t, 3, st.Operations)
	g.undo()
	assert.Nil(t, g.status().Undo)
	assert.Equal(t, g.operations()[0].ID, g.status().Redo.ID)
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return string(data)
}

func TestStatusNamesWhatWasInterrupted(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	_, err := g.run(gitRequest(patch), oxpatch.WithSteps(func(step string) error {
		if step == "change the index" {
			return worktree.ErrKilled
		}
		return nil
	}))
	require.ErrorIs(t, err, worktree.ErrKilled)
	whole := everything(t, g.dir)
	st := g.status()
	require.Len(t, st.Pending, 1)
	assert.Equal(t, "unresolved", st.Pending[0].State)
	assert.Len(t, st.Pending[0].Paths, 2)
	assert.Nil(t, st.Undo)
	require.Len(t, st.Problems, 1)
	assert.Equal(t, oxpatch.KindPending, st.Problems[0].Kind)
	assert.Equal(t, oxpatch.SeverityWarning, st.Problems[0].Severity)
	requireImage(t, whole, everything(t, g.dir), "status changed something")
}

// Conflicts are found by their markers, of whatever length, and not by lines that only look so.
func TestStatusFindsConflicts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		attributes string
		lines      map[int]string // of the file at the beginning
		now        func(text string) string
		want       []oxpatch.LineRange
	}{
		"as git left it":     {want: []oxpatch.LineRange{{Line: 10, EndLine: 14}}},
		"longer markers":     {attributes: "f.txt conflict-marker-size=12\n", want: []oxpatch.LineRange{{Line: 10, EndLine: 14}}},
		"a title underlined": {lines: map[int]string{2: "=======", 4: ">>>>>>> not one"}, want: []oxpatch.LineRange{{Line: 10, EndLine: 14}}},
		"with CRLF": {now: func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			want: []oxpatch.LineRange{{Line: 10, EndLine: 14}}},
		"moved by an edit":    {now: func(s string) string { return "more\n" + s }, want: []oxpatch.LineRange{{Line: 11, EndLine: 15}}},
		"resolved, not added": {now: func(string) string { return numbered(20, nil) }},
		"half a conflict":     {now: func(s string) string { return strings.Replace(s, "=======\n", "", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBareGround(t)
			g.write("f.txt", numbered(20, tt.lines))
			g.write(".gitattributes", tt.attributes)
			g.commit()
			with := func(text string) map[int]string {
				all := map[int]string{10: text}
				for n, l := range tt.lines {
					all[n] = l
				}
				return all
			}
			patch := g.made(func() { g.write("f.txt", numbered(20, with("theirs"))) })
			g.write("f.txt", numbered(20, with("ours")))
			g.commit()
			_, err := g.run(gitRequest(patch))
			require.ErrorIs(t, err, oxpatch.ErrConflict)
			if tt.now != nil {
				g.write("f.txt", tt.now(g.read("f.txt")))
			}
			st := g.status()
			require.Len(t, st.Conflicts, 1)
			assert.Equal(t, oxpatch.ConflictedFile{Path: "f.txt", Hunks: tt.want, Unmerged: true}, st.Conflicts[0])
			require.Len(t, st.Problems, 1)
			assert.NotEmpty(t, st.Problems[0].Hint)
			g.apply(addition("later.txt", "x"))
			assert.Equal(t, st.Conflicts, g.status().Conflicts, "a later operation resolves nothing")
			g.write("f.txt", numbered(20, nil))
			g.git("add", "f.txt")
			assert.Empty(t, g.status().Conflicts)
		})
	}
}
