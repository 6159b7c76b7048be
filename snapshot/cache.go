package snapshot

import (
	"os"
	"path/filepath"
)

// scanIndex is what a scan of the root remembers, in worktrees/NAME. It is no part of any record: to
// lose it costs time.
const scanIndex = "scan-index"

// ScanIndex returns what SaveScanIndex kept for the root in the first of its places that has any, or
// nil.
func (s *Site) ScanIndex() []byte {
	for _, p := range s.Read {
		if data, err := os.ReadFile(filepath.Join(p.Dir, "worktrees", p.Worktree, scanIndex)); err == nil {
			return data
		}
	}
	return nil
}

// SaveScanIndex keeps what a scan of the root remembers. The caller holds the root's lock.
func (s *Store) SaveScanIndex(data []byte) error {
	if err := s.register(); err != nil {
		return err
	}
	dir := filepath.Join(s.place.Dir, "worktrees", s.place.Worktree)
	if err := s.disk.mkdirAll(dir); err != nil {
		return err
	}
	return s.disk.replace(s.packDir(), filepath.Join(dir, scanIndex), data, false)
}

// Home returns the user's home folder, links resolved, or "" if there is none. env is as for Locate.
func Home(env func(string) string) string { return homeFolder(env) }
