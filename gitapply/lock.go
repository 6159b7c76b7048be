package gitapply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/openoxide/oxpatch/change"
)

// indexLock is git's own lock on an index: the file beside it that becomes the index when it is
// renamed. Processes started from here do not inherit the descriptor.
type indexLock struct {
	path  string // of the lock
	index string
	file  *os.File
}

// LockMark is what stands in a lock of ours, until it becomes the index. git looks only at whether the
// file exists; who finds the lock of a killed process can tell by it that it was not git's.
const LockMark = "oxpatch\n"

// lockIndex makes the lock file, and tries again for as long as timeout while another process has
// it. The error is then an ErrLocked.
func lockIndex(ctx context.Context, index string, timeout time.Duration) (*indexLock, error) {
	path := index + ".lock"
	end := time.Now().Add(timeout)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			lock := &indexLock{path: path, index: index, file: f}
			if _, err := f.WriteString(LockMark); err != nil {
				return nil, errors.Join(err, lock.drop())
			}
			return lock, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(wait, left)):
		}
	}
}

// drop gives the lock up without changing the index.
func (l *indexLock) drop() error {
	if l == nil || l.file == nil {
		return nil
	}
	err := l.file.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	l.file = nil
	return errors.Join(err, os.Remove(l.path))
}

// publish makes the index in the given file the repository's, and gives the lock up. git has made the
// file with the permissions and the time that are right for it. It is gone afterwards in any case, and
// before the lock is: its name belongs to who holds the lock.
//
// git itself renames the lock over the index. Here the lock stays what it is until the index is
// there, so that at every moment at which this process may be killed the lock says whose it is. An
// error means that the index is as it was; a lock that then cannot be removed is not one.
func (l *indexLock) publish(from string) error {
	made, err := os.Stat(from)
	if err != nil {
		return err
	}
	if now, err := os.Stat(l.index); err == nil && os.SameFile(made, now) {
		// git found nothing to change. Renaming a file onto itself would leave the lock.
		_ = os.Remove(from)
		_ = l.drop()
		return nil
	}
	if err := os.Rename(from, l.index); err != nil {
		return errors.Join(err, os.Remove(from)) // the caller drops the lock
	}
	_ = l.drop()
	return nil
}

// LockIndex takes the lock of the index, for which it waits up to timeout, and makes sure that the
// lines to be changed are still those of the plan. It must be called before the first file is
// written; afterwards one of UpdateIndex and AbortIndex ends the lock. A plan that leaves the index
// alone takes no lock.
//
// The error is an ErrLocked or an ErrIndexChanged, or one of the file system; there is no lock then.
func (r *Result) LockIndex(ctx context.Context, timeout time.Duration) error {
	if !r.touchesIndex() || r.lock != nil {
		return nil
	}
	lock, err := lockIndex(ctx, r.run.indexFile(), timeout)
	if err != nil {
		return err
	}
	if err := r.unchanged(ctx); err != nil {
		return errors.Join(err, lock.drop())
	}
	r.lock = lock
	return nil
}

// AbortIndex gives the lock up and leaves the index as it is. Without a lock it does nothing.
func (r *Result) AbortIndex() error {
	err := r.lock.drop()
	r.lock = nil
	return err
}

// Close ends the plan. It gives up a lock that is still held.
func (r *Result) Close() error { return errors.Join(r.AbortIndex(), r.sweep()) }

// sweep waits until the scratch is gone.
func (r *Result) sweep() error {
	if r.swept == nil {
		return nil
	}
	err := <-r.swept
	r.swept = nil
	return err
}

func (r *Result) touchesIndex() bool {
	return slices.ContainsFunc(r.Changes, func(c change.Change) bool { return c.Index != nil })
}

// unchanged compares the index with the plan. The file itself is compared first; only one that was
// written since is read.
func (r *Result) unchanged(ctx context.Context) error {
	info, err := os.Stat(r.run.indexFile())
	switch {
	case errors.Is(err, fs.ErrNotExist) && !r.print.exists:
		return nil
	case err == nil && r.print.exists && info.Size() == r.print.size && info.ModTime().Equal(r.print.mtime):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	var paths []string
	for _, c := range r.Changes {
		if c.Index != nil {
			paths = append(paths, c.Path)
		}
	}
	now, err := r.run.list(ctx, r.run.real(r.run.indexFile()), paths)
	if err != nil {
		return err
	}
	for _, c := range r.Changes {
		if c.Index != nil && !sameLines(now[c.Path], c.Index.Before) {
			return fmt.Errorf("%s: %w", change.DisplayPath(c.Path), ErrIndexChanged)
		}
	}
	return nil
}
