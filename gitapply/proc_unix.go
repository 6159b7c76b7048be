//go:build unix

package gitapply

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the process, and what it starts, into a group of its own, and makes cancelling end
// the whole group. A Ctrl-C in the terminal then reaches only this process, which decides.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// ownerOf returns the user who owns a file.
func ownerOf(info os.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
