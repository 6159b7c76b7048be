package oxpatch_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// undoAs is an undo that succeeds.
func (g *ground) undoAs(req oxpatch.UndoRequest) *oxpatch.Result {
	g.t.Helper()
	res, err := g.open().Undo(context.Background(), req)
	require.NoError(g.t, err)
	require.True(g.t, res.OK && res.Exact)
	return res
}

// redoAs is a redo that succeeds.
func (g *ground) redoAs(req oxpatch.RedoRequest) *oxpatch.Result {
	g.t.Helper()
	res, err := g.open().Redo(context.Background(), req)
	require.NoError(g.t, err)
	require.True(g.t, res.OK && res.Exact)
	return res
}

// undoRefused is an undo that is refused and changes nothing.
func (g *ground) undoRefused(req oxpatch.UndoRequest, want error) *oxpatch.Result {
	g.t.Helper()
	was, log := g.image(), g.log()
	res, err := g.open().Undo(context.Background(), req)
	require.ErrorIs(g.t, err, want)
	assert.False(g.t, res.OK || res.Applied)
	assert.NotEmpty(g.t, res.Problems)
	assert.Equal(g.t, was, g.image())
	assert.Equal(g.t, log, g.log())
	return res
}

// applyAs applies a patch with a session and a turn, and returns the operation's id.
func (g *ground) applyAs(patch, session, turn string) string {
	g.t.Helper()
	req := request(patch)
	req.Session, req.Turn = session, turn
	res, err := g.open().Apply(context.Background(), req)
	require.NoError(g.t, err)
	return res.ID
}

// chain applies "1" to "n" over one another at a.txt, which begins as "0", with a new file each, and
// returns the ids and the states: states[i] is that after i applies.
func (g *ground) chain(n int) (ids []string, states []image) {
	g.t.Helper()
	digits := "0123456789"
	g.write("a.txt", "0\n")
	states = append(states, g.image())
	for i := range n {
		res := g.apply(envelope("*** Update File: a.txt", "@@", "-"+digits[i:i+1], "+"+digits[i+1:i+2],
			"*** Add File: d"+digits[i:i+1]+"/new.txt", "+"+digits[i:i+1]))
		ids, states = append(ids, res.ID), append(states, g.image())
	}
	return ids, states
}

func TestRedoWalksAsInAnEditor(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	_, states := g.chain(3)
	step := func(undo bool, want int) {
		t.Helper()
		if undo {
			g.undoAs(oxpatch.UndoRequest{})
		} else {
			g.redoAs(oxpatch.RedoRequest{})
		}
		require.Equal(t, states[want], g.image())
	}
	nothingToRedo := func() {
		t.Helper()
		_, err := g.open().Redo(context.Background(), oxpatch.RedoRequest{})
		require.ErrorIs(t, err, oxpatch.ErrNothingToRedo)
	}
	nothingToRedo()
	step(true, 2)
	step(true, 1)
	step(false, 2)
	step(true, 1)
	step(true, 0)
	g.nothingToUndo()
	step(false, 1)
	step(false, 2)
	step(false, 3)
	nothingToRedo()
	step(true, 2)

	// A new apply ends the walk. The undo can still be named, where its files are as it left them.
	g.apply(addition("other.txt", "x"))
	nothingToRedo()
	undo := g.operations()[1]
	require.Equal(t, "undo", undo.Kind)
	g.redoAs(oxpatch.RedoRequest{IDs: []string{undo.ID}})
	assert.Equal(t, states[3].with(image{"other.txt": `-rw-r--r-- "x\n"`}), g.image())
	g.fsck()
}

