//go:build linux || darwin

package worktree

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestPutInPlace(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"f": "x:before", "file": "", "d/": ""})
	outside := tempTree(t, nil)
	tree := open(t, dir, Options{Free: true})
	inode := func() Stamp {
		_, s, err := tree.Read("f")
		require.NoError(t, err)
		return Stamp{id: s.id, mode: s.mode}
	}
	was := inode()
	require.NoError(t, tree.PutInPlace("f", []byte("after")))
	assert.Equal(t, "after", content(t, dir, "f"))
	assert.Equal(t, was, inode())
	require.NoError(t, tree.PutInPlace("a/b/c", []byte("new")))
	assert.Equal(t, "new", content(t, dir, "a/b/c"))
	require.NoError(t, tree.PutInPlace(outside+"/x/y", []byte("out")))
	assert.Equal(t, "out", content(t, outside, "x/y"))

	long := strings.Repeat("n", 300)
	for name, c := range map[string]struct {
		path  string
		stage PutStage
		err   error
	}{
		"folder":                {"d", PutWrite, ErrIsDirectory},
		"below a file":          {"file/x", PutWrite, errNotFolder},
		"name too long":         {"made/" + long, PutWrite, unix.ENAMETOOLONG},
		"folder name too long":  {long + "/x/y", PutWrite, unix.ENAMETOOLONG},
		"parents name too long": {"made2/" + long + "/x", PutParents, unix.ENAMETOOLONG},
	} {
		t.Run(name, func(t *testing.T) {
			err := tree.PutInPlace(c.path, []byte("x"))
			var put *PutError
			require.ErrorAs(t, err, &put)
			assert.Equal(t, c.stage, put.Stage)
			assert.ErrorIs(t, err, c.err)
		})
	}
	assert.DirExists(t, filepath.Join(dir, "made"), "folders made for a write that fails stay")
}

// The writer and Restore also work on keys outside of the root, as the free policy has them.
func TestWriteOutsideOfTheRoot(t *testing.T) {
	t.Parallel()
	for name, inPlace := range map[string]bool{"rename": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := tempTree(t, map[string]string{"f": "before", "gone": "gone"})
			before := picture(t, outside)
			tree := open(t, tempTree(t, map[string]string{"up": "-> " + outside}), Options{Free: true})
			loc, err := tree.Resolve("up/f", Edit, nil)
			require.NoError(t, err)
			require.Equal(t, outside+"/f", loc.Path)
			j := plan(t, tree, want{path: loc.Path, after: file("after"), inPlace: inPlace},
				want{path: outside + "/gone", after: gone}, want{path: outside + "/n/n", after: file("n"), inPlace: inPlace})
			require.NoError(t, j.write(tree, "op", Process))
			assert.Equal(t, "after", content(t, outside, "f"))
			assert.Equal(t, "n", content(t, outside, "n/n"))
			require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
			assert.Equal(t, before, picture(t, outside))
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"f": "f", "l": "-> f", "dangling": "-> none", "d/x": "x"})
	tree := open(t, dir, Options{Free: true})
	require.NoError(t, tree.Remove("l"))
	assert.FileExists(t, filepath.Join(dir, "f"))
	require.NoError(t, tree.Remove("f"))
	require.NoError(t, tree.Remove("dangling"))
	assert.ErrorIs(t, tree.Remove("d"), ErrIsDirectory)
	assert.ErrorIs(t, tree.Remove("f"), fs.ErrNotExist)
	assert.ErrorIs(t, tree.Remove("no/f"), fs.ErrNotExist)
	require.NoError(t, tree.Remove("d/x"))
	assert.DirExists(t, filepath.Join(dir, "d"), "emptied folders stay")
}
