package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// debrisAge is how old a temporary file must be to belong to a writer that was killed.
	debrisAge = time.Hour
	// maxDebris bounds the files removed in one go, so that no operation pays for a thousand.
	maxDebris = 100
)

// halfPack is what the name of a pack begins with while it is written.
const halfPack = "tmp_pack_"

// removeHalfPacks removes the packs of writers that were killed, so that a large operation that is killed
// again and again does not fill a disk: packs are written only with the store's lock held, so whoever has
// it alone knows that nobody writes them any more. Failures do not matter.
func (s *Store) removeHalfPacks(ctx context.Context) {
	isHalf := func(name string) bool { return strings.HasPrefix(name, halfPack) }
	if !slices.ContainsFunc(namesIn(s.packDir()), isHalf) {
		return
	}
	release, err := s.LockExclusive(ctx, -1)
	if err != nil {
		return
	}
	defer release()
	for _, name := range namesIn(s.packDir()) {
		if isHalf(name) {
			_ = s.disk.remove(filepath.Join(s.packDir(), name))
		}
	}
}

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