func TestUndoOfSeveral(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		req     func(ids []string) oxpatch.UndoRequest
		want    int // the state it leads to
		reverts []int
	}{
		"count":              {func([]string) oxpatch.UndoRequest { return oxpatch.UndoRequest{Count: 3} }, 1, []int{3, 2, 1}},
		"all by count":       {func([]string) oxpatch.UndoRequest { return oxpatch.UndoRequest{Count: 4} }, 0, []int{3, 2, 1, 0}},
		"to":                 {func(ids []string) oxpatch.UndoRequest { return oxpatch.UndoRequest{To: ids[1]} }, 2, []int{3, 2}},
		"to by distance":     {func([]string) oxpatch.UndoRequest { return oxpatch.UndoRequest{To: "@~3"} }, 1, []int{3, 2, 1}},
		"named in any order": {func(ids []string) oxpatch.UndoRequest { return oxpatch.UndoRequest{IDs: []string{ids[2], ids[3]}} }, 2, []int{3, 2}},
		"by distance":        {func([]string) oxpatch.UndoRequest { return oxpatch.UndoRequest{IDs: []string{"@", "@~", "@~2"}} }, 1, []int{3, 2, 1}},
		"upper case": {func(ids []string) oxpatch.UndoRequest {
			return oxpatch.UndoRequest{IDs: []string{strings.ToUpper(ids[3])}}
		}, 3, []int{3}},
		"named twice": {func(ids []string) oxpatch.UndoRequest { return oxpatch.UndoRequest{IDs: []string{"@", ids[3]}} }, 3, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			ids, states := g.chain(4)
			res := g.undoAs(c.req(ids))
			require.Equal(t, states[c.want], g.image())
			var want []string
			for _, i := range c.reverts {
				want = append(want, ids[i])
			}
			assert.Equal(t, want, res.Reverts)
			ops := g.operations()
			require.Len(t, ops, 5, "one operation")
			for i, id := range ids {
				assert.Equal(t, map[bool]string{true: "undone", false: "done"}[i >= c.want], ops[4-i].State, id)
			}
			g.redoAs(oxpatch.RedoRequest{})
			require.Equal(t, states[4], g.image())
			g.undoAs(oxpatch.UndoRequest{Count: 4})
			require.Equal(t, states[0], g.image())
		})
	}
}

func TestUndoBySessionAndTurn(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, name := range []string{"a", "b", "c"} {
		g.write(name+".txt", "0\n")
	}
	start := g.image()
	a1 := g.applyAs(replacement("a.txt", "0", "1"), "one", "t1")
	g.applyAs(replacement("b.txt", "0", "1"), "two", "t1")
	a2 := g.applyAs(replacement("a.txt", "1", "2"), "one", "t2")
	g.applyAs(replacement("c.txt", "0", "1"), "one", "t2")

	g.undoRefused(oxpatch.UndoRequest{Session: "three"}, oxpatch.ErrNothingToUndo)
	g.undoRefused(oxpatch.UndoRequest{Session: "two", Turn: "t2"}, oxpatch.ErrNothingToUndo)
	g.undoAs(oxpatch.UndoRequest{Session: "one", Count: 2})
	assert.Equal(t, "1\n", g.read("a.txt"))
	assert.Equal(t, "0\n", g.read("c.txt"))
	g.redoAs(oxpatch.RedoRequest{})
	res := g.undoAs(oxpatch.UndoRequest{Session: "one"})
	assert.Len(t, res.Reverts, 3)
	assert.Equal(t, start.with(image{"b.txt": `-rw-r--r-- "1\n"`}), g.image())
	assert.Equal(t, "one", g.operations()[0].Session)
	g.redoAs(oxpatch.RedoRequest{IDs: []string{a1}}) // its undo was that of the whole session
	assert.Equal(t, "2\n", g.read("a.txt"))
	g.undoRefused(oxpatch.UndoRequest{Turn: "t1"}, oxpatch.ErrDrift)
	g.undoAs(oxpatch.UndoRequest{Turn: "t2"})
	g.undoAs(oxpatch.UndoRequest{Turn: "t1"})
	assert.Equal(t, start, g.image())
	assert.Equal(t, "", g.operations()[0].Session, "of both sessions")

	// What was filtered out between two of a session is not taken along.
	ops, errs := listed(g.open(), oxpatch.LogRequest{Session: "one", Turn: "t2"})
	require.Empty(t, errs)
	assert.Equal(t, a2, ops[len(ops)-1].ID)
	ops, errs = listed(g.open(), oxpatch.LogRequest{Paths: []string{"b.txt"}, Count: 1})
	require.Empty(t, errs)
	require.Len(t, ops, 1)
	assert.Equal(t, "undo", ops[0].Kind)
}

