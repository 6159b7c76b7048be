package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// life takes a site from nothing, or from a store with history, through a whole operation.
func life(site *Site, o Options, entries []Entry) (*Record, error) {
	store, err := site.Open(o)
	if err != nil {
		return nil, err
	}
	meta := Meta{ID: store.NewID(time.Now()), Kind: KindApply, Time: time.Unix(1_700_000_000, 0)}
	r, err := store.Put(context.Background(), meta, entries, [][]byte{[]byte("p")})
	if err != nil {
		return nil, err
	}
	if err := store.SetPending(r); err != nil {
		return nil, err
	}
	return r, store.Publish(r)
}

// failAt returns a hook that fails at the nth effect (from 0), and, after a kill, at all later ones.
func failAt(n int, failure error, log *[]string) func(Effect, string) error {
	count := 0
	return func(e Effect, path string) error {
		*log = append(*log, fmt.Sprintf("%s %s", e, filepath.Base(path)))
		count++
		if count-1 == n || count-1 > n && errors.Is(failure, ErrKilled) {
			return failure
		}
		return nil
	}
}

// At every single effect, on a new store and on one with history, the operation fails or the
// process dies. What was there stays readable, the store stays sound, and the next operation works.
func TestFaultAtEveryEffect(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("disk fault")
	for _, failure := range []error{errDisk, ErrKilled} {
		for _, history := range []bool{false, true} {
			for _, durability := range []Durability{DurabilityPower, DurabilityProcess} {
				name := fmt.Sprintf("%v, history %v, %s", failure, history, durability)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					for n := 0; faultOnce(t, n, failure, history, durability); n++ {
						require.Less(t, n, 200)
					}
				})
			}
		}
	}
}

// faultOnce reports whether there was an nth effect to fail at.
func faultOnce(t *testing.T, n int, failure error, history bool, durability Durability) bool {
	t.Helper()
	env := stateEnv(t)
	dir := tempDir(t)
	var earlier *Record
	if history {
		earlier = publish(t, open(t, locate(t, dir, env), Options{Durability: durability}), Meta{}, numbered(3)...)
	}
	site := locate(t, dir, env)
	var log []string
	r, err := life(site, Options{Durability: durability, Effects: failAt(n, failure, &log)}, numbered(2))
	if err == nil {
		require.LessOrEqual(t, len(log), n, "a failed effect must be reported: %s", log)
		return false
	}
	require.ErrorIs(t, err, failure)
	at := log[len(log)-1]

	site = locate(t, dir, env)
	pending, err := site.History().Pending()
	require.NoError(t, err, at)
	require.LessOrEqual(t, len(pending), 1, at)
	for _, p := range pending {
		requireStates(t, p, numbered(2))
	}
	ops, err := site.History().Ops()
	require.NoError(t, err, at)
	if r == nil {
		assert.Len(t, ops, map[bool]int{false: 0, true: 1}[history], at)
	}
	if history {
		got, err := site.History().Read(earlier.Meta.ID)
		require.NoError(t, err, at)
		requireStates(t, got, numbered(3))
	}
	store := open(t, site, Options{})
	if !errors.Is(failure, ErrKilled) && r == nil && len(pending) == 0 {
		requireNoTemps(t, store)
	}
	for _, p := range pending {
		require.NoError(t, store.Publish(p))
	}
	later := publish(t, store, Meta{}, numbered(1)...)
	require.NoError(t, readAll(site, later.Meta.ID))
	if n%3 == 0 { // every one takes a while
		fsck(t, store.place.Dir)
	}
	return true
}

func requireNoTemps(t *testing.T, store *Store) {
	t.Helper()
	for path := range listing(t, store.place.Dir) {
		assert.False(t, strings.HasPrefix(filepath.Base(path), "tmp_"), path)
	}
}

// Nothing may be renamed into place before it is synced, and the pack must be safe before the note
// that it is pending.
func TestOrderOfSyncs(t *testing.T) {
	t.Parallel()
	site, _ := plainStore(t, Options{})
	publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
	order := func(d Durability) []string {
		var log []string
		_, err := life(site, Options{Durability: d, Effects: failAt(-1, nil, &log)}, numbered(1))
		require.NoError(t, err)
		var short []string
		for _, l := range log {
			effect, name, _ := strings.Cut(l, " ")
			kind, _, _ := strings.Cut(strings.TrimPrefix(name, "tmp_"), "_")
			switch {
			case strings.HasSuffix(name, ".pack"), strings.HasSuffix(name, ".idx"):
				kind = filepath.Ext(name)
			case len(kind) > 40:
				kind = "ref"
			}
			short = append(short, effect+" "+kind)
		}
		return short
	}
	want := []string{
		"create lock",
		"create pack", "write pack", "sync pack", "rename .pack", "sync pack",
		"create file", "write file", "rename .idx",
		"create ref", "write ref", "sync ref", "rename ref", "sync pending",
		"rename ref",
	}
	if fileSyncKeepsName {
		want = []string{
			"create lock",
			"create pack", "write pack", "rename .pack", "sync pack",
			"create file", "write file", "rename .idx",
			"create ref", "write ref", "rename ref", "sync ref",
			"rename ref",
		}
	}
	assert.Equal(t, want, order(DurabilityRecord))
	assert.NotContains(t, strings.Join(order(DurabilityProcess), "\n"), "sync")
}
