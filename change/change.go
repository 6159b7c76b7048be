// Package change holds the data that every other package exchanges: what a path is before and
// after an operation. It does no work on files and imports nothing of the project.
package change

import (
	"bytes"
	"io/fs"
)

// Kind says what stands at a path.
type Kind uint8

const (
	Absent  Kind = iota // nothing is there
	File                // a regular file; Content is its bytes
	Symlink             // a symbolic link; Content is its target as stored in the link
	Dir                 // a directory; Content is empty
	Other               // a device, FIFO, socket or the like: never read, never written
)

// String returns the word used in messages and records.
func (k Kind) String() string {
	switch k {
	case Absent:
		return "absent"
	case File:
		return "file"
	case Symlink:
		return "symlink"
	case Dir:
		return "directory"
	}
	return "other"
}

// Phrase is the kind as a message speaks of it: "nothing", "a file", "a link".
func (k Kind) Phrase() string {
	switch k {
	case Absent:
		return "nothing"
	case File, Dir:
		return "a " + k.String()
	case Symlink:
		return "a link"
	}
	return "a special file"
}

// State is what stands at one path at one moment.
type State struct {
	Kind Kind
	// Mode holds the permission bits, and setuid, setgid and sticky as fs.FileMode has them.
	// It is meaningful for files and directories; the type bits are never set, Kind has them.
	// For a new file, 0 stands for "0666 less the umask".
	Mode fs.FileMode
	// Content is shared between values and must not be modified.
	Content []byte
}

// Executable reports whether git would record the file with mode 100755: the owner may execute it.
func (s State) Executable() bool { return s.Kind == File && s.Mode&0o100 != 0 }

// Equal reports whether two states agree in kind, in the mode as far as git sees it (the owner's
// execute bit of a file) and in every byte.
func (s State) Equal(t State) bool {
	if s.Kind != t.Kind {
		return false
	}
	switch s.Kind {
	case File:
		return s.Executable() == t.Executable() && bytes.Equal(s.Content, t.Content)
	case Symlink:
		return bytes.Equal(s.Content, t.Content)
	}
	return true
}

// Edit replaces the bytes [Start, End) of a text by New. Offsets are 0-based and count bytes of
// the text before any edit of the same list. A list is sorted by Start and its edits do not
// overlap; two edits may touch.
type Edit struct {
	Start, End int
	New        []byte
}

// Change is one path of a plan: what stood there and what is to stand there. A plan names every
// path at most once, so a rename is two changes: the old name, which becomes absent, and the new
// name, which carries OldPath.
type Change struct {
	// Path is relative to the root and slash-separated, in the raw bytes of the file system.
	// A path outside the root (only the Codex policy allows one) is absolute.
	Path string
	// OldPath is the path the content came from when the patch moved or copied it, else "".
	OldPath string
	// Before and After are complete: After does not depend on Before.
	Before, After State
	// Edits, when not nil, turn Before.Content into After.Content (or, for a moved file, the
	// content of OldPath before). They are what the diff view and the store's deltas use; without
	// them the whole content is taken as replaced.
	Edits []Edit
	// Index holds the path's lines in git's index where the operation changes the index too.
	Index *IndexChange
}

// IndexChange holds the lines of git's index for one path, before and after.
type IndexChange struct {
	Before, After []IndexLine
}

// IndexLine is one entry of git's index.
type IndexLine struct {
	Mode  uint32 // as git writes it in octal: 100644, 100755, 120000, 160000
	OID   string // object id in hex, in the repository's object format
	Stage int    // 0, or 1 to 3 in a conflict
	// Flags are the extended flags of the entry as "git ls-files --debug" prints them.
	Flags uint32
}

// ApplyEdits returns base with the edits made. The edits must satisfy the rules of Edit; the
// result shares nothing with base.
func ApplyEdits(base []byte, edits []Edit) []byte {
	size := len(base)
	for _, e := range edits {
		size += len(e.New) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(out, base[at:e.Start]...)
		out = append(out, e.New...)
		at = e.End
	}
	return append(out, base[at:]...)
}
