package gitapply

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scratches of killed processes go with the next one that is made beside them; nothing else does.
func TestScratchesOfKilledProcessesGo(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := func(name string, age time.Duration) string {
		dir := filepath.Join(parent, name)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "tree"), 0o700))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(dir, then, then))
		return dir
	}
	dead := folder("oxpatch-git-dead", 0)
	require.NoError(t, os.WriteFile(filepath.Join(dead, scratchLock), nil, 0o600))
	fresh, old := folder("oxpatch-git-fresh", time.Hour), folder("oxpatch-git-old", 25*time.Hour)
	foreign := folder("somebody-elses", 100*time.Hour)
	file := filepath.Join(parent, "oxpatch-git-file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	living, lock, err := tempScratch(parent)
	require.NoError(t, err)
	require.NotNil(t, lock)
	assert.NoDirExists(t, dead)
	assert.NoDirExists(t, old)
	assert.DirExists(t, fresh)
	assert.DirExists(t, foreign)
	assert.FileExists(t, file)

	second, lock2, err := tempScratch(parent)
	require.NoError(t, err)
	assert.DirExists(t, living, "its process lives")
	require.NoError(t, lock.Close())
	_, lock3, err := tempScratch(parent)
	require.NoError(t, err)
	assert.NoDirExists(t, living)
	assert.DirExists(t, second)
	require.NoError(t, lock2.Close())
	require.NoError(t, lock3.Close())
}

// Scratches that are made and swept at once by many: none is taken from under the one who made it.
func TestScratchesMadeAtOnce(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				dir, lock, err := tempScratch(parent)
				if !assert.NoError(t, err) || !assert.NotNil(t, lock) {
					return
				}
				assert.NoError(t, os.Mkdir(filepath.Join(dir, "tree"), 0o700))
				assert.NoError(t, removeScratch(dir, lock))
			}
		})
	}
	wg.Wait()
}
