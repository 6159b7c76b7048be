package textapply

import (
	"regexp"
	"slices"
	"strings"
)

// naiveJoint is joint placement written as plainly as can be: it makes every placement there is and
// compares whole files.
type naiveJoint struct {
	t      *text
	p      Policy
	lines  []string
	chunks []naiveChunk
	// all holds every placement, a line per chunk, in lexicographic order.
	all [][]int
}

type naiveChunk struct {
	at         []int
	old, lines []Line // the old lines that were looked for; all lines
	pass       Pass
	free       bool
	scopes     []string
	err        error
}

func newNaiveJoint(content string, chunks []Chunk, p Policy) *naiveJoint {
	n := &naiveJoint{t: splitText([]byte(content), p), p: p}
	for i := range n.t.Len() {
		n.lines = append(n.lines, string(n.t.Line(i)))
	}
	for _, c := range chunks {
		found := n.candidates(c)
		found.scopes = c.Scopes
		n.chunks = append(n.chunks, found)
	}
	if len(n.failing()) == 0 {
		n.enumerate(nil, 0)
	}
	return n
}

// results returns the texts that all placements give or, where they give several and those inside of the
// blocks of the scopes give one, that one; and the first placement that counts then.
func (n *naiveJoint) results() (texts map[string]bool, first []int) {
	texts = n.textsOf(n.all)
	if len(texts) == 1 {
		return texts, n.all[0]
	}
	if inside := n.insideBlocks(); len(inside) > 0 {
		if one := n.textsOf(inside); len(one) == 1 {
			return one, inside[0]
		}
	}
	return texts, n.all[0]
}

func (n *naiveJoint) textsOf(all [][]int) map[string]bool {
	texts := map[string]bool{}
	for _, chosen := range all {
		texts[n.outcome(chosen)] = true
	}
	return texts
}

// insideBlocks returns the placements in which every chunk that has a choice, and scopes with some of its
// places in their blocks, stands in one of those.
func (n *naiveJoint) insideBlocks() [][]int {
	inside := n.all
	for i, c := range n.chunks {
		var within [][]int
		places, blocked := map[int]bool{}, map[int]bool{}
		for _, chosen := range n.all {
			places[chosen[i]] = true
			if n.inBlock(c.scopes, chosen[i]) {
				blocked[chosen[i]] = true
			}
		}
		if c.free || len(c.scopes) == 0 || len(blocked) == 0 || len(blocked) == len(places) {
			continue
		}
		for _, chosen := range inside {
			if blocked[chosen[i]] {
				within = append(within, chosen)
			}
		}
		inside = within
	}
	return inside
}

// inBlock reports whether a line is in a block that the last of the scopes opens, and that in one of the
// scope before it.
func (n *naiveJoint) inBlock(scopes []string, line int) bool {
	if len(scopes) == 0 {
		return true
	}
	last := scopes[len(scopes)-1]
	heads := n.places([]string{last}, Punctuation, 0)
	if len(heads) == 0 && strings.TrimSpace(last) != "" {
		for i, l := range n.lines {
			if strings.HasPrefix(strings.TrimLeft(l, " \t"), strings.TrimSpace(last)) {
				heads = append(heads, i)
			}
		}
	}
	for _, h := range heads {
		if h < line && n.open(h, line) && n.inBlock(scopes[:len(scopes)-1], h) {
			return true
		}
	}
	return false
}

// open reports whether no line between two begins what the first begins.
func (n *naiveJoint) open(from, to int) bool {
	word := regexp.MustCompile(`^[\w$]*`)
	head := strings.TrimLeft(n.lines[from], " \t")
	for _, l := range n.lines[from+1 : to] {
		text := strings.TrimLeft(l, " \t")
		if len(l)-len(text) <= len(n.lines[from])-len(head) && word.FindString(text) != "" &&
			word.FindString(text) == word.FindString(head) && (strings.Contains(text, "(") || !strings.Contains(head, "(")) {
			return false
		}
	}
	return true
}

// failing returns the sentinels of the chunks that have no candidate.
func (n *naiveJoint) failing() map[int]error {
	out := map[int]error{}
	for i, c := range n.chunks {
		if c.err != nil {
			out[i] = c.err
		}
	}
	return out
}

func (n *naiveJoint) enumerate(chosen []int, end int) {
	i := len(chosen)
	if i == len(n.chunks) {
		n.all = append(n.all, append([]int(nil), chosen...))
		return
	}
	c := n.chunks[i]
	for _, at := range c.at {
		switch {
		case c.free:
			n.enumerate(append(chosen, at), end)
		case at >= end:
			n.enumerate(append(chosen, at), at+len(c.old))
		}
	}
}

