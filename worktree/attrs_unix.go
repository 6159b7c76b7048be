//go:build linux || darwin

package worktree

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// onFile runs f on the file's descriptor. File.Fd is not used: it makes the file blocking.
func onFile(file *os.File, f func(fd int)) {
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { f(int(fd)) })
	}
}

// hasAttrs reports whether the file has extended attributes that are kept, access lists included.
func hasAttrs(file *os.File) bool {
	has := false
	onFile(file, func(fd int) {
		var names [512]byte // the usual case in one call
		size, err := unix.Flistxattr(fd, names[:])
		if err != nil {
			has = err == unix.ERANGE
			return
		}
		for name := range strings.SplitSeq(string(names[:size]), "\x00") {
			has = has || isKept(name)
		}
	})
	return has
}

// isKept leaves out the attributes under security.: they belong to the system's policy, which
// labels the new file itself, or must not outlive a change of content.
func isKept(name string) bool { return name != "" && !strings.HasPrefix(name, "security.") }

// attrs returns the file's extended attributes that are kept.
func attrs(file *os.File) map[string][]byte {
	found := map[string][]byte{}
	onFile(file, func(fd int) {
		size, _ := unix.Flistxattr(fd, nil)
		if size <= 0 {
			return
		}
		names := make([]byte, size)
		size, _ = unix.Flistxattr(fd, names)
		if size <= 0 {
			return
		}
		for name := range strings.SplitSeq(string(names[:size]), "\x00") {
			if !isKept(name) {
				continue
			}
			size, err := unix.Fgetxattr(fd, name, nil)
			if err != nil {
				continue
			}
			value := make([]byte, size)
			if size > 0 {
				if size, err = unix.Fgetxattr(fd, name, value); err != nil {
					continue
				}
			}
			found[name] = value[:size]
		}
	})
	return found
}

// setAttrs gives the file these attributes, as far as the file system and the user's rights allow,
// and takes away others that the folder's default access list has given it: they would let in
// whom the replaced file kept out.
func setAttrs(file *os.File, want map[string][]byte) {
	for name := range attrs(file) {
		if _, ok := want[name]; !ok {
			onFile(file, func(fd int) { _ = unix.Fremovexattr(fd, name) })
		}
	}
	for name, value := range want {
		onFile(file, func(fd int) { _ = unix.Fsetxattr(fd, name, value, 0) })
	}
}
