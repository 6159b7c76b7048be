package textapply

import (
	"bytes"
	"fmt"
	"slices"
)

// candidates are the places that one chunk could take.
type candidates struct {
	at    []int    // 0-based lines, ascending; shared with other chunks
	old   []string // the lines that were looked for
	lines []Line
	// ending is the chunk's.
	ending LineEnding
	pass   Pass
	// free marks added lines that nothing anchors; they have no place to compare.
	free bool
	// everywhere holds all that at held before something else than the lines narrowed it; nil where nothing did.
	everywhere []int
	// strict holds those at which the lines fit by the strictest pass, where at holds more.
	strict []int
	// more says that there are further places than at holds.
	more bool
	// hint is the 0-based line that the patch gives, -1 for none.
	hint int
	// unfound is the chunk's innermost scope, where it is no line of the file.
	unfound string
	// guess says in words why a single place is still a guess, "" where it is none.
	guess string
	// match overrides the word for how the place was found.
	match string
}

// end returns the line behind the chunk if it stands at the line given.
func (c *candidates) end(at int) int { return at + len(c.old) }

// placeJointly finds the places of all chunks of a section together. Every chunk has its
// candidates: all places inside its scopes at the strictest pass that has any. A placement takes
// one candidate a chunk, in patch order and without overlap. If all placements give the same bytes
// it is taken; otherwise line numbers that are proven right, the bounds of the file in a patch of even
// context, or the blocks of the scopes may leave one; otherwise the section is refused, naming the
// places. No chunk is ever matched more loosely because of another.
func placeJointly(t *text, s *Section, p Policy, e *effort) ([]*placement, []*Error) {
	j := newJoint(t, s, p, e)
	j.run()
	return j.placements(), j.errs
}

func newJoint(t *text, s *Section, p Policy, e *effort) *joint {
	return &joint{t: t, s: s, p: p, effort: e, chunks: make([]*candidates, len(s.Chunks)),
		x: &searches{Index: newIndex(t, patterns(s)), room: mostCandidates}}
}

// run finds the candidates and, if every chunk has some, chooses among them.
func (j *joint) run() {
	for i := range j.s.Chunks {
		c, err := j.find(&j.s.Chunks[i])
		if err != nil {
			j.refuse(i, err)
			continue
		}
		c.ending = j.s.Chunks[i].Ending
		j.chunks[i] = c
	}
	if len(j.errs) == 0 {
		j.choose()
		j.checkBounds()
	}
}

// joint is one joint placement under way.
type joint struct {
	t      *text
	s      *Section
	p      Policy
	x      *searches
	effort *effort
	chunks []*candidates // nil for a chunk that was refused
	chosen []int         // 0-based line per chunk; nil before choose
	errs   []*Error
	// wanted finds the new lines of chunks with scopes; nil before doneInScope asks.
	wanted *Index
	// prefixed holds for a scope that is no line of the file the first line that begins with it.
	prefixed map[string]int
}

func (j *joint) refuse(i int, err *Error) {
	err.Path, err.Chunk, err.PatchLine = j.s.Path, i+1, j.s.Chunks[i].Line
	j.errs = append(j.errs, err)
}

// find returns the candidates of a chunk.
func (j *joint) find(c *Chunk) (*candidates, *Error) {
	from, scoped := j.scope(c.Scopes)
	old := c.Old()
	if len(old) == 0 {
		return j.findAddition(c, c.Lines, scoped)
	}
	found := j.search(c, old, c.Lines, from)
	if found == nil && endsInBlank(old) {
		lines := dropTrailingBlank(c.Lines)
		if len(old) == 1 {
			return j.findAddition(c, lines, scoped)
		}
		found = j.search(c, old[:len(old)-1], lines, from)
	}
	if found == nil && scoped && len(c.Scopes) > 0 {
		found = j.aroundScope(c, old)
	} else if found != nil && scoped && len(c.Scopes) > 0 {
		if err := j.doneInScope(c, found, from-1); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, j.miss(c, from)
	}
	if c.Unprefixed && len(found.at) > 1 {
		err := j.ambiguous(found, found.at)
		err.Hint = "begin every line of the hunk with a blank (context), - (removed) or + (added), and add context lines"
		return nil, err
	}
	found.hint = c.Hint - 1
	if !scoped {
		found.unfound = c.Scopes[len(c.Scopes)-1]
		j.hint(c, found)
	}
	return found, nil
}

