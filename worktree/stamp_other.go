//go:build !unix

package worktree

import (
	"io/fs"
	"strings"
)

// identify has no device and inode numbers to go by without opening the file; two spellings that
// differ only in case are taken for one entry if os.SameFile agrees, which the caller asks. Short
// names and normalised spellings are not told.
func identify(_ fs.FileInfo, name string) (fileID, bool) {
	return fileID{name: strings.ToLower(name)}, true
}

// hardLinks is not known here without opening the file.
func hardLinks(fs.FileInfo) uint64 { return 0 }

// fill has nothing to add: a change is told by size, mode and modification time alone.
func (s *Stamp) fill(fs.FileInfo) {}

const nonblock = 0

// isRooted reports a path that counts from the top of the current volume: filepath.IsAbs says no.
func isRooted(path string) bool { return path != "" && (path[0] == '/' || path[0] == '\\') }