// Something between two operations of a group changed a file: taking the group back as a whole would
// lose that.
func TestAGroupWithAGap(t *testing.T) {
	t.Parallel()
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	between := map[string]func(g *ground){
		"an edit": func(g *ground) { g.write("a.txt", strings.Replace(g.read("a.txt"), "9", "nine", 1)) },
		"another operation": func(g *ground) {
			g.applyAs(envelope("*** Update File: a.txt", "@@", "-9", "+nine"), "other", "")
		},
	}
	for name, change := range between {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("a.txt", lines)
			one := g.applyAs(replacement("a.txt", "2", "two"), "s", "")
			change(g)
			two := g.applyAs(replacement("a.txt", "5", "five"), "s", "")
			res := g.undoRefused(oxpatch.UndoRequest{Session: "s"}, oxpatch.ErrDrift)
			assert.Contains(t, res.Problems[0].Message, one)
			assert.Contains(t, res.Problems[0].Message, two)
			res = g.undoAs(oxpatch.UndoRequest{Session: "s", Merge: true})
			assert.Equal(t, []string{two, one}, res.Reverts)
			assert.Equal(t, strings.Replace(lines, "9", "nine", 1), g.read("a.txt"))
			g.redoAs(oxpatch.RedoRequest{})
			assert.Equal(t, "1\ntwo\n3\n4\nfive\n6\n7\n8\nnine\n", g.read("a.txt"))
			g.undoAs(oxpatch.UndoRequest{Session: "s", Force: true})
			assert.Equal(t, lines, g.read("a.txt"))
			g.redoAs(oxpatch.RedoRequest{})
			assert.Equal(t, "1\ntwo\n3\n4\nfive\n6\n7\n8\nnine\n", g.read("a.txt"))
		})
	}
}

func TestUndoOfOneThatIsNotTheNewest(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n")
	g.write("b.txt", "0\n")
	first := g.apply(replacement("a.txt", "1", "one")).ID
	other := g.apply(replacement("b.txt", "0", "1")).ID
	later := g.apply(replacement("a.txt", "7", "seven")).ID

	g.undoAs(oxpatch.UndoRequest{IDs: []string{other}})
	assert.Equal(t, "0\n", g.read("b.txt"))
	res := g.undoRefused(oxpatch.UndoRequest{IDs: []string{first}}, oxpatch.ErrDrift)
	require.Len(t, res.Problems, 1)
	assert.Contains(t, res.Problems[0].Message, "by operation "+later)
	assert.Contains(t, res.Problems[0].Hint, "oxpatch undo "+later+" "+first)
	assert.Contains(t, res.Problems[0].Hint, "--merge")
	g.undoAs(oxpatch.UndoRequest{IDs: []string{first}, Merge: true})
	assert.Equal(t, "1\n2\n3\n4\n5\n6\nseven\n", g.read("a.txt"))
	g.redoAs(oxpatch.RedoRequest{})
	assert.Equal(t, "one\n2\n3\n4\n5\n6\nseven\n", g.read("a.txt"))
	g.undoAs(oxpatch.UndoRequest{IDs: []string{later, first}})
	assert.Equal(t, "1\n2\n3\n4\n5\n6\n7\n", g.read("a.txt"))
	res = g.undoRefused(oxpatch.UndoRequest{IDs: []string{first}}, oxpatch.ErrNothingToUndo)
	assert.Contains(t, res.Problems[0].Message, "undone already")
	assert.Contains(t, res.Problems[0].Hint, "oxpatch redo "+first)
}

