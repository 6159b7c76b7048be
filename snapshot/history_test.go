package snapshot

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHistoryByPrefix(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	for _, id := range []string{"1aaaaaaaaaaa", "1aaaaaaaaabb", "1b0000000000"} {
		publish(t, store, Meta{ID: id}, numbered(1)...)
	}
	h := site.History()
	r, err := h.Read("1B")
	require.NoError(t, err)
	assert.Equal(t, "1b0000000000", r.Meta.ID)
	_, err = h.Read("1a")
	var ambiguous *AmbiguousError
	require.ErrorAs(t, err, &ambiguous)
	assert.ErrorIs(t, err, ErrAmbiguousID)
	assert.Equal(t, []string{"1aaaaaaaaabb", "1aaaaaaaaaaa"}, ambiguous.IDs)
	for _, id := range []string{"2", "", "../ops", "1b00000000000"} {
		_, err = h.Read(id)
		assert.ErrorIs(t, err, ErrUnknownOperation, id)
	}
}

func TestHistoryOfARootThatHasNone(t *testing.T) {
	t.Parallel()
	site := locate(t, newRepo(t), stateEnv(t))
	ops, err := site.History().Ops()
	require.NoError(t, err)
	assert.Empty(t, ops)
	pending, err := site.History().Pending()
	require.NoError(t, err)
	assert.Empty(t, pending)
}

func TestPendingThroughItsLife(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{Durability: DurabilityPower})
	first, second := put(t, store, Meta{}, numbered(1)...), put(t, store, Meta{}, numbered(2)...)
	requirePending(t, site)
	require.NoError(t, store.SetPending(second))
	require.NoError(t, store.SetPending(first))
	requirePending(t, site, first.Meta.ID, second.Meta.ID)
	ops, err := site.History().Ops()
	require.NoError(t, err)
	assert.Empty(t, ops)

	// Another process settles them from what it reads.
	left, err := site.History().Pending()
	require.NoError(t, err)
	requireStates(t, left[1], numbered(2))
	other, err := site.OpenPlace(left[0].Place(), Options{})
	require.NoError(t, err)
	require.NoError(t, other.ClearPending(left[0]))
	requirePending(t, site, second.Meta.ID)
	require.NoError(t, other.Publish(left[1]))
	requirePending(t, site)
	ops, err = site.History().Ops()
	require.NoError(t, err)
	require.Len(t, ops, 1)
	assert.Equal(t, second.Meta.ID, ops[0].ID)
	require.NoError(t, other.Publish(left[1]), "publishing again changes nothing")
	require.NoError(t, other.ClearPending(left[1]), "clearing what is not pending changes nothing")
	fsck(t, store.place.Dir)
}

func requirePending(t *testing.T, site *Site, ids ...string) {
	t.Helper()
	records, err := site.History().Pending()
	require.NoError(t, err)
	var got []string
	for _, r := range records {
		got = append(got, r.Meta.ID)
	}
	require.Equal(t, ids, got)
}

func TestRecordsThatWereNeverPendingCanBePublished(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	r := put(t, store, Meta{Kind: KindCheckpoint}, numbered(1)...)
	require.NoError(t, store.Publish(r))
	_, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
}

func TestIDsRiseEvenIfTheClockFalls(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	last := ""
	for i := range 200 {
		id := store.NewID(now.Add(-time.Duration(i) * time.Hour))
		require.True(t, validID(id), id)
		require.Greater(t, id, last)
		last = id
	}
	publish(t, store, Meta{ID: last}, numbered(1)...)
	again := open(t, site, Options{})
	pending := put(t, again, Meta{ID: again.NewID(time.Unix(0, 0))}, numbered(1)...)
	assert.Greater(t, pending.Meta.ID, last)
	require.NoError(t, again.SetPending(pending))
	assert.Greater(t, open(t, site, Options{}).NewID(time.Unix(-5, 0)), pending.Meta.ID)
}

func TestIDsAreTimes(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{})
	now := time.UnixMilli(1_700_000_000_123)
	n, ok := parseID(store.NewID(now))
	require.True(t, ok)
	assert.Equal(t, now.UnixMilli(), int64(n>>idRandBits))
	assert.Equal(t, strings.Repeat("z", idLen), formatID(1<<60-1))
}
