package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a killed writer left of a pack goes with the next lock, however young it is; that of one who is at work
// stays.
func TestHalfPacksOfTheKilledGo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	site, store := plainStore(t, Options{})
	publish(t, store, Meta{}, numbered(1)...)
	half := filepath.Join(store.packDir(), halfPack+"123")
	write := func() { require.NoError(t, os.WriteFile(half, make([]byte, 1000), 0o600)) }
	write()
	working, err := open(t, site, Options{}).Lock(ctx, -1)
	require.NoError(t, err)
	assert.NoFileExists(t, half)
	write()
	beside, err := store.Lock(ctx, -1)
	require.NoError(t, err, "the look for debris keeps nobody out")
	assert.FileExists(t, half)
	working()
	beside()

	store.disk.hook = func(e Effect, path string) error {
		if e == EffectWrite && filepath.Base(path)[:len(halfPack)] == halfPack {
			return ErrKilled
		}
		return nil
	}
	release, err := store.Lock(ctx, -1)
	require.NoError(t, err)
	assert.NoFileExists(t, half)
	_, err = store.Put(ctx, Meta{ID: store.NewID(idTime(opIDs(t, site)[0]))}, numbered(2), nil)
	require.ErrorIs(t, err, ErrKilled)
	release()
	left, err := filepath.Glob(filepath.Join(store.packDir(), halfPack+"*"))
	require.NoError(t, err)
	require.Len(t, left, 1)
	store.disk.hook = nil
	publish(t, store, Meta{}, numbered(1)...)
	release, err = store.Lock(ctx, -1)
	require.NoError(t, err)
	release()
	assert.NoFileExists(t, left[0])
	fsck(t, store.place.Dir)
}
