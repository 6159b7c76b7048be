//go:build unix

package snapshot

// lockTarget returns what Site.Lock locks: the root folder itself.
func (s *Site) lockTarget() (string, error) { return s.Root, nil }