// "State after" means what the operation left, also where undos and redos lie in between.
func TestUndoToAcrossUndos(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	ids, states := g.chain(3)
	g.undoAs(oxpatch.UndoRequest{Count: 3}) // takes back what is before and after ids[1]
	require.Equal(t, states[0], g.image())
	g.undoAs(oxpatch.UndoRequest{To: ids[1]})
	require.Equal(t, states[2], g.image())
	assert.Equal(t, []string{"undo done", "undo undone", "apply undone", "apply done", "apply done"}, g.log())
	g.undoRefused(oxpatch.UndoRequest{To: ids[1]}, oxpatch.ErrNothingToUndo)
	g.redoAs(oxpatch.RedoRequest{})
	require.Equal(t, states[0], g.image())
	g.undoAs(oxpatch.UndoRequest{To: ids[0]})
	require.Equal(t, states[1], g.image())
}

func TestUndoOfSomePaths(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.write("in/b.txt", "0\n")
	g.write("in/c.txt", "0\n")
	g.write("old.txt", "moved\n")
	g.write("index.txt", "0\n")
	before := g.image()
	id := g.apply(envelope(
		"*** Update File: a.txt", "@@", "-0", "+1", "*** Update File: in/b.txt", "@@", "-0", "+1",
		"*** Update File: in/c.txt", "@@", "-0", "+1", "*** Update File: index.txt", "@@", "-0", "+1",
		"*** Update File: old.txt", "*** Move to: sub/new.txt", "@@", " moved")).ID
	after := g.image()
	g.write("a.txt", "mine\n")

	res := g.undoAs(oxpatch.UndoRequest{Paths: []string{"in", "old.txt"}})
	assert.Equal(t, []string{"in/b.txt", "in/c.txt", "old.txt", "sub/new.txt"}, res.AppliedPaths)
	assert.Equal(t, before["in/b.txt"], g.image()["in/b.txt"])
	assert.Equal(t, before["old.txt"], g.image()["old.txt"])
	assert.Equal(t, "1\n", g.read("index.txt"), "which only begins as a folder that was named")
	assert.NoDirExists(t, g.path("sub"))
	assert.Equal(t, []string{"undo done", "apply partly"}, g.log())

	res = g.undoRefused(oxpatch.UndoRequest{Paths: []string{"in/b.txt"}}, oxpatch.ErrNothingToUndo)
	assert.Contains(t, res.Problems[0].Message, id)
	g.undoRefused(oxpatch.UndoRequest{}, oxpatch.ErrDrift)
	g.undoAs(oxpatch.UndoRequest{Paths: []string{g.path("index.txt")}})
	g.redoAs(oxpatch.RedoRequest{Paths: []string{"index.txt"}})
	assert.Equal(t, "1\n", g.read("index.txt"))
	g.write("a.txt", "1\n")
	g.undoAs(oxpatch.UndoRequest{}) // the rest
	assert.Equal(t, before, g.image())
	assert.Equal(t, "undone", g.operations()[len(g.operations())-1].State)
	g.nothingToUndo()
	g.redoAs(oxpatch.RedoRequest{IDs: []string{id}}) // through all of its undos
	assert.Equal(t, after, g.image())
	assert.Equal(t, "done", g.operations()[len(g.operations())-1].State)

	// From a folder below, paths count from there.
	_, err := g.openAt(g.path("in")).Undo(context.Background(), oxpatch.UndoRequest{Paths: []string{"c.txt"}})
	require.NoError(t, err)
	assert.Equal(t, "0\n", g.read("in/c.txt"))
	assert.Equal(t, "1\n", g.read("in/b.txt"))
}

