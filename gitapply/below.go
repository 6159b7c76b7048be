package gitapply

import (
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// The names of a section with a "diff --git" line count from the top of the working tree. Those of
// another section are what some tool was called with, and count from the folder that one is in; git
// reads them so too.

// below puts the folder into the names of a section that count from it. As git does with -p1, the
// first component of a name is dropped, unless the tree shows that there is no prefix.
func (s *scanner) below(number int, sec *rawSection, exists func(string) bool) *RefusedError {
	h := namesOf(sec)
	name := h.old
	if name == "" {
		name = h.new
	}
	bare := false
	if s.repair && h.bare(sec) {
		full, cut := exists(join(s.folder, name)), stripped(name) != "" && exists(join(s.folder, stripped(name)))
		if full && cut {
			return &RefusedError{Kind: ErrWhichFile, Section: number, Line: sec.line, Path: join(s.folder, name),
				Problem: fmt.Sprintf("the header has no a/ and b/ prefixes, and both %s and %s exist",
					change.DisplayPath(join(s.folder, name)), change.DisplayPath(join(s.folder, stripped(name)))),
				Hint: prefixHint}
		}
		first, _, _ := strings.Cut(name, "/")
		bare = full || !cut && (h.old == "" || stripped(name) == "") && first != "a" && first != "b"
	}
	for _, side := range []*string{&h.old, &h.new} {
		switch {
		case *side == "":
		case bare:
			*side = join(s.folder, *side)
		case stripped(*side) == "":
			return &RefusedError{Kind: ErrCorrupt, Section: number, Line: sec.line, Problem: "the name " + change.DisplayPath(*side) + " has no prefix to be taken off"}
		default:
			*side = join(s.folder, stripped(*side))
		}
	}
	if bare {
		s.repairs = append(s.repairs, Repair{Line: sec.line, Section: number, Message: "put the prefixes a/ and b/ before the names"})
	}
	s.moved = true
	prefix(sec, h)
	return nil
}

func join(folder, name string) string { return folder + "/" + name }

// namesBelow are the candidates of a section without "diff --git".
func (s *scanner) namesBelow(h headerNames) []string {
	all := h.candidates()
	for i, n := range all {
		all[i] = join(s.folder, n)
	}
	return all
}
