//go:build linux || darwin

package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// swap exchanges two names at once, or in three steps where the system cannot.
func swap(t *testing.T, a, b string) {
	t.Helper()
	require.NoError(t, os.Rename(a, a+".aside"))
	require.NoError(t, os.Rename(b, a))
	require.NoError(t, os.Rename(a+".aside", b))
}

// At every effect of a write, and between the steps before it, the folder is exchanged for a link
// to the hooks of the repository, to .git itself, or out of the root. Nothing may be written there.
func TestFolderSwappedForALink(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"hooks": ".git/hooks", "git": ".git", "outside": "../outside"} {
		for at := 0; at < 14; at++ {
			for _, inPlace := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%v", name, at, inPlace), func(t *testing.T) {
					t.Parallel()
					attackOnce(t, target, at, inPlace)
				})
			}
		}
	}
}

func attackOnce(t *testing.T, target string, at int, inPlace bool) {
	outer := tempTree(t, map[string]string{
		"outside/f": "before", "root/.git/hooks/f": "before", "root/.git/f": "before", "root/d/f": "before", "root/link": "-> " + target,
		"outside/gone": "gone", "root/.git/hooks/gone": "gone", "root/.git/gone": "gone", "root/d/gone": "gone",
	})
	dir := filepath.Join(outer, "root")
	guarded := func() string {
		return picture(t, filepath.Join(outer, "outside")) + picture(t, filepath.Join(dir, ".git"))
	}
	before := guarded()
	seen := 0
	attack := func() {
		if seen++; seen == at {
			swap(t, filepath.Join(dir, "d"), filepath.Join(dir, "link"))
		}
	}
	// Planned on another tree, so that no folder is open yet when the write begins.
	tree := open(t, dir, Options{Effects: func(Op, string) error { attack(); return nil }})
	j := plan(t, open(t, dir, Options{}), want{path: "d/f", after: file("evil"), inPlace: inPlace}, want{path: "d/n/new", after: file("evil")},
		want{path: "d/new", after: file("evil")}, want{path: "d/l", after: link("evil")}, want{path: "d/gone", after: gone})
	if at == 0 {
		swap(t, filepath.Join(dir, "d"), filepath.Join(dir, "link"))
	}
	err := j.write(tree, "op", Process)
	assert.Equal(t, before, guarded())
	if at == 0 {
		assert.Error(t, err)
	}
	if err != nil {
		again := open(t, dir, Options{})
		_ = again.Restore("op", j.files, j.made, j.removed, Before)
		_ = again.Restore("op", j.files, j.made, j.removed, After)
		assert.Equal(t, before, guarded())
	}
}

// The file itself becomes a link, a FIFO or a folder right before it is written.
func TestFileSwapped(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink("victim", path) },
		"fifo":   func(path string) error { return unix.Mkfifo(path, 0o644) },
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		for _, inPlace := range []bool{false, true} {
			t.Run(fmt.Sprint(name, inPlace), func(t *testing.T) {
				t.Parallel()
				dir := tempTree(t, map[string]string{"a": "a", "f": "before", "victim": "victim"})
				path := filepath.Join(dir, "f")
				tree := open(t, dir, Options{Effects: func(op Op, key string) error {
					if key != "a" || op != OpRename {
						return nil
					}
					return errors.Join(os.Remove(path), put(path))
				}})
				j := plan(t, tree, want{path: "a", after: file("b")}, want{path: "f", after: file("evil"), inPlace: inPlace})
				require.ErrorIs(t, j.write(tree, "op", Process), ErrDrift)
				assert.Equal(t, "victim", content(t, dir, "victim"))
				info, err := os.Lstat(path)
				require.NoError(t, err)
				assert.False(t, info.Mode().IsRegular(), "left as it was found")
			})
		}
	}
}

// What a stranger makes under a name that the writer finds free in one moment is never taken for its own.
func TestStrangersFileSurvivesRollback(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, nil)
	tree := open(t, dir, Options{Effects: func(op Op, key string) error {
		if op == OpCreate && key == "n" {
			lay(t, dir, map[string]string{"n": "theirs"})
		}
		return nil
	}})
	j := plan(t, tree, want{path: "n", after: file("ours"), inPlace: true})
	require.Error(t, j.write(tree, "op", Process))
	assert.Equal(t, "theirs", content(t, dir, "n"))
}

// The moments between looking and opening, taken apart: what is opened must be what was seen.
func TestOpenedIsWhatWasSeen(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"f": "f", "victim": "v", "d/": "", "e/": ""})
	tree := open(t, dir, Options{})
	top, err := tree.folder("")
	require.NoError(t, err)
	defer top.release()

	seen, err := top.root.Lstat("f")
	require.NoError(t, err)
	swap(t, filepath.Join(dir, "f"), filepath.Join(dir, "victim"))
	_, _, err = openSame(top, "f", os.O_RDONLY, seen)
	assert.ErrorIs(t, err, errMoving)
	require.NoError(t, os.Remove(filepath.Join(dir, "f")))
	require.NoError(t, os.Link(filepath.Join(dir, "victim"), filepath.Join(dir, "f")))
	file, _, err := openSame(top, "f", os.O_RDONLY, seen)
	require.NoError(t, err)
	file.Close()

	seen, err = top.root.Lstat("d")
	require.NoError(t, err)
	root, err := top.root.OpenRoot("e")
	require.NoError(t, err)
	_, err = tree.checked("d", root, seen)
	assert.ErrorIs(t, err, errNotFolder)
}

// A folder that is open and was moved away is not written to under its old name.
func TestFolderMovedAway(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"d/f": "before", "d/gone": "gone"})
	tree := open(t, dir, Options{})
	for name, w := range map[string]want{
		"update": {path: "d/f", after: file("after")}, "in place": {path: "d/f", after: file("after"), inPlace: true},
		"delete": {path: "d/gone", after: gone}, "add": {path: "d/new", after: file("new")},
	} {
		t.Run(name, func(t *testing.T) {
			j := plan(t, tree, w)
			require.NoError(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "e")))
			lay(t, dir, map[string]string{"d/f": "before", "d/gone": "gone"})
			before := picture(t, dir)
			assert.ErrorIs(t, j.write(tree, "op", Process), ErrDrift)
			assert.Equal(t, before, picture(t, dir))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "e")))
		})
	}
}

// So does a folder that is moved away in the midst of the write, together with the temporary files.
func TestFolderMovedAwayMeanwhile(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"a": "a", "d/f": "before", "z": "z"})
	move := func() { require.NoError(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "e"))) }
	for _, at := range []string{"a", "d/f", "z"} { // before, right in, and after the write in the folder
		moved := false
		tree := open(t, dir, Options{Effects: func(op Op, key string) error {
			if op != OpRename || key != at || moved {
				return nil
			}
			moved = true
			move()
			if at == "z" {
				return errFault
			}
			return nil
		}})
		j := plan(t, tree, want{path: "a", after: file("b")}, want{path: "d/f", after: file("after")}, want{path: "z", after: file("y")})
		err := j.write(tree, "op", Process)
		assert.True(t, moved)
		assert.NotContains(t, picture(t, dir), ".oxpatch-")
		if err != nil {
			assert.Equal(t, "before", content(t, dir, "e/f"), at)
			assert.Equal(t, "a", content(t, dir, "a"), at)
		}
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "d")))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "e")))
		lay(t, dir, map[string]string{"a": "a", "d/f": "before", "z": "z"})
	}
}
