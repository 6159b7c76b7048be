package scan

import (
	"context"
	"crypto/sha1"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/worktree"
)

// hasDotGit stands for the test that tells repositories.
func hasDotGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// newTree is a tree of files with their names as content; "-> x" in a name makes a link.
func newTree(t *testing.T, names ...string) (string, *worktree.Tree) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range names {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if link {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
	}
	tree, err := worktree.Open(dir, worktree.Options{Forbidden: []string{filepath.Join(dir, "my/store")}, Foreign: hasDotGit})
	require.NoError(t, err)
	t.Cleanup(func() { tree.Close() })
	return dir, tree
}

func paths(l *Listing) []string {
	list := []string{}
	for _, f := range l.Files {
		list = append(list, f.Path)
	}
	return list
}

func TestWalk(t *testing.T) {
	t.Parallel()
	dir, tree := newTree(t, "a", "d/b", "d/e/c", "d.x", "link -> d", "nested/.git/HEAD", "nested/f", "deep/nested/.git", "deep/g",
		"my/store/pack", "my/own", ".git/config", "deep/.GIT")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty/er"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, "d/e"), 0o700))
	ctx := context.Background()
	all, err := Walk(ctx, tree, []string{""}, math.MaxInt)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "d.x", "d/b", "d/e/c", "deep/g", "link", "my/own"}, paths(all))
	assert.Equal(t, int64(1+3+3+5+6+1+6), all.Bytes())
	assert.Equal(t, []LeftOut{
		{"deep/.GIT", "git's own folder, or a spelling of it"},
		{"deep/nested", "a repository of its own"}, {"nested", "a repository of its own"},
	}, all.LeftOut, "the store is left out without a word")
	assert.Equal(t, map[string]os.FileMode{"d": 0o755, "d/e": 0o700, "deep": 0o755, "my": 0o755}, all.Dirs)

	some, err := Walk(ctx, tree, []string{"d/e", "a", "missing", "d/e/c", "link"}, math.MaxInt)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "d/e/c", "link"}, paths(some))

	_, err = Walk(ctx, tree, []string{""}, 3)
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	require.ErrorIs(t, err, ErrLimit)
	assert.Equal(t, LimitFiles, limit.What)
	stopped, stop := context.WithCancel(ctx)
	stop()
	_, err = Walk(stopped, tree, []string{""}, math.MaxInt)
	require.ErrorIs(t, err, context.Canceled)
}

func TestLook(t *testing.T) {
	t.Parallel()
	_, tree := newTree(t, "a", "d/b", "link -> d", "nested/.git/HEAD", "nested/f", "git~1", "my/store/pack")
	list, err := Look(context.Background(), tree, []string{"d/b", "a", "gone", "link", "link/b", "nested/", "nested/f", "d", "a", "git~1", "my/store/pack"}, math.MaxInt)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "d/b", "link"}, paths(list))
	assert.Equal(t, []LeftOut{{"git~1", "git's own folder, or a spelling of it"}, {"nested", "a repository of its own"}}, list.LeftOut)
	_, err = Look(context.Background(), tree, []string{"a", "d/b"}, 1)
	require.ErrorIs(t, err, ErrLimit)
}

