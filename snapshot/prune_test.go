package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// chain makes n operations on one file, each on what the one before it left, an hour apart, the last of
// them now. All but a line of the file is noise, so that it does not compress.
func chain(t testing.TB, s *Store, n, size int, now time.Time, meta Meta) [][]Entry {
	t.Helper()
	var all [][]Entry
	text := noise(size)
	for i := range n {
		line := fmt.Sprintf("line %d\n", i)
		edits := []change.Edit{{Start: 0, End: strings.Index(text, "\n") + 1, New: []byte(line)}}
		next := string(change.ApplyEdits([]byte(text), edits))
		e := modify("file.txt", text, next)
		e.Edits = edits
		meta.Time = now.Add(time.Duration(i+1-n) * time.Hour)
		meta.ID = s.NewID(meta.Time)
		publish(t, s, meta, e)
		all = append(all, []Entry{e})
		text = next
	}
	return all
}

// noise is text that does not compress well, and is the same every time.
func noise(size int) string { return noiseFrom(uint64(size), size) }

func noiseFrom(state uint64, size int) string {
	var b strings.Builder
	for b.Len() < size {
		state = state*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&b, "%016x\n", state)
	}
	return b.String()
}

func opIDs(t testing.TB, site *Site) []string {
	t.Helper()
	ops, err := site.History().Ops()
	require.NoError(t, err)
	var ids []string
	for _, o := range ops {
		ids = append(ids, o.ID)
	}
	slices.Reverse(ids)
	return ids
}

// requireAll checks that the root's history is exactly the given operations, oldest first, complete.
func requireAll(t testing.TB, site *Site, want [][]Entry) {
	t.Helper()
	ids := opIDs(t, site)
	require.Len(t, ids, len(want))
	for i, id := range ids {
		r, err := site.History().Read(id)
		require.NoError(t, err)
		requireStates(t, r, want[i])
		r.Close()
	}
}

func packCount(t testing.TB, s *Store) int { t.Helper(); return len(packNames(s.place)) }

func prune(t testing.TB, s *Store, r Retention, now time.Time) *Pruned {
	t.Helper()
	out, err := s.Prune(context.Background(), r, now, 0)
	require.NoError(t, err)
	size, err := storeBytes(s.place.Dir)
	require.NoError(t, err)
	require.Equal(t, size, out.After)
	return out
}

// unlimited is a retention in which a test sets the limit that it is about.
func unlimited() Retention { return noLimits() }

func TestPruneByCount(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 30, 4000, now, Meta{})
	ids := opIDs(t, site)
	r := unlimited()
	r.Operations = 12
	forecast, err := site.ForeseePrune(context.Background(), store.place, r, now)
	require.NoError(t, err)
	assert.Equal(t, ids, opIDs(t, site), "a forecast changes nothing")
	out := prune(t, store, r, now)
	assert.Equal(t, ids[:18], out.Dropped)
	assert.Equal(t, out.Dropped, forecast.Dropped)
	assert.LessOrEqual(t, out.After, forecast.After, "folding comes on top of what is foreseen")
	assert.Less(t, forecast.After, out.Before)
	requireAll(t, site, all[18:])
	assert.Equal(t, 1, packCount(t, store))
	fsck(t, store.place.Dir)
	// Each content stands in the pack once, most of them as deltas.
	assert.Less(t, out.After, int64(30_000))
	r.Operations = 0
	out = prune(t, store, r, now)
	assert.Len(t, out.Dropped, 2, "ten stay")
	requireAll(t, site, all[20:])
	assert.Empty(t, prune(t, store, r, now).Dropped)
	fsck(t, store.place.Dir)
}

func TestPruneByAge(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 30, 1000, now, Meta{})
	r := unlimited()
	r.Age = 14*time.Hour + time.Minute
	assert.Len(t, prune(t, store, r, now).Dropped, 15)
	requireAll(t, site, all[15:])
	assert.Len(t, prune(t, store, r, now.Add(time.Hour*1000)).Dropped, 5)
	requireAll(t, site, all[20:])
}

func TestPruneByBytes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	var all [][]Entry
	for i := range 30 {
		all = append(all, []Entry{modify("f", noise(20_000+i), noise(20_100+i))})
		publish(t, store, Meta{}, all[i]...)
	}
	r := unlimited()
	r.Bytes = 500_000
	out := prune(t, store, r, now)
	assert.LessOrEqual(t, out.After, r.Bytes)
	assert.Greater(t, out.After, r.Bytes*8/10, "no more goes than has to")
	assert.Zero(t, out.Over)
	requireAll(t, site, all[len(out.Dropped):])
	fsck(t, store.place.Dir)
	r.Bytes = 1000
	out = prune(t, store, r, now)
	assert.Equal(t, out.After-out.After%100_000, out.Over-out.Over%100_000)
	requireAll(t, site, all[20:])
}

