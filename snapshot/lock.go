package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Two locks keep operations apart, and they are always taken in this order, never the other way
// round and never upgraded:
//
//  1. The root's (Site.Lock): one operation at a time in a working tree. It is on the root folder
//     itself, so it works where no store can be written, and holds between processes that use
//     different stores. The kernel frees it when its holder dies. Where folders cannot be locked,
//     on Windows and on network file systems, it is on a file in the first store that will do.
//  2. The store's (Store.Lock, shared by all who write records): whoever removes records takes it
//     alone (Store.LockExclusive), so that nothing is removed between a pack and the ref to it.
//
// Both are on open files, so that threads of one process keep one another out too. The files are
// closed in child processes.

const (
	firstWait = time.Millisecond
	maxWait   = 20 * time.Millisecond
)

// Lock takes the root's lock. It waits at most timeout: 0 stands for DefaultLockTimeout, and with
// a negative one it tries once. The error is a *BusyError naming the holder, ctx's own, or one of
// the file system. release is to be called once and may be called again.
func (s *Site) Lock(ctx context.Context, timeout time.Duration) (release func(), err error) {
	try := func() (*flock.Flock, error) { return s.tryRoot() }
	release, err = wait(ctx, timeout, try)
	if err != nil {
		return nil, err
	}
	if release == nil {
		return nil, s.busy()
	}
	s.noteHolder()
	return release, nil
}

// tryRoot locks the root without waiting: nil if somebody else has it.
func (s *Site) tryRoot() (*flock.Flock, error) {
	lock := s.lockFolder
	if lock == nil {
		lock = func(root string) (*flock.Flock, error) { return tryAt(root, os.O_RDONLY) }
	}
	if foldersLock {
		if f, err := lock(s.Root); err == nil || !noFolderLocks(err) {
			return f, err
		}
	}
	return s.tryFiles()
}

// tryFiles locks a file in the first store where that can be done. The error is a *NoStoreError.
func (s *Site) tryFiles() (*flock.Flock, error) {
	e := &NoStoreError{}
	for _, p := range s.Write {
		dir := filepath.Join(p.Dir, "worktrees", p.Worktree)
		err := s.stillRepo(p)
		if err == nil {
			err = os.MkdirAll(dir, dirMode)
		}
		if err == nil {
			var f *flock.Flock
			if f, err = tryAt(filepath.Join(dir, "lock"), lockFile); err == nil {
				return f, nil
			}
		}
		e.Tried = append(e.Tried, Unusable{Place: p, Err: err})
	}
	return nil, e
}

// tryAt locks what stands at a path now: while waiting, another may have taken its place.
func tryAt(path string, flag int) (*flock.Flock, error) {
	f, err := try(path, flag, false)
	if f == nil || err != nil {
		return nil, err
	}
	locked, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(locked, now) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Lock takes the store's lock together with others who write records. Timeout and errors are those
// of Site.Lock, except that a holder is not named. What writers left half written that were killed goes
// first, unless another one is at work.
func (s *Store) Lock(ctx context.Context, timeout time.Duration) (release func(), err error) {
	s.removeHalfPacks(ctx)
	return s.lock(ctx, timeout, true)
}

// LockExclusive takes the store's lock alone. It must not be called while holding Lock.
func (s *Store) LockExclusive(ctx context.Context, timeout time.Duration) (release func(), err error) {
	return s.lock(ctx, timeout, false)
}

func (s *Store) lock(ctx context.Context, timeout time.Duration, shared bool) (func(), error) {
	path := s.lockPath()
	release, err := wait(ctx, timeout, func() (*flock.Flock, error) { return try(path, lockFile, shared) })
	if err == nil && release == nil {
		return nil, &BusyError{Path: path}
	}
	return release, err
}

// lockFile opens a file that is there only to be locked.
const lockFile = os.O_RDONLY | os.O_CREATE

// try takes a lock without waiting: nil if somebody else has it.
func try(path string, flag int, shared bool) (*flock.Flock, error) {
	f := flock.New(path, flock.SetFlag(flag), flock.SetPermissions(fileMode))
	take := f.TryLock
	if shared {
		take = f.TryRLock
	}
	ok, err := take()
	if err != nil || !ok {
		f.Close()
		return nil, err
	}
	return f, nil
}

// wait calls try until it gives a lock; nil, nil when the time is up.
func wait(ctx context.Context, timeout time.Duration, try func() (*flock.Flock, error)) (func(), error) {
	if timeout == 0 {
		timeout = DefaultLockTimeout
	}
	deadline := time.Now().Add(timeout)
	for pause := firstWait; ; pause = min(2*pause, maxWait) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := try()
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func() { f.Close() }, nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(pause, left)):
		}
	}
}

// holderSize is the size of a holder file in bytes. JSON makes at most six bytes of one, so an
// eighth of it for the command leaves room.
const holderSize = 1024

// holder is the content of worktrees/NAME/holder, for messages only.
type holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// noteHolder leaves a note of who holds the root's lock, in a store that exists already. A note
// that cannot be written costs only the name in somebody's message.
func (s *Site) noteHolder() {
	command := strings.Join(os.Args[:min(len(os.Args), 2)], " ")
	data, err := json.Marshal(holder{PID: os.Getpid(), Command: command[:min(len(command), holderSize/8)]})
	if err != nil {
		return
	}
	// Blanks fill the file to the same size always, so that it need not be truncated: ext4 takes a
	// truncated and rewritten file for one to be written out at once.
	data = append(data, bytes.Repeat([]byte{' '}, holderSize-len(data))...)
	for _, p := range s.Write {
		dir := filepath.Join(p.Dir, "worktrees", p.Worktree)
		if _, err := os.Stat(filepath.Join(p.Dir, "format")); err != nil {
			continue
		}
		if p.Shared {
			// A root is known to a shared store once it has a record there. A folder for each root that
			// was ever locked would fill it up.
			if _, err := os.Stat(dir); err != nil {
				continue
			}
		}
		if os.MkdirAll(dir, dirMode) == nil && overwrite(filepath.Join(dir, "holder"), data) == nil {
			return
		}
	}
}

// overwrite writes data at the beginning of a file.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// busy says who holds the root's lock, from the newest note.
func (s *Site) busy() error {
	e := &BusyError{Path: s.Root}
	var newest time.Time
	for _, p := range s.Read {
		path := filepath.Join(p.Dir, "worktrees", p.Worktree, "holder")
		info, err := os.Stat(path)
		if err != nil || info.ModTime().Before(newest) {
			continue
		}
		var h holder
		if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &h) == nil {
			newest, e.PID, e.What = info.ModTime(), h.PID, h.Command
		}
	}
	return e
}
