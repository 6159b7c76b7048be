//go:build linux || darwin

package worktree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

func content(t *testing.T, parts ...string) string {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return string(bytes)
}

func mode(t *testing.T, parts ...string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(filepath.Join(parts...))
	require.NoError(t, err)
	return modeOf(info)
}

func TestModesAreKept(t *testing.T) {
	t.Parallel()
	for _, m := range []fs.FileMode{0o644, 0o600, 0o444, 0o755, 0o500, 0o4755&^0o4000 | fs.ModeSetuid, 0o775 | fs.ModeSetgid, 0o666, 0o777} {
		for _, inPlace := range []bool{false, true} {
			t.Run(fmt.Sprint(m, inPlace), func(t *testing.T) {
				t.Parallel()
				if inPlace && m&0o200 == 0 && os.Geteuid() != 0 {
					oxtest.Lacks(t, "a test run by root, who alone writes into read-only files")
				}
				dir := tempTree(t, map[string]string{"f": "one"})
				require.NoError(t, os.Chmod(filepath.Join(dir, "f"), m))
				tree := open(t, dir, Options{})
				j := plan(t, tree, want{path: "f", after: file("two"), inPlace: inPlace})
				require.NoError(t, j.write(tree, "op", Process))
				assert.Equal(t, m, mode(t, dir, "f"))
				assert.Equal(t, "two", content(t, dir, "f"))
				require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
				assert.Equal(t, m, mode(t, dir, "f"))
				assert.Equal(t, "one", content(t, dir, "f"))
			})
		}
	}
}

func TestModeChangeAlone(t *testing.T) {
	t.Parallel()
	for name, inPlace := range map[string]bool{"rename": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempTree(t, map[string]string{"f": "one"})
			tree := open(t, dir, Options{})
			after := file("one")
			after.Mode = 0o755
			j := plan(t, tree, want{path: "f", after: after, inPlace: inPlace})
			require.NoError(t, j.write(tree, "op", Process))
			assert.Equal(t, fs.FileMode(0o755), mode(t, dir, "f"))
			require.NoError(t, tree.Restore("op", j.files, nil, nil, Before))
			assert.Equal(t, fs.FileMode(0o644), mode(t, dir, "f"))
		})
	}
}

func TestHardLinkIsBrokenByRenameKeptInPlace(t *testing.T) {
	t.Parallel()
	for name, inPlace := range map[string]bool{"rename": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempTree(t, map[string]string{"f": "one, which is longer"})
			require.NoError(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
			tree := open(t, dir, Options{})
			j := plan(t, tree, want{path: "f", after: file("two"), inPlace: inPlace})
			assert.EqualValues(t, 2, j.files[0].Stamp.HardLinks)
			require.NoError(t, j.write(tree, "op", Process))
			assert.Equal(t, "two", content(t, dir, "f"))
			other := "one, which is longer"
			if inPlace {
				other = "two"
			}
			assert.Equal(t, other, content(t, dir, "g"))
		})
	}
}

// Somebody's file in a folder that the patch empties keeps the folder.
func TestFolderFilledMeanwhileStays(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"d/x": "x", "e/x": "x"})
	tree := open(t, dir, Options{})
	j := plan(t, tree, want{path: "d/x", after: gone})
	lay(t, dir, map[string]string{"d/mine": "mine"})
	require.NoError(t, j.write(tree, "op", Process))
	assert.Equal(t, "mine", content(t, dir, "d/mine"))

	j = plan(t, tree, want{path: "e/x", after: gone}, want{path: "e", after: file("e")})
	lay(t, dir, map[string]string{"e/mine": "mine"})
	before := picture(t, dir)
	require.Error(t, j.write(tree, "op", Process), "a file is to stand there")
	assert.Equal(t, before, picture(t, dir))
}

func TestRemovedFolderComesBackWithItsMode(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"d/e/x": "x"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "d", "e"), 0o750))
	require.NoError(t, os.Chmod(filepath.Join(dir, "d"), 0o711|fs.ModeSticky))
	before := picture(t, dir)
	tree := open(t, dir, Options{})
	j := plan(t, tree, want{path: "d/e/x", after: gone})
	require.NoError(t, j.write(tree, "op", Process))
	j.removed[0].Mode = 0o550 // as if it had forbidden writing: files are made in it first
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
	assert.Equal(t, fs.FileMode(0o550), mode(t, dir, "d", "e"))
	require.NoError(t, os.Chmod(filepath.Join(dir, "d", "e"), 0o750))
	assert.Equal(t, before, picture(t, dir))
}

func TestTempsStandBesideTheirTarget(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"d/x": "x"})
	var created []string
	tree := open(t, dir, Options{Effects: func(op Op, path string) error {
		if op == OpCreate || op == OpSymlink {
			created = append(created, path)
		}
		return nil
	}})
	j := plan(t, tree, want{path: "d/x", after: file("y")}, want{path: "gone", after: gone}, want{path: "l", after: link("d")})
	require.NoError(t, j.write(tree, "0abc", Process))
	assert.Equal(t, []string{"d/.oxpatch-0abc-0", ".oxpatch-0abc-2"}, created)
	assert.NotContains(t, picture(t, dir), ".oxpatch-")
}

// A stranger's file under the temporary name is not touched: the write fails.
func TestTempNameTaken(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]string{"file": "theirs", "link": "-> victim"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempTree(t, map[string]string{"f": "f", "victim": "v", ".oxpatch-op-0": taken})
			tree := open(t, dir, Options{})
			err := plan(t, tree, want{path: "f", after: file("g")}).write(tree, "op", Process)
			require.ErrorIs(t, err, fs.ErrExist)
			assert.Equal(t, "f", content(t, dir, "f"))
			assert.Equal(t, "v", content(t, dir, "victim"))
			_, err = os.Lstat(filepath.Join(dir, ".oxpatch-op-0"))
			assert.NoError(t, err)
		})
	}
}

func TestSyncs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d    Durability
		want int
	}{
		"process": {Process, 0}, "record": {Record, 0},
		"power": {Power, 2 + 3}, // two files; the root, the folder that lost one, the new folder
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			syncs := 0
			tree := open(t, tempTree(t, map[string]string{"a": "a", "d/x": "x", "d/y": "y"}), Options{Effects: func(op Op, path string) error {
				if op == OpSync {
					syncs++
				}
				return nil
			}})
			j := plan(t, tree, want{path: "a", after: file("b")}, want{path: "d/x", after: gone}, want{path: "n/f", after: file("f")})
			require.NoError(t, j.write(tree, "op", c.d))
			assert.Equal(t, c.want, syncs)
		})
	}
}

func TestKindsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"a": "a"})
	tree := open(t, dir, Options{})
	j := plan(t, tree, want{path: "a", after: file("b")}, want{path: "n", after: change.State{Kind: change.Other}})
	before := picture(t, dir)
	require.ErrorIs(t, j.write(tree, "op", Process), ErrNotRegular)
	assert.Equal(t, before, picture(t, dir))
}