// places tries every line of the file.
func (n *naiveJoint) places(pattern []string, p Pass, from int) (all []int) {
	for at := from; at+len(pattern) <= len(n.lines); at++ {
		if naiveMatch(n.lines[at:], pattern, p) {
			all = append(all, at)
		}
	}
	return all
}

// behind returns the line behind the scopes; false where one is no line of the file.
func (n *naiveJoint) behind(scopes []string) (int, bool) {
	from := 0
	for _, s := range scopes {
		at := n.places([]string{s}, Punctuation, from)
		if len(at) == 0 {
			return 0, false
		}
		from = at[0] + 1
	}
	return from, true
}

func (n *naiveJoint) candidates(c Chunk) naiveChunk {
	from, scoped := n.behind(c.Scopes)
	if len(c.Old()) == 0 {
		return n.addition(c, c.Lines, scoped)
	}
	found := n.search(c, c.Lines, from)
	if found == nil && c.Old()[len(c.Old())-1] == "" {
		lines := dropTrailingBlank(c.Lines)
		if len(c.Old()) == 1 {
			return n.addition(c, lines, scoped)
		}
		found = n.search(c, lines, from)
	}
	if found == nil && scoped && len(c.Scopes) > 0 {
		found = n.aroundScope(c)
	} else if found != nil && scoped && n.done(c, found) {
		return naiveChunk{err: ErrNoMatch}
	}
	switch {
	case found == nil && c.EOF && n.strictest(c, c.Lines, from) != nil:
		return naiveChunk{err: ErrAmbiguous}
	case found == nil:
		return naiveChunk{err: ErrNoMatch}
	case c.Unprefixed && len(found.at) > 1:
		return naiveChunk{err: ErrAmbiguous}
	case !scoped:
		n.cutScope(c, found)
	}
	return *found
}

// done reports whether the new lines stand in the block of the scopes alone, and the old ones only outside of it.
func (n *naiveJoint) done(c Chunk, found *naiveChunk) bool {
	if len(c.Scopes) == 0 || !n.p.AcceptApplied || c.EOF || !addsText(c) {
		return false
	}
	for _, at := range found.at {
		if n.inBlock(c.Scopes, at) || at == c.Hint-1 {
			return false
		}
	}
	at := n.places(c.New(), Exact, 0)
	if len(at) == 0 {
		at = n.places(c.New(), TrailingSpace, 0)
	}
	return len(at) == 1 && n.inBlock(c.Scopes, at[0])
}

// aroundScope takes the places at which the old lines hold the line of the scope.
func (n *naiveJoint) aroundScope(c Chunk) *naiveChunk {
	inner := len(c.Scopes) - 1
	outer, _ := n.behind(c.Scopes[:inner])
	found := n.search(c, c.Lines, outer)
	if found == nil {
		return nil
	}
	var around []int
	for _, at := range found.at {
		if len(n.places(c.Scopes[inner:], Punctuation, at)) > 0 && n.places(c.Scopes[inner:], Punctuation, at)[0] < at+len(found.old) {
			around = append(around, at)
		}
	}
	if around == nil {
		return nil
	}
	found.at = around
	return found
}

// addition has no old lines: it goes below its scope, else to the end.
func (n *naiveJoint) addition(c Chunk, lines []Line, scoped bool) naiveChunk {
	if len(lines) == 0 || c.EOF || len(c.Scopes) == 0 {
		return naiveChunk{at: []int{len(n.lines)}, lines: lines, free: true}
	}
	if !scoped {
		return naiveChunk{err: ErrNoContext}
	}
	outer, _ := n.behind(c.Scopes[:len(c.Scopes)-1])
	found := naiveChunk{lines: lines}
	for _, at := range n.places(c.Scopes[len(c.Scopes)-1:], Punctuation, outer) {
		found.at = append(found.at, at+1)
	}
	return found
}

func (n *naiveJoint) search(c Chunk, lines []Line, from int) *naiveChunk {
	if !c.EOF {
		return n.strictest(c, lines, from)
	}
	old := Chunk{Lines: lines}.Old()
	for p := Exact; p <= naiveLoosest(c); p++ {
		for _, at := range n.places(old, p, from) {
			if at+len(old) == len(n.lines) {
				return n.found(lines, p, at)
			}
		}
	}
	if only := n.strictest(c, lines, from); only != nil && len(only.at) == 1 {
		return only
	}
	return nil
}

