package oxpatch_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// Of operations that remove and make a folder in turn, the oldest says what was there before all of them.
func TestAFolderThatWasThereBeforeAGroupStays(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, os.MkdirAll(g.path("hollow/inner"), 0o755))
	require.NoError(t, os.Chmod(g.path("hollow"), 0o750))
	g.write("a.txt", "0\n")
	start := g.image()
	g.apply(addition("hollow/inner/x.txt", "x"))
	g.apply(envelope("*** Delete File: hollow/inner/x.txt"))
	require.NoDirExists(t, g.path("hollow"))
	g.undoAs(oxpatch.UndoRequest{Count: 2}) // no file comes or goes
	assert.Equal(t, start, g.image())
	g.redoAs(oxpatch.RedoRequest{})
	require.NoDirExists(t, g.path("hollow"))

	g.undoAs(oxpatch.UndoRequest{Count: 2})
	g.apply(addition("hollow/inner/x.txt", "x"))
	g.apply(envelope("*** Delete File: hollow/inner/x.txt"))
	g.apply(addition("hollow/inner/y.txt", "y"))
	end := g.image()
	g.undoAs(oxpatch.UndoRequest{Count: 3})
	assert.Equal(t, start["hollow/inner"], g.image()["hollow/inner"])
	g.redoAs(oxpatch.RedoRequest{})
	assert.Equal(t, end, g.image())
}

// A folder that an operation made goes with the last that is in it, be it an empty folder of the same
// operation.
func TestAMadeFolderGoesWithAnEmptyOneInIt(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	start := g.image()
	g.apply(envelope("*** Add File: new/a.txt", "+a", "*** Add File: new/deep/b.txt", "+b"))
	g.remove("new/deep/b.txt")
	g.undoAs(oxpatch.UndoRequest{Force: true})
	assert.Equal(t, start, g.image())
}

// An undo of some paths leaves folders alone that are not above one of them.
func TestAnUndoOfSomePathsLeavesOtherFolders(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.apply(envelope("*** Update File: a.txt", "@@", "-0", "+1", "*** Add File: new/b.txt", "+b"))
	g.remove("new/b.txt")
	g.undoAs(oxpatch.UndoRequest{Paths: []string{"a.txt"}})
	assert.Equal(t, "0\n", g.read("a.txt"))
	assert.DirExists(t, g.path("new"))
}

// A folder of somebody's in the place of a file is never taken away, and a check says so too.
func TestUndoNeverTakesAFolderAway(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"where there was nothing": addition("thing", "x"),
		"where there was a file":  replacement("other", "0", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("other", "0\n")
			g.apply(patch)
			for _, path := range []string{"thing", "other"} {
				g.remove(path)
				g.write(path+"/mine.txt", "mine\n")
			}
			was := g.image()
			for _, check := range []bool{true, false} {
				res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Force: true, Check: check})
				require.ErrorIs(t, err, worktree.ErrIsDirectory)
				assert.True(t, hasProblem(res, oxpatch.KindIsDirectory, ""), "%v", res.Problems)
				assert.False(t, res.OK || res.Applied)
				assert.Equal(t, was, g.image())
			}
		})
	}
}

// What is in the way of an undo's folders is in the way of its check.
func TestACheckFindsAFileInTheWayOfAFolder(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("dir/a.txt", "a\n")
	g.apply(envelope("*** Delete File: dir/a.txt"))
	g.write("dir", "a file now\n")
	was := g.image()
	for _, check := range []bool{true, false} {
		res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: check})
		require.Error(t, err)
		assert.False(t, res.OK || res.Applied)
		assert.Equal(t, was, g.image())
	}
}

// Two files were moved away from one name, one after the other. Taken back together, the name gets the
// first again, and it is with the first that it goes once more.
func TestAMoveTakenBackIsWhole(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "first\n")
	start := g.image()
	g.apply(envelope("*** Update File: a.txt", "*** Move to: b.txt", "@@", " first"))
	moved := g.image()
	g.apply(addition("a.txt", "second"))
	g.apply(envelope("*** Update File: a.txt", "*** Move to: c.txt", "@@", " second"))
	g.undoAs(oxpatch.UndoRequest{Count: 3})
	require.Equal(t, start, g.image())
	g.redoAs(oxpatch.RedoRequest{Paths: []string{"a.txt"}})
	assert.Equal(t, moved, g.image())
}

// A name cannot be a file and a folder: where somebody made a file in the place of a folder between two
// operations, taking both back is refused before anything is written.
func TestAGroupCannotBringBackBothFileAndFolder(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("dir/a.txt", "a\n")
	g.apply(envelope("*** Delete File: dir/a.txt"))
	g.write("dir", "a file\n")
	g.apply(envelope("*** Delete File: dir"))
	was := g.image()
	for _, check := range []bool{true, false} {
		writes := 0
		e := g.open(oxpatch.WithTreeEffects(func(worktree.Op, string) error { writes++; return nil }))
		_, err := e.Undo(context.Background(), oxpatch.UndoRequest{Count: 2, Check: check})
		require.ErrorIs(t, err, worktree.ErrParentIsFile)
		assert.Zero(t, writes)
		assert.Equal(t, was, g.image())
	}
}
