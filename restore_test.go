package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// Any operation can be restored: what it left at its paths comes back, whatever happened since.
func TestRestoreOfAnyOperation(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "one\n")
	g.write("gone/b.txt", "b\n")
	g.write("c.txt", "c\n")
	first := g.apply(envelope("*** Update File: a.txt", "@@", "-one", "+1",
		"*** Delete File: gone/b.txt", "*** Add File: new/d.txt", "+d",
		"*** Update File: c.txt", "*** Move to: moved.txt", "@@", "-c", "+C")).ID
	after := g.image()
	undo := g.undo().ID
	undone := g.image()
	g.write("a.txt", "mine\n")
	g.writeMode("c.txt", "mine\n", 0o755)
	g.write("own.txt", "no part of it\n")
	mine := g.image()

	res := g.restore(oxpatch.RestoreRequest{ID: first})
	own := image{"own.txt": mine["own.txt"]}
	assert.Equal(t, after.with(own), g.image(), "the folder that the undo made goes too")
	assert.Equal(t, []string{"a.txt", "c.txt", "gone/b.txt", "moved.txt", "new/d.txt"}, res.AppliedPaths)
	assert.Empty(t, warnedOf(res, oxpatch.KindExists), "an operation that is no checkpoint has no scope")

	g.restore(oxpatch.RestoreRequest{ID: undo})
	assert.Equal(t, undone.with(own), g.image(), "the folder that the restore made goes with its file")
	g.undo()
	g.undo()
	assert.Equal(t, mine, g.image())
	g.nothingToUndo()
	g.fsck()
}

func TestRestoreOfSomePaths(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"tree": true, "paths": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			for _, f := range []string{"a/1", "a/2", "ab", "b/1", "c"} {
				g.write(f, "old\n")
			}
			var paths []string
			if !whole {
				paths = []string{"a", "ab", "b", "c"}
			}
			id := g.checkpoint(paths...).ID
			for _, f := range []string{"a/1", "a/2", "ab", "c", "a/new", "b/new"} {
				g.write(f, "new\n")
			}
			g.remove("b/1")
			g.remove("a")
			g.write("a", "a file now\n")

			res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id, Paths: []string{"a", "nowhere"}, DeleteNew: true})
			require.ErrorIs(t, err, oxpatch.ErrMissing)
			assert.True(t, hasProblem(res, oxpatch.KindMissingFile, "nowhere"))
			res = g.restore(oxpatch.RestoreRequest{ID: id, Paths: []string{"a/2", "b"}, Base: ".", Check: true, DeleteNew: true})
			assert.Equal(t, []string{"a", "a/2", "b/1", "b/new"}, res.AppliedPaths, "a is in the way")

			g.remove("a")
			g.restore(oxpatch.RestoreRequest{ID: id, Paths: []string{"2", "../b/1"}, Base: "a"})
			assert.Equal(t, "old\n", g.read("a/2"))
			assert.Equal(t, "old\n", g.read("b/1"))
			assert.Equal(t, "new\n", g.read("b/new"))
			assert.Equal(t, "new\n", g.read("c"))
			assert.NoFileExists(t, g.path("a/1"))
			g.restore(oxpatch.RestoreRequest{ID: id, Paths: []string{g.path("ab")}})
			assert.Equal(t, "old\n", g.read("ab"))
			assert.Equal(t, "new\n", g.read("c"))
		})
	}
}

