package textapply

// placement is a chunk at its place.
type placement struct {
	at    int    // 0-based line of the first old line; of the insertion where there is none
	old   int    // number of old lines
	lines []Line // the chunk's lines as they were matched
	// ending is what the chunk says of the terminators of its added lines.
	ending LineEnding
	pass   Pass
	// others are the further places (0-based) where the chunk matched as well.
	others []int
	// guess says in words why the place is a guess, "" where it is none.
	guess string
	// match is the word for how the place was found.
	match string
	// uneven says that the old lines are indented unlike the file's, and not all alike, so that the
	// added lines could not follow.
	uneven bool
	// doubtful says that the old lines lack indentation, and the added lines may or may not have it; kept
	// that they were taken to.
	doubtful, kept bool
	loss           loss
	units          units // of a hunk that has blanks for tabs, or tabs for blanks
}

// pass names for places that were found by more than comparing lines; see also Pass.String.
const (
	matchShifted  = "shifted"
	matchLineHint = "line-hint"
)

// word returns how the place was found, for a result.
func (pl *placement) word() string {
	if pl.match != "" {
		return pl.match
	}
	return pl.pass.String()
}

// placeChunks finds the places of all chunks of one section by the rules of the policy. It returns
// a placement per chunk, nil for those without a place, and the errors.
func placeChunks(t *text, s *Section, p Policy, e *effort) ([]*placement, []*Error) {
	if p.FirstMatch {
		return placeInTurn(t, s, p)
	}
	return placeJointly(t, s, p, e)
}

// placeInTurn is Codex's way: every chunk is searched from behind the one before it, and the first
// place is taken. With StopAtFirst it ends at the first that has none.
func placeInTurn(t *text, s *Section, p Policy) ([]*placement, []*Error) {
	x := newIndex(t, patterns(s))
	placed := make([]*placement, len(s.Chunks))
	var errs []*Error
	cursor := 0
	for i := range s.Chunks {
		pl, next, err := placeChunk(x, &s.Chunks[i], cursor)
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

// patterns lists what the section may search for.
func patterns(s *Section) [][]string {
	var all [][]string
	for _, c := range s.Chunks {
		for _, scope := range c.Scopes {
			all = append(all, []string{scope})
		}
		old := c.Old()
		all = append(all, old)
		if endsInBlank(old) {
			all = append(all, old[:len(old)-1])
		}
	}
	return all
}

func endsInBlank(lines []string) bool { return len(lines) > 0 && lines[len(lines)-1] == "" }

// placeChunk finds one chunk at or after the cursor and returns the cursor behind it. Rules
// measured on codex-cli 0.171.0: the scope is one line searched like any pattern and consumed; a
// chunk without old lines goes behind the last line of the file and leaves the cursor; where the
// old lines are not found and end in an empty line, that line is dropped and the search repeated.
func placeChunk(x *Index, c *Chunk, cursor int) (*placement, int, *Error) {
	for _, scope := range c.Scopes {
		m, ok := x.Seek([]string{scope}, cursor, false)
		if !ok {
			return nil, cursor, &Error{Err: ErrNoContext, Want: []string{scope}}
		}
		cursor = m.Line + 1
	}
	lines, old := c.Lines, c.Old()
	if len(old) == 0 {
		return &placement{at: x.src.Len(), lines: lines}, cursor, nil
	}
	m, ok := x.Seek(old, cursor, c.EOF)
	if !ok && endsInBlank(old) {
		old = old[:len(old)-1]
		lines = dropTrailingBlank(lines)
		m, ok = x.Seek(old, cursor, c.EOF)
	}
	if !ok {
		return nil, cursor, &Error{Err: ErrNoMatch, Want: c.Old()}
	}
	return &placement{at: m.Line, old: len(old), lines: lines, pass: m.Pass}, m.Line + len(old), nil
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