func TestHashIsThatOfABlob(t *testing.T) {
	t.Parallel()
	_, tree := newTree(t, "some text", "link -> to")
	for key, text := range map[string]string{"some text": "some text", "link": "to"} {
		want := OID(sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
		id, s, content, err := Hash(tree, key, 100)
		require.NoError(t, err)
		assert.Equal(t, want, id)
		assert.Equal(t, text, string(content))
		assert.Equal(t, int64(len(text)), s.Version.Size)
		id, _, content, err = Hash(tree, key, 1)
		require.NoError(t, err)
		assert.Equal(t, want, id)
		assert.Nil(t, content)
	}
	_, s, _, err := Hash(tree, "missing", 100)
	require.NoError(t, err)
	assert.Equal(t, change.Absent, s.Kind)
}

func TestTheIndexKnowsAFileAsLongAsItLooksTheSame(t *testing.T) {
	t.Parallel()
	s := worktree.Sight{Kind: change.File, Mode: 0o644, Version: worktree.Version{Size: 3, Mtime: 5, Ctime: 7, Dev: 1, Inode: 9}}
	x := NewIndex()
	x.Note("a", s, OID{1})
	id, ok := x.Lookup("a", s)
	assert.True(t, ok)
	assert.Equal(t, OID{1}, id)
	_, ok = x.Lookup("b", s)
	assert.False(t, ok)
	for name, other := range map[string]func(*worktree.Sight){
		"kind": func(s *worktree.Sight) { s.Kind = change.Symlink }, "size": func(s *worktree.Sight) { s.Version.Size++ },
		"mtime": func(s *worktree.Sight) { s.Version.Mtime++ }, "ctime": func(s *worktree.Sight) { s.Version.Ctime++ },
		"inode": func(s *worktree.Sight) { s.Version.Inode++ }, "device": func(s *worktree.Sight) { s.Version.Dev++ },
	} {
		o := s
		other(&o)
		_, ok := x.Lookup("a", o)
		assert.False(t, ok, name)
	}
	s.Fresh = true
	x.Note("a", s, OID{2})
	_, ok = x.Lookup("a", s)
	assert.False(t, ok, "what changed just now can change again unseen")
	assert.Zero(t, x.Len())
}

// Whatever is between two looks, a changed file is never taken for the one that was noted.
func TestNoChangeIsMissed(t *testing.T) {
	t.Parallel()
	dir, tree := newTree(t, "f")
	x := NewIndex()
	for i := range 300 {
		text := fmt.Sprintf("%03d", i)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644))
		s, err := tree.Look("f")
		require.NoError(t, err)
		_, known := x.Lookup("f", s)
		require.False(t, known)
		id, s, _, err := Hash(tree, "f", 0)
		require.NoError(t, err)
		x.Note("f", s, id)
		if i%100 == 0 {
			time.Sleep(120 * time.Millisecond)
			id, s, _, err := Hash(tree, "f", 0)
			require.NoError(t, err)
			x.Note("f", s, id)
			_, known := x.Lookup("f", s)
			require.True(t, known, "time makes it known")
		}
	}
}

func TestTheIndexIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := NewIndex()
		for range rapid.IntRange(0, 20).Draw(t, "files") {
			path := string(rapid.SliceOf(rapid.Byte()).Draw(t, "path"))
			x.entries[path] = indexEntry{
				kind: change.Kind(rapid.IntRange(0, 4).Draw(t, "kind")),
				version: worktree.Version{Size: rapid.Int64().Draw(t, "size"), Mtime: rapid.Int64().Draw(t, "mtime"), Ctime: rapid.Int64().Draw(t, "ctime"),
					Dev: rapid.Uint64().Draw(t, "dev"), Inode: rapid.Uint64().Draw(t, "inode")},
				oid: OID{rapid.Byte().Draw(t, "id")},
			}
		}
		data := x.Encode()
		back, err := DecodeIndex(data)
		require.NoError(t, err)
		assert.Equal(t, x, back)
		at := rapid.IntRange(0, len(data)-1).Draw(t, "damage")
		_, err = DecodeIndex(data[:at])
		require.Error(t, err)
		data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		_, err = DecodeIndex(data)
		require.Error(t, err)
	})
}

func TestBlame(t *testing.T) {
	t.Parallel()
	files := func(sizes map[string]int64) (list []File) {
		for path, n := range sizes {
			list = append(list, File{Path: path, Sight: worktree.Sight{Version: worktree.Version{Size: n}}})
		}
		return list
	}
	assert.Equal(t, []Share{{"a/node_modules", 90}}, Blame(files(map[string]int64{"a/node_modules/x": 30, "a/node_modules/y/z": 30, "a/node_modules/w": 30, "b": 9}), SizeOf))
	assert.Equal(t, []Share{{"a/big.iso", 60}}, Blame(files(map[string]int64{"a/big.iso": 60, "a/c": 9, "b": 50}), SizeOf))
	assert.Equal(t, []Share{{"d", 5}, {"a", 4}, {"b", 4}}, Blame(files(map[string]int64{"a": 4, "b": 4, "c": 3, "d": 5}), SizeOf))
	assert.Equal(t, []Share{{"", 0}}, Blame(nil, SizeOf))
	assert.Equal(t, "over 3 files (a/b holds 4)", (&LimitError{What: LimitFiles, Most: 3, Least: 4, Blame: []Share{{"a/b", 4}}}).Error())
	assert.Equal(t, "over 3 bytes that are not in the store yet (the top folder holds 4 bytes)", (&LimitError{What: LimitBytes, Most: 3, Blame: []Share{{"", 4}}}).Error())
	assert.Equal(t, "over 3 files", (&LimitError{What: LimitFiles, Most: 3}).Error())
}
