package textapply

import (
	"fmt"
	"slices"
)

// enoughContext is how many lines of context a patch needs on either side in chunks that have all of it,
// before the lack of it in another chunk says something: a chunk with three, as git gives them and as
// models are told to, or three with one.
const enoughContext = 3

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
	if full*most < enoughContext {
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

// byBounds leaves the first and the last chunk of a section one place where the patch gives all others an
// even number of context lines and these fewer: then the file begins or ends there, as far as the lines
// are there, and no scope of the chunk opens a block in which they stand elsewhere.
func (j *joint) byBounds(earliest, latest []int) bool {
	even := j.effort.context
	if even == 0 || len(j.chunks) == 0 {
		return false
	}
	narrowed := false
	last := len(j.chunks) - 1
	before, _ := j.s.Chunks[0].context()
	_, behind := j.s.Chunks[last].context()
	if before < even && earliest[0] != latest[0] && j.chunks[0].strictlyAt(0) && j.scopesAllow(0, 0) {
		j.chunks[0].takeBound(0, "beginning", even, "in front")
		narrowed = true
	}
	if c := j.chunks[last]; behind < even && (earliest[last] != latest[last] || c.more) && len(c.old) > 0 {
		from, _ := j.scope(j.s.Chunks[last].Scopes)
		m, ok := j.x.Seek(c.old, from, true)
		// Where some place fits by a stricter pass than the loosest, the end must, too.
		if ok && m.Pass <= c.pass && (c.strict == nil || m.Pass < c.pass) && j.scopesAllow(last, m.Line) {
			c.takeBound(m.Line, "end", even, "behind")
			c.pass = m.Pass
			narrowed = true
		}
	}
	j.effort.bounded = j.effort.bounded || narrowed
	return narrowed
}

// takeBound leaves the place where the file begins or ends. It is a guess: who writes a patch by hand gives a
// hunk that adds lines often none behind them, wherever it stands.
func (c *candidates) takeBound(at int, bound string, context int, side string) {
	lines := "lines"
	if context == 1 {
		lines = "line"
	}
	c.guess = fmt.Sprintf("the hunk fits %s of the file; its %s is taken, since the patch gives other changes %d %s of context %s",
		lineList(c.at, c.more), bound, context, lines, side)
	c.only(at)
}

// scopesAllow reports whether a chunk may stand at one of its places for all that its scopes say: there, or
// nowhere, in a block that they open.
func (j *joint) scopesAllow(i, at int) bool {
	scopes := j.s.Chunks[i].Scopes
	if len(scopes) == 0 {
		return true
	}
	open := j.chunks[i].at
	if k, found := slices.BinarySearch(open, at); !found {
		open = slices.Insert(slices.Clone(open), k, at)
	}
	in := j.inBlocks(scopes, open)
	return len(in) == 0 || slices.Contains(in, at)
}

// checkBounds looks whether the chosen places keep to the even context of the patch. Where the first or
// the last chunk of a file has fewer context lines than all others without the file beginning or ending
// there, the context is even by chance, and says nothing.
func (j *joint) checkBounds() {
	if j.effort.context == 0 || j.chosen == nil {
		return
	}
	last := len(j.chunks) - 1
	if c := j.chunks[0]; !c.free && j.chosen[0] > 0 {
		before, _ := j.s.Chunks[0].context()
		j.effort.uneven = j.effort.uneven || before < j.effort.context
	}
	if c := j.chunks[last]; !c.free && c.end(j.chosen[last]) < j.t.Len() {
		_, behind := j.s.Chunks[last].context()
		j.effort.uneven = j.effort.uneven || behind < j.effort.context
	}
}