func TestUndoThatMerges(t *testing.T) {
	t.Parallel()
	const base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	start := func(t *testing.T) *ground {
		g := newGround(t)
		g.writeMode("a.sh", base, 0o755)
		g.write("b.txt", "0\n")
		g.apply(envelope("*** Update File: a.sh", "@@", "-3", "+three", "*** Update File: b.txt", "@@", "-0", "+1"))
		return g
	}
	t.Run("clean", func(t *testing.T) {
		t.Parallel()
		g := start(t)
		g.writeMode("a.sh", strings.Replace(g.read("a.sh"), "9", "nine", 1), 0o755)
		require.NoError(t, os.Chmod(g.path("a.sh"), 0o700))
		mine := g.image()
		res := g.undoAs(oxpatch.UndoRequest{Merge: true, Diff: true})
		assert.Contains(t, string(res.Diff), "-three\n+3\n")
		assert.Equal(t, strings.Replace(base, "9", "nine", 1), g.read("a.sh"))
		info, err := os.Stat(g.path("a.sh"))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "the mode set since is the user's")
		assert.Equal(t, "0\n", g.read("b.txt"))
		g.redoAs(oxpatch.RedoRequest{})
		assert.Equal(t, mine, g.image())
	})
	t.Run("taken back already", func(t *testing.T) {
		t.Parallel()
		g := start(t)
		g.writeMode("a.sh", base, 0o755)
		res := g.undoRefused(oxpatch.UndoRequest{}, oxpatch.ErrDrift)
		assert.Contains(t, res.Problems[0].Message, "as it was before")
		res = g.undoAs(oxpatch.UndoRequest{Merge: true})
		assert.Equal(t, base, g.read("a.sh"))
		assert.Equal(t, "0\n", g.read("b.txt"))
		assert.True(t, res.Files[0].Unchanged)
		assert.False(t, res.Files[1].Unchanged)
		assert.Equal(t, []string{"undo done", "apply undone"}, g.log())
	})
	t.Run("conflict", func(t *testing.T) {
		t.Parallel()
		g := start(t)
		edited := strings.Replace(g.read("a.sh"), "three", "THREE", 1)
		g.writeMode("a.sh", edited, 0o755)
		was := g.image()
		res := g.undoRefused(oxpatch.UndoRequest{Merge: true}, oxpatch.ErrConflict)
		assert.True(t, hasProblem(res, oxpatch.KindConflict, "a.sh"))
		assert.Equal(t, 3, res.Problems[0].Line)
		res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Merge: true, Markers: true, Check: true})
		require.ErrorIs(t, err, oxpatch.ErrConflict)
		assert.False(t, res.Applied)
		assert.Equal(t, was, g.image())
		res, err = g.open().Undo(context.Background(), oxpatch.UndoRequest{Merge: true, Markers: true})
		require.ErrorIs(t, err, oxpatch.ErrConflict)
		assert.True(t, res.Applied && res.Exact)
		assert.False(t, res.OK)
		assert.Equal(t, []string{"a.sh"}, res.ConflictedPaths)
		assert.Equal(t, []string{"b.txt"}, res.AppliedPaths)
		text := g.read("a.sh")
		assert.Contains(t, text, "<<<<<<< now\nTHREE\n")
		assert.Equal(t, []oxpatch.ConflictedFile{{Path: "a.sh", Hunks: []oxpatch.LineRange{{Line: 3, EndLine: 7}}}}, g.status().Conflicts)
		assert.Contains(t, text, "\n3\n>>>>>>> before operation ")
		g.redoAs(oxpatch.RedoRequest{})
		assert.Equal(t, was, g.image())
		assert.Empty(t, g.status().Conflicts)
	})
	t.Run("deleted since", func(t *testing.T) {
		t.Parallel()
		g := start(t)
		g.remove("b.txt")
		g.undoRefused(oxpatch.UndoRequest{Merge: true}, oxpatch.ErrConflict)
		g.undoAs(oxpatch.UndoRequest{Force: true})
		assert.Equal(t, "0\n", g.read("b.txt"))
		g.redoAs(oxpatch.RedoRequest{})
		assert.NoFileExists(t, g.path("b.txt"))
	})
	t.Run("new file edited", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.apply(addition("n.txt", "new"))
		g.write("n.txt", "new\nand mine\n")
		g.undoRefused(oxpatch.UndoRequest{Merge: true}, oxpatch.ErrConflict)
		g.undoAs(oxpatch.UndoRequest{Force: true})
		assert.NoFileExists(t, g.path("n.txt"))
		g.redoAs(oxpatch.RedoRequest{})
		assert.Equal(t, "new\nand mine\n", g.read("n.txt"), "what force took can be had back")
	})
	t.Run("binary", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("bin", "a\nb\x00c\n")
		g.apply(replacement("bin", "a", "A"))
		g.write("bin", "A\nb\x00c\nd\n")
		res := g.undoRefused(oxpatch.UndoRequest{Merge: true}, oxpatch.ErrConflict)
		assert.Contains(t, res.Problems[0].Message, "not text")
	})
}

