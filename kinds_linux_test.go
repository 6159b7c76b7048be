package oxpatch_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// In a repository of another user text mode does its work, with the history where it belongs; git mode
// leaves it to git whom it trusts.
func TestRepositoriesOfOtherUsers(t *testing.T) {
	t.Parallel()
	oxtest.NeedRoot(t, "give a repository to another user")
	kinds := repositoryKinds()
	for _, name := range []string{"plain", "linked working tree", "submodule", "sha256"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := kinds[name](t)
			all, seen, files := filepath.Dir(g.dir), g.seen(), g.image()
			if name == "submodule" {
				all = filepath.Dir(all)
			}
			store := strings.TrimSpace(g.git("rev-parse", "--git-common-dir"))
			if !filepath.IsAbs(store) {
				store = g.path(store)
			}
			give(t, all, 65534)
			cmd := exec.Command("git", "status")
			cmd.Dir, cmd.Env = g.dir, gitEnviron(g.dir)
			if cmd.Run() == nil {
				oxtest.Lacks(t, "a git that refuses the repositories of other users (2.35.2 or newer)")
			}
			patch := unifiedEdit("in/f.txt", "line 9", "line 11")
			res := g.must(oxpatch.Request{Patch: []byte(patch), Mode: oxpatch.ModeText})
			assert.Equal(t, filepath.Join(store, "oxpatch", "store"), res.Snapshot.Store)
			_, err := g.run(gitRequest(patch))
			require.ErrorIs(t, err, oxpatch.ErrNoGit)
			g.undo()
			requireImage(t, files, g.image(), "undo")
			assert.Equal(t, []string{"undo done", "apply undone"}, g.log())
			give(t, all, os.Getuid())
			g.fsck()
			assert.Equal(t, seen, g.seen())
			g.git("fsck", "--strict", "--full")
		})
	}
}

// give makes a user the owner of everything in a folder.
func give(t *testing.T, dir string, uid int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	}))
}

// Where nothing in the git directory can be written, as in an agent's sandbox, text mode records
// elsewhere; git mode, which would have to write the index, changes nothing.
func TestGitDirectoriesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if !asOrdinaryUser(t) {
		return
	}
	kinds := repositoryKinds()
	for _, name := range []string{"plain", "linked working tree", "submodule", "reftable", "split index"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := kinds[name](t)
			was := g.must(request(replacement("in/f.txt", "line 10", "ten"))) // its record is in the git directory
			seen, files := g.seen(), g.image()
			common := strings.TrimSpace(g.git("rev-parse", "--git-common-dir"))
			if !filepath.IsAbs(common) {
				common = g.path(common)
			}
			open := modes(t, common, func(m fs.FileMode) fs.FileMode { return m &^ 0o222 })
			t.Cleanup(open)
			res := g.must(request(replacement("in/f.txt", "line 3", "three")))
			assert.Equal(t, filepath.Join(g.env["XDG_STATE_HOME"], "oxpatch", "store"), res.Snapshot.Store)
			assert.Equal(t, []string{"apply done", "apply done"}, g.log(), "one history of both places")
			g.undo()
			requireImage(t, files, g.image(), "undone")
			added := "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"
			refusal := g.refused(gitRequest(added), fs.ErrPermission, oxpatch.WithLockTimeout(-1))
			assert.True(t, hasProblem(refusal, oxpatch.KindIO, ""), "%v", refusal.Problems)
			g.undo() // what the git directory's store has; the undo is recorded elsewhere
			assert.Equal(t, numbered(20, nil), g.read("in/f.txt"))
			assert.Equal(t, []string{"undo done", "undo done", "apply undone", "apply undone"}, g.log())
			g.nothingToUndo()
			open()
			g.fsck()
			g.git("fsck", "--strict", "--full")
			seen["status --porcelain --untracked-files=all --ignored"] = ""
			assert.Equal(t, seen, g.seen())
			assert.NotEqual(t, res.Snapshot.Store, was.Snapshot.Store)

			// Writable again, everything goes to the git directory, and the history stays one.
			res = g.must(request(replacement("in/f.txt", "line 10", "ten")))
			assert.Equal(t, was.Snapshot.Store, res.Snapshot.Store)
			assert.Len(t, g.log(), 5)
		})
	}
}

// modes changes the permissions of everything in a folder. What it returns sets them back, once.
func modes(t *testing.T, dir string, to func(fs.FileMode) fs.FileMode) func() {
	t.Helper()
	was := map[string]fs.FileMode{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		was[path] = info.Mode().Perm()
		return err
	}))
	for path, mode := range was {
		require.NoError(t, os.Chmod(path, to(mode)))
	}
	return func() {
		for path, mode := range was {
			_ = os.Chmod(path, mode) // the test may have removed it
		}
		clear(was)
	}
}
