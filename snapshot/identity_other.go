//go:build !linux && !darwin

package snapshot

// identify knows nothing here, so that a root is found again by its path only.
func identify(string) identity { return identity{} }
