package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

func TestWriteMixed(t *testing.T) {
	t.Parallel()
	after, effects := mixedAfter(t, Process)
	require.Greater(t, effects, 40)
	files := map[string]string{
		"update.txt":         "two\n",
		"exec.sh":            "run it\n",
		"to.txt":             "moved, changed\n",
		"file-to-dir/x/y":    "below\n",
		"link-to-dir/z":      "x:now\n",
		"dir-to-file":        "now a file\n",
		"link":               "-> to.txt",
		"newlink":            "-> nowhere",
		"to-link":            "-> sub/other",
		"sub/inplace.txt":    "short\n",
		"sub/newinplace.txt": "made in place\n",
		"sub/other":          "not named\n",
		"new/folder/file":    "x:now\n",
		"plain-new":          "",
	}
	dir := tempTree(t, files)
	require.NoError(t, os.Chmod(filepath.Join(dir, "exec.sh"), 0o755))
	assert.Equal(t, strip(picture(t, dir)), strip(after))
}

// strip drops the line of the root, whose mode is the temporary folder's.
func strip(picture string) string {
	_, rest, _ := strings.Cut(picture, "\n")
	return rest
}

func TestFaultAtEveryEffect(t *testing.T) {
	t.Parallel()
	for name, durability := range map[string]Durability{"process": Process, "power": Power} {
		_, effects := mixedAfter(t, durability)
		for at := 1; at <= effects; at++ {
			t.Run(fmt.Sprintf("%s/%d", name, at), func(t *testing.T) {
				t.Parallel()
				f := &faulty{at: at, fails: func(since int) error {
					if since == 0 {
						return errFault
					}
					return nil
				}}
				tree, dir, j := mixedJob(t, f)
				before := picture(t, dir)
				err := j.write(tree, "op", durability)
				if err == nil {
					require.Contains(t, f.ops[at-1], string(OpRmdir), "only leaving an emptied folder is no failure")
					return
				}
				assert.ErrorIs(t, err, errFault, f.ops[at-1])
				var rollback *RollbackError
				assert.False(t, errors.As(err, &rollback), "%v", err)
				assert.Equal(t, before, picture(t, dir), f.ops[at-1])
			})
		}
	}
}

func TestFaultThatStaysIsReported(t *testing.T) {
	t.Parallel()
	_, effects := mixedAfter(t, Process)
	for at := 1; at <= effects; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			f := &faulty{at: at, fails: func(int) error { return errFault }}
			tree, dir, j := mixedJob(t, f)
			before := picture(t, dir)
			err := j.write(tree, "op", Process)
			require.ErrorIs(t, err, errFault)
			var rollback *RollbackError
			if errors.As(err, &rollback) {
				require.NotEmpty(t, rollback.Left)
			} else {
				assert.Equal(t, before, picture(t, dir), "no word of it, so all must be as before")
			}
			f.at = 0
			require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
			assert.Equal(t, before, picture(t, dir))
		})
	}
}

func TestKillAtEveryEffect(t *testing.T) {
	t.Parallel()
	for name, toward := range map[string]Toward{"before": Before, "after": After} {
		after, effects := mixedAfter(t, Process)
		for at := 1; at <= effects; at++ {
			t.Run(fmt.Sprintf("%s/%d", name, at), func(t *testing.T) {
				t.Parallel()
				f := &faulty{at: at, fails: func(int) error { return ErrKilled }}
				tree, dir, j := mixedJob(t, f)
				want := picture(t, dir)
				if toward == After {
					want = after
				}
				require.ErrorIs(t, j.write(tree, "op", Process), ErrKilled)
				assert.Equal(t, at, f.seen, "nothing after the kill")
				again := open(t, dir, Options{})
				require.NoError(t, again.Restore("op", j.files, j.made, j.removed, toward), f.ops[at-1])
				assert.Equal(t, strip(want), strip(picture(t, dir)), f.ops[at-1])
				require.NoError(t, again.Restore("op", j.files, j.made, j.removed, toward), "once more")
				assert.Equal(t, strip(want), strip(picture(t, dir)))
			})
		}
	}
}

// A kill during the restore is restored again, in either direction.
func TestKillDuringRestore(t *testing.T) {
	t.Parallel()
	_, effects := mixedAfter(t, Process)
	for first := 5; first <= effects; first += 13 {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			t.Parallel()
			for second := 1; ; second++ {
				f := &faulty{at: first, fails: func(int) error { return ErrKilled }}
				tree, dir, j := mixedJob(t, f)
				before := picture(t, dir)
				require.ErrorIs(t, j.write(tree, "op", Process), ErrKilled)
				f.at, f.seen = second, 0
				err := tree.Restore("op", j.files, j.made, j.removed, Before)
				f.at = 0
				if err != nil {
					require.ErrorIs(t, err, ErrKilled)
					require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
				}
				require.Equal(t, before, picture(t, dir), "second kill at %d", second)
				if err == nil {
					return
				}
			}
		})
	}
}