// A file that was not there goes without asking only if an operation made it.
func TestWhoMadeANewFile(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"tree": true, "folder": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("in/a.txt", "a\n")
			var paths []string
			if !whole {
				paths = []string{"in"}
			}
			id := g.checkpoint(paths...).ID
			g.apply(envelope("*** Add File: in/ours/made.txt", "+made", "*** Add File: in/ours/edited.txt", "+edited",
				"*** Add File: in/undone.txt", "+undone", "*** Add File: in/mixed/ours.txt", "+ours"))
			g.apply(envelope("*** Delete File: in/undone.txt"))
			g.write("in/undone.txt", "made by hand\n")
			g.write("in/ours/edited.txt", "edited by hand\n")
			g.write("in/mixed/theirs.txt", "made by hand\n")
			g.write("in/theirs/deep/x.txt", "made by hand\n")
			g.checkpoint("in") // notes what is there, and makes nothing
			before := g.image()

			res := g.restore(oxpatch.RestoreRequest{ID: id})
			assert.Equal(t, []string{"in/mixed/ours.txt", "in/ours/edited.txt", "in/ours/made.txt"}, res.AppliedPaths)
			assert.Equal(t, []string{
				"in/mixed/ours.txt", "in/ours/edited.txt", "in/ours/made.txt", // gone
				"in/mixed/theirs.txt", "in/theirs/deep/x.txt", "in/undone.txt", // left
			}, warnedOf(res, oxpatch.KindExists))
			assert.NoDirExists(t, g.path("in/ours"), "operations made it")
			assert.FileExists(t, g.path("in/mixed/theirs.txt"))
			g.undo()
			assert.Equal(t, before, g.image())

			res = g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
			assert.Len(t, res.AppliedPaths, 6)
			assert.Equal(t, image{"in": before["in"], "in/a.txt": before["in/a.txt"]}, g.image())
			g.undo()
			assert.Equal(t, before, g.image())
		})
	}
}

func TestManyNewFilesAreNotNamedOneByOne(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "a\n")
	id := g.checkpoint().ID
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		g.write("new/"+string(c), "x")
	}
	res := g.restore(oxpatch.RestoreRequest{ID: id})
	left := warnedOf(res, oxpatch.KindExists)
	assert.Len(t, left, 21)
	assert.Empty(t, left[20])
	assert.Contains(t, res.Problems[20].Message, "6 more")
}

// What git ignores is no part of a checkpoint of the tree, and stays when new files are removed.
func TestIgnoredFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	g := newGitRepo(t, map[string]string{".gitignore": "node_modules/\n*.log\n!kept.log\n", "a.txt": "a\n", "forced.log": "forced\n"})
	g.git("add", "-f", "forced.log")
	g.write("node_modules/x/index.js", "ignored\n")
	g.write("kept.log", "not ignored\n")
	g.write("trace.log", "ignored\n")
	res := g.checkpoint()
	assert.Equal(t, 4, res.Tree.Files, "tracked, forced and untracked ones")
	g.write("trace.log", "written on\n")
	g.write("forced.log", "spoilt\n")
	g.write("kept.log", "spoilt\n")
	g.write("new.txt", "new\n")
	g.write("node_modules/y/index.js", "ignored too\n")
	g.restore(oxpatch.RestoreRequest{ID: res.ID, DeleteNew: true})
	assert.Equal(t, "written on\n", g.read("trace.log"))
	assert.Equal(t, "forced\n", g.read("forced.log"))
	assert.Equal(t, "not ignored\n", g.read("kept.log"))
	assert.NoFileExists(t, g.path("new.txt"))
	assert.FileExists(t, g.path("node_modules/y/index.js"))

	// With other rules, what was ignored looks new.
	for name, spoil := range map[string]func(){
		"changed": func() { g.write(".gitignore", "") },
		"removed": func() { g.remove(".gitignore") },
		"added":   func() { g.write("node_modules/.gitignore", "!*\n"); g.write(".gitignore", "*.log\n") },
	} {
		spoil()
		was := g.image()
		_, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: res.ID, DeleteNew: true})
		require.ErrorIs(t, err, oxpatch.ErrDrift, name)
		assert.Contains(t, err.Error(), "could pass for new ones", name)
		assert.Equal(t, was, g.image(), name)
		g.restore(oxpatch.RestoreRequest{ID: res.ID})
		g.restore(oxpatch.RestoreRequest{ID: res.ID, DeleteNew: true})
		assert.Equal(t, "written on\n", g.read("trace.log"), name)
		assert.FileExists(t, g.path("node_modules/y/index.js"), name)
	}
	assert.Empty(t, g.git("diff", "--cached", "--name-only", "--diff-filter=M"), "the index is left alone")
}

