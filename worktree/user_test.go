//go:build linux || darwin

package worktree

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// childEnv marks the processes that a test starts from its own binary: the umask and the user
// belong to a whole process.
const childEnv = "OXPATCH_WORKTREE_CHILD"

const nobody = 65534

// inChild runs the test itself once more in a process of its own, where isChild is true. As root it runs
// as nobody, if asked. dir is passed on.
func inChild(t *testing.T, dir string, asNobody bool) {
	t.Helper()
	test := t.Name()
	binary := filepath.Join(publicDir(t), "test")
	// Not copied by this process: a child that another test forks meanwhile would hold the copy open
	// for writing, and it could not be run.
	out, err := exec.Command("cp", os.Args[0], binary).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Chmod(binary, 0o755))
	cmd := exec.Command(binary, "-test.run", "^"+test+"$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), childEnv+"="+test, childEnv+"_DIR="+dir, "TMPDIR="+publicDir(t))
	if asNobody && os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+test+" ", "%s", out)
}

// publicDir is a temporary folder in which everybody may do anything.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "oxpatch")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// isChild reports whether this is the process that the test has started, and the folder it was given.
func isChild(t *testing.T) (dir string, child bool) {
	t.Helper()
	return os.Getenv(childEnv + "_DIR"), os.Getenv(childEnv) == t.Name()
}

func TestPermissions(t *testing.T) {
	if _, child := isChild(t); child {
		permissionsOfAUser(t)
		return
	}
	t.Parallel()
	inChild(t, "", true)
}

func permissionsOfAUser(t *testing.T) {
	t.Helper()
	files := map[string]string{"a": "a", "m": "moved", "ro/f": "f", "ro/g": "g", "readonly": "r", "secret": "s"}
	setup := func(t *testing.T) (string, *Tree) {
		dir := tempTree(t, files)
		require.NoError(t, os.Chmod(filepath.Join(dir, "readonly"), 0o444))
		require.NoError(t, os.Chmod(filepath.Join(dir, "ro"), 0o555))
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "ro"), 0o755) })
		return dir, open(t, dir, Options{})
	}
	for name, wants := range map[string][]want{
		"update in a read-only folder": {{path: "a", after: file("b")}, {path: "ro/f", after: file("changed")}},
		"add in a read-only folder":    {{path: "a", after: file("b")}, {path: "ro/n", after: file("n")}},
		"folder in a read-only folder": {{path: "a", after: file("b")}, {path: "ro/n/n", after: file("n")}},
		"delete in a read-only folder": {{path: "a", after: file("b")}, {path: "n/n", after: file("n")}, {path: "ro/g", after: gone}},
		"move out of it":               {{path: "m", after: file("overwritten")}, {path: "x/f", after: file("f")}, {path: "ro/f", after: gone}, {path: "a", after: gone}},
		"read-only file in place":      {{path: "a", after: file("b"), inPlace: true}, {path: "readonly", after: file("w"), inPlace: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, tree := setup(t)
			before := picture(t, dir)
			j := plan(t, tree, wants...)
			foreseen := tree.Foresee(j.files, j.made, j.removed)
			require.ErrorIs(t, foreseen, fs.ErrPermission)
			assert.Equal(t, before, picture(t, dir), "asking changes nothing")
			err := j.write(tree, "op", Process)
			assert.EqualError(t, foreseen, err.Error())
			require.ErrorIs(t, err, fs.ErrPermission)
			assert.Contains(t, err.Error(), "permission denied")
			assert.Equal(t, before, picture(t, dir))
		})
	}
	t.Run("read-only file is replaced and stays read-only", func(t *testing.T) {
		dir, tree := setup(t)
		j := plan(t, tree, want{path: "readonly", after: file("new")})
		require.NoError(t, tree.Foresee(j.files, j.made, j.removed))
		require.NoError(t, j.write(tree, "op", Process))
		assert.Equal(t, fs.FileMode(0o444), mode(t, dir, "readonly"))
		require.NoError(t, tree.Restore("op", j.files, nil, nil, Before))
		assert.Equal(t, fs.FileMode(0o444), mode(t, dir, "readonly"))
		assert.Equal(t, "r", content(t, dir, "readonly"))
	})
	t.Run("unreadable file", func(t *testing.T) {
		dir, tree := setup(t)
		require.NoError(t, os.Chmod(filepath.Join(dir, "secret"), 0))
		_, _, err := tree.Read("secret")
		require.ErrorIs(t, err, fs.ErrPermission)
		assert.Equal(t, "secret: cannot be read: permission denied", err.Error())
	})
	t.Run("folder that cannot be entered", func(t *testing.T) {
		dir, tree := setup(t)
		require.NoError(t, os.Chmod(filepath.Join(dir, "ro"), 0))
		_, err := tree.Resolve("ro/f", Edit, nil)
		require.ErrorIs(t, err, fs.ErrPermission)
	})
	t.Run("folder is restored though it ends up read-only", func(t *testing.T) {
		dir, tree := setup(t)
		lay(t, dir, map[string]string{"d/x": "x"})
		j := plan(t, tree, want{path: "d/x", after: gone})
		require.NoError(t, j.write(tree, "op", Process))
		j.removed[0].Mode = 0o555
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "d"), 0o755) })
		require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
		assert.Equal(t, "x", content(t, dir, "d", "x"))
		assert.Equal(t, fs.FileMode(0o555), mode(t, dir, "d"))
	})
	t.Run("rollback that cannot be done is told", func(t *testing.T) {
		dir := tempTree(t, map[string]string{"d/f": "f", "e/g": "g", "z": "z"})
		locked := filepath.Join(dir, "d")
		t.Cleanup(func() { _ = os.Chmod(locked, 0o755) })
		tree := open(t, dir, Options{Effects: func(op Op, key string) error {
			if op == OpRename && key == "z" {
				_ = os.Chmod(locked, 0o555)
				return errFault
			}
			return nil
		}})
		j := plan(t, tree, want{path: "d/f", after: file("changed")}, want{path: "e/g", after: file("changed")}, want{path: "z", after: file("y")})
		err := j.write(tree, "op", Process)
		var rollback *RollbackError
		require.ErrorAs(t, err, &rollback)
		assert.ErrorIs(t, rollback.Cause, errFault)
		require.Len(t, rollback.Left, 1)
		assert.Equal(t, "d/f", rollback.Left[0].Path)
		assert.ErrorIs(t, err, fs.ErrPermission)
		assert.Equal(t, "g", content(t, dir, "e/g"))
		require.NoError(t, os.Chmod(locked, 0o755))
		require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
		assert.Equal(t, "f", content(t, dir, "d/f"))
	})
}

