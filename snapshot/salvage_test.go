package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The commit of a record says whose it is, so a torn ref loses nothing, and pruning writes it anew.
func TestTornRefsAreSalvaged(t *testing.T) {
	t.Parallel()
	for name, torn := range map[string]string{
		"empty": "", "cut": "0123456789", "to nothing": strings.Repeat("1", 40) + "\n", "zeroed": strings.Repeat("\x00", 41),
	} {
		for _, folded := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				now := time.Now()
				site, store := plainStore(t, Options{Durability: DurabilityProcess})
				all := chain(t, store, 4, 1000, now, Meta{})
				if folded {
					prune(t, store, unlimited(), now)
				}
				ops, err := site.History().Ops()
				require.NoError(t, err)
				path := refPath(store.place, groupOps, ops[1].ref)
				require.NoError(t, os.WriteFile(path, []byte(torn), 0o600))
				requireAll(t, site, all)
				assert.Empty(t, prune(t, store, unlimited(), now).Damage)
				requireAll(t, site, all)
				fsck(t, store.place.Dir)
			})
		}
	}
}

// With its pack gone too, an operation is lost: it is named, the others can be read, and nothing is
// removed while nobody knows what it needs; until it is forgotten.
func TestLostOperationsAreNamed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 14, 1000, now, Meta{})
	ops, err := site.History().Ops()
	require.NoError(t, err)
	lost := ops[1]
	require.NoError(t, os.Remove(packPath(store.place, lost.ref.pack)))
	r := unlimited()
	r.Operations = 10
	before := packCount(t, store)
	out := prune(t, store, r, now)
	assert.Len(t, out.Dropped, 4)
	require.NotEmpty(t, out.Damage)
	assert.Equal(t, lost.ID, out.Damage[0].ID)
	require.ErrorIs(t, out.Damage[0].Err, ErrTorn)
	assert.Equal(t, before, packCount(t, store))
	for i, op := range ops[:10] {
		if op.ID == lost.ID {
			_, err := op.Read()
			require.ErrorIs(t, err, ErrTorn)
			continue
		}
		got, err := op.Read()
		require.NoError(t, err)
		requireStates(t, got, all[13-i])
	}
	out, err = store.Forget(context.Background(), []string{lost.ID}, now, 0)
	require.NoError(t, err)
	assert.Empty(t, out.Damage)
	assert.Equal(t, 1, packCount(t, store))
	requireAll(t, site, append(all[4:12:12], all[13]))
	fsck(t, store.place.Dir)
}

// A pack that was cut off: the operations at its beginning can be read, of the others the first content
// that is lost is named with its path. The pack is left as it is.
func TestHalfAPack(t *testing.T) {
	t.Parallel()
	for _, index := range []bool{true, false} {
		now := time.Now()
		site, store := plainStore(t, Options{Durability: DurabilityProcess})
		var all [][]Entry
		for i := range 12 {
			all = append(all, []Entry{modify("sub/file", noise(2000+i), noise(3000+i))})
			publish(t, store, Meta{}, all[i]...)
		}
		prune(t, store, unlimited(), now)
		names := packNames(store.place)
		require.Len(t, names, 1)
		pack := packPath(store.place, names[0])
		info, err := os.Stat(pack)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(pack, info.Size()/2))
		if !index {
			require.NoError(t, os.Remove(idxPath(pack)))
		}
		readable, lost := 0, 0
		for _, id := range opIDs(t, site) {
			r, err := site.History().Read(id)
			if err == nil {
				_, err = r.Before(0)
			}
			if err == nil {
				_, err = r.After(0)
			}
			if err == nil {
				readable++
				continue
			}
			lost++
			require.ErrorIs(t, err, ErrTorn)
			assert.ErrorContains(t, err, pack)
		}
		assert.InDelta(t, 6, readable, 1)
		assert.Equal(t, 12, readable+lost)
		out := prune(t, store, unlimited(), now)
		assert.NotEmpty(t, out.Damage)
		assert.FileExists(t, pack)
		publish(t, store, Meta{}, numbered(1)...)
		if !index {
			assert.NoFileExists(t, idxPath(pack), "an index would hide the damage from git")
		}
	}
}

