package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What Foresee says is what Open then does, and nothing is made by asking.
func TestForeseeAgreesWithOpen(t *testing.T) {
	t.Parallel()
	blocked := func(t *testing.T, dir string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
		require.NoError(t, os.WriteFile(dir, []byte("in the way"), 0o644))
	}
	cases := map[string]struct {
		prepare func(t *testing.T, repo, state string)
		usable  bool
	}{
		"a new store":           {func(*testing.T, string, string) {}, true},
		"only the state folder": {func(t *testing.T, repo, _ string) { blocked(t, filepath.Join(repo, ".git", "oxpatch")) }, true},
		"neither": {func(t *testing.T, repo, state string) {
			blocked(t, filepath.Join(repo, ".git", "oxpatch"))
			blocked(t, state)
		}, false},
		"a store that is there": {func(t *testing.T, repo, _ string) {
			_, err := locate(t, repo, envMap{}).Open(Options{})
			require.NoError(t, err)
		}, true},
		"a store of a newer format": {func(t *testing.T, repo, _ string) {
			_, err := locate(t, repo, envMap{}).Open(Options{})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(repo, ".git", "oxpatch", "store", "format"), []byte("oxpatch store 99\n"), 0o600))
		}, false},
		"folders of somebody else": {func(t *testing.T, repo, state string) {
			for _, dir := range []string{filepath.Join(repo, ".git", "oxpatch", "store"), filepath.Join(state, "oxpatch", "store")} {
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine\n"), 0o644))
			}
		}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := newRepo(t)
			state := filepath.Join(tempDir(t), "state")
			c.prepare(t, repo, state)
			site := locate(t, repo, envMap{"XDG_STATE_HOME": state})
			_, before := os.Lstat(filepath.Join(repo, ".git", "oxpatch", "store"))
			foreseen := site.Foresee()
			_, after := os.Lstat(filepath.Join(repo, ".git", "oxpatch", "store"))
			assert.Equal(t, before == nil, after == nil, "asking makes nothing")
			_, err := site.Open(Options{})
			assert.Equal(t, c.usable, err == nil, "open: %v", err)
			assert.Equal(t, c.usable, foreseen == nil, "foreseen: %v", foreseen)
		})
	}
}
