package snapshot

import (
	"os"
	"syscall"
)

// identify returns the identity of a folder.
func identify(path string) identity {
	info, err := os.Lstat(path)
	if err != nil {
		return identity{}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{Inode: st.Ino, Birth: st.Birthtimespec.Nano()}
}
