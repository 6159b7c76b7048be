package oxpatch_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

func (g *ground) tryUndo(opts ...oxpatch.Option) (*oxpatch.Result, error) {
	g.t.Helper()
	return g.open(opts...).Undo(context.Background(), oxpatch.UndoRequest{})
}

// lineOf is the index's entries for one path.
func (g *ground) lineOf(name string) []string {
	g.t.Helper()
	return slices.DeleteFunc(g.index(), func(l string) bool { return !strings.Contains(l, "\t"+name+" flags") })
}

// twoFiles is a repository with a diff for both of its files.
func twoFiles(t *testing.T) (*ground, string) {
	t.Helper()
	g := newBareGround(t)
	g.write("a.txt", numbered(20, nil))
	g.write("b.txt", numbered(20, nil))
	g.commit()
	return g, g.made(func() {
		g.write("a.txt", numbered(20, map[int]string{10: "ten"}))
		g.write("b.txt", numbered(20, map[int]string{10: "ten"}))
	})
}

// What somebody did to the index since stays, and is said; the files and the other lines go back.
func TestUndoLeavesIndexLinesThatChanged(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	before := g.twin()
	g.must(gitRequest(patch))
	g.git("update-index", "--cacheinfo", "100644,"+strings.TrimSpace(g.feed("other\n", "hash-object", "-w", "--stdin"))+",a.txt")
	staged := g.lineOf("a.txt")
	check, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: true})
	require.NoError(t, err)
	require.True(t, check.OK)
	assert.Equal(t, staged, g.lineOf("a.txt"), "the check changed the index")

	res := g.undo()
	require.True(t, warned(res, oxpatch.KindIndexMismatch), "%v", res.Problems)
	i := slices.IndexFunc(res.Problems, func(p oxpatch.Problem) bool { return p.Kind == oxpatch.KindIndexMismatch })
	assert.Equal(t, "a.txt", res.Problems[i].Path)
	assert.NotEmpty(t, res.Problems[i].Hint)
	requireImage(t, before.files, g.image(), "files")
	assert.Equal(t, staged, g.lineOf("a.txt"))
	assert.Equal(t, before.index[1:], g.lineOf("b.txt"))
}

// What git does between apply and undo.
func TestUndoAfterGitCommands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		between func(g *ground)
		drift   bool // the files are no longer as they were left
	}{
		"commit":          {between: func(g *ground) { g.git("commit", "-q", "-m", "with it") }},
		"amend":           {between: func(g *ground) { g.git("commit", "-q", "--amend", "-m", "with it") }},
		"refresh":         {between: func(g *ground) { g.git("update-index", "--refresh") }},
		"version 4":       {between: func(g *ground) { g.git("update-index", "--index-version", "4") }},
		"split index":     {between: func(g *ground) { g.git("update-index", "--split-index") }},
		"stash and pop":   {between: func(g *ground) { g.git("stash", "-q"); g.git("stash", "pop", "-q", "--index") }},
		"stash":           {between: func(g *ground) { g.git("stash", "-q") }, drift: true},
		"branch switched": {between: func(g *ground) { g.git("switch", "-q", "-c", "other") }},
		"collected": {between: func(g *ground) {
			g.git("reflog", "expire", "--expire=now", "--all")
			g.git("gc", "-q", "--prune=now")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, patch := twoFiles(t)
			g.write("a.txt", numbered(20, map[int]string{2: "staged"}))
			g.git("add", "a.txt") // so its blob is in no commit
			before := g.twin()
			g.must(gitRequest(patch))
			after := g.twin()
			tt.between(g)
			if tt.drift {
				between := g.twin()
				_, err := g.tryUndo()
				require.ErrorIs(t, err, oxpatch.ErrDrift)
				requireTwin(t, between, g.twin(), "a refused undo")
				return
			}
			requireTwin(t, after, g.twin(), "the case itself")
			res := g.undo()
			for _, p := range res.Problems {
				assert.Equal(t, oxpatch.KindDrift, p.Kind, "%v", p)
				assert.Equal(t, oxpatch.SeverityWarning, p.Severity)
				assert.Contains(t, p.Message, "HEAD has moved")
			}
			requireTwin(t, before, g.twin(), "undo")
			g.git("write-tree") // all blobs are there
			g.nothingToUndo()
		})
	}
}