func TestForceIsItselfUndoable(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.write("b.txt", "0\n")
	start := g.image()
	g.apply(envelope("*** Update File: a.txt", "@@", "-0", "+1", "*** Delete File: b.txt", "*** Add File: c/d.txt", "+x"))
	g.write("a.txt", "mine\n")
	g.link("a.txt", "b.txt")
	g.writeMode("c/d.txt", "x\n", 0o755)
	mine := g.image()
	g.undoRefused(oxpatch.UndoRequest{}, oxpatch.ErrDrift)
	g.undoAs(oxpatch.UndoRequest{Force: true})
	assert.Equal(t, start, g.image())
	g.redoAs(oxpatch.RedoRequest{})
	assert.Equal(t, mine, g.image())
	g.undoAs(oxpatch.UndoRequest{IDs: []string{"@"}})
	assert.Equal(t, start, g.image())
	g.fsck()
}

// A group that comes to nothing on disk is undone all the same.
func TestAGroupThatChangesNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.apply(replacement("a.txt", "0", "1"))
	g.apply(replacement("a.txt", "1", "0"))
	was := g.image()
	res := g.undoAs(oxpatch.UndoRequest{Count: 2})
	assert.False(t, res.Applied)
	assert.NotEmpty(t, res.ID)
	require.Len(t, res.Files, 1)
	assert.True(t, res.Files[0].Unchanged)
	assert.Equal(t, was, g.image())
	assert.Equal(t, []string{"undo done", "apply undone", "apply undone"}, g.log())
	g.redoAs(oxpatch.RedoRequest{})
	g.undoAs(oxpatch.UndoRequest{})
	assert.Equal(t, "1\n", g.read("a.txt"))
}

// Folders that the operations of a group made and removed come and go with them.
func TestAGroupAndItsFolders(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("x/y/a.txt", "a\n")
	require.NoError(t, os.Chmod(g.path("x"), 0o750))
	start := g.image()
	g.apply(envelope("*** Update File: x/y/a.txt", "*** Move to: n/m/b.txt", "@@", " a"))
	g.apply(envelope("*** Update File: n/m/b.txt", "*** Move to: o/c.txt", "@@", "-a", "+b"))
	g.apply(addition("x", "a file now"))
	end := g.image()
	g.undoAs(oxpatch.UndoRequest{Count: 3})
	assert.Equal(t, start, g.image())
	g.redoAs(oxpatch.RedoRequest{})
	assert.Equal(t, end, g.image())
	g.undoAs(oxpatch.UndoRequest{})
	g.undoAs(oxpatch.UndoRequest{})
	g.undoAs(oxpatch.UndoRequest{})
	assert.Equal(t, start, g.image())
}

