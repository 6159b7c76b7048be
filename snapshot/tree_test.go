package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/change"
)

// treeOf makes a draft of contents; names that end in "@" are links, in "*" executable.
func treeOf(contents map[string]string) TreeDraft {
	t := TreeDraft{Dirs: map[string]fs.FileMode{}}
	for path, text := range contents {
		s := StateMeta{Kind: change.File, Mode: 0o644, Size: int64(len(text)), OID: hashObject(typeBlob, []byte(text)).String()}
		switch {
		case strings.HasSuffix(path, "@"):
			s.Kind, s.Mode = change.Symlink, 0
		case strings.HasSuffix(path, "*"):
			s.Mode = 0o750
		}
		t.Files = append(t.Files, TreeFile{Path: path, State: s})
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			t.Dirs[dir] = 0o755
		}
	}
	t.Content = func(f TreeFile) ([]byte, error) { return []byte(contents[f.Path]), nil }
	return t
}

// putTree records a tree and publishes it.
func putTree(t require.TestingT, s *Store, d TreeDraft) (*Record, Stored) {
	have, err := s.Objects()
	require.NoError(t, err)
	defer have.Close()
	rec, stored, err := s.PutTree(context.Background(), Meta{ID: s.NewID(time.Now()), Kind: KindCheckpoint}, d, have)
	require.NoError(t, err)
	require.NoError(t, s.Publish(rec))
	return rec, stored
}

// treeIn returns the files and folders that a record holds.
func treeIn(t require.TestingT, r *Record) (files map[string]StateMeta, contents map[string]string, dirs map[string]fs.FileMode) {
	files, contents, dirs = map[string]StateMeta{}, map[string]string{}, map[string]fs.FileMode{}
	read, closePacks := r.Reader()
	defer closePacks()
	require.NoError(t, r.WalkTree(context.Background(), func(path string, s StateMeta) error {
		if s.Kind == change.Dir {
			dirs[path] = s.Mode
			return nil
		}
		files[path] = s
		st, err := read(s)
		contents[path] = string(st.Content)
		return err
	}))
	return files, contents, dirs
}

func treeStore(t testing.TB) (*Site, *Store) {
	t.Helper()
	return plainStore(t, Options{Durability: DurabilityProcess})
}

func TestTreesComeBack(t *testing.T) {
	t.Parallel()
	site, store := treeStore(t)
	contents := map[string]string{
		"a": "a\n", "empty": "", "deep/er/tool*": "#!/bin/sh\n", "deep/same": "a\n", "link@": "deep/er", "deep/dangling@": "no where",
		"new\nline": "1", "blank at the end ": "2", "deep/not utf-8 \xff": "\x00\xff", "list": "is a name too", "0000": "and this",
		"4 0644 9 x": "like a line of a list", "tree/meta": "3", ".gitmodules": "4",
	}
	draft := treeOf(contents)
	draft.Dirs["deep"] = 0o700 | fs.ModeSetgid
	rec, stored := putTree(t, store, draft)
	assert.Equal(t, TreeMeta{Files: len(contents), Bytes: rec.Meta.Tree.Bytes}, *rec.Meta.Tree)
	assert.Positive(t, stored.Bytes)
	again, err := site.History().Read(rec.Meta.ID)
	require.NoError(t, err)
	assert.Equal(t, rec.Meta.Tree, again.Meta.Tree)
	files, got, dirs := treeIn(t, again)
	assert.Equal(t, contents, got)
	assert.Equal(t, draft.Dirs, dirs)
	for _, f := range draft.Files {
		assert.Equal(t, f.State, files[f.Path], "%q", f.Path)
	}
	fsck(t, store.place.Dir)
	// git repacks everything as it likes.
	git(t, store.place.Dir, "--git-dir=.", "repack", "-adq", "--depth=10", "--window=10")
	_, got, _ = treeIn(t, again)
	assert.Equal(t, contents, got)
	again.Close()
	git(t, store.place.Dir, "--git-dir=.", "gc", "-q", "--prune=now")
	_, got, _ = treeIn(t, again)
	assert.Equal(t, contents, got)
}