// An operation that is in the middle of others in a folded pack leaves no byte of its own there.
func TestForgetFreesBytesOfAFoldedPack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 20, 4000, now, Meta{})
	secret := []Entry{modify("secret", noise(3000), noise(3001))}
	publish(t, store, Meta{}, secret...)
	last := []Entry{modify("other", "a\n", noise(2000))}
	publish(t, store, Meta{}, last...)
	prune(t, store, unlimited(), now)
	require.Equal(t, 1, packCount(t, store))
	ids := opIDs(t, site)
	hidden := hashObject(typeBlob, secret[0].Before.Content)
	require.True(t, holds(t, store, hidden))
	forecast, err := site.ForeseeForget(context.Background(), store.place, ids[20:21], now)
	require.NoError(t, err)
	out, err := store.Forget(context.Background(), ids[20:21], now, 0)
	require.NoError(t, err)
	assert.Equal(t, ids[20:21], out.Dropped)
	assert.InDelta(t, forecast.After, out.After, 1500)
	assert.False(t, holds(t, store, hidden))
	assert.False(t, holds(t, store, hashObject(typeBlob, secret[0].After.Content)))
	assert.Empty(t, out.Damage)
	requireAll(t, site, append(slices.Clone(all), last))
	fsck(t, store.place.Dir)
	// The first of the chain carries the deltas of the others.
	out, err = store.Forget(context.Background(), ids[:1], now, 0)
	require.NoError(t, err)
	assert.Equal(t, ids[:1], out.Dropped)
	assert.False(t, holds(t, store, hashObject(typeBlob, all[0][0].Before.Content)))
	requireAll(t, site, append(slices.Clone(all[1:]), last))
	fsck(t, store.place.Dir)
}

func holds(t testing.TB, s *Store, id oid) bool {
	t.Helper()
	sv, err := takeSurvey(s.place)
	require.NoError(t, err)
	defer sv.close()
	_, ok := sv.find(id)
	return ok || !missing(loosePath(s.place, id))
}

// The operations of the running session outlive the limits on count and age; on bytes they go last.
func TestTheRunningSessionStays(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	mine := chain(t, store, 15, 3000, now.Add(-time.Hour*2000), Meta{Session: "mine"})
	chain(t, store, 15, 3001, now.Add(-time.Hour*1000), Meta{Session: "old"})
	last := chain(t, store, 10, 3002, now, Meta{})
	r := DefaultRetention()
	r.Operations = 20
	require.NoError(t, os.RemoveAll(store.maintainedPath()))
	out, err := store.Maintain(context.Background(), r, "mine", now)
	require.NoError(t, err)
	require.NotNil(t, out)
	requireAll(t, site, append(slices.Clone(mine), last...))
	r.Bytes = prune(t, store, unlimited(), now).After * 7 / 10
	out, err = store.Maintain(context.Background(), r, "mine", now)
	require.NoError(t, err)
	require.NotNil(t, out)
	n := len(opIDs(t, site))
	assert.Greater(t, n, 10)
	assert.Less(t, n, 25)
	requireAll(t, site, append(slices.Clone(mine[25-n:]), last...))
	assert.LessOrEqual(t, out.After, r.Bytes+4000)
}

// What is not past the limits by more than a little costs nothing, and leaves no trace.
func TestMaintainDoesNothingMostly(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var log []string
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	chain(t, store, 24, 1000, now, Meta{})
	quiet := open(t, site, Options{Durability: DurabilityProcess, Effects: failAt(-1, nil, &log)})
	log = nil
	r := unlimited()
	r.Operations = 22
	for range 3 {
		out, err := quiet.Maintain(context.Background(), r, "", now)
		require.NoError(t, err)
		assert.Nil(t, out)
	}
	assert.Empty(t, log)
	// One more is too many, but not where somebody else uses the store.
	r.Operations = 20
	release, err := store.Lock(context.Background(), 0)
	require.NoError(t, err)
	out, err := quiet.Maintain(context.Background(), r, "", now)
	require.NoError(t, err)
	assert.Nil(t, out)
	release()
	out, err = quiet.Maintain(context.Background(), r, "", now)
	require.NoError(t, err)
	require.NotNil(t, out)
	assert.Len(t, out.Dropped, 4)
	// What always stays is past the limit for good: it is not looked through every time.
	r.Bytes = 10
	out, err = quiet.Maintain(context.Background(), r, "", now)
	require.NoError(t, err)
	require.NotNil(t, out)
	log = nil
	for range 3 {
		out, err = quiet.Maintain(context.Background(), r, "", now)
		require.NoError(t, err)
		assert.Nil(t, out)
	}
	assert.Empty(t, log)
}

