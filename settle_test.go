package oxpatch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// halfDone is a tree in which an operation on a.txt and b.txt, which also made made/c.txt, was killed
// after a.txt was written, and somebody then changed b.txt.
func halfDone(t *testing.T) (g *ground, before image) {
	t.Helper()
	g = newGround(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	g.write("free.txt", "free\n")
	before = g.image()
	killAtRename(t, g, "b.txt", envelope(
		"*** Update File: a.txt", "@@", "-one", "+1",
		"*** Update File: b.txt", "@@", "-two", "+2",
		"*** Add File: made/c.txt", "+3"))
	require.Equal(t, "1\n", g.read("a.txt"))
	g.write("b.txt", "from somebody else\n")
	return g, before
}

// killAtRename applies a patch and is killed where the named file is about to be replaced.
func killAtRename(t *testing.T, g *ground, name, patch string) {
	t.Helper()
	dead := false
	e := g.open(
		oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
			if dead = dead || op == worktree.OpRename && path == name; dead {
				return worktree.ErrKilled
			}
			return nil
		}),
		oxpatch.WithStoreEffects(func(snapshot.Effect, string) error {
			if dead {
				return snapshot.ErrKilled
			}
			return nil
		}))
	_, err := e.Apply(context.Background(), request(patch))
	require.ErrorIs(t, err, worktree.ErrKilled)
}

func TestAnInterruptedOperationWhoseFilesWereChangedWaits(t *testing.T) {
	t.Parallel()
	g, _ := halfDone(t)
	was := g.image()

	for name, patch := range map[string]string{
		"the changed file": replacement("b.txt", "from somebody else", "x"),
		"another file":     replacement("a.txt", "1", "x"),
		"a file not there": addition("made/c.txt", "x"),
	} {
		res, err := g.open().Apply(context.Background(), request(patch))
		require.ErrorIs(t, err, oxpatch.ErrPending, name)
		assert.True(t, hasProblem(res, oxpatch.KindPending, ""), name)
		assert.False(t, res.Applied, name)
		assert.Equal(t, was, g.image(), name)
	}
	g.apply(replacement("free.txt", "free", "still works"))
	g.undo()
	assert.Equal(t, was, g.image())
	g.nothingToUndo()

	res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
	require.ErrorIs(t, err, oxpatch.ErrPending)
	assert.False(t, res.OK || res.Applied)
	assert.Equal(t, []string{"a.txt", "b.txt", "made/c.txt"}, res.SkippedPaths)
	assert.Equal(t, was, g.image(), "recover asks first")
	assert.Equal(t, []string{"undo done", "apply undone", "apply unresolved"}, g.log())
}

// A check takes no lock and settles nothing, so it cannot know for certain.
func TestACheckWhileAnOperationWaits(t *testing.T) {
	t.Parallel()
	g, _ := halfDone(t)
	g.apply(replacement("free.txt", "free", "x"))
	was := g.image()
	apply := oxpatch.Request{Patch: []byte(replacement("a.txt", "1", "x")), Check: true}
	res, err := g.open().Apply(context.Background(), apply)
	require.NoError(t, err)
	undo, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: true})
	require.NoError(t, err)
	for _, r := range []*oxpatch.Result{res, undo} {
		assert.False(t, r.Exact)
		require.Len(t, r.Problems, 1)
		assert.Equal(t, oxpatch.KindPending, r.Problems[0].Kind)
		assert.Equal(t, oxpatch.SeverityWarning, r.Problems[0].Severity)
	}
	assert.Equal(t, was, g.image())
	_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Keep: true})
	require.NoError(t, err)
	res, err = g.open().Apply(context.Background(), apply)
	require.NoError(t, err)
	assert.True(t, res.Exact)
	assert.Empty(t, res.Problems)
}

func TestRecoverKeep(t *testing.T) {
	t.Parallel()
	g, before := halfDone(t)
	res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{Keep: true})
	require.NoError(t, err)
	assert.True(t, res.OK && res.Exact)
	assert.Equal(t, "1\n", g.read("a.txt"))
	assert.Equal(t, "from somebody else\n", g.read("b.txt"))
	assert.NotContains(t, g.log(), "apply unresolved")
	assertNoTemps(t, g)

	g.apply(replacement("b.txt", "from somebody else", "goes on"))
	g.undo()
	g.undo()
	assert.Equal(t, before, g.image(), "undo leads to what was there before the interrupted operation")
	g.nothingToUndo()
	g.fsck()
}

func TestRecoverRollback(t *testing.T) {
	t.Parallel()
	g, before := halfDone(t)
	res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{Rollback: true})
	require.NoError(t, err)
	assert.True(t, res.OK && res.Exact && res.Applied)
	assert.Equal(t, before, g.image())
	assert.NotContains(t, g.log(), "apply unresolved")

	g.undo()
	assert.Equal(t, "from somebody else\n", g.read("b.txt"), "what was there can be had back")
	assert.Equal(t, "one\n", g.read("a.txt"))
	g.nothingToUndo()
	g.fsck()
}

