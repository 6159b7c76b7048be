package gitapply

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	scratchPrefix = "oxpatch-git-"
	// scratchLock is a file in a scratch that is locked as long as its process lives.
	scratchLock = "lock"
	// mostSwept bounds how many names are looked at and how many folders removed in one go.
	mostListed, mostSwept = 2000, 20
)

// tempScratch makes a folder for a scratch and locks it, after removing what killed processes left
// beside it: in memory it would stay until the machine is started anew.
func tempScratch(parent string) (dir string, lock *flock.Flock, err error) {
	sweep(parent)
	if dir, err = os.MkdirTemp(parent, scratchPrefix); err != nil {
		return "", nil, err
	}
	return dir, lockScratch(dir), nil
}

// lockScratch makes the lock of a scratch; nil where nothing can be locked. The file gets its name when it
// is locked, so that nobody meets it without.
func lockScratch(dir string) *flock.Flock {
	path := filepath.Join(dir, scratchLock)
	lock := flock.New(path + ".new")
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil
	}
	if err := os.Rename(path+".new", path); err != nil {
		_ = lock.Close()
		return nil
	}
	return lock
}

// removeScratch removes a scratch of this process.
func removeScratch(dir string, lock *flock.Flock) error {
	if lock != nil {
		// Without its lock's name nobody else removes it meanwhile. Some systems remove no open file.
		_ = os.Remove(filepath.Join(dir, scratchLock))
		_ = lock.Close()
	}
	err := os.RemoveAll(dir)
	if err != nil {
		err = os.RemoveAll(dir) // somebody was sweeping it too
	}
	return err
}

// sweep removes scratches whose lock nobody holds. One without a lock is being made, or was made where
// nothing can be locked, and goes after a day. Failures do not matter: the next run tries again.
func sweep(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	d, err := os.Open(parent)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(mostListed)
	d.Close()
	swept := 0
	for _, name := range names {
		if !strings.HasPrefix(name, scratchPrefix) || swept == mostSwept {
			continue
		}
		if dir := filepath.Join(parent, name); abandoned(dir) && os.RemoveAll(dir) == nil {
			swept++
		}
	}
}

// abandoned reports whether a scratch belongs to no living process.
func abandoned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	path := filepath.Join(dir, scratchLock)
	if _, err := os.Lstat(path); err != nil {
		const day = 24 * time.Hour
		return os.IsNotExist(err) && time.Since(info.ModTime()) > day
	}
	lock := flock.New(path)
	ok, err := lock.TryLock()
	if err != nil || !ok {
		return false
	}
	_ = lock.Unlock()
	return true
}
