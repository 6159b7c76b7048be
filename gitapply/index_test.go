package gitapply_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simple is a repository with f.txt, and a patch for it.
func simple(t *testing.T) (*repo, string) {
	t.Helper()
	r := newRepo(t, anyGit(t))
	r.write("f.txt", base)
	r.write("g.txt", base)
	r.commit()
	patch := edit(r, "f.txt", base, replaced("two", "2"))
	r.run("update-index", "-q", "--refresh")
	return r, patch
}

func TestTheLockIsWaitedForAndTold(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	lock := filepath.Join(r.at.GitDir, "index.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	ctx := context.Background()
	require.ErrorIs(t, res.LockIndex(ctx, 20*time.Millisecond), gitapply.ErrLocked)
	assert.FileExists(t, lock, "somebody else's lock was removed")
	go func() {
		time.Sleep(50 * time.Millisecond)
		os.Remove(lock)
	}()
	require.NoError(t, res.LockIndex(ctx, 5*time.Second))
	assert.FileExists(t, lock)
	out, err := exec.Command(r.git, "-C", r.top, "add", "g.txt").CombinedOutput()
	assert.Error(t, err, "git got the lock that we hold: %s", out)
	require.NoError(t, res.AbortIndex())
	assert.NoFileExists(t, lock)
	require.NoError(t, res.Close())
	stopped, stop := context.WithCancel(ctx)
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	stop()
	assert.ErrorIs(t, res.LockIndex(stopped, time.Minute), context.Canceled)
}

func TestAnIndexThatChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	ctx := context.Background()
	r.write("f.txt", replaced("six", "6"))
	r.run("add", "f.txt")
	require.ErrorIs(t, res.LockIndex(ctx, time.Second), gitapply.ErrIndexChanged)
	assert.NoFileExists(t, filepath.Join(r.at.GitDir, "index.lock"))
	require.Error(t, res.UpdateIndex(ctx), "the index may only be changed under the lock")

	// Another path may change: its line is kept.
	r.write("f.txt", base)
	r.write("g.txt", "other\n")
	r.run("add", "-A")
	require.NoError(t, r.apply(res))
	assert.Contains(t, r.run("diff", "--cached", "--name-only"), "f.txt\ng.txt")
	assert.Empty(t, r.run("diff", "--name-only"))
}

func TestNothingIsLeftBesideTheIndex(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	ctx := context.Background()
	require.NoError(t, res.LockIndex(ctx, time.Second))
	r.writeAll(res.Changes, func(c change.Change) change.State { return c.After })
	require.NoError(t, res.UpdateIndex(ctx))
	entries, err := os.ReadDir(r.at.GitDir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.NotContains(t, e.Name(), "oxpatch")
		assert.NotContains(t, e.Name(), ".lock")
	}
	info, err := os.Stat(filepath.Join(r.at.GitDir, "index"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
}

func TestAFileEditedBehindOurBackIsEnteredAsItIs(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	ctx := context.Background()
	require.NoError(t, res.LockIndex(ctx, time.Second))
	r.write("f.txt", "somebody was faster\n")
	planned := res.Changes[0].Index.After[0].OID
	require.NoError(t, res.UpdateIndex(ctx))
	assert.Equal(t, "somebody was faster\n", r.run("cat-file", "blob", ":f.txt"))
	assert.NotEqual(t, planned, res.Changes[0].Index.After[0].OID)
	assert.Contains(t, r.run("ls-files", "-s", "f.txt"), res.Changes[0].Index.After[0].OID)
}

// What a killed run left in the git directory is in nobody's way.
func TestDebrisOfAKilledRun(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	for _, name := range []string{"index.oxpatch", "index.oxpatch.lock"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.at.GitDir, name), []byte("half"), 0o644))
	}
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	require.NoError(t, r.apply(res))
	assert.NoFileExists(t, filepath.Join(r.at.GitDir, "index.oxpatch.lock"))
}

func TestSharedRepositoriesKeepTheirPermissions(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	r.run("config", "core.sharedRepository", "group")
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	require.NoError(t, r.apply(res))
	info, err := os.Stat(filepath.Join(r.at.GitDir, "index"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o660), info.Mode().Perm()&0o660)
}

