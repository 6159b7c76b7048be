//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// nobody is a user and a group without rights.
const nobody = 65534

// mayBeOther reports whether asnobody has an effect: either the tests run as an ordinary user, whom
// permissions bind anyway, or as root, who may become another.
func mayBeOther() bool { return true }

// asNobody gives the working folder named first to an ordinary user and becomes that user for the
// program that follows; root would not be bound by permissions. An ordinary user stays what he is.
func asNobody() {
	args := os.Args[1:]
	path, err := exec.LookPath(args[1])
	if err == nil && os.Getuid() == 0 {
		err = becomeNobody(args[0])
	}
	if err == nil {
		err = syscall.Exec(path, args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "asnobody:", err)
	os.Exit(99)
}

func becomeNobody(dir string) error {
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		return err
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(nobody); err != nil {
		return err
	}
	return syscall.Setuid(nobody)
}

// openToOthers lets that user pass to the working folder and to the programs, whose folders above
// are private to whoever runs the tests.
func openToOthers(work string) error {
	if os.Getuid() != 0 {
		return nil
	}
	bin, err := exec.LookPath("oxpatch")
	if err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(work), filepath.Dir(filepath.Dir(bin)), filepath.Dir(bin)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}
