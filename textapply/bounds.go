package textapply

// enoughFull is how many chunks with all of their context a patch needs before the lack of it in another
// chunk says something.
const enoughFull = 3

// evenContext returns the number of context lines that every chunk of the patch has in front of and
// behind its changes, as a program that compares files gives them; 0 where they differ. The first chunk
// of a file may have fewer in front and the last fewer behind: there the file begins or ends.
func evenContext(p *Patch) int {
	most := 0
	for i := range p.Sections {
		for _, c := range p.Sections[i].Chunks {
			before, behind := c.context()
			most = max(most, before, behind)
		}
	}
	full := 0
	for i := range p.Sections {
		chunks := p.Sections[i].Chunks
		for k, c := range chunks {
			before, behind := c.context()
			switch {
			case before < most && k > 0, behind < most && k < len(chunks)-1:
				return 0
			case before == most && behind == most:
				full++
			}
		}
	}
	if full < enoughFull {
		return 0
	}
	return most
}

// context counts the unchanged lines in front of the first change and behind the last.
func (c *Chunk) context() (before, behind int) {
	for before < len(c.Lines) && c.Lines[before].Op == Context {
		before++
	}
	for behind < len(c.Lines)-before && c.Lines[len(c.Lines)-1-behind].Op == Context {
		behind++
	}
	return before, behind
}

// takeBounds settles the first and the last chunk where the patch gives all others an even number of
// context lines and these fewer: then the file begins or ends there, as far as the lines are there.
func (j *joint) takeBounds(earliest, latest []int) bool {
	even := j.effort.context
	if even == 0 || len(j.chunks) == 0 {
		return false
	}
	kept := make([]candidates, len(j.chunks))
	for i, c := range j.chunks {
		kept[i] = *c
	}
	last := len(j.chunks) - 1
	before, _ := j.s.Chunks[0].context()
	_, behind := j.s.Chunks[last].context()
	if before < even && earliest[0] != latest[0] && j.chunks[0].strictlyAt(0) {
		j.chunks[0].only(0)
	}
	if c := j.chunks[last]; behind < even && (earliest[last] != latest[last] || c.more) && len(c.old) > 0 {
		from, _ := j.scope(j.s.Chunks[last].Scopes)
		if m, ok := j.x.Seek(c.old, from, true); ok && m.Pass <= c.pass {
			c.only(m.Line)
			c.pass = m.Pass
		}
	}
	if first, ok := j.sweep(); ok && j.settled(first, j.sweepBack()) {
		j.chosen = first
		return true
	}
	j.errs = nil
	for i := range kept {
		*j.chunks[i] = kept[i]
	}
	return false
}

// only leaves one place.
func (c *candidates) only(at int) { c.at, c.strict, c.more = []int{at}, nil, false }
