package snapshot

import "golang.org/x/sys/unix"

// identify returns the identity of a folder; its parts are 0 where the file system or the kernel
// (before 4.11) does not know them.
func identify(path string) identity {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil {
		return identity{}
	}
	id := identity{Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Birth = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id
}
