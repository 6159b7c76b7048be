//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory gives the largest resident size of a finished process in bytes.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // bytes there, kibibytes elsewhere
	}
	return int64(usage.Maxrss) << 10
}
