//go:build unix

package snapshot

import "os"

// syncFolder makes the names in a folder survive a power loss.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