func TestALostContentIsNamed(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	r := publish(t, store, Meta{}, modify("some/file", noise(2000), noise(2001)))
	path := packPath(store.place, r.ref.pack)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[len(data)/4] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o600))
	got, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
	_, err = got.Before(0)
	require.ErrorIs(t, err, ErrTorn)
	require.ErrorContains(t, err, "operation "+r.Meta.ID+": the content before of some/file is lost")
	_, err = got.After(0)
	require.NoError(t, err)
	// Another record that holds the same bytes helps out.
	publish(t, store, Meta{}, modify("other", noise(2000), "x\n"))
	requireStates(t, got, []Entry{modify("some/file", noise(2000), noise(2001))})
}

// A damaged content is not carried over into a folded pack under a new checksum.
func TestDamageIsNotFolded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	bad := publish(t, store, Meta{}, modify("file", noise(2000), noise(2001)))
	all := [][]Entry{nil}
	for i := range 4 {
		all = append(all, []Entry{modify("f", noise(100+i), noise(300+i))})
		publish(t, store, Meta{}, all[i+1]...)
	}
	path := packPath(store.place, bad.ref.pack)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[len(data)/4] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o600))
	out := prune(t, store, unlimited(), now)
	require.Len(t, out.Damage, 1)
	require.ErrorContains(t, out.Damage[0].Err, path)
	assert.Equal(t, 2, packCount(t, store))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, got)
	for i, id := range opIDs(t, site)[1:] {
		r, err := site.History().Read(id)
		require.NoError(t, err)
		requireStates(t, r, all[i+1])
	}
	_, err = store.Forget(context.Background(), []string{bad.Meta.ID}, now, 0)
	require.NoError(t, err)
	assert.NoFileExists(t, path)
	fsck(t, store.place.Dir)
}

// Lines of packed-refs that are no refs may have been some: the others are read, and nothing is
// removed.
func TestDamagedPackedRefs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	chain(t, store, 14, 1000, now, Meta{})
	dir := store.place.Dir
	git(t, dir, "--git-dir="+dir, "pack-refs", "--all", "--prune")
	path := filepath.Join(dir, "packed-refs")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	lines[3] = "garbage in the place of a line\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	ops, err := site.History().Ops()
	require.ErrorIs(t, err, ErrTorn)
	require.ErrorContains(t, err, "line 4")
	require.Len(t, ops, 13)
	for _, op := range ops {
		_, err := op.Read()
		require.NoError(t, err)
	}
	r := unlimited()
	r.Operations = 10
	out := prune(t, store, r, now)
	assert.Len(t, out.Dropped, 3)
	require.NotEmpty(t, out.Damage)
	assert.Equal(t, 14, packCount(t, store))
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(left), lines[3], "what cannot be read is left")
}

// Files of somebody else in the store are left alone.
func TestForeignFilesStay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 14, 1000, now, Meta{})
	dir := store.place.Dir
	foreign := map[string]string{
		"objects/pack/notes.txt": "n", "objects/pack/pack-odd.pack": "o", "refs/oxpatch/main/ops/odd": "x\n",
		"worktrees/notes": "n", "objects/00/odd": "o", "notes": "n", "refs/notes": "not an id\n",
	}
	for name, text := range foreign {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	// A ref that somebody made keeps what it leads to.
	commit := hashObject(typeBlob, all[0][0].Before.Content)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "refs/tags"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "refs/tags/kept"), []byte(commit.String()+"\n"), 0o600))
	r := unlimited()
	r.Operations = 10
	prune(t, store, r, now)
	requireAll(t, site, all[4:])
	assert.True(t, holds(t, store, commit))
	for name, text := range foreign {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
}
