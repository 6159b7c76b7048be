//go:build !unix

package gitapply

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup does nothing here: cancelling ends git itself, and processes that git started may run on
// for a moment. They work on the scratch only.
func ownGroup(*exec.Cmd) {}

func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// ownerOf does not know; git is asked whether it trusts the repository wherever that is so.
func ownerOf(os.FileInfo) (int, bool) { return 0, false }
