package oxpatch_test

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// commandOf returns the ids and paths of the undo that a hint names.
func commandOf(t *testing.T, hint string) oxpatch.UndoRequest {
	t.Helper()
	m := regexp.MustCompile(`oxpatch undo ([0-9a-z ]+[0-9a-z])(?: -- ([^;]+))?;`).FindStringSubmatch(hint)
	require.NotNil(t, m, "%s", hint)
	return oxpatch.UndoRequest{IDs: strings.Fields(m[1]), Paths: strings.Fields(m[2])}
}

// What a refusal names is enough: every file's hint is the same command, and it works.
func TestWhatStandsInTheWayIsNamedWhole(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		g.write(name, "0\n")
	}
	start := g.image()
	two := func(x, y, old, new string) string {
		return g.apply(envelope("*** Update File: "+x, "@@", "-"+old, "+"+new, "*** Update File: "+y, "@@", "-"+old, "+"+new)).ID
	}
	first := g.apply(envelope("*** Update File: a", "@@", "-0", "+1", "*** Update File: b", "@@", "-0", "+1", "*** Update File: c", "@@", "-0", "+1")).ID
	second := g.apply(envelope("*** Update File: a", "@@", "-1", "+2", "*** Update File: d", "@@", "-0", "+1")).ID
	g.apply(addition("free", "x"))
	third := two("d", "c", "1", "2")

	res := g.undoRefused(oxpatch.UndoRequest{IDs: []string{first}}, oxpatch.ErrDrift)
	require.Len(t, res.Problems, 2)
	assert.Equal(t, res.Problems[0].Hint, res.Problems[1].Hint)
	req := commandOf(t, res.Problems[0].Hint)
	assert.Equal(t, []string{third, second, first}, req.IDs, "the third stands in the way of the second")
	assert.Empty(t, req.Paths)

	// Restricted, it stays so.
	res = g.undoRefused(oxpatch.UndoRequest{IDs: []string{first}, Paths: []string{"a"}}, oxpatch.ErrDrift)
	part := commandOf(t, res.Problems[0].Hint)
	assert.Equal(t, oxpatch.UndoRequest{IDs: []string{second, first}, Paths: []string{"a"}}, part)
	g.undoAs(part)
	assert.Equal(t, []string{"0\n", "1\n"}, []string{g.read("a"), g.read("b")})
	g.redoAs(oxpatch.RedoRequest{})

	g.undoAs(req)
	g.remove("free")
	assert.Equal(t, start, g.image())
}

// A command that would be refused as well is not offered.
func TestNoCommandIsNamedThatWouldBeRefused(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a", "0\n")
	first := g.apply(replacement("a", "0", "1")).ID
	g.apply(replacement("a", "1", "2"))
	g.undoAs(oxpatch.UndoRequest{IDs: []string{first}, Force: true})
	g.redoAs(oxpatch.RedoRequest{})
	g.write("a", "7\n")
	g.apply(replacement("a", "7", "8"))
	res := g.undoRefused(oxpatch.UndoRequest{IDs: []string{first}}, oxpatch.ErrDrift)
	assert.NotContains(t, res.Problems[0].Hint, "oxpatch undo")
	assert.Contains(t, res.Problems[0].Hint, "--merge keeps what came later")
	g.undoAs(oxpatch.UndoRequest{IDs: []string{first}, Force: true})
	assert.Equal(t, "0\n", g.read("a"))
}

// Where a merge cannot help, none is advised, and what is advised works.
func TestHintsAreNoDeadEnds(t *testing.T) {
	t.Parallel()
	const away, force = "move it away", "what was before"
	for name, c := range map[string]struct {
		change func(g *ground)
		hint   string
		forced bool // may be written over
	}{
		"deleted":  {func(g *ground) { g.remove("a.txt") }, force, true},
		"a link":   {func(g *ground) { g.remove("a.txt"); g.link("elsewhere", "a.txt") }, force, true},
		"a folder": {func(g *ground) { g.remove("a.txt"); g.write("a.txt/x", "mine\n") }, away, false},
		"a fifo": {func(g *ground) {
			oxtest.NeedProgram(g.t, "mkfifo")
			g.remove("a.txt")
			require.NoError(g.t, exec.Command("mkfifo", g.path("a.txt")).Run())
		}, away, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("a.txt", "one\n")
			g.write("b.txt", "one\n")
			was := g.read("a.txt")
			g.apply(envelope("*** Update File: a.txt", "@@", "-one", "+two", "*** Update File: b.txt", "@@", "-one", "+two"))
			c.change(g)
			for _, merge := range []bool{false, true} {
				want := map[bool]error{false: oxpatch.ErrDrift, true: oxpatch.ErrConflict}[merge]
				res := g.undoRefused(oxpatch.UndoRequest{Merge: merge}, want)
				hint := res.Problems[0].Hint
				assert.Contains(t, hint, c.hint)
				assert.Contains(t, hint, "--force")
				assert.NotContains(t, hint, "--merge")
				assert.NotContains(t, hint, "markers")
			}
			if !c.forced {
				checked, checkErr := g.open().Undo(context.Background(), oxpatch.UndoRequest{Force: true, Check: true})
				res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Force: true})
				require.Error(t, err)
				require.EqualError(t, checkErr, err.Error(), "a check says the same")
				assert.Equal(t, checked.Problems, res.Problems)
				assert.Equal(t, "a.txt", res.Problems[0].Path)
				assert.Contains(t, res.Problems[0].Hint, away)
				assert.Equal(t, "two\n", g.read("b.txt"))
				g.remove("a.txt")
			}
			g.undoAs(oxpatch.UndoRequest{Force: true})
			assert.Equal(t, was, g.read("a.txt"))
		})
	}
}