func TestFoldersOfManyEntries(t *testing.T) {
	t.Parallel()
	_, store := treeStore(t)
	contents := map[string]string{}
	for i := range 10_050 {
		contents[fmt.Sprintf("f%05d", i)] = fmt.Sprint(i % 7)
		if i%100 == 0 {
			contents[fmt.Sprintf("f%05d.d/x", i)] = "in a folder between"
		}
	}
	rec, stored := putTree(t, store, treeOf(contents))
	assert.Equal(t, int64(7+19), stored.Bytes, "equal contents are one object")
	_, got, _ := treeIn(t, rec)
	assert.Equal(t, contents, got)
	fsck(t, store.place.Dir)
}

func TestTreesShareWhatTheyHaveInCommon(t *testing.T) {
	t.Parallel()
	_, store := treeStore(t)
	contents := map[string]string{}
	for i := range 50 {
		contents[fmt.Sprintf("d%d/e%d/f", i%5, i)] = fmt.Sprint(i)
	}
	first, _ := putTree(t, store, treeOf(contents))
	_, stored := putTree(t, store, treeOf(contents))
	assert.Equal(t, Stored{Objects: 3}, stored, "meta, tree and commit")
	before := maps.Clone(contents)
	contents["d1/e1/f"] = "changed"
	third, stored := putTree(t, store, treeOf(contents))
	assert.Equal(t, int64(len("changed")), stored.Bytes)
	assert.Less(t, stored.Objects, 3+1+2*3)
	_, got, _ := treeIn(t, first)
	assert.Equal(t, before, got)
	_, got, _ = treeIn(t, third)
	assert.Equal(t, contents, got)
	fsck(t, store.place.Dir)
}

func TestATreeThatMovesIsNotRecorded(t *testing.T) {
	t.Parallel()
	_, store := treeStore(t)
	for name, content := range map[string]func(TreeFile) ([]byte, error){
		"other bytes": func(TreeFile) ([]byte, error) { return []byte("b"), nil },
		"an error":    func(TreeFile) ([]byte, error) { return nil, fs.ErrPermission },
	} {
		draft := treeOf(map[string]string{"in/a": "a"})
		draft.Content = content
		have, err := store.Objects()
		require.NoError(t, err)
		_, _, err = store.PutTree(context.Background(), Meta{ID: store.NewID(time.Now())}, draft, have)
		require.Error(t, err, name)
		var moved *MovedError
		if name == "other bytes" {
			require.ErrorIs(t, err, ErrMoved)
			require.ErrorAs(t, err, &moved)
			assert.Equal(t, "in/a", moved.Path)
		} else {
			require.ErrorIs(t, err, fs.ErrPermission)
		}
	}
	left, err := os.ReadDir(store.packDir())
	require.NoError(t, err)
	assert.Empty(t, left)
	_, _, err = store.PutTree(context.Background(), Meta{ID: "no id"}, TreeDraft{}, nil)
	require.ErrorContains(t, err, "not an operation id")
}

func TestDamagedTrees(t *testing.T) {
	t.Parallel()
	_, store := treeStore(t)
	other, _ := putTree(t, store, treeOf(map[string]string{"a": "shared", "b": "b"}))
	rec, _ := putTree(t, store, treeOf(map[string]string{"a": "shared", "c": "c"}))
	require.NoError(t, os.Remove(packPath(store.place, other.ref.pack)))
	rec.Close()
	lost := 0
	read, closePacks := rec.Reader()
	defer closePacks()
	require.NoError(t, rec.WalkTree(context.Background(), func(_ string, s StateMeta) error {
		if _, err := read(s); err != nil {
			require.ErrorIs(t, err, ErrTorn)
			lost++
		}
		return nil
	}))
	assert.Equal(t, 1, lost, "only what was shared is gone")

	stop := errors.New("stop")
	require.ErrorIs(t, rec.WalkTree(context.Background(), func(string, StateMeta) error { return stop }), stop)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, rec.WalkTree(ctx, nil), context.Canceled)
	require.NoError(t, os.Remove(packPath(store.place, rec.ref.pack)))
	rec.Close()
	require.ErrorIs(t, rec.WalkTree(context.Background(), nil), ErrTorn)
	for _, line := range []string{"", "file", "file 0644 3", "file 0644 3 ", "file 0644 x a", "thing 0644 3 a", "file 9 3 a", "file 0644 3 a/b", "file 0644 3 .."} {
		_, _, err := parseListed(line)
		require.Error(t, err, "%q", line)
	}
}

