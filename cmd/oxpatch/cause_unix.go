//go:build unix

package main

import (
	"errors"
	"fmt"
	"syscall"
)

// codexCause spells why the working folder is not known as Codex does.
func codexCause(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno == syscall.ENOENT {
		return fmt.Sprintf("No such file or directory (os error %d)", int(errno))
	}
	return err.Error()
}
