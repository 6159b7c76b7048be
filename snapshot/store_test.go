package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requirePrivate checks that nobody else can read the store.
func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "%s is %s", path, info.Mode())
		return nil
	}))
}

func TestStoreIsPrivate(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	store := open(t, locate(t, repo, stateEnv(t)), Options{})
	publish(t, store, Meta{}, numbered(2)...)
	requirePrivate(t, filepath.Join(repo, ".git", "oxpatch"))
	git(t, store.place.Dir, "gc", "-q")
	requirePrivate(t, filepath.Join(repo, ".git", "oxpatch"))
}

// Whatever git does to the store, the records stay readable.
func TestGitMayRepackTheStore(t *testing.T) {
	t.Parallel()
	cases := map[string][][]string{
		"gc":                   {{"gc", "-q", "--prune=now"}},
		"gc twice, aggressive": {{"gc", "-q", "--aggressive", "--prune=now"}, {"gc", "-q", "--prune=now"}},
		"repack of the new":    {{"repack", "-q"}},
		"pack-refs":            {{"pack-refs", "--all", "--prune"}},
		"all of it":            {{"pack-refs", "--all", "--prune"}, {"repack", "-q", "-a", "-d", "-f"}, {"prune"}, {"pack-refs", "--all"}},
	}
	for name, commands := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, store := plainStore(t, Options{})
			entries := append(numbered(5), medium())
			first := publish(t, store, Meta{}, entries...)
			second := publish(t, store, Meta{}, numbered(4)...)
			pending := put(t, store, Meta{}, numbered(3)...)
			require.NoError(t, store.SetPending(pending))
			for _, c := range commands {
				git(t, store.place.Dir, c...)
			}
			third := publish(t, store, Meta{}, numbered(2)...)
			requireHistory(t, site, third, second, first)
			got, err := site.History().Read(first.Meta.ID)
			require.NoError(t, err)
			requireStates(t, got, entries)
			patch, err := got.Patch(0)
			require.NoError(t, err)
			assert.Equal(t, "the patch\n", string(patch))
			requireStates(t, first, entries)

			requirePending(t, site, pending.Meta.ID)
			require.NoError(t, store.Publish(pending))
			requirePending(t, site)
			requireHistory(t, site, third, pending, second, first)
			fsck(t, store.place.Dir)
		})
	}
}

func TestAPackedPendingRefCanBeCleared(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	r, kept := put(t, store, Meta{}, numbered(1)...), put(t, store, Meta{}, numbered(2)...)
	require.NoError(t, store.SetPending(r))
	require.NoError(t, store.SetPending(kept))
	git(t, store.place.Dir, "pack-refs", "--all", "--prune")
	require.NoError(t, store.ClearPending(r))
	requirePending(t, site, kept.Meta.ID)
	fsck(t, store.place.Dir)
}

func TestUnpackedRecordsAreRead(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	r := publish(t, store, Meta{}, numbered(3)...)
	pack := packPath(store.place, r.ref.pack)
	away := filepath.Join(tempDir(t), "pack")
	rename(t, pack, away)
	require.NoError(t, os.Remove(idxPath(pack)))
	git(t, store.place.Dir, "--git-dir=.", "config", "alias.take", "!git unpack-objects -q <"+away)
	git(t, store.place.Dir, "take")
	got, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
	requireStates(t, got, numbered(3))
}

func requireHistory(t *testing.T, site *Site, want ...*Record) {
	t.Helper()
	ops, err := site.History().Ops()
	require.NoError(t, err)
	require.Len(t, ops, len(want))
	for i, o := range ops {
		require.Equal(t, want[i].Meta.ID, o.ID)
		r, err := o.Read()
		require.NoError(t, err)
		require.Equal(t, want[i].Meta.Paths, r.Meta.Paths)
	}
}

func TestTheIndexOfAPackIsMadeAgain(t *testing.T) {
	t.Parallel()
	damages := map[string]func(t *testing.T, idx string){
		"missing": func(t *testing.T, idx string) { require.NoError(t, os.Remove(idx)) },
		"empty":   func(t *testing.T, idx string) { require.NoError(t, os.Truncate(idx, 0)) },
		"cut":     func(t *testing.T, idx string) { require.NoError(t, os.Truncate(idx, 1100)) },
		"zeroed": func(t *testing.T, idx string) {
			info, err := os.Stat(idx)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(idx, make([]byte, info.Size()), 0o600))
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, store := plainStore(t, Options{})
			entries := append(numbered(20), medium())
			r := publish(t, store, Meta{}, entries...)
			idx := idxPath(packPath(store.place, r.ref.pack))
			want, err := os.ReadFile(idx)
			require.NoError(t, err)
			damage(t, idx)
			got, err := site.History().Read(r.Meta.ID)
			require.NoError(t, err)
			requireStates(t, got, entries)
			made, err := os.ReadFile(idx)
			require.NoError(t, err)
			assert.Equal(t, want, made)
			fsck(t, store.place.Dir)
		})
	}
}

