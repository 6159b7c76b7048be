//go:build !unix

package snapshot

import (
	"os"
	"path/filepath"
)

// lockTarget returns what Site.Lock locks. A folder cannot be locked here, so it is a file in the
// first store where one can be made; processes that use different stores are not kept apart.
func (s *Site) lockTarget() (string, error) {
	e := &NoStoreError{}
	for _, p := range s.Write {
		dir := filepath.Join(p.Dir, "worktrees", p.Worktree)
		if err := os.MkdirAll(dir, dirMode); err != nil {
			e.Tried = append(e.Tried, Unusable{Place: p, Err: err})
			continue
		}
		return filepath.Join(dir, "lock"), nil
	}
	return "", e
}