func TestOwner(t *testing.T) {
	if dir, child := isChild(t); child {
		filesOfAnother(t, dir)
		return
	}
	t.Parallel()
	oxtest.NeedRoot(t, "give a file to another user")
	dir := publicDir(t)
	lay(t, dir, map[string]string{"theirs": "r", "group": "g", "a": "a"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "theirs"), 0o666))
	require.NoError(t, os.Chown(filepath.Join(dir, "group"), nobody, 0))
	require.NoError(t, os.Chown(filepath.Join(dir, "a"), nobody, nobody))
	inChild(t, dir, true)
	assert.Equal(t, "w", content(t, dir, "theirs"), "written in place by the other user")
}

func filesOfAnother(t *testing.T, dir string) {
	t.Helper()
	tree := open(t, dir, Options{})
	for _, path := range []string{"theirs", "group"} {
		before := picture(t, dir)
		j := plan(t, tree, want{path: "a", after: file("b")}, want{path: path, after: file("w")})
		require.ErrorIs(t, tree.Foresee(j.files, nil, nil), ErrOwner)
		err := j.write(tree, "op", Process)
		require.ErrorIs(t, err, ErrOwner)
		assert.Contains(t, err.Error(), "--in-place")
		assert.Equal(t, before, picture(t, dir))
	}
	j := plan(t, tree, want{path: "theirs", after: file("w"), inPlace: true})
	require.NoError(t, tree.Foresee(j.files, nil, nil))
	require.NoError(t, j.write(tree, "op", Process))
}