func TestUndoRequestsThatCannotBe(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	ids, _ := g.chain(2)
	for name, c := range map[string]struct {
		req  oxpatch.UndoRequest
		want error
		kind oxpatch.Kind
	}{
		"unknown id":         {oxpatch.UndoRequest{IDs: []string{"0000"}}, oxpatch.ErrUnknownOperation, oxpatch.KindUnknownOperation},
		"empty id":           {oxpatch.UndoRequest{IDs: []string{""}}, oxpatch.ErrUsage, oxpatch.KindUsage},
		"too far back":       {oxpatch.UndoRequest{IDs: []string{"@~2"}}, oxpatch.ErrUnknownOperation, oxpatch.KindUnknownOperation},
		"no distance":        {oxpatch.UndoRequest{IDs: []string{"@~x"}}, oxpatch.ErrUnknownOperation, oxpatch.KindUnknownOperation},
		"ambiguous id":       {oxpatch.UndoRequest{IDs: []string{commonPrefix(ids[0], ids[1])}}, oxpatch.ErrUnknownOperation, oxpatch.KindUnknownOperation},
		"unknown to":         {oxpatch.UndoRequest{To: "zz"}, oxpatch.ErrUnknownOperation, oxpatch.KindUnknownOperation},
		"to the newest":      {oxpatch.UndoRequest{To: "@"}, oxpatch.ErrNothingToUndo, oxpatch.KindNothingToDo},
		"more than there is": {oxpatch.UndoRequest{Count: 3}, oxpatch.ErrNothingToUndo, oxpatch.KindNothingToDo},
		"less than nothing":  {oxpatch.UndoRequest{Count: -1}, oxpatch.ErrUsage, oxpatch.KindUsage},
		"id and count":       {oxpatch.UndoRequest{IDs: []string{"@"}, Count: 1}, oxpatch.ErrUsage, oxpatch.KindUsage},
		"count and to":       {oxpatch.UndoRequest{To: "@", Count: 1}, oxpatch.ErrUsage, oxpatch.KindUsage},
		"merge and force":    {oxpatch.UndoRequest{Merge: true, Force: true}, oxpatch.ErrUsage, oxpatch.KindUsage},
		"markers alone":      {oxpatch.UndoRequest{Markers: true}, oxpatch.ErrUsage, oxpatch.KindUsage},
		"path not touched":   {oxpatch.UndoRequest{Paths: []string{"a.txt", "d0/new.txt"}}, nil, oxpatch.KindNothingToDo},
		"path outside":       {oxpatch.UndoRequest{Paths: []string{"../x"}}, nil, oxpatch.KindNothingToDo},
		"empty path":         {oxpatch.UndoRequest{Paths: []string{""}}, oxpatch.ErrUsage, oxpatch.KindUsage},
	} {
		for _, check := range []bool{false, true} {
			req := c.req
			req.Check = check
			res, err := g.open().Undo(context.Background(), req)
			require.Error(t, err, name)
			if c.want != nil {
				require.ErrorIs(t, err, c.want, name)
			}
			assert.True(t, hasProblem(res, c.kind, ""), "%s: %v", name, res.Problems)
			assert.False(t, res.Applied)
		}
	}
	assert.Equal(t, []string{"apply done", "apply done"}, g.log())
	_, err := g.open().Redo(context.Background(), oxpatch.RedoRequest{IDs: []string{ids[0]}})
	require.Error(t, err)
	assert.ErrorContains(t, err, "is not undone")
}

func commonPrefix(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:i]
}

// The gate of a merge or a forced undo approved what stands there; if that changes, it is asked again.
func TestAFileChangedAtTheGateOfAForcedUndo(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.apply(replacement("a.txt", "0", "1"))
	g.write("a.txt", "mine\n")
	req := oxpatch.UndoRequest{Force: true, Gate: func(context.Context, []oxpatch.Change) error {
		g.write("a.txt", "newer\n")
		return nil
	}}
	_, err := g.open().Undo(context.Background(), req)
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	assert.Equal(t, "newer\n", g.read("a.txt"))
	req.Gate = func(context.Context, []oxpatch.Change) error { return errors.New("no") }
	_, err = g.open().Undo(context.Background(), req)
	require.ErrorIs(t, err, oxpatch.ErrDeclined)
	assert.Equal(t, "newer\n", g.read("a.txt"))
}

func TestUndoSaysThatHeadMoved(t *testing.T) {
	t.Parallel()
	g := newGitRepo(t, map[string]string{"a.txt": "0\n"})
	g.apply(replacement("a.txt", "0", "1"))
	g.git("switch", "-q", "-c", "topic")
	g.git("commit", "-q", "-a", "-m", "second")
	res := g.undoAs(oxpatch.UndoRequest{})
	require.Len(t, res.Problems, 1)
	p := res.Problems[0]
	assert.Equal(t, oxpatch.SeverityWarning, p.Severity)
	assert.Equal(t, oxpatch.KindDrift, p.Kind)
	assert.Regexp(t, `it was at main [0-9a-f]{10}, now it is at topic [0-9a-f]{10}$`, p.Message)
	assert.Equal(t, "0\n", g.read("a.txt"))
}
