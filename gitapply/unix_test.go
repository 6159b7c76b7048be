//go:build unix

package gitapply_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileThatIsNoFile(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	full := filepath.Join(r.top, "f.txt")
	require.NoError(t, os.Remove(full))
	require.NoError(t, syscall.Mkfifo(full, 0o644))
	done := make(chan error, 1)
	go func() {
		_, err := r.plan(patch, gitapply.Options{})
		done <- err
	}()
	select {
	case err := <-done:
		assert.ErrorIs(t, err, gitapply.ErrExists)
	case <-time.After(20 * time.Second):
		t.Fatal("planning waits for a FIFO")
	}
}

// A command that the repository's configuration starts is stopped with git.
func TestCancellingStopsEverythingGitStarted(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	pid := filepath.Join(filepath.Dir(r.top), "pid")
	r.run("config", "filter.slow.clean", "cat")
	r.run("config", "filter.slow.smudge", "echo $$ >"+pid+"; exec sleep 60")
	r.write("f.txt", base)
	r.commit()
	patch := edit(r, "f.txt", base, replaced("two", "2"))
	r.write(".gitattributes", "f.txt filter=slow\n")
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for range 400 {
			if data, err := os.ReadFile(pid); err == nil && len(data) > 0 {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		stop()
	}()
	_, err := gitapply.Plan(ctx, r.at, []byte(patch), gitapply.Options{Git: r.git})
	require.ErrorIs(t, err, context.Canceled)
	data, err := os.ReadFile(pid)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return syscall.Kill(n, 0) != nil || zombie(n) }, 5*time.Second, 20*time.Millisecond)
}

func zombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(data), ") Z ")
}