// Packs become one when there are many, and what was folded is not copied for every few that come.
func TestMaintainFolds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	var all [][]Entry
	most := 0
	for i := range 180 {
		e := []Entry{modify(fmt.Sprintf("f%d", i), noise(500+i), noise(700+i))}
		publish(t, store, Meta{}, e...)
		all = append(all, e)
		_, err := store.Maintain(context.Background(), DefaultRetention(), "", now)
		require.NoError(t, err)
		most = max(most, packCount(t, store))
	}
	assert.LessOrEqual(t, most, maxPacks+1)
	requireAll(t, site, all)
	fsck(t, store.place.Dir)
}

func TestChooseFold(t *testing.T) {
	t.Parallel()
	sized := func(sizes ...int64) []*packFile {
		var packs []*packFile
		for _, s := range sizes {
			packs = append(packs, &packFile{size: s})
		}
		return packs
	}
	for name, tt := range map[string]struct {
		sizes []int64
		least int
		want  []int64
	}{
		"few":                    {[]int64{1, 2, 3}, 3, nil},
		"all small":              {[]int64{3, 3, 3, 3}, 3, []int64{3, 3, 3, 3}},
		"a large one stays":      {[]int64{1, 1, 100, 1, 1}, 3, []int64{1, 1, 1, 1}},
		"until as much came":     {[]int64{40, 40, 100, 1, 1}, 3, []int64{1, 1, 40, 40, 100}},
		"what is full stays":     {[]int64{foldBytes, 1, 1}, 1, []int64{1, 1}},
		"there is nothing to do": {[]int64{foldBytes, foldBytes, 1}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []int64
			for p := range chooseFold(sized(tt.sizes...), tt.least) {
				got = append(got, p.size)
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			assert.Equal(t, tt.want, got)
		})
	}
}

// A pending operation keeps its pack and its ref, for the process that finishes it knows them.
func TestPendingStaysAsItIs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 12, 1000, now, Meta{})
	entries := numbered(3)
	r := put(t, store, Meta{}, entries...)
	require.NoError(t, store.SetPending(r))
	later := []Entry{modify("x", "1\n", "2\n")}
	publish(t, store, Meta{}, later...)
	limits := Retention{Operations: 0, Age: 0, Bytes: 0}
	prune(t, store, limits, now.Add(time.Hour))
	pending, err := site.History().Pending()
	require.NoError(t, err)
	require.Len(t, pending, 1)
	assert.Equal(t, r.ref, pending[0].ref)
	requireStates(t, pending[0], entries)
	require.NoError(t, store.Publish(r))
	requireAll(t, site, append(append(all[3:len(all):len(all)], entries), later))
	fsck(t, store.place.Dir)
}

// A root that is gone keeps nothing beyond its age, and then leaves nothing behind.
func TestRootsThatAreGone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	env := stateEnv(t)
	gone := filepath.Join(tempDir(t), "gone")
	require.NoError(t, os.Mkdir(gone, 0o755))
	goneSite := locate(t, gone, env)
	goneStore := open(t, goneSite, Options{Durability: DurabilityProcess})
	chain(t, goneStore, 5, 1000, now.Add(-40*24*time.Hour), Meta{})
	stays := locate(t, tempDir(t), env)
	store := open(t, stays, Options{Durability: DurabilityProcess})
	all := chain(t, store, 3, 1000, now.Add(-40*24*time.Hour), Meta{})
	assert.Empty(t, prune(t, store, DefaultRetention(), now).Dropped)
	require.NoError(t, os.RemoveAll(gone))
	assert.Len(t, prune(t, store, DefaultRetention(), now).Dropped, 5)
	requireAll(t, stays, all)
	for path := range listing(t, store.place.Dir) {
		assert.NotContains(t, path, goneStore.place.Worktree)
	}
	fsck(t, store.place.Dir)

	repo := newRepo(t)
	linked := filepath.Join(tempDir(t), "linked tree")
	git(t, repo, "worktree", "add", "-q", "-b", "side", linked)
	linkedSite := locate(t, linked, env)
	chain(t, open(t, linkedSite, Options{}), 3, 1000, now.Add(-40*24*time.Hour), Meta{})
	store = open(t, locate(t, repo, env), Options{})
	publish(t, store, Meta{}, numbered(1)...)
	assert.Empty(t, prune(t, store, DefaultRetention(), now).Dropped)
	git(t, repo, "worktree", "remove", linked)
	assert.Len(t, prune(t, store, DefaultRetention(), now).Dropped, 3)
	assert.Len(t, opIDs(t, store.site), 1)
	fsck(t, store.place.Dir)
}
