//go:build linux || darwin

package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

func TestHardLinksAreSeparateUnlessInPlace(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"a": "a"})
	require.NoError(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	for name, c := range map[string]struct {
		o    Options
		use  Use
		plan map[string]change.Kind
		want string
	}{
		"renamed onto":               {want: "b"},
		"in place":                   {o: Options{InPlace: true}, want: "a"},
		"free":                       {o: Options{Free: true}, want: "a"},
		"delete in place":            {o: Options{InPlace: true}, use: Entry, want: "b"},
		"in place, first is deleted": {o: Options{InPlace: true}, plan: map[string]change.Kind{"a": change.Absent}, want: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := open(t, dir, c.o)
			planned := func(key string) (change.Kind, bool) { k, ok := c.plan[key]; return k, ok }
			first, err := tree.Resolve("a", c.use, nil)
			require.NoError(t, err)
			assert.Equal(t, "a", first.Path)
			assert.EqualValues(t, 2, first.HardLinks)
			second, err := tree.Resolve("b", c.use, planned)
			require.NoError(t, err)
			assert.Equal(t, c.want, second.Path)
		})
	}
}

// An inode number that is used again for another file is no second name.
func TestReusedInodeIsNoAlias(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"a": "a"})
	tree := open(t, dir, Options{})
	_, err := tree.Resolve("a", Edit, nil)
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	loc, err := tree.Resolve("b", Edit, nil)
	require.NoError(t, err)
	assert.Equal(t, "b", loc.Path)
}

// The names of a hard-linked file are one entry only where the folder lists one of them, as it does
// on a file system that folds case.
func TestSameEntry(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"a": "a", "d/a": "a", "only": "o"})
	require.NoError(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "A")))
	tree := open(t, dir, Options{})
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"both listed":    {"a", "A", false},
		"one listed":     {"only", "ONLY", true},
		"other names":    {"only", "a", false},
		"other folders":  {"a", "d/a", false},
		"folder is gone": {"n/a", "n/A", false},
		"not only ASCII": {"only", "onl\u00ff", true},
	} {
		assert.Equal(t, c.want, tree.sameEntry(c.a, c.b), name)
	}
}

// On a file system that folds case two spellings lead to one key, and a folder is emptied under either.
func TestCaseFoldingFileSystem(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"README": "r", "Sub/File": "f"})
	if _, err := os.Lstat(filepath.Join(dir, "readme")); err != nil {
		oxtest.Lacks(t, "a file system for temporary folders that folds case")
	}
	tree := open(t, dir, Options{})
	for _, paths := range [][2]string{{"README", "readme"}, {"sub/file", "SUB/FILE"}, {"Sub/new", "sub/new"}} {
		first, err := tree.Resolve(paths[0], Edit, nil)
		require.NoError(t, err)
		second, err := tree.Resolve(paths[1], Edit, nil)
		require.NoError(t, err)
		assert.Equal(t, first.Path, second.Path)
	}
	require.NoError(t, plan(t, tree, want{path: "sub/file", after: gone}).write(tree, "op", Process))
	assert.NoDirExists(t, filepath.Join(dir, "Sub"))
}

// Many goroutines may ask one tree, also with more folders than it holds open.
func TestConcurrentReads(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 2 * maxFolders {
		files[fmt.Sprintf("d%d/e/f", i)] = fmt.Sprint(i)
	}
	tree := open(t, tempTree(t, files), Options{})
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 2 * maxFolders {
				n := (i*7 + g*31) % (2 * maxFolders)
				loc, err := tree.Resolve(fmt.Sprintf("d%d/e/f", n), Edit, nil)
				if !assert.NoError(t, err) {
					return
				}
				state, _, err := tree.Read(loc.Path)
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprint(n), string(state.Content))
			}
		})
	}
	wait.Wait()
}

// Two spellings of one folder, as on a file system that folds case, shown by a second mount.
func TestSecondMountIsTheSameFolder(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"one/f": "f", "two/": ""})
	if out, err := exec.Command("mount", "--bind", filepath.Join(dir, "one"), filepath.Join(dir, "two")).CombinedOutput(); err != nil {
		oxtest.Lacks(t, "the right to mount: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", filepath.Join(dir, "two")).Run() })
	tree := open(t, dir, Options{})
	for _, path := range []string{"one/f", "two/f"} {
		loc, err := tree.Resolve(path, Edit, nil)
		require.NoError(t, err)
		assert.Equal(t, "one/f", loc.Path)
	}
	loc, err := tree.Resolve("two/new", Edit, nil)
	require.NoError(t, err)
	assert.Equal(t, "one/new", loc.Path, "a file that is not there yet has the key too")
}
