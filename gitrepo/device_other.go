//go:build !unix

package gitrepo

// deviceOf says that it does not know: here the walk upwards ends only at the root of the volume,
// as git's does on Windows.
func deviceOf(string) (uint64, bool) { return 0, false }
