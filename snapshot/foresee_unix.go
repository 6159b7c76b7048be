//go:build unix

package snapshot

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}