// What is damaged is named and left as it is, and hides nothing else.
func TestDamageIsNamedAndContained(t *testing.T) {
	t.Parallel()
	edit := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, change(data), 0o600))
		}
	}
	half := edit(func(d []byte) []byte { return d[:len(d)/2] })
	flip := edit(func(d []byte) []byte {
		// All contents, since an input may stand in another record too.
		for i := packHeader + 5; i < len(d)/2; i += 9 {
			d[i] ^= 0x40
		}
		return d
	})
	empty := edit(func([]byte) []byte { return nil })
	packFile := func(s *Store, r *Record, group string) string { return packPath(s.place, r.ref.pack) }
	cases := map[string]struct {
		file   func(*Store, *Record, string) string
		damage func(*testing.T, string)
	}{
		"pack empty":   {packFile, empty},
		"pack cut":     {packFile, half},
		"pack flipped": {packFile, flip},
		"pack missing": {packFile, func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Remove(idxPath(path)))
		}},
	}
	for name, c := range cases {
		for _, group := range []string{groupOps, groupPending} {
			if name == "pack flipped" && group == groupPending {
				continue // only contents are damaged, which are not read for the list
			}
			t.Run(name+", "+group, func(t *testing.T) {
				t.Parallel()
				site, store := plainStore(t, Options{})
				good := publish(t, store, Meta{}, numbered(1)...)
				// Its contents are in no other record, which could help out.
				bad := put(t, store, Meta{}, modify("b", strings.Repeat("before\n", 9), strings.Repeat("after\n", 9)))
				other := put(t, store, Meta{}, numbered(3)...)
				require.NoError(t, store.SetPending(bad))
				require.NoError(t, store.SetPending(other))
				if group == groupOps {
					require.NoError(t, store.Publish(bad))
				}
				path := c.file(store, bad, group)
				c.damage(t, path)

				var torn *TornError
				pending, err := site.History().Pending()
				if group == groupPending {
					require.ErrorIs(t, err, ErrTorn)
					require.ErrorAs(t, err, &torn)
				} else {
					require.NoError(t, err)
					require.ErrorAs(t, readAll(site, bad.Meta.ID), &torn)
				}
				assert.Equal(t, path, torn.Path)
				require.Len(t, pending, 1)
				assert.Equal(t, other.Meta.ID, pending[0].Meta.ID)
				require.NoError(t, readAll(site, good.Meta.ID))
				later := publish(t, store, Meta{}, numbered(1)...)
				require.NoError(t, readAll(site, later.Meta.ID))
				if name != "pack missing" {
					assert.FileExists(t, path)
				}
			})
		}
	}
}

// A note that is there without content is one of which only the name came to disk: none of the
// operation's files had changed by then.
func TestEmptyNotesAreNone(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	record := put(t, store, Meta{}, numbered(1)...)
	require.NoError(t, store.SetPending(record))
	require.NoError(t, os.WriteFile(refPath(store.place, groupPending, record.ref), nil, 0o600))
	pending, err := site.History().Pending()
	require.NoError(t, err)
	assert.Empty(t, pending)
}

// readAll reads an operation with all contents and inputs.
func readAll(site *Site, id string) error {
	r, err := site.History().Read(id)
	if err != nil {
		return err
	}
	for i := range r.Meta.Patches {
		if _, err := r.Patch(i); err != nil {
			return err
		}
	}
	for i := range r.Meta.Paths {
		if _, err := r.Before(i); err != nil {
			return err
		}
		if _, err := r.After(i); err != nil {
			return err
		}
	}
	return nil
}

