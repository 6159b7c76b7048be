package snapshot

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// allKinds has one entry for everything that a record must be able to hold.
func allKinds(t testing.TB) []Entry {
	t.Helper()
	random := make([]byte, 20<<20)
	rand.Read(random)
	link := func(target string) change.State { return change.State{Kind: change.Symlink, Content: []byte(target)} }
	mode := func(m fs.FileMode, text string) change.State {
		return change.State{Kind: change.File, Mode: m, Content: []byte(text)}
	}
	entry := func(path string, before, after change.State) Entry {
		return Entry{Change: change.Change{Path: path, Before: before, After: after}}
	}
	moved := entry("new name", change.State{}, file(strings.Repeat("0123456789\n", 100)+"x"))
	moved.OldPath = "old name"
	moved.Edits = []change.Edit{{Start: 1100, End: 1100, New: []byte("x")}}
	indexed := entry("indexed", file("1"), file("2"))
	indexed.Index = &change.IndexChange{
		Before: []change.IndexLine{{Mode: 0o100644, OID: strings.Repeat("a", 40), Flags: 0x40000000}},
		After:  []change.IndexLine{{Mode: 0o100755, OID: strings.Repeat("b", 64), Stage: 2}, {Mode: 0o120000, Stage: 3}},
	}
	outside := entry("/tmp/outside", change.State{}, file("o"))
	outside.Outside, outside.InPlace = true, true
	return []Entry{
		entry("0 bytes", file(""), file("x")),
		entry("1 byte", file("x"), file("")),
		entry("20 MB", change.State{Kind: change.File, Mode: 0o600, Content: random}, file("gone")),
		entry("line\nfeed", file("same"), file("same")),
		entry("not \xff\xfe UTF-8", file("\xff\x00\x01"), change.State{}),
		entry(`"quoted"`, change.State{}, mode(0, "new file")),
		entry("meta", file("a"), file("b")), entry("before/0000", file("a"), file("b")),
		entry("link", link("a/b"), link("../\xff")),
		entry("folder", change.State{Kind: change.Dir, Mode: 0o750 | fs.ModeSetgid}, file("now a file")),
		entry("mode", mode(0o644, "m"), mode(0o4755&0o777|fs.ModeSetuid|fs.ModeSticky, "m")),
		entry("no permissions", mode(0, "n"), mode(0o7, "n")),
		entry("old name", file(strings.Repeat("0123456789\n", 100)), change.State{}), moved, indexed, outside,
		{Change: change.Change{Path: "unknown", Before: file("u")}, AfterUnknown: true},
	}
}

func TestRecordGivesBackWhatWasPut(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	entries := allKinds(t)
	meta := Meta{
		Kind: KindUndo, Reverts: []string{"000000000001"}, Partial: true, Session: "s", Turn: "t", Label: "la\nbel \"é\"",
		Tool: "1.2.3", Head: &Head{Ref: "refs/heads/main", OID: strings.Repeat("c", 64)}, Mode: "text", Format: "envelope",
		Policy: "codex", DirsMade: []DirMeta{{Path: "a/\xff", Mode: 0o755}}, DirsRemoved: []DirMeta{{Path: "b", Mode: 0o700}},
		ID: store.NewID(time.Now()), Time: time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("x", 3600)),
	}
	patches := [][]byte{[]byte("first\n"), {}, []byte("third \xff")}
	r, err := store.Put(context.Background(), meta, entries, patches)
	require.NoError(t, err)
	require.NoError(t, store.SetPending(r))
	require.NoError(t, store.Publish(r))

	got, err := site.History().Read(meta.ID)
	require.NoError(t, err)
	requireStates(t, got, entries)
	requireStates(t, r, entries)
	assert.True(t, got.Meta.Inexact)
	for i, e := range entries {
		assert.Equal(t, e.OldPath, got.Meta.Paths[i].OldPath)
		assert.Equal(t, e.Index, got.Meta.Paths[i].Index)
		assert.Equal(t, e.InPlace, got.Meta.Paths[i].InPlace)
		assert.Equal(t, e.Outside, got.Meta.Paths[i].Outside)
		assert.True(t, got.Meta.Paths[i].Before.Same(e.Before))
		assert.Equal(t, !e.AfterUnknown, got.Meta.Paths[i].After.Same(e.After))
		assert.Equal(t, e.Before.Equal(e.After) && !e.AfterUnknown, got.Meta.Paths[i].After.Same(e.Before), e.Path)
	}
	for i, p := range patches {
		text, err := got.Patch(i)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(p, text))
	}
	want := meta
	want.Time = time.Date(2024, 5, 6, 6, 8, 9, 123e6, time.UTC)
	want.Version, want.Root, want.Worktree, want.Durability = 1, site.Root, store.Place().Worktree, DurabilityRecord
	want.Paths, want.Patches, want.Inexact = got.Meta.Paths, 3, true
	assert.Equal(t, want, got.Meta)
	fsck(t, store.place.Dir)
}

func TestRootThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	root := filepath.Join(tempDir(t), "r\xff")
	if err := os.Mkdir(root, 0o755); err != nil {
		oxtest.Lacks(t, "a file system for temporary folders that takes names that are not UTF-8: %v", err)
	}
	env := stateEnv(t)
	r := publish(t, open(t, locate(t, root, env), Options{}), Meta{}, modify("a", "1", "2"))
	got, err := locate(t, root, env).History().Read(r.Meta.ID)
	require.NoError(t, err)
	assert.Equal(t, root, got.Meta.Root)
}

