//go:build unix

package snapshot

import (
	"errors"
	"syscall"
)

// isNotDir reports whether a part of a path is a file where a folder should be.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
