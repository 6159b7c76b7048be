package textapply

import "github.com/openoxide/oxpatch/change"

// compose returns the edits that do what first and then second do: first turns a text of size
// bytes into a middle one, the offsets of second count in that. Linear in both lists.
func compose(size int, first, second []change.Edit) []change.Edit {
	if len(first) == 0 {
		return second
	}
	if len(second) == 0 {
		return first
	}
	c := composer{pieces: toPieces(size, first)}
	at := 0
	for _, e := range second {
		c.copyTo(e.Start - at)
		c.out = append(c.out, piece{literal: e.New})
		c.skip(e.End - e.Start)
		at = e.End
	}
	c.copyTo(-1)
	return toEdits(size, c.out)
}

// piece is a range of the base text, or literal bytes where literal is not nil.
type piece struct {
	start, end int
	literal    []byte
}

func (p piece) len() int {
	if p.literal != nil {
		return len(p.literal)
	}
	return p.end - p.start
}

// split cuts the piece after n bytes.
func (p piece) split(n int) (head, tail piece) {
	if p.literal != nil {
		return piece{literal: p.literal[:n]}, piece{literal: p.literal[n:]}
	}
	return piece{start: p.start, end: p.start + n}, piece{start: p.start + n, end: p.end}
}

func toPieces(size int, edits []change.Edit) []piece {
	var pieces []piece
	at := 0
	for _, e := range edits {
		if e.Start > at {
			pieces = append(pieces, piece{start: at, end: e.Start})
		}
		if len(e.New) > 0 {
			pieces = append(pieces, piece{literal: e.New})
		}
		at = e.End
	}
	if at < size {
		pieces = append(pieces, piece{start: at, end: size})
	}
	return pieces
}

// toEdits reads edits off a sequence of pieces: what stands between two ranges of the base
// replaces what the base has between them.
func toEdits(size int, pieces []piece) []change.Edit {
	var edits []change.Edit
	at := 0
	var added []byte
	flush := func(to int) {
		if to > at || len(added) > 0 {
			edits = append(edits, change.Edit{Start: at, End: to, New: added})
		}
		added = nil
	}
	for _, p := range pieces {
		if p.literal != nil {
			added = append(added, p.literal...)
			continue
		}
		if p.end > p.start {
			flush(p.start)
			at = p.end
		}
	}
	flush(size)
	return edits
}

// composer walks over the middle text as pieces.
type composer struct {
	pieces []piece
	out    []piece
}

// copyTo moves n bytes to the output, all that is left with a negative n.
func (c *composer) copyTo(n int) {
	c.take(n, func(p piece) { c.out = append(c.out, p) })
}

func (c *composer) skip(n int) { c.take(n, func(piece) {}) }

func (c *composer) take(n int, yield func(piece)) {
	for len(c.pieces) > 0 && n != 0 {
		p := c.pieces[0]
		if n > 0 && p.len() > n {
			head, tail := p.split(n)
			yield(head)
			c.pieces[0] = tail
			return
		}
		yield(p)
		if n > 0 {
			n -= p.len()
		}
		c.pieces = c.pieces[1:]
	}
}
