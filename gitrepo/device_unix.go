//go:build unix

package gitrepo

import (
	"os"
	"syscall"
)

// deviceOf returns the number of the file system that holds path.
func deviceOf(path string) (uint64, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(st.Dev), true
}
