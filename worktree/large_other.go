//go:build !linux

package worktree

// makeContent makes room for a file's content.
func makeContent(size int64) []byte { return make([]byte, size) }
