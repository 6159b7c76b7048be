//go:build unix

package snapshot

import (
	"errors"
	"syscall"
)

// foldersLock: a folder can be locked like a file, on most file systems.
const foldersLock = true

// noFolderLocks reports whether an attempt to lock a folder failed because the file system cannot do
// it. NFS wants the file open for writing, which no folder can be: the attempt ends with EBADF, and a
// second one, with the folder opened so, with EISDIR. The others are what the manuals of flock and
// fcntl have for file systems without locks.
func noFolderLocks(err error) bool {
	for _, no := range []error{
		syscall.EBADF, syscall.EISDIR, syscall.EINVAL, syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP,
	} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
