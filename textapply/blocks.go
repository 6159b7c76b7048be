package textapply

import "bytes"

// byScopes leaves chunks that could stand in several places those in the blocks that their scopes open.
// A block goes from the line of the scope to the next of its kind, so that of "func a()" ends where "func
// b()" begins; what stands behind it follows the scope too, and is meant only where nothing in the block
// fits. The heading that git gives a hunk is the nearest such line in front of it.
func (j *joint) byScopes(earliest, latest []int) bool {
	narrowed := false
	for i, c := range j.chunks {
		scopes := j.s.Chunks[i].Scopes
		if c.free || c.more || earliest[i] == latest[i] || len(scopes) == 0 {
			continue
		}
		open := c.between(earliest[i], latest[i])
		if in := j.inBlocks(scopes, open); len(in) > 0 && len(in) < len(open) {
			c.among(in)
			narrowed = true
		}
	}
	return narrowed
}

// inBlocks returns those of the lines that are in a block of the innermost scope, which is in one of the
// scope around it.
func (j *joint) inBlocks(scopes []string, lines []int) []int {
	var heads []int
	for k, s := range scopes {
		all, ok := j.heads(s)
		if !ok {
			return nil
		}
		if k > 0 {
			all = j.under(heads, all)
		}
		heads = all
	}
	return j.under(heads, lines)
}

// heads returns the lines that are a scope, or, where none is, those that begin with it, since git cuts
// headings short; none, false where the plan has looked for too many.
func (j *joint) heads(scope string) ([]int, bool) {
	if at, more := j.x.all([]string{scope}, Punctuation, 0); len(at) > 0 || more {
		return at, !more
	}
	text := trimLeft(trimRight([]byte(scope)))
	if len(text) == 0 || !spend(&j.effort.cutScopes, j.t.Len()) {
		return nil, false
	}
	var at []int
	for i := range j.t.Len() {
		if bytes.HasPrefix(trimLeft(j.t.Line(i)), text) {
			at = append(at, i)
		}
	}
	return at, true
}

// under returns those of the lines, in ascending order, that are in the block of one of the heads. The line
// that ends a block is still in it: a chunk may begin with it.
func (j *joint) under(heads, lines []int) []int {
	if len(heads) == 0 || len(lines) == 0 {
		return nil
	}
	first, last := heads[0], lines[len(lines)-1]
	if !spend(&j.effort.cutScopes, last-first) {
		return nil
	}
	var open []head
	var in []int
	for line := first; line <= last && len(lines) > 0; line++ {
		for len(lines) > 0 && lines[0] <= line {
			if lines[0] == line && len(open) > 0 {
				in = append(in, line)
			}
			lines = lines[1:]
		}
		isHead := len(heads) > 0 && heads[0] == line
		if line == j.t.Len() || len(open) == 0 && !isHead {
			continue
		}
		h := headOf(j.t.Line(line))
		for len(open) > 0 && open[len(open)-1].endedBy(h) {
			open = open[:len(open)-1]
		}
		if isHead {
			heads = heads[1:]
			open = append(open, h)
		}
	}
	return in
}

// head is what a line shows that may open a block.
type head struct {
	indent int
	word   string // the first word, such as func, def, class, export; "" where it begins with no letter
	call   bool   // whether it has a parenthesis, as functions have
}

func headOf(line []byte) head {
	text := trimLeft(line)
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return head{indent: len(line) - len(text), word: string(text[:n]), call: bytes.IndexByte(text, '(') >= 0}
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$'
}

// endedBy reports whether a line begins another block of the same kind, beside this one or further out.
func (h head) endedBy(next head) bool {
	return next.word != "" && next.word == h.word && next.indent <= h.indent && (next.call || !h.call)
}
