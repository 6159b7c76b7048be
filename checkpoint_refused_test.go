package oxpatch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

func TestLimitsOfACheckpoint(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "a\n")
	for i := range 30 {
		g.write(fmt.Sprintf("cache/objects/%d", i), strings.Repeat("x", 1000)+fmt.Sprint(i))
	}
	for name, c := range map[string]struct {
		req  oxpatch.CheckpointRequest
		want string
	}{
		"files":            {oxpatch.CheckpointRequest{Tree: true, MaxFiles: 10}, "cache/objects holds"},
		"bytes":            {oxpatch.CheckpointRequest{Tree: true, MaxBytes: 20_000}, "cache/objects holds 29.3 KiB"},
		"bytes of a file":  {oxpatch.CheckpointRequest{Tree: true, MaxBytes: 500}, "cache/objects holds 29.3 KiB"},
		"time":             {oxpatch.CheckpointRequest{Tree: true, MaxTime: time.Nanosecond}, "longer than"},
		"files in a path":  {oxpatch.CheckpointRequest{Paths: []string{"."}, MaxFiles: 10}, "cache"},
		"bytes in a path":  {oxpatch.CheckpointRequest{Paths: []string{"cache"}, MaxBytes: 20_000}, "cache/objects holds 29.3 KiB"},
		"time for a path":  {oxpatch.CheckpointRequest{Paths: []string{"a.txt"}, MaxTime: time.Nanosecond}, "longer than"},
		"a file too large": {oxpatch.CheckpointRequest{Tree: true, MaxBytes: -1}, "cache/objects/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opts []oxpatch.Option
			if strings.Contains(name, "too large") {
				opts = append(opts, oxpatch.WithMaxFile(900))
			}
			res, err := g.open(append(opts, oxpatch.WithLockTimeout(time.Minute))...).Checkpoint(context.Background(), c.req)
			require.Error(t, err)
			require.True(t, hasProblem(res, oxpatch.KindTooLarge, ""), "%v", res.Problems)
			assert.Contains(t, res.Problems[0].String(), c.want)
			assert.Empty(t, res.ID)
			assert.Empty(t, res.Files)
			assert.True(t, res.Exact)
		})
	}
	t.Cleanup(func() { // after the parallel ones
		assert.Empty(t, g.log())
		g.checkpoint()
	})
}

func TestHomeIsNoTreeForACheckpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		home string // relative to the tree
		req  oxpatch.CheckpointRequest
	}{
		"is home":         {".", oxpatch.CheckpointRequest{Tree: true}},
		"holds home":      {"users/me", oxpatch.CheckpointRequest{Tree: true}},
		"home as a path":  {".", oxpatch.CheckpointRequest{Paths: []string{"."}}},
		"path holds home": {"users/me", oxpatch.CheckpointRequest{Paths: []string{"a.txt", "users"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			g.write("a.txt", "a\n")
			g.env["HOME"] = g.path(c.home)
			require.NoError(t, os.MkdirAll(g.env["HOME"], 0o755))
			res, err := g.open().Checkpoint(context.Background(), c.req)
			require.ErrorIs(t, err, oxpatch.ErrTooLarge)
			assert.Contains(t, res.Problems[0].Message, "home folder")
			assert.Empty(t, g.log())
			g.checkpoint("a.txt")
		})
	}
	t.Run("the top of the file system", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		if _, err := os.Stat("/.git"); err == nil {
			oxtest.Lacks(t, "a file system whose top is no repository")
		}
		res, err := g.openAt("/").Checkpoint(context.Background(), oxpatch.CheckpointRequest{Tree: true})
		require.ErrorIs(t, err, oxpatch.ErrTooLarge)
		assert.Contains(t, res.Problems[0].Message, "top of the file system")
	})
}

func TestWhatACheckpointRefuses(t *testing.T) {
	t.Parallel()
	g := newGitRepo(t, map[string]string{"a.txt": "a\n"})
	g.git("init", "-q", "nested/repo")
	g.write("nested/repo/inside.txt", "theirs\n")
	g.git("init", "-q", "--bare", "bare")
	g.write("deep/b.txt", "b\n")
	g.write("deep/git~1", "looks like git's\n")
	oxtest.NeedProgram(t, "mkfifo")
	require.NoError(t, exec.Command("mkfifo", g.path("deep/fifo")).Run())
	g.link("/etc", "outside")
	for _, path := range []string{
		"../x", "/etc/passwd", ".git/config", "nested/repo", "nested/repo/inside.txt", "bare/HEAD", "deep/fifo",
		"outside/passwd", "a.txt/below", "deep/git~1", "",
	} {
		res, err := g.open().Checkpoint(context.Background(), oxpatch.CheckpointRequest{Paths: []string{path}})
		require.Error(t, err, path)
		assert.Empty(t, res.ID, path)
		assert.NotEmpty(t, res.Problems[0].Message)
	}
	for _, req := range []oxpatch.CheckpointRequest{{}, {Tree: true, Paths: []string{"a.txt"}}} {
		res, err := g.open().Checkpoint(context.Background(), req)
		require.Error(t, err)
		assert.True(t, hasProblem(res, oxpatch.KindUsage, ""))
		assert.Contains(t, res.Problems[0].Hint, "--tree")
	}
	assert.Empty(t, g.log())
	for name, res := range map[string]*oxpatch.Result{"tree": g.checkpoint(), "folder": g.checkpoint(".")} {
		left := warnedOf(res, oxpatch.KindUnsupported)
		assert.Contains(t, left, "nested/repo", name)
		assert.Contains(t, left, "bare", name)
		assert.Contains(t, left, "deep/git~1", name)
		if name == "folder" { // git does not list it
			assert.Contains(t, left, "deep/fifo", name)
		}
	}
	// What was left out is not touched either.
	before := g.image()
	g.restore(oxpatch.RestoreRequest{ID: g.operations()[0].ID, DeleteNew: true})
	g.restore(oxpatch.RestoreRequest{ID: g.operations()[len(g.operations())-1].ID, DeleteNew: true})
	assert.Equal(t, before, g.image())
}
