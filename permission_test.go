//go:build linux

package oxpatch_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// asOrdinaryUser makes sure that the rest of the test runs without the superuser's rights: where it
// has them, the test runs again in a process of its own that gave them away, and false comes back.
func asOrdinaryUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "oxpatch-test-") // t.TempDir's lies in a folder that is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	// Through /proc, since the folder of the test's program may be closed to others.
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		oxtest.Lacks(t, "the right to start a process as another user: %v", err)
	}
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

// What the file system forbids is refused before anything is touched, with its reason.
func TestWhatPermissionsForbid(t *testing.T) {
	t.Parallel()
	if !asOrdinaryUser(t) {
		return
	}
	other := []string{"*** Update File: a.txt", "@@", "-one", "+1"}
	for name, c := range map[string]struct {
		patch  []string
		opts   []oxpatch.Option
		prefix string
	}{
		"a folder, update":      {patch: []string{"*** Update File: closed/b.txt", "@@", "-two", "+2"}},
		"a folder, delete":      {patch: []string{"*** Delete File: closed/b.txt"}},
		"a folder, add":         {patch: []string{"*** Add File: closed/new.txt", "+x"}},
		"a folder, make one":    {patch: []string{"*** Add File: closed/new/x.txt", "+x"}},
		"a folder, move out":    {patch: []string{"*** Update File: closed/b.txt", "*** Move to: moved.txt", "@@", "-two", "+2"}},
		"a file in place":       {patch: []string{"*** Update File: readonly.txt", "@@", "-three", "+3"}, opts: []oxpatch.Option{oxpatch.WithInPlace()}},
		"an unreadable file":    {patch: []string{"*** Update File: secret.txt", "@@", "-four", "+4"}},
		"an unreadable, delete": {patch: []string{"*** Delete File: secret.txt"}},
		"an unsearchable":       {patch: []string{"*** Add File: dark/x.txt", "+x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("a.txt", "one\n")
			g.write("closed/b.txt", "two\n")
			g.write("closed/c.txt", "stays\n")
			g.writeMode("readonly.txt", "three\n", 0o444)
			g.writeMode("secret.txt", "four\n", 0)
			require.NoError(t, os.Mkdir(g.path("dark"), 0o600))
			require.NoError(t, os.Chmod(g.path("closed"), 0o555))
			t.Cleanup(func() {
				assert.NoError(t, os.Chmod(g.path("closed"), 0o755))
				assert.NoError(t, os.Chmod(g.path("dark"), 0o755))
			})
			before := g.image()
			res, err := g.open(c.opts...).Apply(context.Background(), request(envelope(append(other, c.patch...)...)))
			require.ErrorIs(t, err, fs.ErrPermission)
			assert.True(t, hasProblem(res, oxpatch.KindIO, ""), "%v", res.Problems)
			assert.False(t, res.OK || res.Applied)
			assert.Equal(t, before, g.image())
			assert.Empty(t, g.log())
		})
	}
	t.Run("a read-only file is replaced", func(t *testing.T) {
		g := newGround(t)
		g.writeMode("readonly.txt", "three\n", 0o444)
		before := g.image()
		g.apply(replacement("readonly.txt", "three", "3"))
		assert.Equal(t, `-r--r--r-- "3\n"`, g.image()["readonly.txt"])
		g.undo()
		assert.Equal(t, before, g.image())
	})
	t.Run("a folder closed before the undo", func(t *testing.T) {
		g := newGround(t)
		g.write("a.txt", "one\n")
		g.write("closed/b.txt", "two\n")
		before := g.image()
		g.apply(envelope(append(other, "*** Update File: closed/b.txt", "@@", "-two", "+2")...))
		after := g.image()
		require.NoError(t, os.Chmod(g.path("closed"), 0o555))
		_, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
		require.ErrorIs(t, err, fs.ErrPermission)
		require.NoError(t, os.Chmod(g.path("closed"), 0o755))
		assert.Equal(t, after, g.image())
		g.undo()
		assert.Equal(t, before, g.image())
	})
	t.Run("a git directory that cannot be written", func(t *testing.T) {
		g := newRepo(t)
		g.write("a.txt", "one\n")
		require.NoError(t, os.Chmod(g.path(".git"), 0o555))
		t.Cleanup(func() { assert.NoError(t, os.Chmod(g.path(".git"), 0o755)) })
		res := roundTrip(t, g, g.open(), g.dir)
		assert.Equal(t, filepath.Join(g.env["XDG_STATE_HOME"], "oxpatch/store"), res.Snapshot.Store)
	})
}

// A folder that cannot be read is no repository of its own, and a checkpoint is not made without what may be
// in it.
func TestCheckpointOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	if !asOrdinaryUser(t) {
		return
	}
	for name, mode := range map[string]fs.FileMode{"closed": 0, "not searchable": 0o600, "not listed": 0o300} {
		t.Run(name, func(t *testing.T) {
			g := newGitRepo(t, map[string]string{"a.txt": "a\n", ".gitignore": "ignored\n"})
			g.write("dark/b.txt", "b\n")
			g.write("ignored/c.txt", "c\n")
			shut := func(dir string, mode fs.FileMode) {
				require.NoError(t, os.Chmod(g.path(dir), mode))
				t.Cleanup(func() { assert.NoError(t, os.Chmod(g.path(dir), 0o755)) })
			}
			shut("ignored", mode)
			assert.Equal(t, 3, g.checkpoint().Tree.Files)
			shut("dark", mode)
			for _, req := range []oxpatch.CheckpointRequest{{Tree: true}, {Paths: []string{"."}}, {Paths: []string{"dark"}}} {
				res, err := g.open().Checkpoint(context.Background(), req)
				require.ErrorIs(t, err, fs.ErrPermission, "%v", req)
				require.Len(t, res.Problems, 1)
				assert.Regexp(t, "cannot be (read|looked at): permission denied", res.Problems[0].Message)
				assert.Equal(t, req.Tree, strings.Contains(res.Problems[0].Hint, "let git ignore it"))
			}
			_, err := g.open().Apply(context.Background(), request(addition("dark/new.txt", "x")))
			require.ErrorIs(t, err, fs.ErrPermission)
		})
	}
}