// Every state that an entry can be in comes back, with its flags and stages, whatever is done to it
// in between.
func TestRestoreIndexBringsBackEveryState(t *testing.T) {
	t.Parallel()
	for version, git := range gits(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, git)
			names := []string{"plain", "exec", "link", "skip", "assume", "both", "dir/intended", "intended-exec", "conflict", "mod", "gone"}
			for _, n := range names {
				r.write(n+".x", "keeps the folder\n")
			}
			for _, n := range []string{"plain", "exec", "skip", "assume", "both", "other", "gone"} {
				r.write(n, n+"\n")
			}
			require.NoError(t, os.Chmod(filepath.Join(r.top, "exec"), 0o755))
			require.NoError(t, os.Symlink("plain", filepath.Join(r.top, "link")))
			r.commit()
			r.write("dir/intended", "not yet\n")
			r.write("intended-exec", "not yet\n")
			require.NoError(t, os.Chmod(filepath.Join(r.top, "intended-exec"), 0o755))
			r.run("add", "-N", "dir/intended", "intended-exec")
			r.run("update-index", "--skip-worktree", "skip", "both")
			r.run("update-index", "--assume-unchanged", "assume", "both")
			var info strings.Builder
			for stage, text := range []string{"base\n", "ours\n", "theirs\n"} {
				id := strings.TrimSpace(r.feed(text, "hash-object", "-w", "--stdin"))
				info.WriteString("100644 " + id + " " + string(rune('1'+stage)) + "\tconflict\n")
			}
			info.WriteString("160000 " + strings.Repeat("1", 40) + " 0\tmod\n")
			r.feed(info.String(), "update-index", "--index-info")
			ctx, o := context.Background(), gitapply.Options{Git: git}
			want, err := gitapply.ReadIndex(ctx, r.at, o, append(names, "absent"))
			require.NoError(t, err)
			require.Len(t, want, len(names))
			want["absent"] = nil
			before := r.lines()

			r.run("rm", "-q", "--cached", "-f", "--sparse", "--ignore-unmatch", "plain", "exec", "skip", "conflict", "mod")
			r.write("absent", "x\n")
			r.feed("100644 "+strings.TrimSpace(r.feed("z\n", "hash-object", "-w", "--stdin"))+" 0\tabsent\n", "update-index", "--index-info")
			r.run("update-index", "--no-skip-worktree", "--no-assume-unchanged", "both", "assume")
			r.run("update-index", "--add", "dir/intended", "intended-exec", "link")
			r.run("update-index", "--force-remove", "gone")
			require.NotEqual(t, before, r.lines())

			left, err := gitapply.RestoreIndex(ctx, r.at, o, gitapply.Restore{Want: want})
			require.NoError(t, err)
			assert.Empty(t, left)
			assert.Equal(t, before, r.lines())
			assert.Empty(t, r.run("diff-files", "--name-only", "--", "plain", "exec", "link", "gone"), "entries are not fresh")
			left, err = gitapply.RestoreIndex(ctx, r.at, o, gitapply.Restore{Want: want})
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestRestoreIndexLeavesWhatChangedAndReportsIt(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	require.NoError(t, r.apply(res))
	c := res.Changes[0]
	r.write("f.txt", "mine\n")
	r.run("add", "f.txt")
	before := r.lines()
	w := gitapply.Restore{Want: map[string][]change.IndexLine{"f.txt": c.Index.Before}, Expect: map[string][]change.IndexLine{"f.txt": c.Index.After}}
	left, err := gitapply.RestoreIndex(context.Background(), r.at, gitapply.Options{}, w)
	require.NoError(t, err)
	assert.ErrorIs(t, left["f.txt"], gitapply.ErrIndexChanged)
	assert.Equal(t, before, r.lines())

	lock := filepath.Join(r.at.GitDir, "index.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	_, err = gitapply.RestoreIndex(context.Background(), r.at, gitapply.Options{}, w)
	assert.ErrorIs(t, err, gitapply.ErrLocked)
	assert.FileExists(t, lock)
}

func TestRestoreIndexPutsLostBlobsBack(t *testing.T) {
	t.Parallel()
	r, _ := simple(t)
	ctx := context.Background()
	lost := "staged once\n"
	r.write("f.txt", lost)
	r.run("add", "f.txt")
	want, err := gitapply.ReadIndex(ctx, r.at, gitapply.Options{}, []string{"f.txt", "g.txt"})
	require.NoError(t, err)
	id := want["f.txt"][0].OID
	r.write("f.txt", base)
	r.run("add", "f.txt")
	require.NoError(t, os.Remove(filepath.Join(r.at.GitDir, "objects", id[:2], id[2:])))
	w := gitapply.Restore{Want: want}
	left, err := gitapply.RestoreIndex(ctx, r.at, gitapply.Options{}, w)
	require.NoError(t, err)
	assert.ErrorIs(t, left["f.txt"], gitapply.ErrNoBlob)
	w.Blob = func(string) ([]byte, bool) { return []byte("something else\n"), true }
	left, err = gitapply.RestoreIndex(ctx, r.at, gitapply.Options{}, w)
	require.NoError(t, err)
	assert.ErrorIs(t, left["f.txt"], gitapply.ErrNoBlob, "a blob that is another was taken")
	w.Blob = func(asked string) ([]byte, bool) { return []byte(lost), asked == id }
	left, err = gitapply.RestoreIndex(ctx, r.at, gitapply.Options{}, w)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, lost, r.run("cat-file", "blob", ":f.txt"))
}