// A fault during the restore leaves no path torn: a second restore finishes the work.
func TestFaultDuringRestore(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		f := &faulty{}
		tree, dir, j := mixedJob(t, f)
		before := picture(t, dir)
		require.NoError(t, j.write(tree, "op", Process))
		f.at, f.seen = at, 0
		f.fails = func(since int) error {
			if since == 0 {
				return errFault
			}
			return nil
		}
		err := tree.Restore("op", j.files, j.made, j.removed, Before)
		if f.seen < at {
			require.NoError(t, err)
			return
		}
		f.at = 0
		if err != nil {
			var left *RestoreError
			require.ErrorAs(t, err, &left)
			assert.ErrorIs(t, err, errFault)
		}
		assert.NotContains(t, picture(t, dir), ".oxpatch-", "after a fault at effect %d", at)
		require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before), "after a fault at effect %d", at)
		require.Equal(t, before, picture(t, dir), "after a fault at effect %d", at)
	}
}

// Restore from the whole operation, without any kill: as undo by recovery does it.
func TestRestoreWholeOperation(t *testing.T) {
	t.Parallel()
	tree, dir, j := mixedJob(t, &faulty{})
	before := picture(t, dir)
	require.NoError(t, j.write(tree, "op", Process))
	after := picture(t, dir)
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, After))
	assert.Equal(t, after, picture(t, dir))
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
	assert.Equal(t, before, picture(t, dir))
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, After))
	assert.Equal(t, strip(after), strip(picture(t, dir)))
}

// A folder that is made again gets its mode even when the first try was killed before that.
func TestKillBeforeFolderHasItsMode(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"d/x": "x"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "d"), 0o777))
	before := picture(t, dir)
	kill := false
	tree := open(t, dir, Options{Effects: func(op Op, key string) error {
		if kill && op == OpChmod && key == "d" {
			return ErrKilled
		}
		return nil
	}})
	j := plan(t, tree, want{path: "d/x", after: gone})
	require.NoError(t, j.write(tree, "op", Process))
	kill = true
	require.ErrorIs(t, tree.Restore("op", j.files, j.made, j.removed, Before), ErrKilled)
	kill = false
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
	assert.Equal(t, before, picture(t, dir))
}

func TestRestoreLeavesWhatIsInNeitherState(t *testing.T) {
	t.Parallel()
	f := &faulty{at: 35, fails: func(int) error { return ErrKilled }}
	tree, dir, j := mixedJob(t, f)
	require.ErrorIs(t, j.write(tree, "op", Process), ErrKilled)
	lay(t, dir, map[string]string{"update.txt": "the user's own\n"})
	f.at = 0
	err := tree.Restore("op", j.files, j.made, j.removed, Before)
	require.ErrorIs(t, err, ErrDrift)
	var left *RestoreError
	require.ErrorAs(t, err, &left)
	require.Len(t, left.Left, 1)
	assert.Equal(t, "update.txt", left.Left[0].Path)
	content, err := os.ReadFile(filepath.Join(dir, "update.txt"))
	require.NoError(t, err)
	assert.Equal(t, "the user's own\n", string(content))
	assert.NotContains(t, picture(t, dir), ".oxpatch-")
	assert.Contains(t, picture(t, dir), "deep/er/last", "the others are restored")
}

func TestCanceledWriteIsRolledBack(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 20, 40} {
		ctx, cancel := context.WithCancel(context.Background())
		f := &faulty{at: at, fails: func(int) error { cancel(); return nil }}
		tree, dir, j := mixedJob(t, f)
		before := picture(t, dir)
		err := tree.NewWriter("op", j.files, j.made, j.removed, Process).Write(ctx)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, before, picture(t, dir))
	}
}

// A moved file stands somewhere at every moment, going forward and back.
func TestMovedFileAlwaysExists(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "content\n"}
	dir := tempTree(t, files)
	holds := func() bool {
		for _, name := range []string{"a", "b/a"} {
			if content, err := os.ReadFile(filepath.Join(dir, name)); err == nil && string(content) == "content\n" {
				return true
			}
		}
		return false
	}
	tree := open(t, dir, Options{Effects: func(op Op, path string) error {
		assert.True(t, holds(), "%s %s", op, path)
		return nil
	}})
	j := plan(t, tree, want{path: "a", after: gone}, want{path: "b/a", after: file("content\n"), old: "a"})
	require.NoError(t, j.write(tree, "op", Process))
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
	assert.True(t, holds())
	assert.Equal(t, change.File, j.files[0].Before.Kind)
}
