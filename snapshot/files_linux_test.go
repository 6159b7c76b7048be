package snapshot

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A long history must not use up the files that a process may have open. Not parallel: it counts
// the files of the whole process.
func TestAListOfRecordsKeepsNoFilesOpen(t *testing.T) {
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	for range 20 {
		publish(t, store, Meta{}, numbered(1)...)
	}
	openFiles := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(fds)
	}
	before := openFiles()
	ops, err := site.History().Ops()
	require.NoError(t, err)
	var records []*Record
	for _, o := range ops {
		r, err := o.Read()
		require.NoError(t, err)
		records = append(records, r)
	}
	assert.Equal(t, before, openFiles())
	requireStates(t, records[7], numbered(1))
	assert.Equal(t, before+1, openFiles())
	records[7].Close()
	assert.Equal(t, before, openFiles())
	requireStates(t, records[7], numbered(1))
}