func TestRestoreIsRefused(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "a\n")
	g.write("b.txt", "b\n")
	id := g.checkpoint("a.txt", "b.txt").ID
	t.Run("without such an operation", func(t *testing.T) {
		for _, id := range []string{"zzzz", "", "a.txt"} {
			res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id})
			require.Error(t, err)
			assert.True(t, hasProblem(res, oxpatch.KindUnknownOperation, ""), id)
		}
		g.checkpoint("a.txt")
		res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id[:1]})
		require.Error(t, err)
		assert.Contains(t, err.Error(), "ambiguous")
		assert.True(t, hasProblem(res, oxpatch.KindUnknownOperation, ""))
	})
	t.Run("where a folder without files is in the way", func(t *testing.T) {
		g.remove("b.txt")
		require.NoError(t, os.Mkdir(g.path("b.txt"), 0o755))
		res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id, DeleteNew: true})
		require.ErrorIs(t, err, oxpatch.ErrExists)
		assert.True(t, hasProblem(res, oxpatch.KindExists, "b.txt"))
		g.remove("b.txt")
		g.write("b.txt", "b\n")
	})
	t.Run("where an operation is not settled", func(t *testing.T) {
		dead := false
		e := g.open(oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
			if dead = dead || op == worktree.OpRename && path == "b.txt"; dead {
				return worktree.ErrKilled
			}
			return nil
		}))
		_, err := e.Apply(context.Background(), request(envelope("*** Update File: a.txt", "@@", "-a", "+A", "*** Update File: b.txt", "@@", "-b", "+B")))
		require.ErrorIs(t, err, worktree.ErrKilled)
		g.write("a.txt", "changed by hand\n")
		res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id})
		require.ErrorIs(t, err, oxpatch.ErrPending)
		assert.True(t, hasProblem(res, oxpatch.KindPending, "a.txt"))
		assert.Equal(t, "changed by hand\n", g.read("a.txt"))
		made, err := g.open().Checkpoint(context.Background(), oxpatch.CheckpointRequest{Tree: true})
		require.NoError(t, err, "what is there can be recorded all the same")
		assert.Len(t, warnedOf(made, oxpatch.KindPending), 1)
		_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Keep: true})
		require.NoError(t, err)
		g.restore(oxpatch.RestoreRequest{ID: id})
		assert.Equal(t, "a\n", g.read("a.txt"))
	})
}

func TestGateOfARestore(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "a\n")
	g.write("b.txt", "b\n")
	id := g.checkpoint().ID
	g.write("a.txt", "A\n")
	g.write("new.txt", "new\n")
	was := g.image()
	no := errors.New("no")
	_, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id, Gate: func(_ context.Context, changes []oxpatch.Change) error {
		assert.Len(t, changes, 1)
		assert.Equal(t, "a\n", string(changes[0].After.Content))
		return no
	}})
	require.ErrorIs(t, err, oxpatch.ErrDeclined)
	require.ErrorIs(t, err, no)
	assert.Equal(t, was, g.image())
	for name, meanwhile := range map[string]func(){
		"the same file": func() { g.write("a.txt", "meanwhile\n") },
		"another file":  func() { g.write("b.txt", "meanwhile\n") },
		"back by hand":  func() { g.write("a.txt", "a\n"); g.write("b.txt", "b\n") },
	} {
		g.write("a.txt", "A\n")
		g.write("b.txt", "b\n")
		res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id, Gate: func(context.Context, []oxpatch.Change) error {
			meanwhile()
			return nil
		}})
		require.ErrorIs(t, err, oxpatch.ErrDrift, name)
		assert.False(t, res.Applied, name)
	}
	g.write("a.txt", "A\n")
	g.write("b.txt", "b\n")
	res := g.restore(oxpatch.RestoreRequest{ID: id, Gate: func(context.Context, []oxpatch.Change) error {
		g.write("new.txt", "it stays anyway\n")
		return nil
	}})
	assert.Equal(t, []string{"a.txt"}, res.AppliedPaths)
	assert.Equal(t, []string{"new.txt"}, warnedOf(res, oxpatch.KindExists), "told once")
}

func TestACheckOfARestoreWritesNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "a\n")
	g.write("hard", "h\n")
	require.NoError(t, os.Link(g.path("hard"), g.path("link")))
	res := g.checkpoint()
	g.write("a.txt", "A\n")
	g.write("hard", "H\n")
	was, stored := g.image(), imageOf(t, res.Snapshot.Store)
	checked := g.restore(oxpatch.RestoreRequest{ID: res.ID, Check: true})
	assert.Equal(t, "check", checked.Command)
	assert.Equal(t, []string{"a.txt", "hard", "link"}, checked.AppliedPaths)
	assert.Len(t, warnedOf(checked, oxpatch.KindHardLink), 2)
	assert.Equal(t, was, g.image())
	assert.Equal(t, stored, imageOf(t, res.Snapshot.Store))
}

