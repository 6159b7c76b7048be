package snapshot

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// Thousands of operations on large files never fill a disk. With limits on age and number switched off
// the one on bytes alone holds: after each operation, up to a little; and while a pack is written that
// takes the place of others there is besides no more than that pack.
func TestTheStoreNeverFillsADisk(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	operations, size := 5000, 16<<10
	if testing.Short() {
		operations = 400
	}
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	unit := int64(0)
	store.disk.hook = func(e Effect, path string) error {
		if e == EffectRename && strings.HasSuffix(path, ".idx") { // what it replaces is still there
			unit = max(unit, packBytes(t, store))
		}
		return nil
	}
	r := unlimited()
	r.Bytes = limit
	text := noise(size)
	var entries [][]Entry
	runs := 0
	for i := range operations {
		// A quarter of the file is other noise.
		part := text[:size/4]
		edits := []change.Edit{{Start: 0, End: len(part), New: []byte(noiseFrom(uint64(i), size/4))}}
		e := modify("file", text, string(change.ApplyEdits([]byte(text), edits)))
		e.Edits = edits
		publish(t, store, Meta{}, e)
		entries = append(entries, []Entry{e})
		text = string(e.After.Content)
		out, err := store.Maintain(context.Background(), r, "", time.Now())
		require.NoError(t, err)
		if out != nil {
			runs++
			require.Empty(t, out.Damage)
		}
		require.LessOrEqual(t, packBytes(t, store), int64(limit+limit/8), "operation %d", i)
	}
	kept := opIDs(t, site)
	t.Logf("%d operations kept, pruned %d times, at most %d bytes", len(kept), runs, unit)
	assert.LessOrEqual(t, unit, int64(2*limit+limit/8))
	assert.Greater(t, len(kept), 20)
	assert.Less(t, runs, operations/5)
	requireAll(t, site, entries[len(entries)-len(kept):])
	fsck(t, store.place.Dir)
}

func packBytes(t testing.TB, s *Store) (sum int64) {
	t.Helper()
	entries, err := os.ReadDir(s.packDir())
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		sum += info.Size()
	}
	return sum
}
