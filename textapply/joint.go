package textapply

import (
	"bytes"
	"fmt"
	"slices"
)

// candidates are the places that one chunk could take.
type candidates struct {
	at    []int // 0-based lines, ascending
	old   int   // number of old lines
	lines []Line
	pass  Pass
	// free marks added lines that nothing anchors; they have no place to compare.
	free bool
	// more says that there are further places than at holds.
	more bool
	// hint is the 0-based line that the patch gives, -1 for none.
	hint int
	// guess says in words why a single place is still a guess, "" where it is none.
	guess string
	// match overrides the word for how the place was found.
	match string
}

// end returns the line behind the chunk if it stands at the line given.
func (c *candidates) end(at int) int { return at + c.old }

// placeJointly finds the places of all chunks of a section together. Every chunk has its
// candidates: all places inside its scopes at the strictest pass that has any. A placement takes
// one candidate a chunk, in patch order and without overlap. If all placements give the same bytes
// it is taken; otherwise the section is refused, naming the places. No chunk is ever matched more
// loosely because of another.
func placeJointly(t *text, s *Section, p Policy) ([]*placement, []*Error) {
	j := &joint{t: t, s: s, p: p, x: newIndex(t, patterns(s)), chunks: make([]*candidates, len(s.Chunks))}
	for i := range s.Chunks {
		c, err := j.find(&s.Chunks[i])
		if err != nil {
			j.refuse(i, err)
			continue
		}
		j.chunks[i] = c
	}
	if len(j.errs) == 0 {
		j.choose()
	}
	return j.placements(), j.errs
}

// joint is one joint placement under way.
type joint struct {
	t      *text
	s      *Section
	p      Policy
	x      *Index
	chunks []*candidates // nil for a chunk that was refused
	chosen []int         // 0-based line per chunk; nil before choose
	errs   []*Error
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
	if found == nil {
		return nil, j.miss(c, from)
	}
	found.hint = c.Hint - 1
	if !scoped {
		j.hint(c, found)
	}
	return found, nil
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
		return nil, &Error{Err: ErrNoContext, Want: []string{last}, Nearest: nearest(j.t, []string{last}, 0),
			Hint: "without context lines the scope line must stand in the file as it is"}
	}
	outer, _ := j.scope(c.Scopes[:len(c.Scopes)-1])
	found := &candidates{lines: lines, hint: -1}
	for _, at := range j.x.places([]string{last}, Punctuation, outer, maxPlaces) {
		found.at = append(found.at, at+1)
	}
	found.more = len(found.at) == maxPlaces
	return found, nil
}

// maxPlaces bounds the places that are looked at for one chunk; a chunk with more is never placed.
const maxPlaces = 4096

// search looks for the old lines behind from, at the strictest pass that has a place.
func (j *joint) search(c *Chunk, old []string, lines []Line, from int) *candidates {
	if c.EOF {
		return j.searchTail(old, lines, from)
	}
	last := Punctuation
	if c.Unprefixed {
		last = Exact
	}
	for p := Exact; p <= last; p++ {
		at := j.x.places(old, p, from, maxPlaces)
		if len(at) == 0 {
			continue
		}
		if p < Indent && !indented(lines) {
			// A chunk with a line that has no indentation may have lost it as a whole: then the
			// place that fits exactly is the wrong one among those that fit after trimming.
			if loose := j.x.places(old, Indent, from, maxPlaces); len(loose) > len(at) {
				at, p = loose, Indent
			}
		}
		return &candidates{at: at, old: len(old), lines: lines, pass: p, more: len(at) == maxPlaces}
	}
	return nil
}

// searchTail looks for old lines that must end the file. Where they do not, but stand in exactly
// one other place, that is taken as a guess.
func (j *joint) searchTail(old []string, lines []Line, from int) *candidates {
	if m, ok := j.x.Seek(old, from, true); ok {
		return &candidates{at: []int{m.Line}, old: len(old), lines: lines, pass: m.Pass}
	}
	for p := Exact; int(p) < passes; p++ {
		if at := j.x.places(old, p, from, 2); len(at) == 1 {
			return &candidates{at: at, old: len(old), lines: lines, pass: p,
				guess: fmt.Sprintf("the lines do not end the file, as the hunk says; their only place, line %d, is taken", at[0]+1)}
		} else if len(at) > 1 {
			return nil
		}
	}
	return nil
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
	if len(c.Scopes) == 0 || len(found.at) < 2 {
		return
	}
	last := trimLeft(trimRight([]byte(c.Scopes[len(c.Scopes)-1])))
	if len(last) == 0 {
		return
	}
	for i := range j.t.Len() {
		if !bytes.HasPrefix(trimLeft(j.t.Line(i)), last) {
			continue
		}
		// The first such line leaves the most candidates; one is needed.
		at, _ := slices.BinarySearch(found.at, i+1)
		if len(found.at)-at == 1 {
			found.at = found.at[at:]
		}
		return
	}
}

// choose counts the placements with a forward and a backward sweep and takes the only one.
func (j *joint) choose() {
	earliest, ok := j.sweep()
	if !ok {
		return
	}
	latest := j.sweepBack()
	j.chosen = earliest
	if j.settled(earliest, latest) {
		return
	}
	if j.takeHints(earliest, latest) {
		return
	}
	for i, c := range j.chunks {
		if earliest[i] == latest[i] && !c.more {
			continue
		}
		if j.p.TakeFirst {
			c.guess = fmt.Sprintf("the lines fit more than one place; the first, line %d, is taken", earliest[i]+1)
			continue
		}
		j.refuse(i, j.ambiguous(c, earliest[i], latest[i]))
	}
}

