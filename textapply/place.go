package textapply

// placement is a chunk at its place.
type placement struct {
	at    int    // 0-based line of the first old line; of the insertion where there is none
	old   int    // number of old lines
	lines []Line // the chunk's lines as they were matched
	pass  Pass
	// others are the further places (0-based) where the chunk matched as well.
	others []int
	// unanchored marks added lines that no old line and no scope gives a place.
	unanchored bool
}

// placeChunks finds the places of all chunks of one section in file order: every chunk is searched
// from behind the one before it. It returns a placement per chunk, nil for those that failed, and
// the errors; with StopAtFirst it ends at the first.
func placeChunks(t *text, s *Section, p Policy) ([]*placement, []*Error) {
	x := newIndex(t, patternLines(s))
	placed := make([]*placement, len(s.Chunks))
	var errs []*Error
	cursor := 0
	for i := range s.Chunks {
		pl, next, err := placeChunk(x, &s.Chunks[i], cursor, p)
		if err != nil {
			err.Path, err.Chunk, err.PatchLine = s.Path, i+1, s.Chunks[i].Line
			errs = append(errs, err)
			if p.StopAtFirst {
				return placed, errs
			}
			continue
		}
		placed[i], cursor = pl, next
	}
	return placed, errs
}

// patternLines lists every line that the section may search for.
func patternLines(s *Section) []string {
	var known []string
	for _, c := range s.Chunks {
		known = append(known, c.Scopes...)
		for _, l := range c.Lines {
			if l.Op != Insert {
				known = append(known, l.Text)
			}
		}
	}
	return known
}

// placeChunk finds one chunk at or after the cursor and returns the cursor behind it. Rules
// measured on codex-cli 0.171.0: the scope is one line searched like any pattern and consumed; a
// chunk without old lines goes behind the last line of the file and leaves the cursor; where the
// old lines are not found and end in an empty line, that line is dropped and the search repeated.
func placeChunk(x *Index, c *Chunk, cursor int, p Policy) (*placement, int, *Error) {
	for _, scope := range c.Scopes {
		m, ok := x.Seek([]string{scope}, cursor, false)
		if !ok {
			return nil, cursor, &Error{Err: ErrNoContext, Want: []string{scope}}
		}
		cursor = m.Line + 1
	}
	lines, old := c.Lines, c.Old()
	if len(old) == 0 {
		at := x.src.Len()
		return &placement{at: at, lines: lines, unanchored: true}, cursor, nil
	}
	m, ok := x.Seek(old, cursor, c.EOF)
	if !ok && old[len(old)-1] == "" {
		old = old[:len(old)-1]
		lines = dropTrailingBlank(lines)
		m, ok = x.Seek(old, cursor, c.EOF)
	}
	if !ok {
		return nil, cursor, &Error{Err: ErrNoMatch, Want: c.Old()}
	}
	pl := &placement{at: m.Line, old: len(old), lines: lines, pass: m.Pass}
	if !p.FirstMatch && !c.EOF {
		pl.others = otherPlaces(x, old, m, cursor)
	}
	return pl, m.Line + len(old), nil
}

func otherPlaces(x *Index, old []string, m Match, from int) []int {
	all := x.places(old, m.Pass, from)
	others := all[:0]
	for _, at := range all {
		if at != m.Line {
			others = append(others, at)
		}
	}
	return others
}

// dropTrailingBlank returns the lines of a chunk without the empty old line at its end, and without
// the empty new line at its end if there is one then. A context line that only one side drops
// stays as an inserted or a removed line of the other.
func dropTrailingBlank(lines []Line) []Line {
	out := append([]Line(nil), lines...)
	if i := lastWithout(out, Insert); i >= 0 {
		if out[i].Op == Remove {
			out = append(out[:i], out[i+1:]...)
		} else {
			out[i].Op = Insert
		}
	}
	if i := lastWithout(out, Remove); i >= 0 && out[i].Text == "" {
		if out[i].Op == Insert {
			out = append(out[:i], out[i+1:]...)
		} else {
			out[i].Op = Remove
		}
	}
	return out
}

// lastWithout returns the index of the last line whose Op is not op, or -1.
func lastWithout(lines []Line, op Op) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Op != op {
			return i
		}
	}
	return -1
}
