//go:build unix

package worktree

import (
	"io/fs"
	"syscall"
)

// identify returns device and inode of a file. name is not needed here.
func identify(info fs.FileInfo, _ string) (fileID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{dev: uint64(st.Dev), ino: uint64(st.Ino)}, true
}

func hardLinks(info fs.FileInfo) uint64 {
	if info == nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}

func (s *Stamp) fill(info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	s.id = fileID{dev: uint64(st.Dev), ino: uint64(st.Ino)}
	s.ctime = changeTime(st)
	s.uid, s.gid = st.Uid, st.Gid
}

// nonblock opens a file without waiting: should a FIFO have taken its place, opening must not hang.
const nonblock = syscall.O_NONBLOCK

// isRooted is for paths that Windows takes from the top of the current volume.
func isRooted(string) bool { return false }
