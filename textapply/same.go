package textapply

import (
	"bytes"
	"slices"
)

// maxCompared bounds the candidates whose outcomes are compared.
const maxCompared = 256

// sameBytes reports whether all placements give the same text, as when a line is added to a run of
// equal ones. Any placement becomes any other by moving one chunk at a time, and a chunk that moves
// meets no other on its way; so it is enough that no chunk alone makes a difference. The exception
// is the end of the file, where chunks work together: additions that nothing anchors stand there in
// patch order, not in that of their places, and the terminator that an unfinished last line lacks is
// taken from whatever comes last. There the answer is no.
func (j *joint) sameBytes(earliest, latest []int) bool {
	for i, c := range j.chunks {
		if c.free || earliest[i] == latest[i] || !c.changes() {
			continue
		}
		if c.end(latest[i]) == j.t.Len() && j.endIsShared(i) {
			return false
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

// changes reports whether the chunk has more than context.
func (c *candidates) changes() bool {
	return slices.ContainsFunc(c.lines, func(l Line) bool { return l.Op != Context })
}

// endIsShared reports whether other chunks than one that may end the file have a say in how it ends.
func (j *joint) endIsShared(one int) bool {
	unfinished := !j.t.endsInTerminator()
	for i, c := range j.chunks {
		if i != one && c.changes() && (c.free || unfinished) {
			return true
		}
	}
	return false
}

// sameOutcome compares what the chunk makes of the window that covers both places.
func (j *joint) sameOutcome(c *candidates, a, b int) bool {
	return bytes.Equal(j.outcome(c, a, a, b), j.outcome(c, b, a, b))
}

// outcome returns lines [from, to+old) of the text with the chunk applied at one place.
func (j *joint) outcome(c *candidates, at, from, to int) []byte {
	edits := splice(j.t, []*placement{c.place(j.t, at)}, j.p)
	start, stop := int(j.t.starts[from]), int(j.t.starts[min(to+len(c.old), j.t.Len())])
	var out []byte
	pos := start
	for _, e := range edits {
		out = append(append(out, j.t.data[min(pos, e.Start):e.Start]...), e.New...)
		pos = e.End
	}
	return append(out, j.t.data[min(pos, stop):stop]...)
}
