//go:build unix

package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nobody is a user other than the one who owns the files.
const nobody = 65534

// In an agent's sandbox .git is there but cannot be written: the record goes elsewhere, the user
// is told, and the history that .git holds stays readable. Mode bits do not stop root, who hands
// the files and the operation to another user.
func TestReadOnlyGitDirectory(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	env := envMap{"XDG_STATE_HOME": mkdir(t, tempDir(t), "state")}
	store := publish(t, open(t, locate(t, repo, env), Options{}), Meta{}, numbered(2)...).Place().Dir
	closed := listing(t, store)
	for path := range closed {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, info.Mode().Perm()&^0o222))
	}
	t.Cleanup(func() {
		for path := range closed {
			_ = os.Chmod(path, 0o700)
		}
	})
	cmd := helperCommand(t, "publish", env, repo)
	if os.Geteuid() == 0 {
		giveAway(t, repo, env["XDG_STATE_HOME"])
		openToAll(t, repo, env["XDG_STATE_HOME"], os.Args[0])
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, filepath.Join(env["XDG_STATE_HOME"], "oxpatch", "store"), lines[0])
	assert.Contains(t, lines[1], "skipped "+store)
	assert.Contains(t, lines[1], "permission denied")
	assert.Equal(t, "operations 2", lines[2])
}

// giveAway makes nobody the owner of everything in the folders.
func giveAway(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		for path := range listing(t, dir) {
			require.NoError(t, os.Lchown(path, nobody, nobody))
		}
	}
}

// openToAll lets every user reach the paths.
func openToAll(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		for dir := filepath.Dir(path); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(dir, info.Mode().Perm()|0o055))
		}
	}
}
