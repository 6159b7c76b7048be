package textapply

import (
	"fmt"
	"slices"
)

// choose counts the placements with a forward and a backward sweep and takes the only one.
func (j *joint) choose() {
	earliest, ok := j.sweep()
	if !ok {
		return
	}
	j.chosen = earliest
	if j.p.TakeFirst && slices.ContainsFunc(j.chunks, func(c *candidates) bool { return c.more }) {
		// The last places are not known.
		for i, c := range j.chunks {
			if len(c.at) > 1 {
				c.takeFirst(earliest[i])
			}
		}
		return
	}
	latest := j.sweepBack()
	if j.settled(earliest, latest) {
		return
	}
	if j.narrow(earliest, latest) {
		return
	}
	for i, c := range j.chunks {
		switch {
		case c.more:
			j.refuse(i, j.ambiguous(c, c.at))
		case earliest[i] == latest[i]:
		case j.p.TakeFirst:
			c.takeFirst(earliest[i])
		default:
			j.refuse(i, j.ambiguous(c, c.between(earliest[i], latest[i])))
		}
	}
}

func (c *candidates) takeFirst(line int) {
	c.guess = fmt.Sprintf("the lines fit more than one place; the first, line %d, is taken", line+1)
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

// strictlyAt reports whether the lines fit at a place by the strictest pass.
func (c *candidates) strictlyAt(line int) bool {
	at := c.at
	if c.strict != nil {
		at = c.strict
	}
	_, found := slices.BinarySearch(at, line)
	return found
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
		at := j.next(c, end)
		switch {
		case at < 0 && c.more:
			j.refuse(i, j.ambiguous(c, c.at))
			return nil, false
		case at < 0:
			j.refuse(i, j.outOfOrder(i, first))
			return nil, false
		}
		first[i] = at
		end = c.end(at)
	}
	return first, true
}

// next returns the first candidate at or behind a line, -1 for none.
func (j *joint) next(c *candidates, line int) int {
	if k, _ := slices.BinarySearch(c.at, line); k < len(c.at) {
		return c.at[k]
	}
	if c.more && j.p.TakeFirst && len(c.old) > 0 {
		if at := j.x.places(c.old, c.pass, line, 1); len(at) > 0 {
			return at[0]
		}
	}
	return -1
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
