//go:build !unix

package worktree

import "io/fs"

// hasOwners is false here: owners are not kept, a new file has its folder's rights.
const hasOwners = false

// modeBits are the bits that this platform keeps: a file may be read-only, no more. A recorded
// execute bit is not lost by it, but is not on the disk either.
const modeBits fs.FileMode = 0o200

func isCaller(uint32) bool { return true }