func TestAnInterruptedUndoWhoseFilesWereChanged(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"keep": true, "rollback": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("a.txt", "one\n")
			g.write("b.txt", "two\n")
			before := g.image()
			g.apply(envelope("*** Update File: a.txt", "@@", "-one", "+1", "*** Update File: b.txt", "@@", "-two", "+2"))
			after := g.image()
			dead := false
			_, err := g.open(oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
				if dead = dead || op == worktree.OpRename && path == "b.txt"; dead {
					return worktree.ErrKilled
				}
				return nil
			})).Undo(context.Background(), oxpatch.UndoRequest{})
			require.ErrorIs(t, err, worktree.ErrKilled)
			g.write("b.txt", "from somebody else\n")
			was := g.image()

			res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
			require.ErrorIs(t, err, oxpatch.ErrPending)
			assert.True(t, hasProblem(res, oxpatch.KindPending, ""))
			assert.Equal(t, was, g.image())

			_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Keep: keep, Rollback: !keep})
			require.NoError(t, err)
			if keep {
				assert.Equal(t, "one\n", g.read("a.txt"))
				assert.Equal(t, "from somebody else\n", g.read("b.txt"))
				g.undo()
			} else {
				assert.Equal(t, after, g.image())
				g.undo()
				assert.Equal(t, "from somebody else\n", g.read("b.txt"))
				g.write("b.txt", "2\n")
			}
			assert.Equal(t, after, g.image())
			g.undo()
			assert.Equal(t, before, g.image())
		})
	}
}

// A file that had to go may have become a folder or a link by the time of the recovery.
func TestForeignKindsAtTheRecovery(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(g *ground){
		"a folder":            func(g *ground) { g.write("b.txt/x", "x\n") },
		"a link to the file":  func(g *ground) { g.link("free.txt", "b.txt") },
		"a link that dangles": func(g *ground) { g.link("nowhere", "b.txt") },
		"nothing":             func(*ground) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, _ := halfDone(t)
			g.remove("b.txt")
			disturb(g)
			was := g.image()
			_, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
			require.ErrorIs(t, err, oxpatch.ErrPending)
			require.Equal(t, was, g.image())
			_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Keep: true})
			require.NoError(t, err)
			require.NotContains(t, g.log(), "apply unresolved")
			assert.Equal(t, "1\n", g.read("a.txt"))
			assert.Equal(t, "free\n", g.read("free.txt"), "nothing was written through the link")
			assertNoTemps(t, g)
		})
	}
}

func assertNoTemps(t *testing.T, g *ground) {
	t.Helper()
	for path := range g.image() {
		assert.NotContains(t, filepath.Base(path), ".oxpatch-")
	}
}

// A rollback that fails leaves the operation pending; once the cause is gone the next command ends
// it, and no other path is held up meanwhile.
func TestARollbackThatFails(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	before := g.image()
	failing := false
	broken := oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
		if failing = failing || op == worktree.OpRename && path == "b.txt"; failing {
			return errInjected
		}
		return nil
	})
	patch := envelope("*** Update File: a.txt", "@@", "-one", "+1", "*** Update File: b.txt", "@@", "-two", "+2")
	res, err := g.open(broken).Apply(context.Background(), request(patch))
	require.ErrorIs(t, err, oxpatch.ErrRollback)
	require.ErrorIs(t, err, errInjected)
	assert.False(t, res.Exact)
	assert.True(t, hasProblem(res, oxpatch.KindIO, ""))
	require.Equal(t, "1\n", g.read("a.txt"))

	// Still broken: the operation stays, others go on.
	_, err = g.open(broken).Recover(context.Background(), oxpatch.RecoverRequest{})
	require.ErrorIs(t, err, oxpatch.ErrPending)
	require.Contains(t, err.Error(), errInjected.Error(), "the cause is named")

	_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
	require.NoError(t, err)
	assert.Equal(t, before, g.image())
	assert.Empty(t, g.log())
}

func TestRecoverWithNothingToDo(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, req := range []oxpatch.RecoverRequest{{}, {Keep: true}, {Rollback: true}} {
		res, err := g.open().Recover(context.Background(), req)
		require.NoError(t, err)
		assert.True(t, res.OK && res.Exact)
		assert.False(t, res.Applied)
	}
	_, err := os.Stat(g.env["XDG_STATE_HOME"])
	assert.ErrorIs(t, err, os.ErrNotExist, "no store is made")
}

// Two operations may wait at once.
func TestTwoInterruptedOperations(t *testing.T) {
	t.Parallel()
	g, _ := halfDone(t)
	g.write("x.txt", "x\n")
	g.write("y.txt", "y\n")
	killAtRename(t, g, "y.txt", envelope("*** Update File: x.txt", "@@", "-x", "+X", "*** Update File: y.txt", "@@", "-y", "+Y"))
	g.write("y.txt", "foreign\n")
	_, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
	require.ErrorIs(t, err, oxpatch.ErrPending)
	require.Equal(t, []string{"apply unresolved", "apply unresolved"}, g.log())
	_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Rollback: true})
	require.NoError(t, err)
	assert.Equal(t, "two\n", g.read("b.txt"))
	assert.Equal(t, "y\n", g.read("y.txt"))
	g.undo()
	assert.Equal(t, "foreign\n", g.read("y.txt"))
	g.undo()
	assert.Equal(t, "from somebody else\n", g.read("b.txt"))
}
