// Package unified prints planned changes as a unified diff in git's style, which "git apply" takes
// in both directions. It is pure: contents in, text out, no files and no processes.
//
// Where a change carries its edits, time follows the edits: the lines around them are found by
// looking outward from each edit, and the rest of the file is passed over only to compare it and
// to count its line numbers.
//
// What differs from git's own output:
//   - the "index" line stands only where it says something that nothing else does: before a binary
//     patch, which git refuses without full object ids, and for a symbolic link that stays one;
//   - a copy is shown as a new file, as git does without -C, because a copy section cannot be
//     reversed;
//   - binary contents are always given whole ("literal"), never as a delta;
//   - hunk headers carry no section heading;
//   - a path outside the root, which is absolute, stands as it is, without a/ and b/.
//
// Directories and special files have no place in such a diff: a change between two of them, or
// between one of them and nothing, is left out.
package unified

import (
	"bufio"
	"bytes"
	"io"

	"github.com/openoxide/oxpatch/change"
)

// defaultContext is git's number of context lines.
const defaultContext = 3

// Options tunes Write. The zero value gives what git gives.
type Options struct {
	// Context is the number of unchanged lines shown around a change. 0 means 3; a negative
	// number means none, which "git apply" takes only with --unidiff-zero.
	Context int
	// SHA256 names the contents of binary patches as a repository in the sha256 object format
	// does. Such a repository refuses the names of the sha1 format, and the other way round.
	SHA256 bool
}

func (o Options) context() int {
	switch {
	case o.Context == 0:
		return defaultContext
	case o.Context < 0:
		return 0
	}
	return o.Context
}

// Write prints the changes in their order. The pair of a change that removes a path and a change
// whose OldPath names it is one rename section, at the place of the latter. A change without a
// visible difference prints nothing. Edits that do not lead from the old content to the new are
// passed over and the contents compared, so that the diff is right in any case.
//
// The only errors are those of w, as they come.
func Write(w io.Writer, changes []change.Change, o Options) error {
	p := &printer{w: bufio.NewWriterSize(w, 64<<10), context: o.context(), newHash: hasher(o.SHA256)}
	for _, s := range sections(changes) {
		p.section(s)
	}
	return p.w.Flush()
}

// Count says how many lines a change adds and removes.
type Count struct {
	Added, Removed int
	// Binary says that the contents differ and one of them is binary; such contents have no lines
	// and both numbers are 0.
	Binary bool
}

// Stats counts the lines of each change, in the order given. Of a rename the new name has the
// numbers and the old name has none, as in the diff.
func Stats(changes []change.Change) []Count {
	counts := make([]Count, len(changes))
	for _, s := range sections(changes) {
		c := &counts[s.index]
		old, new := s.old.Content, s.new.Content
		if bytes.Equal(old, new) {
			continue
		}
		if s.binary() {
			c.Binary = true
			continue
		}
		for _, r := range s.regions() {
			c.Removed += lineCount(old[r.oldStart:r.oldEnd])
			c.Added += lineCount(new[r.newStart:r.newEnd])
		}
	}
	return counts
}

// Stat counts the lines of one change, 0 and 0 for binary contents. The content that a moved file
// had under its old name is not part of the one change, so a move counts as an addition here; use
// Stats where both halves are at hand.
func Stat(c change.Change) (added, removed int) {
	n := Stats([]change.Change{c})[0]
	return n.Added, n.Removed
}
