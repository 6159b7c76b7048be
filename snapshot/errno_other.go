//go:build !unix

package snapshot

// isNotDir is for Unix: Windows reports such a path as not existing.
func isNotDir(error) bool { return false }
