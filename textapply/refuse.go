package textapply

import "fmt"

// Place is a place of a file where a hunk fits.
type Place struct {
	Line int    // 1-based
	Text string // the line itself
	// Scope holds the lines that open the blocks around the place, outermost first, joined by
	// " > "; "" at the top level, and where a plan has told of very many places.
	Scope string
}

// miss says why a chunk has no place: what comes closest, or where it stands outside its scope.
func (j *joint) miss(c *Chunk, from int) *Error {
	old := c.Old()
	err := &Error{Err: ErrNoMatch, Want: old}
	if c.EOF {
		if others := j.strictest(c, old, c.Lines, from); others != nil {
			err = j.ambiguous(others, others.at)
			err.Detail = "the lines do not end the file, as the hunk says, and stand in several other places: " + lineList(others.at, others.more)
			err.Hint = "leave out *** End of File and add context lines"
			return err
		}
	}
	if c.Unprefixed {
		err.Detail = "some lines of the hunk have no prefix, and read as context the hunk does not stand in the file exactly"
		err.Hint = "begin every line of the hunk with a blank (context), - (removed) or + (added)"
		return err
	}
	if from > 0 {
		if out := j.outside(c, old, from); out != nil {
			return out
		}
	}
	n, searched := j.nearest(old, from)
	if !searched {
		err.Detail = fmt.Sprintf("the hunk's old lines are not in the file; they begin with %q", shortText(firstText(old)))
		err.Hint = fmt.Sprintf("only the first %d hunks that fail are compared with their file; mend those first", mostSearches)
		return err
	}
	if n == nil {
		err.Detail = fmt.Sprintf("the hunk's old lines are not in the file, and nothing like them; they begin with %q", shortText(firstText(old)))
		err.Hint = "check the path, and read the file again before making the hunk anew"
		return err
	}
	err.Nearest, err.Line = n, n.DiffLine
	err.Detail = fmt.Sprintf("the hunk's old lines are not in the file; nearest is line %d (%d%% of the lines agree): %s", n.Line, int(n.Score*100), n.Kind)
	err.Hint = "make the hunk anew from the file's own lines"
	if n.Have != "" {
		err.Hint = fmt.Sprintf("line %d of the file is %q", n.DiffLine, shortText(n.Have))
	}
	return err
}

// outside looks in front of the scope for lines that are not behind it.
func (j *joint) outside(c *Chunk, old []string, from int) *Error {
	for p := Exact; int(p) < passes; p++ {
		at := j.x.places(old, p, 0, 2)
		if len(at) == 0 {
			continue
		}
		err := &Error{Err: ErrNoMatch, Want: old, Line: at[0] + 1, Places: j.places(at),
			Detail: fmt.Sprintf("the old lines stand at line %d, in front of the scope line %q (line %d)", at[0]+1, shortText(c.Scopes[len(c.Scopes)-1]), from),
			Hint:   "name the scope that the lines are in, or none"}
		return err
	}
	return nil
}

// nearest looks for what comes closest to lines that are not there; searched is false where the
// plan has done so too often.
func (j *joint) nearest(want []string, from int) (n *Nearest, searched bool) {
	if !spend(&j.effort.searches, 1) {
		return nil, false
	}
	return nearest(j.t, want, from), true
}

// ambiguous lists the places of a chunk that the patch does not choose between.
func (j *joint) ambiguous(c *candidates, at []int) *Error {
	err := &Error{Err: ErrAmbiguous, Want: c.old, Line: at[0] + 1, Places: j.places(at),
		Detail: "the hunk fits more than one place: " + lineList(at, c.more),
		Hint:   "add context lines, or a scope line (@@ and the line that opens the block), to say which place is meant"}
	if c.unfound != "" {
		err.Hint = fmt.Sprintf("the scope line %q is not in the file as a whole line; copy the line that opens the block, or add context lines", shortText(c.unfound))
	}
	return err
}

// outOfOrder says that a chunk stands in front of the one before it in the patch.
func (j *joint) outOfOrder(i int, first []int) *Error {
	c, prev := j.chunks[i], i-1
	for prev > 0 && j.chunks[prev].free {
		prev--
	}
	return &Error{Err: ErrOutOfOrder, Want: c.old, Line: c.at[0] + 1, Places: j.places(c.at),
		Detail: fmt.Sprintf("the hunk fits %s, but hunk %d before it is at line %d", lineList(c.at, false), prev+1, first[prev]+1),
		Hint:   "put the hunks in the order of the file; hunks must not overlap"}
}

// places describes some candidates of a chunk.
func (j *joint) places(at []int) []Place { return describePlaces(j.t, at, j.effort) }

func describePlaces(t *text, at []int, e *effort) []Place {
	var out []Place
	for _, line := range at[:min(len(at), mostOthers)] {
		p := Place{Line: line + 1}
		if shown := min(line, t.Len()-1); shown >= 0 {
			p.Text, p.Scope = shortText(string(t.Line(shown))), enclosing(t, shown, e)
		}
		out = append(out, p)
	}
	return out
}

// enclosing returns the lines that open the blocks around a line, by indentation, outermost first
// and joined by " > ". It looks back a bounded way.
func enclosing(t *text, line int, e *effort) string {
	const most = 5000
	depth := width(t.Line(line))
	scope := ""
	for i := line - 1; i >= 0 && i > line-most && depth > 0 && spend(&e.lookedBack, 1); i-- {
		l := t.Line(i)
		if w := width(l); hasText(string(l)) && w < depth {
			depth = w
			outer := shortText(string(trimLeft(trimRight(l))))
			if scope != "" {
				outer += " > " + scope
			}
			scope = outer
		}
	}
	return scope
}

// width is the depth of a line's indentation, a tab counting as eight.
func width(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

func firstText(lines []string) string {
	for _, l := range lines {
		if hasText(l) {
			return l
		}
	}
	return lines[0]
}
