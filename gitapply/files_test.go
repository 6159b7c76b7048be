package gitapply_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/gitapply"
)

func TestFilesAreThoseThatGitDoesNotIgnore(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	for _, name := range []string{"tracked", "gone", "deep/tracked", "forced.log", "odd \"name\"\n\xff", ".gitignore"} {
		r.write(name, "x\n")
	}
	r.write(".gitignore", "*.log\nbuild/\n")
	r.run("add", "-f", "forced.log")
	r.commit()
	for _, name := range []string{"untracked", "trace.log", "build/out", "deep/-dash"} {
		r.write(name, "x\n")
	}
	require.NoError(t, os.Remove(filepath.Join(r.top, "gone")))
	r.run("init", "-q", "nested")
	r.write("nested/inside", "x\n")
	index, err := os.ReadFile(filepath.Join(r.at.GitDir, "index"))
	require.NoError(t, err)
	// A program that the settings name as the monitor must not be run.
	r.run("config", "core.fsmonitor", "touch "+filepath.Join(r.top, "ran")+"; false")
	files, unread, err := gitapply.Files(context.Background(), r.at, gitapply.Options{})
	require.NoError(t, err)
	assert.Empty(t, unread)
	assert.ElementsMatch(t, []string{
		"tracked", "gone", "deep/tracked", "forced.log", "odd \"name\"\n\xff", ".gitignore", "untracked", "deep/-dash", "nested/",
	}, files)
	now, err := os.ReadFile(filepath.Join(r.at.GitDir, "index"))
	require.NoError(t, err)
	assert.Equal(t, index, now)
	assert.NoFileExists(t, filepath.Join(r.top, "ran"))

	require.NoError(t, os.WriteFile(filepath.Join(r.at.GitDir, "index"), []byte("no index"), 0o644))
	_, _, err = gitapply.Files(context.Background(), r.at, gitapply.Options{})
	require.ErrorIs(t, err, gitapply.ErrGit)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = gitapply.Files(ctx, r.at, gitapply.Options{})
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = gitapply.Files(ctx, r.at, gitapply.Options{Git: "no-such-git"})
	require.ErrorIs(t, err, gitapply.ErrNoGit)
}
