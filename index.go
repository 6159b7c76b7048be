package oxpatch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// indexJob is what an operation does to git's index, beside the files: either it carries out a plan of
// git's, or it sets lines back.
type indexJob struct {
	plan    *gitapply.Result
	timeout time.Duration

	repo    gitapply.Repo
	options gitapply.Options
	restore gitapply.Restore
	// left holds the paths whose lines could not be set back, and why.
	left map[string]error
}

// begin takes the index's lock for a plan, before the first file is written. Lines that are set back
// are locked when that is done.
func (x *indexJob) begin(ctx context.Context) error {
	if x == nil || x.plan == nil {
		return nil
	}
	return x.plan.LockIndex(ctx, lockWait(x.timeout))
}

// abort gives the lock back with the index unchanged.
func (x *indexJob) abort() error {
	if x == nil || x.plan == nil {
		return nil
	}
	return x.plan.AbortIndex()
}

// finish changes the index, after the files were written.
func (x *indexJob) finish(ctx context.Context) error {
	switch {
	case x == nil:
		return nil
	case x.plan != nil:
		return x.plan.UpdateIndex(ctx)
	}
	var err error
	x.left, err = gitapply.RestoreIndex(ctx, x.repo, x.options, x.restore)
	return err
}

// lockWait turns the engine's timeout, in which 0 is the default and less than 0 tries once, into a
// plain duration.
func lockWait(d time.Duration) time.Duration {
	switch {
	case d == 0:
		return snapshot.DefaultLockTimeout
	case d < 0:
		return 0
	}
	return d
}

// onDisk leaves out entries of which only the index changes: submodules, which are folders before and
// after.
func onDisk(files []worktree.File) []worktree.File {
	return slices.DeleteFunc(slices.Clone(files), func(f worktree.File) bool {
		return f.Before.Kind == change.Dir && f.After.Kind == change.Dir
	})
}

// linesBack asks for the index lines of a record to be set back. Contents of blobs that are gone come
// from the record.
func linesBack(rec *snapshot.Record) gitapply.Restore {
	w := gitapply.Restore{Want: map[string][]change.IndexLine{}, Expect: map[string][]change.IndexLine{}}
	for _, p := range rec.Meta.Paths {
		if p.Index != nil {
			w.Want[p.Path], w.Expect[p.Path] = p.Index.Before, p.Index.After
		}
	}
	return w
}

// touchesIndex reports whether the operation changed lines of the index.
func touchesIndex(rec *snapshot.Record) bool {
	return slices.ContainsFunc(rec.Meta.Paths, func(p snapshot.PathMeta) bool { return p.Index != nil })
}

// indexIsAfter reports whether the index has all lines as the operation was to leave them.
func (s *settlement) indexIsAfter(ctx context.Context) (bool, error) {
	if !touchesIndex(s.rec) {
		return true, nil
	}
	repo, err := s.e.gitRepo()
	if err != nil {
		return false, err
	}
	var paths []string
	for _, p := range s.rec.Meta.Paths {
		if p.Index != nil {
			paths = append(paths, p.Path)
		}
	}
	now, err := gitapply.ReadIndex(ctx, repo, gitapply.Options{Env: s.e.o.env}, paths)
	if err != nil {
		return false, err
	}
	for _, p := range s.rec.Meta.Paths {
		if p.Index != nil && !slices.Equal(now[p.Path], p.Index.After) {
			return false, nil
		}
	}
	return true, nil
}

// indexBack sets the index lines back that the operation had changed already; others are not its own.
func (s *settlement) indexBack(ctx context.Context) error {
	if !touchesIndex(s.rec) {
		return nil
	}
	repo, err := s.e.gitRepo()
	if err != nil {
		return err
	}
	if err := dropDeadLock(repo); err != nil {
		return err
	}
	w := linesBack(s.rec)
	w.Timeout = lockWait(s.e.o.lockTimeout)
	_, err = gitapply.RestoreIndex(ctx, repo, gitapply.Options{Env: s.e.o.env}, w)
	return err
}

// dropDeadLock removes the index lock of a process of ours that was killed. The lock says whose it is;
// git's own are left alone.
func dropDeadLock(repo gitapply.Repo) error {
	path := filepath.Join(repo.GitDir, "index.lock")
	data, err := os.ReadFile(path)
	if err != nil || string(data) != gitapply.LockMark {
		return nil //nolint:nilerr // there is none, or it cannot be ours
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