// After a group put a file in the place of a folder and the folder back, its undo can be redone.
func TestAFolderThatWasAFileInBetween(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("x/y/z.txt", "z\n")
	was := g.image()
	g.apply(envelope("*** Delete File: x/y/z.txt", "*** Add File: x", "+file"))
	g.apply(envelope("*** Delete File: x", "*** Add File: x/y/z.txt", "+again"))
	then := g.image()
	for range 2 {
		g.undoAs(oxpatch.UndoRequest{Count: 2})
		assert.Equal(t, was, g.image())
		g.redoAs(oxpatch.RedoRequest{})
		assert.Equal(t, then, g.image())
	}
}

// UndoRequest.To leads back also where an undo or redo was forced since.
func TestToAcrossForcedRedo(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a", "0\n")
	at := g.apply(replacement("a", "0", "1")).ID
	g.apply(replacement("a", "1", "2"))
	undo := g.undoAs(oxpatch.UndoRequest{}).ID
	g.apply(replacement("a", "1", "3"))
	g.redoAs(oxpatch.RedoRequest{IDs: []string{undo}, Force: true})
	require.Equal(t, "2\n", g.read("a"))
	res := g.undoAs(oxpatch.UndoRequest{To: at})
	assert.Equal(t, "1\n", g.read("a"))
	g.undoAs(oxpatch.UndoRequest{IDs: []string{res.ID}})
	assert.Equal(t, "2\n", g.read("a"))

	// Where somebody else changed the file in between, no way leads through.
	g.write("a", "5\n")
	g.apply(replacement("a", "5", "6"))
	g.undoRefused(oxpatch.UndoRequest{To: at}, oxpatch.ErrDrift)
}

// What is redone with conflicts, or undone, is taken back by the command that the hints name.
func TestTheWayBackFromConflicts(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a", numbered(9, nil))
	g.apply(replacement("a", "line 5", "five"))
	mine := numbered(9, map[int]string{5: "mine"})
	g.write("a", mine)
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Merge: true, Markers: true})
	require.ErrorIs(t, err, oxpatch.ErrConflict)
	assert.Contains(t, res.Problems[0].Hint, "this undo back with oxpatch redo")
	st := g.status()
	require.Len(t, st.Problems, 1)
	assert.Equal(t, "resolve them, or take everything back with oxpatch redo "+res.ID, st.Problems[0].Hint)
	g.redoAs(oxpatch.RedoRequest{IDs: []string{res.ID}})
	assert.Equal(t, mine, g.read("a"))
	assert.Empty(t, g.status().Problems)

	g.undoAs(oxpatch.UndoRequest{Force: true})
	mine = numbered(9, map[int]string{5: "mine too"})
	g.write("a", mine)
	res, err = g.open().Redo(context.Background(), oxpatch.RedoRequest{Merge: true, Markers: true})
	require.ErrorIs(t, err, oxpatch.ErrConflict)
	assert.Contains(t, res.Problems[0].Hint, "this redo back with oxpatch undo @")
	assert.Equal(t, "resolve them, or take everything back with oxpatch undo "+res.ID, g.status().Problems[0].Hint)
	g.undoAs(oxpatch.UndoRequest{IDs: []string{"@"}})
	assert.Equal(t, mine, g.read("a"))
}

// A diff that ends with what stands there now says what no operation did.
func TestTheDiffToNowIsExactOnlyIfNothingElseChanged(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a", "0\n")
	g.write("b", "0\n")
	id := g.apply(replacement("a", "0", "1")).ID
	g.apply(replacement("b", "0", "1"))
	for _, req := range []oxpatch.DiffRequest{{}, {From: id}} {
		d, err := g.open().Diff(context.Background(), req)
		require.NoError(t, err)
		assert.True(t, d.Exact)
		assert.Empty(t, d.Problems)
	}
	g.write("b", "1\nmine\n")
	for _, req := range []oxpatch.DiffRequest{{}, {From: id}} {
		d, err := g.open().Diff(context.Background(), req)
		require.NoError(t, err)
		assert.False(t, d.Exact)
		require.Len(t, d.Problems, 1)
		assert.Equal(t, "b", d.Problems[0].Path)
		assert.Contains(t, d.Problems[0].Message, "since operation")
		assert.Contains(t, string(d.Diff), "+mine")
	}
	d, err := g.open().Diff(context.Background(), oxpatch.DiffRequest{To: "@"})
	require.NoError(t, err)
	assert.True(t, d.Exact, "what stands there now is not asked for")
}
