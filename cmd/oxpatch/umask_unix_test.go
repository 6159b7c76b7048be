//go:build unix

package main

import "syscall"

// setUmask sets the umask that the corpus was recorded with, for this process and those it starts.
func setUmask() { syscall.Umask(0o022) }