// Under Codex's rules an operation can reach outside of the root, and so can its restore.
func TestRestoreOutsideOfTheRoot(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "a\n")
	outside := filepath.Join(filepath.Dir(g.dir), "outside.txt")
	require.NoError(t, os.WriteFile(outside, []byte("one\n"), 0o644))
	res, err := g.open().Apply(context.Background(), codexRequest(envelope(
		"*** Update File: "+outside, "@@", "-one", "+1", "*** Update File: a.txt", "@@", "-a", "+A")))
	require.NoError(t, err)
	require.NotEmpty(t, res.ID)
	require.NoError(t, os.WriteFile(outside, []byte("two\n"), 0o644))
	g.write("a.txt", "b\n")
	g.restore(oxpatch.RestoreRequest{ID: res.ID, Paths: []string{outside}})
	assert.Equal(t, "1\n", readFile(t, outside))
	assert.Equal(t, "b\n", g.read("a.txt"))
	g.undo()
	assert.Equal(t, "two\n", readFile(t, outside))
	g.restore(oxpatch.RestoreRequest{ID: res.ID})
	assert.Equal(t, "1\n", readFile(t, outside))
	assert.Equal(t, "A\n", g.read("a.txt"))
}

func TestACheckpointWithoutAPlaceForIt(t *testing.T) {
	t.Parallel()
	g := unwritable(t, true)
	res, err := g.open().Checkpoint(context.Background(), oxpatch.CheckpointRequest{Tree: true})
	require.ErrorIs(t, err, oxpatch.ErrNoSnapshot)
	assert.True(t, hasProblem(res, oxpatch.KindNoSnapshot, ""))
	assert.NotContains(t, res.Problems[0].Hint, "--no-snapshot")
}

// Several at once take turns, and none sees another's work half done.
func TestCheckpointsAndOperationsAtOnce(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for i := range 20 {
		g.write(fmt.Sprintf("d%d/f", i), "0\n")
	}
	first := g.checkpoint().ID
	var all strings.Builder
	all.WriteString("*** Begin Patch\n")
	for i := range 20 {
		fmt.Fprintf(&all, "*** Update File: d%d/f\n@@\n-0\n+1\n", i)
	}
	all.WriteString("*** End Patch\n")
	wait := oxpatch.WithLockTimeout(time.Minute)
	var group sync.WaitGroup
	ids := make(chan string, 40)
	for range 4 {
		group.Go(func() {
			for range 5 {
				_, err := g.open(wait).Apply(context.Background(), request(all.String()))
				if err != nil {
					assert.ErrorIs(t, err, oxpatch.ErrNoMatch)
				}
				res, err := g.open(wait).Checkpoint(context.Background(), oxpatch.CheckpointRequest{Tree: true})
				if assert.NoError(t, err) {
					ids <- res.ID
				}
				_, err = g.open(wait).Restore(context.Background(), oxpatch.RestoreRequest{ID: first})
				assert.NoError(t, err)
			}
		})
	}
	group.Wait()
	close(ids)
	for id := range ids {
		g.restore(oxpatch.RestoreRequest{ID: id})
		for i := range 20 {
			require.Equal(t, g.read("d0/f"), g.read(fmt.Sprintf("d%d/f", i)), "a checkpoint in the middle of an operation")
		}
	}
	g.fsck()
}

// Where a checkpoint found nothing, a folder that was made since goes with all that is in it, if new files may go.
func TestRestoreOfNothingWhereAFolderIsNow(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("beside/x", "x\n")
	before := g.image()
	id := g.checkpoint("new").ID
	g.write("new/deep/a", "a\n")
	made := g.image()
	res := g.restore(oxpatch.RestoreRequest{ID: id})
	assert.Equal(t, made, g.image())
	assert.Equal(t, []string{"new/deep/a"}, warnedOf(res, oxpatch.KindExists))
	assert.Contains(t, res.Problems[1].Message, "what is new stays")
	g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
	assert.Equal(t, before, g.image())
	assert.NoDirExists(t, g.path("new"))
	g.undo()
	assert.Equal(t, made, g.image())
}