func TestOwnerIsKeptByRoot(t *testing.T) {
	t.Parallel()
	oxtest.NeedRoot(t, "give a file to another user")
	dir := tempTree(t, map[string]string{"f": "f", "gone": "gone", "from": "from"})
	for _, name := range []string{"f", "gone", "from"} {
		require.NoError(t, os.Chown(filepath.Join(dir, name), nobody, 12))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "f"), 0o750|fs.ModeSetuid))
	owner := func(name string) [2]uint32 {
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		s := info.Sys().(*syscall.Stat_t)
		return [2]uint32{s.Uid, s.Gid}
	}
	want65534 := [2]uint32{nobody, 12}
	fault := false
	tree := open(t, dir, Options{Effects: func(op Op, key string) error {
		if op == OpChown && key == "f" {
			assert.Zero(t, mode(t, dir, ".oxpatch-op-0")&0o077, "private while it has the wrong owner")
		}
		if fault && op == OpRmdir {
			return errFault
		}
		return nil
	}})
	j := plan(t, tree, want{path: "f", after: file("g")}, want{path: "from", after: gone}, want{path: "to", after: file("t"), old: "from"})
	require.NoError(t, j.write(tree, "op", Process))
	assert.Equal(t, want65534, owner("f"))
	assert.Equal(t, want65534, owner("to"))
	assert.Equal(t, 0o750|fs.ModeSetuid, mode(t, dir, "f"))

	// A delete that is rolled back gives the file to its owner again.
	lay(t, dir, map[string]string{"d/x": "x"})
	j = plan(t, tree, want{path: "gone", after: gone}, want{path: "d/x", after: gone}, want{path: "d", after: file("d")})
	fault = true
	require.ErrorIs(t, j.write(tree, "op", Process), errFault)
	assert.Equal(t, want65534, owner("gone"))
}

func TestUmask(t *testing.T) {
	if _, child := isChild(t); child {
		modesByUmask(t)
		return
	}
	t.Parallel()
	inChild(t, "", false)
}

func modesByUmask(t *testing.T) {
	t.Helper()
	for mask, c := range map[int]struct{ file, folder, plain fs.FileMode }{
		0o077: {0o600, 0o700, 0o600},
		0o002: {0o664, 0o775, 0o664},
		0o000: {0o666, 0o777, 0o666},
	} {
		dir := tempTree(t, map[string]string{"open": "o", "x.sh": "x:1"})
		require.NoError(t, os.Chmod(filepath.Join(dir, "open"), 0o666))
		syscall.Umask(mask)
		assert.Equal(t, fs.FileMode(mask), Umask())
		tree := open(t, dir, Options{})
		exec := file("x")
		exec.Mode = 0o755
		j := plan(t, tree, want{path: "n/new", after: file("n")}, want{path: "exec", after: exec}, want{path: "open", after: file("p")},
			want{path: "x.sh", after: file("x:2")}, want{path: "inplace", after: file("i"), inPlace: true})
		require.NoError(t, j.write(tree, "op", Process))
		require.NoError(t, tree.PutInPlace("p/q", []byte("q")))
		assert.Equal(t, c.file, mode(t, dir, "n/new"))
		assert.Equal(t, c.folder, mode(t, dir, "n"))
		assert.Equal(t, c.folder, mode(t, dir, "p"))
		assert.Equal(t, c.plain, mode(t, dir, "p/q"))
		assert.Equal(t, c.plain, mode(t, dir, "inplace"))
		assert.Equal(t, fs.FileMode(0o755), mode(t, dir, "exec"), "a mode that is named is exact")
		assert.Equal(t, fs.FileMode(0o666), mode(t, dir, "open"), "an existing file's too")
		assert.Equal(t, fs.FileMode(0o755), mode(t, dir, "x.sh"))
		syscall.Umask(0o022)
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=128k", "none", dir).CombinedOutput(); err != nil {
		oxtest.Lacks(t, "the right to mount a small file system: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	lay(t, dir, map[string]string{"a": "a", "b": strings.Repeat("b", 40<<10), "c": "c", "file": "f"})
	big := file(strings.Repeat("x", 100<<10))
	for name, wants := range map[string][]want{
		"while staging": {{path: "a", after: file("changed")}, {path: "c", after: gone}, {path: "n/b", after: big}},
		"in place":      {{path: "a", after: file("changed"), inPlace: true}, {path: "b", after: file(strings.Repeat("x", 200<<10)), inPlace: true}},
		"after deletes": {{path: "a", after: file("changed")}, {path: "file", after: gone}, {path: "file/x", after: big}},
	} {
		t.Run(name, func(t *testing.T) {
			before := picture(t, dir)
			tree := open(t, dir, Options{})
			err := plan(t, tree, wants...).write(tree, "op", Process)
			require.ErrorIs(t, err, syscall.ENOSPC)
			var rollback *RollbackError
			assert.NotErrorAs(t, err, &rollback)
			assert.Equal(t, before, picture(t, dir))
		})
	}
}
