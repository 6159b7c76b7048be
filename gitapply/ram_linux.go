package gitapply

import "syscall"

// inMemory returns a folder that is kept in memory, for a scratch of about so many bytes; "" where
// there is none, or where the scratch would take more than a small part of it. git writes each named
// file twice there and every object once, so on a disk that takes longer than all the rest.
func inMemory(bytes int64) string {
	const (
		dir   = "/dev/shm"
		tmpfs = 0x01021994
		most  = 64 << 20
	)
	var st syscall.Statfs_t
	if bytes > most || syscall.Statfs(dir, &st) != nil || int64(st.Type) != tmpfs {
		return ""
	}
	if free := int64(st.Bavail) * int64(st.Bsize); bytes > free/4 {
		return ""
	}
	return dir
}