// settled reports whether the placements between the two leave no choice.
func (j *joint) settled(earliest, latest []int) bool {
	for _, c := range j.chunks {
		if c.more {
			return false
		}
	}
	return slices.Equal(earliest, latest) || j.sameBytes(earliest, latest)
}

// takeHints settles the chunks that are not settled otherwise by the line numbers of the patch: a
// candidate exactly at its number is certain if the numbers are right for a chunk that has only one
// place.
func (j *joint) takeHints(earliest, latest []int) bool {
	trusted := false
	for i, c := range j.chunks {
		if earliest[i] == latest[i] && c.hint >= 0 && !c.free {
			if earliest[i] != c.hint {
				return false
			}
			trusted = true
		}
	}
	if !trusted {
		return false
	}
	kept := make([]candidates, len(j.chunks))
	for i, c := range j.chunks {
		kept[i] = *c
		if _, found := slices.BinarySearch(c.between(earliest[i], latest[i]), c.hint); found && earliest[i] != latest[i] {
			c.at, c.match = []int{c.hint}, matchLineHint
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

// sweep gives every chunk the first candidate behind the chunk before it. Where one has none, the
// chunks are out of order.
func (j *joint) sweep() ([]int, bool) {
	first := make([]int, len(j.chunks))
	end := 0
	for i, c := range j.chunks {
		if c.free {
			first[i] = c.at[0]
			continue
		}
		k, _ := slices.BinarySearch(c.at, end)
		if k == len(c.at) && c.more {
			j.refuse(i, j.ambiguous(c, c.at[0], c.at[len(c.at)-1]))
			return nil, false
		}
		if k == len(c.at) {
			j.refuse(i, j.outOfOrder(i, first))
			return nil, false
		}
		first[i] = c.at[k]
		end = c.end(first[i])
	}
	return first, true
}

// sweepBack gives every chunk the last candidate in front of the chunk behind it. It is called only
// where a placement exists.
func (j *joint) sweepBack() []int {
	last := make([]int, len(j.chunks))
	limit := j.t.Len() + 1
	for i := len(j.chunks) - 1; i >= 0; i-- {
		c := j.chunks[i]
		if c.free {
			last[i] = c.at[0]
			continue
		}
		k, _ := slices.BinarySearchFunc(c.at, limit, func(at, limit int) int {
			if c.end(at) <= limit {
				return -1
			}
			return 1
		})
		last[i] = c.at[k-1]
		limit = last[i]
	}
	return last
}

// between returns the candidates of a chunk that some placement takes.
func (c *candidates) between(first, last int) []int {
	lo, _ := slices.BinarySearch(c.at, first)
	hi, _ := slices.BinarySearch(c.at, last+1)
	return c.at[lo:hi]
}

// maxCompared bounds the candidates whose outcomes are compared.
const maxCompared = 256

// sameBytes reports whether all placements give the same text, as when a line is added to a run of
// equal ones. It says no where that is not plain: where the windows of two chunks touch.
func (j *joint) sameBytes(earliest, latest []int) bool {
	end := -1
	for i, c := range j.chunks {
		if c.free {
			continue
		}
		if earliest[i] <= end && (earliest[i] != latest[i] || i > 0 && earliest[i-1] != latest[i-1]) {
			return false
		}
		end = c.end(latest[i])
		if earliest[i] == latest[i] {
			continue
		}
		at := c.between(earliest[i], latest[i])
		if len(at) > maxCompared {
			return false
		}
		for k := 1; k < len(at); k++ {
			if !j.sameOutcome(c, at[k-1], at[k]) {
				return false
			}
		}
	}
	return true
}

// sameOutcome compares what the chunk makes of the window that covers both places.
func (j *joint) sameOutcome(c *candidates, a, b int) bool {
	return bytes.Equal(j.outcome(c, a, a, b), j.outcome(c, b, a, b))
}

// outcome returns lines [from, to+old) of the text with the chunk applied at one place.
func (j *joint) outcome(c *candidates, at, from, to int) []byte {
	edits := splice(j.t, []*placement{c.place(j.t, at)}, j.p)
	start, stop := int(j.t.starts[from]), int(j.t.starts[min(to+c.old, j.t.Len())])
	var out []byte
	pos := start
	for _, e := range edits {
		out = append(append(out, j.t.data[min(pos, e.Start):e.Start]...), e.New...)
		pos = e.End
	}
	return append(out, j.t.data[min(pos, stop):stop]...)
}

// place makes the placement of the chunk at one of its candidates.
func (c *candidates) place(t *text, at int) *placement {
	pl := &placement{at: at, old: c.old, lines: c.lines, pass: c.pass, guess: c.guess, match: c.match}
	if c.pass >= Indent && c.old > 0 {
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
			placed[i].others = othersOf(c.at, j.chosen[i])
		case len(c.at) == 1:
			placed[i] = c.place(j.t, c.at[0])
		}
	}
	return placed
}

// mostOthers bounds the places that a result or a refusal lists.
const mostOthers = 20

func othersOf(all []int, chosen int) []int {
	var others []int
	for _, at := range all {
		if at != chosen && len(others) < mostOthers {
			others = append(others, at)
		}
	}
	return others
}
