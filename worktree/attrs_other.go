//go:build !linux && !darwin

package worktree

import "os"

// Extended attributes are not kept on this platform.

func hasAttrs(*os.File) bool { return false }

func attrs(*os.File) map[string][]byte { return nil }

func setAttrs(*os.File, map[string][]byte) {}
