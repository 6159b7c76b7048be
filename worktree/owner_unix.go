//go:build unix

package worktree

import (
	"io/fs"
	"os"
)

const hasOwners = true

// modeBits are the bits that this platform keeps.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func isCaller(uid uint32) bool { return int(uid) == os.Geteuid() }
