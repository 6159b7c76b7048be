//go:build unix

package worktree

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func mayWrite(path string) error { return denied(path, unix.Access(path, unix.W_OK)) }

func mayEnterAndWrite(dir string) error { return denied(dir, unix.Access(dir, unix.W_OK|unix.X_OK)) }

// mayOwn says whether a new file could be given the owner and group of the one looked at.
func mayOwn(s Stamp) bool {
	if os.Geteuid() == 0 || !s.valid {
		return true
	}
	groups, err := os.Getgroups()
	return isCaller(s.uid) && (err != nil || int(s.gid) == os.Getegid() || slices.Contains(groups, int(s.gid)))
}
