package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// debrisAge is how old a temporary file must be to belong to a writer that was killed.
	debrisAge = time.Hour
	// maxDebris bounds the files removed in one go, so that no operation pays for a thousand.
	maxDebris = 100
)

// removeDebris removes what killed writers left. Failures do not matter: the next operation tries
// again.
func (s *Store) removeDebris() {
	dir, err := os.Open(s.packDir())
	if err != nil {
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	removed := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "tmp_") || removed == maxDebris {
			continue
		}
		path := filepath.Join(s.packDir(), name)
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > debrisAge {
			_ = s.disk.remove(path)
			removed++
		}
	}
}