// Entries that are no plain ones come back as they were.
func TestUndoRestoresOddIndexEntries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		odd   func(g *ground)
		fails error
	}{
		"skip-worktree":    {odd: func(g *ground) { g.git("update-index", "--skip-worktree", "a.txt") }},
		"assume-unchanged": {odd: func(g *ground) { g.git("update-index", "--assume-unchanged", "a.txt") }},
		"both flags": {odd: func(g *ground) {
			g.git("update-index", "--skip-worktree", "a.txt")
			g.git("update-index", "--assume-unchanged", "a.txt")
		}},
		"conflicts": {fails: oxpatch.ErrConflict, odd: func(g *ground) {
			g.write("a.txt", numbered(20, map[int]string{10: "ours"}))
			g.commit()
		}},
		"stat data that is stale": {odd: func(g *ground) { g.write("a.txt", numbered(20, nil)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, patch := twoFiles(t)
			tt.odd(g)
			before := g.twin()
			res, err := g.run(gitRequest(patch))
			require.ErrorIs(t, err, tt.fails)
			require.True(t, res.Applied)
			require.NotEqual(t, before.index, g.index())
			g.undo()
			requireTwin(t, before, g.twin(), "undo")
		})
	}
	t.Run("intent-to-add", func(t *testing.T) {
		t.Parallel()
		g, _ := twoFiles(t)
		g.write("new.txt", "new\n")
		g.git("add", "-N", "new.txt")
		before := g.twin()
		require.Contains(t, strings.Join(g.lineOf("new.txt"), ""), "flags 2000", "the case itself")
		req := gitRequest("diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n")
		req.Reverse = true // stages the file first, beside the repository, and then takes it away
		res, err := g.run(req)
		require.NoError(t, err)
		require.True(t, res.Applied)
		require.NoFileExists(t, g.path("new.txt"))
		require.Empty(t, g.lineOf("new.txt"))
		g.undo()
		requireTwin(t, before, g.twin(), "undo")
	})
}

// Undo takes one operation after the other back, also those of text mode in between.
func TestUndoGoesBackThroughBothModes(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	first := g.twin()
	g.must(gitRequest(patch))
	second := g.twin()
	g.apply(replacement("a.txt", "line 3", "three"))
	third := g.twin()
	assert.Equal(t, second.index, third.index, "text mode stages nothing")
	_, err := g.run(gitRequest(unifiedEdit("b.txt", "line 9", "line 11")))
	require.Error(t, err, "it is in there already, but not so that git could tell")
	g.undo()
	requireTwin(t, second, g.twin(), "one")
	g.undo()
	requireTwin(t, first, g.twin(), "two")
	g.nothingToUndo()
	g.must(gitRequest(patch))
	requireTwin(t, second, g.twin(), "again")
	g.undo()
	requireTwin(t, first, g.twin(), "again undone")
}

// The index is locked by another process: nothing changes, neither by apply nor by undo.
func TestALockedIndexHoldsUpBoth(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	lock := g.path(".git/index.lock")
	hold := func() { g.write(".git/index.lock", "") }
	before := g.twin()
	hold()
	writes := 0
	count := oxpatch.WithTreeEffects(func(worktree.Op, string) error { writes++; return nil })
	_, err := g.run(gitRequest(patch), oxpatch.WithLockTimeout(-1), count)
	require.ErrorIs(t, err, oxpatch.ErrBusy)
	assert.Zero(t, writes, "files were written before the lock was had")
	require.NoError(t, os.Remove(lock))
	requireTwin(t, before, g.twin(), "apply")
	g.nothingToUndo()

	g.must(gitRequest(patch))
	after := g.twin()
	hold()
	_, err = g.tryUndo(oxpatch.WithLockTimeout(-1), count)
	require.ErrorIs(t, err, oxpatch.ErrBusy)
	assert.Zero(t, writes, "files were written before the lock was had")
	require.NoError(t, os.Remove(lock))
	requireTwin(t, after, g.twin(), "undo")

	hold()
	waited := make(chan error, 1)
	go func() {
		_, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
		waited <- err
	}()
	time.Sleep(50 * time.Millisecond)
	require.NoError(t, os.Remove(lock))
	require.NoError(t, <-waited, "the lock is waited for")
	requireTwin(t, before, g.twin(), "undo, later")
}

// An interrupted operation whose files were changed since is settled as the user decides, the index
// with the files.
func TestDecidingAnInterruptedGitOperation(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"rollback": false, "keep": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, patch := twoFiles(t)
			before := g.twin()
			_, err := g.run(gitRequest(patch), oxpatch.WithSteps(func(step string) error {
				if step == "close the operation" {
					return worktree.ErrKilled
				}
				return nil
			}))
			require.ErrorIs(t, err, worktree.ErrKilled)
			g.write("a.txt", "mine\n")
			after := g.twin()
			require.NotEqual(t, before.index, after.index)
			res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
			require.ErrorIs(t, err, oxpatch.ErrPending)
			require.False(t, res.OK)
			requireTwin(t, after, g.twin(), "left for the user")
			res, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Keep: keep, Rollback: !keep})
			require.NoError(t, err)
			require.True(t, res.OK)
			if !keep {
				requireTwin(t, before, g.twin(), "rolled back")
				return
			}
			requireTwin(t, after, g.twin(), "kept")
			g.undo()
			requireTwin(t, before, g.twin(), "kept and undone")
		})
	}
}
