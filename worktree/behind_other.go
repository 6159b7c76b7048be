//go:build !linux

package worktree

import "os"

// fillOver writes the content of a file that takes the place of another.
func fillOver(file *os.File, content []byte) error {
	_, err := file.Write(content)
	return err
}
