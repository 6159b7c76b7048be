//go:build unix

package worktree

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"syscall"
)

var umaskLock sync.Mutex

// Umask returns the bits that new files and folders of this process do not get. Where /proc does
// not tell, it has to be set to be read: a file made by another thread in that instant has mode
// 0600 at most.
func Umask() fs.FileMode {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, ok := bytes.Cut(status, []byte("\nUmask:")); ok {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			if mask, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 8, 32); err == nil {
				return fs.FileMode(mask)
			}
		}
	}
	umaskLock.Lock()
	defer umaskLock.Unlock()
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}
