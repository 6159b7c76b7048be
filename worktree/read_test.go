//go:build linux || darwin

package worktree

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{
		"a": "content\n", "x.sh": "x:1", "empty": "", "bin": "\x00\xff", "link": "-> a", "dangling": "-> no\xffwhere", "d/f": "f",
	})
	require.NoError(t, os.Chmod(filepath.Join(dir, "a"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	tree := open(t, dir, Options{})
	for name, c := range map[string]struct {
		path string
		want change.State
	}{
		"file":                 {"a", change.State{Kind: change.File, Mode: 0o600, Content: []byte("content\n")}},
		"executable":           {"x.sh", change.State{Kind: change.File, Mode: 0o755, Content: []byte("x:1")}},
		"empty":                {"empty", change.State{Kind: change.File, Mode: 0o644, Content: []byte{}}},
		"binary":               {"bin", change.State{Kind: change.File, Mode: 0o644, Content: []byte("\x00\xff")}},
		"link is not followed": {"link", change.State{Kind: change.Symlink, Content: []byte("a")}},
		"dangling link":        {"dangling", change.State{Kind: change.Symlink, Content: []byte("no\xffwhere")}},
		"folder":               {"d", change.State{Kind: change.Dir, Mode: 0o755}},
		"FIFO":                 {"fifo", change.State{Kind: change.Other, Mode: 0o644}},
		"nothing":              {"none", change.State{}},
		"nothing, no folder":   {"no/ne", change.State{}},
		"below a file":         {"a/x", change.State{}},
		"below a link":         {"link/x", change.State{}},
	} {
		t.Run(name, func(t *testing.T) {
			state, _, err := tree.Read(c.path)
			require.NoError(t, err)
			assert.Equal(t, c.want.Kind, state.Kind)
			assert.Equal(t, c.want.Content, state.Content)
			if c.want.Kind != change.Other && c.want.Kind != change.Symlink {
				assert.Equal(t, c.want.Mode, state.Mode)
			}
		})
	}
}

func TestReadBetween(t *testing.T) {
	t.Parallel()
	tree := open(t, tempTree(t, map[string]string{"d/x": "x", "e/x": "x", "f/x": "x"}), Options{})
	for path, want := range map[string]change.Kind{"d": change.Absent, "e": change.Absent, "f": change.Dir, "d/x": change.File} {
		state, _, err := tree.ReadBetween(path, []Dir{{Path: "d"}}, []Dir{{Path: "e"}})
		require.NoError(t, err)
		assert.Equal(t, want, state.Kind, path)
	}
}

func TestReadBounds(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"ten": "0123456789", "eleven": "0123456789a"})
	tree := open(t, dir, Options{MaxFile: 10})
	_, _, err := tree.Read("ten")
	require.NoError(t, err)
	_, _, err = tree.Read("eleven")
	require.ErrorIs(t, err, ErrTooLarge)
	assert.Contains(t, err.Error(), "eleven: it has 11 bytes")
}

func TestReadGivesHardLinks(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"a": "a"})
	require.NoError(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	_, stamp, err := open(t, dir, Options{}).Read("b")
	require.NoError(t, err)
	assert.EqualValues(t, 2, stamp.HardLinks)
}

// Reading takes one allocation of the file's size and little besides.
func TestReadAllocatesOnce(t *testing.T) {
	dir := tempTree(t, nil)
	size := 18 << 20
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big"), bytes.Repeat([]byte("x"), size), 0o644))
	tree := open(t, dir, Options{})
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, _, err := tree.Read("big"); err != nil {
				b.Fatal(err)
			}
		}
	})
	assert.Less(t, result.AllocedBytesPerOp(), int64(size+64<<10))
}

// A FIFO, a link and a file take turns under one name: reading neither hangs nor follows the link.
func TestReadWhileTheNameChanges(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"secret": "secret", "content": "content"})
	tree := open(t, dir, Options{})
	name := filepath.Join(dir, "f")
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			os.Remove(name)
			switch i % 3 {
			case 0:
				_ = syscall.Mkfifo(name, 0o644)
			case 1:
				_ = os.Symlink("secret", name)
			case 2:
				_ = os.Link(filepath.Join(dir, "content"), name)
			}
		}
	})
	defer wait.Wait()
	defer close(stop)
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		state, _, err := tree.Read("f")
		if err != nil {
			var problem *PathError
			require.ErrorAs(t, err, &problem)
			continue
		}
		if state.Kind == change.File {
			require.Equal(t, "content", string(state.Content))
		}
	}
}

func TestFreshness(t *testing.T) {
	t.Parallel()
	seen := time.Unix(1000, 500)
	for name, c := range map[string]struct {
		at   time.Time
		want bool
	}{
		"whole seconds, just before": {time.Unix(999, 0), true},
		"whole seconds, long before": {time.Unix(997, 0), false},
		"fine, just before":          {seen.Add(-50 * time.Millisecond), true},
		"fine, long before":          {seen.Add(-150 * time.Millisecond), false},
		"in the future":              {seen.Add(time.Hour), true},
	} {
		assert.Equal(t, c.want, isFresh(c.at.UnixNano(), seen), name)
	}
}

func TestErrorsReadWell(t *testing.T) {
	t.Parallel()
	_, err := Open(filepath.Join(t.TempDir(), "none"), Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Contains(t, err.Error(), "the root folder cannot be opened: no such file or directory")
	left := []*PathError{{Path: "a", Problem: "broken", Err: ErrDrift}, {Path: "b\xff", Problem: "too", Err: ErrOwner}}
	cause := errors.New("cause")
	rollback := &RollbackError{Cause: cause, Left: left}
	assert.Equal(t, `cause; rolling back: 2 paths are not restored; a: broken; "b\377": too`, rollback.Error())
	assert.ErrorIs(t, rollback, cause)
	assert.ErrorIs(t, rollback, ErrOwner)
}