func naiveLoosest(c Chunk) Pass {
	if c.Unprefixed {
		return Exact
	}
	return Punctuation
}

func (n *naiveJoint) found(lines []Line, p Pass, at ...int) *naiveChunk {
	c := &naiveChunk{at: at, lines: lines, pass: p}
	for _, l := range lines {
		if l.Op != Insert {
			c.old = append(c.old, l)
		}
	}
	return c
}

// strictest goes through the passes. What fits without trimming counts only if the chunk cannot
// have lost its indentation, or trimming finds no further place.
func (n *naiveJoint) strictest(c Chunk, lines []Line, from int) *naiveChunk {
	old := Chunk{Lines: lines}.Old()
	for p := Exact; p <= naiveLoosest(c); p++ {
		at := n.places(old, p, from)
		if len(at) == 0 {
			continue
		}
		if trimmed := n.places(old, Indent, from); p < Indent && shallowest(lines) == 0 && len(trimmed) > len(at) {
			return n.found(lines, Indent, trimmed...)
		}
		return n.found(lines, p, at...)
	}
	return nil
}

// shallowest is the least width of indentation of a line that is not blank, -1 where all are.
func shallowest(lines []Line) int {
	least := -1
	for _, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if w := strings.Index(l.Text, text); least < 0 || w < least {
			least = w
		}
	}
	return least
}

// cutScope takes the one candidate behind the first line that begins as the scope does.
func (n *naiveJoint) cutScope(c Chunk, found *naiveChunk) {
	last := strings.TrimSpace(c.Scopes[len(c.Scopes)-1])
	for i, line := range n.lines {
		if last == "" || !strings.HasPrefix(strings.TrimSpace(line), last) {
			continue
		}
		var rest []int
		for _, at := range found.at {
			if at > i {
				rest = append(rest, at)
			}
		}
		if len(rest) == 1 {
			found.at = rest
		}
		return
	}
}

// outcome is the file after one placement. A file all of whose lines end alike is put together
// without the code under test; what mixed terminators do has tests of its own.
func (n *naiveJoint) outcome(chosen []int) string {
	placed := make([]*placement, len(chosen))
	for i, at := range chosen {
		c := n.chunks[i]
		placed[i] = &placement{at: at, old: len(c.old), lines: c.lines, pass: c.pass}
		if c.pass >= Indent && len(c.old) > 0 {
			placed[i].shift(n.t)
		}
	}
	agree(placed)
	end := n.t.firstTerminator()
	for i := range n.t.Len() {
		if e := n.t.terminator(i); e != end && (e != "" || i < n.t.Len()-1) {
			return string(applied(n.t, placed, n.p))
		}
	}
	after := n.rewritten(placed)
	text := strings.Join(after, end)
	if n.t.endsInTerminator() && len(after) > 0 {
		text += end
	}
	return text
}

// rewritten lists the lines after a placement.
func (n *naiveJoint) rewritten(placed []*placement) []string {
	before := make([][]string, len(n.lines)+1)
	gone := make([]bool, len(n.lines))
	for _, pl := range placed {
		at, run := pl.at, pl.at
		for _, l := range pl.lines {
			switch l.Op {
			case Insert:
				before[run] = append(before[run], l.Text)
			case Remove:
				gone[at] = true
				at++
			case Context:
				at++
				run = at
			}
		}
	}
	var out []string
	for i, line := range n.lines {
		out = append(out, before[i]...)
		if !gone[i] {
			out = append(out, line)
		}
	}
	return append(out, before[len(n.lines)]...)
}

func applied(t *text, placed []*placement, p Policy) []byte {
	var out []byte
	at := 0
	for _, e := range splice(t, placed, p) {
		out = append(append(out, t.data[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(out, t.data[at:]...)
}

// endDecides reports whether it may take more than a look at each chunk to see that all placements
// give the same: an unfinished last line that goes takes the terminator of the line before it along,
// and what nothing anchors is added at the end of the file, where a chunk that has a choice may
// add something too.
func (n *naiveJoint) endDecides() bool {
	if !n.t.endsInTerminator() {
		return true
	}
	if !slices.ContainsFunc(n.chunks, func(c naiveChunk) bool { return c.free && len(c.lines) > 0 }) {
		return false
	}
	for i, c := range n.chunks {
		low, high := n.all[0][i], n.all[len(n.all)-1][i]
		for _, chosen := range n.all {
			low, high = min(low, chosen[i]), max(high, chosen[i])
		}
		if !c.free && low != high && high+len(c.old) == len(n.lines) {
			return true
		}
	}
	return false
}