// aroundScope finds a chunk of which nothing follows its scope, because it holds the line of the scope itself.
// Codex refuses that (codex-cli 0.171.0: a scope is consumed).
func (j *joint) aroundScope(c *Chunk, old []string) *candidates {
	inner := len(c.Scopes) - 1
	outer, _ := j.scope(c.Scopes[:inner])
	heads, more := j.x.all(c.Scopes[inner:], Punctuation, outer)
	if more {
		return nil
	}
	found := j.search(c, old, c.Lines, outer)
	if found == nil || found.more {
		return nil
	}
	holds := func(at int) bool {
		k, _ := slices.BinarySearch(heads, at)
		return k < len(heads) && heads[k] < found.end(at)
	}
	var at []int
	for _, line := range found.at {
		if holds(line) {
			at = append(at, line)
		}
	}
	if len(at) == 0 {
		return nil
	}
	found.among(at)
	found.everywhere = nil
	return found
}

// findAddition gives added lines without old lines their place: below their scope line, at the end
// of the file if the hunk says so, and also there, as a guess, if it says nothing.
func (j *joint) findAddition(c *Chunk, lines []Line, scoped bool) (*candidates, *Error) {
	end := &candidates{at: []int{j.t.Len()}, lines: lines, free: true, hint: -1}
	switch {
	case len(lines) == 0 || c.EOF:
	case len(c.Scopes) > 0:
		return j.belowScope(c, lines, scoped)
	case j.t.Len() > 0:
		end.guess = "the added lines have no context; they go to the end of the file"
	}
	return end, nil
}

// scope returns the line behind the scopes, each looked for behind the one before it from the top
// of the file. It compares as loosely as any pass does: of two lines that differ in white space
// only, the patch may mean either. scoped is false where a scope does not stand in the file as a
// whole line; then the scopes narrow nothing here.
func (j *joint) scope(scopes []string) (from int, scoped bool) {
	for _, s := range scopes {
		at := j.x.places([]string{s}, Punctuation, from, 1)
		if len(at) == 0 {
			return 0, false
		}
		from = at[0] + 1
	}
	return from, true
}

// belowScope gives added lines without context the place below their scope line.
func (j *joint) belowScope(c *Chunk, lines []Line, scoped bool) (*candidates, *Error) {
	last := c.Scopes[len(c.Scopes)-1]
	if !scoped {
		n, _ := j.nearest([]string{last}, 0)
		return nil, &Error{Err: ErrNoContext, Want: []string{last}, Nearest: n,
			Hint: "without context lines the scope line must stand in the file as it is"}
	}
	outer, _ := j.scope(c.Scopes[:len(c.Scopes)-1])
	at, more := j.x.all([]string{last}, Punctuation, outer)
	return &candidates{at: j.x.below(at), lines: lines, hint: -1, more: more}, nil
}

// search looks for the old lines behind from.
func (j *joint) search(c *Chunk, old []string, lines []Line, from int) *candidates {
	if !c.EOF {
		return j.strictest(c, old, lines, from)
	}
	if m, ok := j.x.Seek(old, from, true); ok && m.Pass <= loosest(c) {
		return &candidates{at: []int{m.Line}, old: old, lines: lines, pass: m.Pass}
	}
	// The lines do not end the file. Where they stand in exactly one place, that is taken as a guess.
	only := j.strictest(c, old, lines, from)
	if only == nil || len(only.at) > 1 {
		return nil
	}
	only.guess = fmt.Sprintf("the lines do not end the file, as the hunk says; their only place, line %d, is taken", only.at[0]+1)
	return only
}