func TestNewerStoresAreLeftAlone(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	r := put(t, store, Meta{}, numbered(1)...)
	require.NoError(t, store.SetPending(r))
	require.NoError(t, os.WriteFile(filepath.Join(store.place.Dir, "format"), []byte("oxpatch store 2\nmore"), 0o600))
	// A version that this code cannot even parse as its own still reads as damaged, not as ours.
	_, err := site.Open(Options{})
	require.ErrorIs(t, err, ErrTorn)
	require.NoError(t, os.WriteFile(filepath.Join(store.place.Dir, "format"), []byte("oxpatch store 2\n"), 0o600))
	before := listing(t, store.place.Dir)
	_, err = site.Open(Options{})
	var newer *NewerFormatError
	require.ErrorAs(t, err, &newer)
	require.ErrorIs(t, err, ErrNewerFormat)
	assert.Equal(t, 2, newer.Version)
	assert.Equal(t, StoreVersion, newer.Supported)
	_, err = site.History().Ops()
	assert.ErrorIs(t, err, ErrNewerFormat)
	_, err = site.History().Pending()
	assert.ErrorIs(t, err, ErrNewerFormat)
	_, err = site.History().Read(r.Meta.ID)
	assert.ErrorIs(t, err, ErrNewerFormat)
	assert.Equal(t, before, listing(t, store.place.Dir))
}

func TestRecordsOfNewerVersionsAreRefused(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	d := newDraft()
	commit, err := d.seal(Meta{Version: MetaVersion + 1, ID: "1aaaaaaaaaaa", Kind: "later"})
	require.NoError(t, err)
	pack, err := store.writePack(t.Context(), d)
	require.NoError(t, err)
	require.NoError(t, store.writeRef(groupOps, opRef{id: "1aaaaaaaaaaa", pack: pack.String()}, commit))
	good := publish(t, store, Meta{}, numbered(1)...)
	_, err = site.History().Read("1aaa")
	assert.ErrorIs(t, err, ErrNewerFormat)
	require.NoError(t, readAll(site, good.Meta.ID))
}

// listing returns all paths in a folder with sizes and times.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		list[path] = info.ModTime().String() + info.Mode().String()
		return nil
	}))
	return list
}

func TestDebrisIsRemovedWhenItIsOld(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	old, fresh := filepath.Join(store.packDir(), "tmp_pack_1"), filepath.Join(store.packDir(), "tmp_pack_2")
	mine := filepath.Join(store.packDir(), "pack-note")
	for _, path := range []string{old, fresh, mine} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	past := time.Now().Add(-2 * debrisAge)
	require.NoError(t, os.Chtimes(old, past, past))
	require.NoError(t, os.Chtimes(mine, past, past))
	publish(t, store, Meta{}, numbered(1)...)
	assert.NoFileExists(t, old)
	assert.FileExists(t, fresh)
	assert.FileExists(t, mine)
}

func TestAStoreThatWasCutOffWhileMadeIsCompleted(t *testing.T) {
	t.Parallel()
	for _, missing := range [][]string{{"format"}, {"format", "config"}, {"format", "config", "HEAD", "refs/heads"}} {
		site, store := plainStore(t, Options{})
		for _, name := range missing {
			require.NoError(t, os.Remove(filepath.Join(store.place.Dir, name)))
		}
		publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
		fsck(t, store.place.Dir)
	}
}

// A store is made in no folder that holds anything else, least of all in a repository, whose HEAD and
// config it would write over.
func TestAStoreIsNotMadeAmongOtherFiles(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T, dir string){
		"a git directory":      func(t *testing.T, dir string) { git(t, filepath.Dir(dir), "init", "-q", "--bare", dir) },
		"a bare one, stripped": func(t *testing.T, dir string) { git(t, filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir) },
		"a folder with a file": func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine\n"), 0o644))
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(tempDir(t), "chosen")
			prepare(t, dir)
			before := os.DirFS(dir)
			var names []string
			require.NoError(t, fs.WalkDir(before, ".", func(path string, _ fs.DirEntry, err error) error {
				names = append(names, path)
				return err
			}))
			site := locate(t, newRepo(t), envMap{"OXPATCH_STORE": dir})
			_, err := site.Open(Options{})
			require.ErrorIs(t, err, ErrNoStore)
			var after []string
			require.NoError(t, fs.WalkDir(before, ".", func(path string, _ fs.DirEntry, err error) error {
				after = append(after, path)
				return err
			}))
			assert.Equal(t, names, after)
		})
	}
	t.Run("an empty folder will do", func(t *testing.T) {
		t.Parallel()
		_, err := locate(t, newRepo(t), envMap{"OXPATCH_STORE": tempDir(t)}).Open(Options{})
		assert.NoError(t, err)
	})
}
