package worktree

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// behindFrom is the size of a content from which it pays to have it written out meanwhile.
	behindFrom = 4 << 20
	// behindStep is how much is handed on at a time.
	behindStep = 1 << 20
)

// fillOver writes the content of a file that takes the place of another. ext4 and Btrfs begin to
// write such a file out when it is renamed over the other, or closed after that was cut to nothing,
// and keep the caller until all of it is on its way; it is how they see to it that after a loss
// of power there is more than an empty file. Here that is done piece by piece beside the writing
// (sync_file_range(2)), so that little is left for then.
func fillOver(file *os.File, content []byte) error {
	raw, err := file.SyscallConn()
	if err != nil || len(content) < behindFrom {
		_, err := file.Write(content)
		return err
	}
	pieces := make(chan int, len(content)/behindStep+1)
	var behind sync.WaitGroup
	behind.Go(func() {
		at := int64(0)
		for n := range pieces {
			_ = raw.Control(func(fd uintptr) { // a wish: what fails here the kernel does later
				_ = unix.SyncFileRange(int(fd), at, int64(n), unix.SYNC_FILE_RANGE_WRITE)
			})
			at += int64(n)
		}
	})
	defer behind.Wait()
	defer close(pieces)
	for len(content) > 0 {
		n, err := file.Write(content[:min(behindStep, len(content))])
		if err != nil {
			return err
		}
		pieces <- n
		content = content[n:]
	}
	return nil
}