func TestScanIndexIsKept(t *testing.T) {
	t.Parallel()
	site, store := treeStore(t)
	assert.Nil(t, site.ScanIndex())
	for _, text := range []string{"one", "two"} {
		require.NoError(t, store.SaveScanIndex([]byte(text)))
		assert.Equal(t, text, string(site.ScanIndex()))
	}
}

func TestAnyTreeComesBack(t *testing.T) {
	t.Parallel()
	_, store := treeStore(t)
	name := rapid.StringOfN(rapid.RuneFrom([]rune("ab.0 @*\n")), 1, 3, -1).Filter(func(s string) bool { return s != "." && s != ".." })
	rapid.Check(t, func(t *rapid.T) {
		contents := map[string]string{}
		taken := map[string]bool{} // as a folder
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			parts := rapid.SliceOfN(name, 1, 4).Draw(t, "path")
			path := strings.Join(parts, "/")
			clash := taken[path]
			for i := 1; i < len(parts); i++ {
				_, isFile := contents[strings.Join(parts[:i], "/")]
				clash = clash || isFile
			}
			if clash {
				continue
			}
			for i := 1; i < len(parts); i++ {
				taken[strings.Join(parts[:i], "/")] = true
			}
			contents[path] = rapid.SampledFrom([]string{"", "x", "yy", "\x00"}).Draw(t, "text")
		}
		draft := treeOf(contents)
		rec, _ := putTree(t, store, draft)
		files, got, dirs := treeIn(t, rec)
		assert.Equal(t, contents, got)
		assert.Equal(t, draft.Dirs, dirs)
		assert.Len(t, files, len(draft.Files))
		rec.Close()
	})
}

// A checkpoint is published without having been pending: also where nothing ever was.
func TestPublishOfWhatWasNeverPending(t *testing.T) {
	t.Parallel()
	for _, d := range []Durability{DurabilityProcess, DurabilityRecord, DurabilityPower} {
		var touched []string
		site, store := plainStore(t, Options{Durability: d, Effects: func(_ Effect, path string) error {
			touched = append(touched, filepath.ToSlash(path))
			return nil
		}})
		rec := put(t, store, Meta{Kind: KindCheckpoint}, modify("a", "a", "a"))
		require.NoError(t, store.Publish(rec), d)
		ops, err := site.History().Ops()
		require.NoError(t, err)
		assert.Len(t, ops, 1)
		for _, path := range touched {
			assert.NotContains(t, path, "/pending", d)
		}
	}
}

// Records of trees share what they have in common: dropping one takes only what no other needs, whether
// its objects are in its own pack or in that of another.
func TestPruningKeepsWhatTreesShare(t *testing.T) {
	t.Parallel()
	site, store := treeStore(t)
	contents := map[string]string{"same/deep/a": noise(3000), "changes": noise(2000), "b": "b\n"}
	record := func() string {
		r, _ := putTree(t, store, treeOf(contents))
		return r.Meta.ID
	}
	check := func(id string, want map[string]string) {
		t.Helper()
		r, err := site.History().Read(id)
		require.NoError(t, err)
		_, got, _ := treeIn(t, r)
		assert.Equal(t, want, got)
	}
	first := record()
	was := map[string]string{"same/deep/a": contents["same/deep/a"], "changes": contents["changes"], "b": "b\n"}
	only := hashObject(typeBlob, []byte(contents["changes"]))
	contents["changes"] = noise(2100)
	second := record()
	publish(t, store, Meta{}, numbered(2)...)
	contents["b"] = "B\n"
	third := record()
	check(first, was)
	forget := func(id string) {
		t.Helper()
		out, err := store.Forget(context.Background(), []string{id}, time.Now(), 0)
		require.NoError(t, err)
		require.Equal(t, []string{id}, out.Dropped)
		require.Empty(t, out.Damage)
		fsck(t, store.place.Dir)
	}
	// The first holds in its pack what the others borrow.
	forget(first)
	assert.False(t, holds(t, store, only))
	check(third, contents)
	prune(t, store, unlimited(), time.Now())
	check(third, contents)
	wasSecond := map[string]string{"same/deep/a": contents["same/deep/a"], "changes": contents["changes"], "b": "b\n"}
	check(second, wasSecond)
	forget(third)
	check(second, wasSecond)
	assert.False(t, holds(t, store, hashObject(typeBlob, []byte("B\n"))))
	forget(second)
	assert.False(t, holds(t, store, hashObject(typeBlob, []byte(contents["same/deep/a"]))))
	assert.Len(t, opIDs(t, site), 1)
}
