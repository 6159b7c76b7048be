package textapply

import (
	"fmt"
	"slices"
)

// doneInScope refuses a chunk whose new lines stand in the block of its scope, and nowhere else, while its old
// ones stand only behind that block: it is applied, and what has its old lines now is another place, which a
// patch that is applied again would change.
func (j *joint) doneInScope(c *Chunk, found *candidates, head int) *Error {
	if !j.p.AcceptApplied || found.more || c.EOF || !addsText(*c) || slices.Contains(found.at, c.Hint-1) {
		return nil
	}
	if len(j.under([]int{head}, found.at[:1])) > 0 || len(j.inBlocks(c.Scopes, found.at)) > 0 {
		return nil
	}
	line := j.only(c.New())
	if line < 0 || len(j.inBlocks(c.Scopes, []int{line})) == 0 {
		return nil
	}
	return &Error{Err: ErrNoMatch, Want: found.old, Line: line + 1,
		Detail: fmt.Sprintf("the new lines stand in the block of %q already, at line %d, and the old ones only behind it, at %s",
			shortText(c.Scopes[len(c.Scopes)-1]), line+1, lineList(found.at, false)),
		Hint: "leave this hunk out of the patch, or name the scope that the old lines are in"}
}

// only returns the one line where new lines of a chunk stand, as appliedChunks looks for them; -1 where they stand
// nowhere or more than once.
func (j *joint) only(lines []string) int {
	if j.wanted == nil {
		var all [][]string
		for _, c := range j.s.Chunks {
			if len(c.Scopes) > 0 {
				all = append(all, c.New())
			}
		}
		j.wanted = newIndex(j.t, all)
	}
	for p := Exact; p <= TrailingSpace; p++ {
		if at := j.wanted.places(lines, p, 0, 2); len(at) > 0 {
			if len(at) == 1 {
				return at[0]
			}
			break
		}
	}
	return -1
}
