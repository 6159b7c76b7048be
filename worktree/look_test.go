package worktree

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// hasDotGit stands for the test that tells repositories.
func hasDotGit(dir string) bool {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return false
	}
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

func TestFindNamesAnything(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{
		"a.txt": "a", "in/b.txt": "b", "link": "-> in", "loop": "-> loop", "out": "-> /", "empty/": "",
		"nested/.git/HEAD": "x", "nested/deep/f": "f", "bare/HEAD": "x", "bare/objects/": "", "bare/refs/": "", "store/x": "x",
	})
	tree := open(t, dir, Options{Base: "in", Foreign: hasDotGit, Forbidden: []string{filepath.Join(dir, "store")}})
	for path, want := range map[string]struct {
		key  string
		kind change.Kind
	}{
		"../a.txt":        {"a.txt", change.File},
		"b.txt":           {"in/b.txt", change.File},
		".":               {"in", change.Dir},
		"..":              {"", change.Dir},
		"../.":            {"", change.Dir},
		"../in/":          {"in", change.Dir},
		"../empty":        {"empty", change.Dir},
		"../link":         {"link", change.Symlink},
		"../link/":        {"in", change.Dir},
		"../link/b.txt":   {"in/b.txt", change.File},
		"../loop":         {"loop", change.Symlink},
		"../out":          {"out", change.Symlink},
		"missing":         {"in/missing", change.Absent},
		"missing/":        {"in/missing", change.Absent},
		"no/such/thing":   {"in/no/such/thing", change.Absent},
		dir + "/a.txt":    {"a.txt", change.File},
		dir:               {"", change.Dir},
		"no/../b.txt":     {"in/b.txt", change.File},
		"../empty/../in/": {"in", change.Dir},
	} {
		key, kind, err := tree.Find(path)
		require.NoError(t, err, "%q", path)
		assert.Equal(t, want.key, key, "%q", path)
		assert.Equal(t, want.kind, kind, "%q", path)
	}
	for path, want := range map[string]error{
		"../..": ErrUnsafePath, "/etc": ErrUnsafePath, "": ErrUnsafePath, "../.git": ErrUnsafePath, "../.GIT/x": ErrUnsafePath,
		"../nested": ErrUnsafePath, "../nested/deep/f": ErrUnsafePath, "../nested/deep": ErrUnsafePath, "../bare": ErrUnsafePath,
		"../bare/HEAD": ErrUnsafePath, "../out/etc": ErrUnsafePath, "../store": ErrUnsafePath, "../store/x": ErrUnsafePath,
		"../loop/": ErrLinkLoop, "b.txt/": ErrIsDirectory, "b.txt/x": ErrParentIsFile,
	} {
		_, _, err := tree.Find(path)
		require.ErrorIs(t, err, want, "%q", path)
	}
}

func TestBarredFolders(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{
		"plain/f": "f", "nested/.git": "gitdir: x", "bare/HEAD": "x", "bare/objects/": "", "bare/refs/": "", "my/store/x": "x",
		".git/HEAD": "x", "git~1/f": "f", "to": "-> nested",
	})
	tree := open(t, dir, Options{Foreign: hasDotGit, Forbidden: []string{filepath.Join(dir, "my/store")}})
	for key, want := range map[string]string{
		"": "", "plain": "", "missing": "", "my": "", "to": "", "plain/f": "",
		"nested": "a repository of its own", "bare": "a bare git repository", "my/store": BarredStore,
		".git": "git's own folder, or a spelling of it", "git~1": "git's own folder, or a spelling of it",
	} {
		assert.Equal(t, want, tree.Barred(key), "%q", key)
	}
	assert.NotEmpty(t, tree.BarredName(".Git"))
	assert.Empty(t, tree.BarredName(".gitignore"))
}

func TestLookAndStreamAgree(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"f": "some text", "x": "x:it", "empty": "", "link": "-> f", "d/": "", "away": "-> d"})
	tree := open(t, dir, Options{})
	for key, want := range map[string]struct {
		kind    change.Kind
		content string
	}{
		"f": {change.File, "some text"}, "x": {change.File, "x:it"}, "empty": {change.File, ""}, "link": {change.Symlink, "f"},
		"d": {change.Dir, ""}, "missing": {}, "missing/deep": {}, "f/below": {}, "away/through": {},
	} {
		looked, err := tree.Look(key)
		require.NoError(t, err, key)
		var b bytes.Buffer
		size := int64(0)
		streamed, err := tree.Stream(key, func(n int64) io.Writer { size = n; return &b })
		require.NoError(t, err, key)
		assert.Equal(t, want.kind, looked.Kind, key)
		assert.Equal(t, looked.Version, streamed.Version, key)
		assert.Equal(t, looked.Mode, streamed.Mode, key)
		assert.Equal(t, want.content, b.String(), key)
		assert.Equal(t, int64(len(want.content)), size, key)
		assert.Equal(t, want.kind == change.File || want.kind == change.Symlink || want.kind == change.Dir, looked.Fresh, "%s was made just now", key)
	}
	names, err := tree.Names("")
	require.NoError(t, err)
	assert.Equal(t, []string{"away", "d", "empty", "f", "link", "x"}, names)
	for _, key := range []string{"missing", "f", "away"} {
		names, err := tree.Names(key)
		require.NoError(t, err)
		assert.Empty(t, names, "%s is no folder", key)
	}
}

// growing grows the file that is being read, as a log does.
type growing struct{ path string }

func (g growing) Write(data []byte) (int, error) {
	f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	_, err = f.WriteString("more\n")
	return len(data), err
}

func TestStreamOfWhatDoesNotHoldStill(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"log": "line\n", "large": strings.Repeat("x", 501)})
	tree := open(t, dir, Options{MaxFile: 500})
	_, err := tree.Stream("log", func(int64) io.Writer { return growing{filepath.Join(dir, "log")} })
	require.ErrorIs(t, err, ErrDrift)
	_, err = tree.Stream("large", func(int64) io.Writer { return io.Discard })
	require.ErrorIs(t, err, ErrTooLarge)
	tries := 0
	require.NoError(t, os.WriteFile(filepath.Join(dir, "log"), []byte("1\n"), 0o644))
	var b bytes.Buffer
	_, err = tree.Stream("log", func(int64) io.Writer {
		b.Reset()
		if tries++; tries == 1 {
			return growing{filepath.Join(dir, "log")}
		}
		return &b
	})
	require.NoError(t, err, "the second look finds it still")
	whole, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, string(whole), b.String())
	assert.Greater(t, len(whole), 2)
}

func TestWithin(t *testing.T) {
	t.Parallel()
	assert.True(t, Within("a/b", ""))
	assert.True(t, Within("a", "a"))
	assert.True(t, Within("a/b", "a"))
	assert.False(t, Within("ab", "a"))
	assert.False(t, Within("a", "a/b"))
	assert.Equal(t, []string{"a/b", "a"}, Above("a/b/c"))
}