func TestGitAndGoGitReadARecord(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	entries := append(numbered(12), medium())
	r := publish(t, store, Meta{}, entries...)
	dir := store.place.Dir
	ref := groupName(store.place, groupOps) + r.ref.String()
	assert.Equal(t, r.Commit()+"\n", git(t, dir, "rev-parse", ref))
	assert.Equal(t, "the patch\n", git(t, dir, "cat-file", "blob", ref+":patch/0000"))
	assert.True(t, string(entries[12].After.Content) == git(t, dir, "cat-file", "blob", ref+":after/0012"))
	assert.Contains(t, git(t, dir, "show", "--stat", ref), "oxpatch apply "+r.Meta.ID)
	assert.True(t, json.Valid([]byte(git(t, dir, "cat-file", "blob", ref+":meta"))))
	// The large after must be a delta, or the pack would hold the content twice.
	line := strings.Fields(git(t, dir, "verify-pack", "-v", packPath(store.place, r.ref.pack)))
	assert.Contains(t, line, r.Meta.Paths[12].Before.OID)
	out := git(t, dir, "verify-pack", "-v", packPath(store.place, r.ref.pack))
	assert.Regexp(t, r.Meta.Paths[12].After.OID+` blob +\d+ \d+ \d+ 1 `+r.Meta.Paths[12].Before.OID, out)

	odb := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	for i, e := range entries {
		o, err := odb.EncodedObject(plumbing.BlobObject, plumbing.NewHash(r.Meta.Paths[i].After.OID))
		require.NoError(t, err)
		in, err := o.Reader()
		require.NoError(t, err)
		var buf bytes.Buffer
		_, err = buf.ReadFrom(in)
		require.NoError(t, err)
		require.True(t, buf.String() == string(e.After.Content))
	}
}

func TestEqualContentIsStoredOnce(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	noise := make([]byte, 100<<10)
	rand.Read(noise)
	same := change.State{Kind: change.File, Mode: 0o644, Content: noise}
	r := publish(t, store, Meta{},
		Entry{Change: change.Change{Path: "a", Before: same, After: same}},
		Entry{Change: change.Change{Path: "b", Before: same}})
	info, err := os.Stat(packPath(store.place, r.ref.pack))
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(len(noise)*3/2))
	requireStates(t, r, []Entry{
		{Change: change.Change{Path: "a", Before: same, After: same}},
		{Change: change.Change{Path: "b", Before: same}},
	})
}

func TestWrongEditsNeverReachTheRecord(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	before, after := strings.Repeat("a line of text\n", 100), strings.Repeat("another line\n", 100)
	for name, edits := range map[string][]change.Edit{
		"do something else":    {{Start: 0, End: 1, New: []byte("x")}},
		"are out of range":     {{Start: 0, End: 1 << 20}},
		"are out of order":     {{Start: 9, End: 10}, {Start: 0, End: 1}},
		"are none":             {},
		"begin beyond the end": {{Start: 5000, End: 4000, New: []byte("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			e := modify("a", before, after)
			e.Edits = edits
			requireStates(t, put(t, store, Meta{}, e), []Entry{e})
		})
	}
}

func TestThreeThousandEntries(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	entries := numbered(3000)
	r := publish(t, store, Meta{}, entries...)
	got, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
	requireStates(t, got, entries)
	fsck(t, store.place.Dir)
}

func TestMoreThanTenThousandEntries(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	var entries []Entry
	for i := range 10_050 {
		entries = append(entries, modify("f"+number(i), "", number(i)))
	}
	r := publish(t, store, Meta{}, entries...)
	got, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
	requireStates(t, got, entries)
	fsck(t, store.place.Dir)
}

func TestPutRefusesAnIDThatIsNone(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	for _, id := range []string{"", "../../../x", "ABCDEFGHJKMN", "0123456789abc"} {
		_, err := store.Put(context.Background(), Meta{ID: id}, nil, nil)
		assert.Error(t, err)
	}
}

func TestPutStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := store.Put(ctx, Meta{ID: store.NewID(time.Now())}, numbered(2), nil)
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(store.packDir())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestUnknownFieldsAreIgnoredAndNewVersionsRefused(t *testing.T) {
	t.Parallel()
	var m Meta
	require.NoError(t, m.decode([]byte(`{"version":1,"id":"000000000001","kind":"apply","time":"2024-01-01T00:00:00.000Z",
		"new_field":{"a":[1]},"paths":[{"path":"p","new":1,"before":{"kind":"absent","x":2},"after":{"kind":"file","mode":"0644"}}]}`), "x"))
	assert.Equal(t, "p", m.Paths[0].Path)
	assert.Equal(t, fs.FileMode(0o644), m.Paths[0].After.Mode)

	var newer *NewerFormatError
	require.ErrorAs(t, m.decode([]byte(`{"version":2,"id":17,"paths":"something else"}`), "x"), &newer)
	assert.Equal(t, 2, newer.Version)
	assert.Equal(t, MetaVersion, newer.Supported)
	assert.ErrorIs(t, m.decode([]byte(`{"version":1,"paths":7}`), "x"), ErrTorn)
	assert.ErrorIs(t, m.decode([]byte(`{`), "x"), ErrTorn)
}