// strictest returns the places of the strictest pass that has any; nil where none has.
func (j *joint) strictest(c *Chunk, old []string, lines []Line, from int) *candidates {
	for p := Exact; p <= loosest(c); p++ {
		at, more := j.x.all(old, p, from)
		if len(at) == 0 {
			continue
		}
		var strict []int
		if p < Indent && !indented(lines) {
			// A chunk with a line that has no indentation may have lost it as a whole: then the
			// place that fits exactly is the wrong one among those that fit after trimming.
			if loose, evenMore := j.x.all(old, Indent, from); len(loose) > len(at) {
				strict, at, more, p = at, loose, evenMore, Indent
			}
		}
		return &candidates{at: at, strict: strict, old: old, lines: lines, pass: p, more: more}
	}
	return nil
}

// loosest returns the loosest pass by which a chunk may be placed.
func loosest(c *Chunk) Pass {
	if c.Unprefixed {
		return Exact
	}
	return Punctuation
}

// indented reports whether every line that is not blank begins with white space.
func indented(lines []Line) bool {
	for _, l := range lines {
		b := []byte(l.Text)
		if rest := trimLeft(b); len(rest) > 0 && len(rest) == len(b) {
			return false
		}
	}
	return true
}

// hint uses scopes that are no whole lines of the file, such as headings that git cut short: lines
// that begin with the scope narrow the candidates if exactly one is left behind them.
func (j *joint) hint(c *Chunk, found *candidates) {
	if len(c.Scopes) == 0 || len(found.at) < 2 || found.more {
		return
	}
	last := trimLeft(trimRight([]byte(c.Scopes[len(c.Scopes)-1])))
	if len(last) == 0 {
		return
	}
	// The first such line leaves the most candidates; one is needed.
	line := j.beginning(last)
	at, _ := slices.BinarySearch(found.at, line+1)
	if line >= 0 && len(found.at)-at == 1 {
		found.at = found.at[at:]
	}
}

// beginning returns the first line that begins with the text, or -1; also where the plan has looked
// for too many.
func (j *joint) beginning(text []byte) int {
	if line, ok := j.prefixed[string(text)]; ok {
		return line
	}
	line := -1
	if spend(&j.effort.cutScopes, j.t.Len()) {
		for i := 0; i < j.t.Len() && line < 0; i++ {
			if bytes.HasPrefix(trimLeft(j.t.Line(i)), text) {
				line = i
			}
		}
	}
	if j.prefixed == nil {
		j.prefixed = map[string]int{}
	}
	j.prefixed[string(text)] = line
	return line
}

// place makes the placement of the chunk at one of its candidates.
func (c *candidates) place(t *text, at int) *placement {
	pl := &placement{at: at, old: len(c.old), lines: c.lines, ending: c.ending, pass: c.pass, guess: c.guess, match: c.match}
	if c.pass >= Indent && len(c.old) > 0 {
		pl.shift(t)
	}
	return pl
}

// placements returns what was chosen, nil for chunks that were refused.
func (j *joint) placements() []*placement {
	placed := make([]*placement, len(j.chunks))
	refused := map[int]bool{}
	for _, err := range j.errs {
		refused[err.Chunk-1] = true
	}
	for i, c := range j.chunks {
		switch {
		case c == nil, refused[i]:
		case j.chosen != nil:
			placed[i] = c.place(j.t, j.chosen[i])
			placed[i].others = othersOf(c.all(), j.chosen[i])
		case len(c.at) == 1:
			placed[i] = c.place(j.t, c.at[0])
		}
	}
	agree(placed)
	return placed
}

// all returns every place where the lines fit.
func (c *candidates) all() []int {
	if c.everywhere != nil {
		return c.everywhere
	}
	return c.at
}

// mostOthers bounds the places that a result or a refusal lists.
const mostOthers = 20

func othersOf(all []int, chosen int) []int {
	var others []int
	for _, at := range all[:min(len(all), mostOthers+1)] {
		if at != chosen && len(others) < mostOthers {
			others = append(others, at)
		}
	}
	return others
}
