package unified

import (
	"bytes"

	"github.com/openoxide/oxpatch/change"
)

// section is one "diff --git" part. A path that turns from a file into a link, or back, makes two
// sections with one index: git describes that as a removal and an addition.
type section struct {
	index            int // of the change that it shows
	oldPath, newPath string
	old, new         change.State // Kind is Absent, File or Symlink
	edits            []change.Edit
}

func (s section) rename() bool { return s.oldPath != s.newPath }

// binary judges as git does: a NUL byte near the beginning of either side.
func (s section) binary() bool {
	return isBinary(s.old.Content) || isBinary(s.new.Content)
}

func (s section) regions() []region {
	return regions(s.old.Content, s.new.Content, s.edits)
}

// sections turns changes into what the diff shows, in the order of the changes.
func sections(changes []change.Change) []section {
	renames := pairRenames(changes)
	var list []section
	for i, c := range changes {
		if renames.isSource(i) {
			continue
		}
		s := section{index: i, oldPath: c.Path, newPath: c.Path, old: visible(c.Before), new: visible(c.After), edits: c.Edits}
		if from, ok := renames.from[i]; ok {
			s.oldPath, s.old = changes[from].Path, changes[from].Before
			list = append(list, s)
			continue
		}
		if c.OldPath != "" {
			s.edits = nil // they start from the content of another path
		}
		list = append(list, split(s)...)
	}
	return list
}

// split leaves out a section that shows nothing and parts one whose kind changes.
func split(s section) []section {
	switch {
	case s.old.Equal(s.new):
		return nil
	case s.old.Kind == s.new.Kind || s.old.Kind == change.Absent || s.new.Kind == change.Absent:
		return []section{s}
	}
	gone, come := s, s
	gone.new, come.old = change.State{}, change.State{}
	gone.edits, come.edits = nil, nil
	return []section{gone, come}
}

// renames holds the pairs of changes that are one rename, as indexes of the changes.
type renames struct {
	from map[int]int // new half to old half
	to   map[int]int // old half to new half
}

func (r renames) isSource(i int) bool {
	_, ok := r.to[i]
	return ok
}

// pairRenames finds the renames. Only the first of several new names takes the old one; git knows
// no rename onto a path that exists, and none that changes the kind.
func pairRenames(changes []change.Change) renames {
	removed := make(map[string]int)
	for i, c := range changes {
		if visible(c.Before).Kind != change.Absent && c.After.Kind == change.Absent {
			removed[c.Path] = i
		}
	}
	r := renames{from: make(map[int]int), to: make(map[int]int)}
	for i, c := range changes {
		from, ok := removed[c.OldPath]
		if !ok || c.OldPath == "" || r.isSource(from) {
			continue
		}
		if visible(c.Before).Kind == change.Absent && c.After.Kind == changes[from].Before.Kind {
			r.from[i], r.to[from] = from, i
		}
	}
	return r
}

// visible is the state as a diff can show it.
func visible(s change.State) change.State {
	if s.Kind == change.File || s.Kind == change.Symlink {
		return s
	}
	return change.State{}
}

// gitMode is the mode that git's diff gives to a state.
func gitMode(s change.State) string {
	switch {
	case s.Kind == change.Symlink:
		return "120000"
	case s.Executable():
		return "100755"
	}
	return "100644"
}

// binaryWindow is how far git looks for a NUL byte.
const binaryWindow = 8000

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryWindow)], 0) >= 0
}
