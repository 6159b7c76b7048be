package unified

import (
	"bytes"
	"slices"
	"sort"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// refineLimit is the size in bytes of one side of a region above which it is shown as replaced
// whole, so that memory stays bounded.
const refineLimit = 64 << 20

// refine appends the smaller regions in which the two sides of r really differ. Lines that occur
// once on each side are matched first, in the longest sequence that keeps its order; only what
// lies between them goes through a search for common lines, which gives up after a fixed number of
// differences. So the time is nearly linear and the result is exact, though not always minimal.
func refine(list []region, old, new []byte, r region) []region {
	r = trim(old, new, r)
	if r.empty() {
		return list
	}
	a, b := old[r.oldStart:r.oldEnd], new[r.newStart:r.newEnd]
	if len(a) == 0 || len(b) == 0 || len(a) > refineLimit || len(b) > refineLimit {
		return join(list, r)
	}
	ids := make(map[string]int32)
	x, y := splitLines(ids, a, r.oldStart), splitLines(ids, b, r.newStart)
	c := comparison{x: x, y: y, list: list, seen: make([]int, len(ids))}
	c.run(len(ids))
	return c.list
}

// lines is a text as numbers, one a line, where equal lines have equal numbers.
type lines struct {
	id    []int32
	start []int // offset of each line, and of the end
}

func splitLines(ids map[string]int32, text []byte, at int) lines {
	n := lineCount(text)
	l := lines{id: make([]int32, 0, n), start: make([]int, 1, n+1)}
	l.start[0] = at
	for len(text) > 0 {
		size := bytes.IndexByte(text, '\n') + 1
		if size == 0 {
			size = len(text)
		}
		id, ok := ids[string(text[:size])]
		if !ok {
			id = int32(len(ids))
			ids[string(text[:size])] = id
		}
		at += size
		l.id, l.start, text = append(l.id, id), append(l.start, at), text[size:]
	}
	return l
}

// comparison collects the regions of one pair of line lists.
type comparison struct {
	x, y lines
	list []region
	seen []int // per line number the gap, counted from 1, that has it on the old side
	gaps int
}

// run compares the gaps between the anchors.
func (c *comparison) run(ids int) {
	i, j := 0, 0
	for _, at := range anchors(c.x.id, c.y.id, ids) {
		c.gap(i, at.x, j, at.y)
		i, j = at.x+1, at.y+1
	}
	c.gap(i, len(c.x.id), j, len(c.y.id))
}

// gap adds the differences between the lines [i, ii) of x and [j, jj) of y.
func (c *comparison) gap(i, ii, j, jj int) {
	for i < ii && j < jj && c.x.id[i] == c.y.id[j] {
		i, j = i+1, j+1
	}
	for i < ii && j < jj && c.x.id[ii-1] == c.y.id[jj-1] {
		ii, jj = ii-1, jj-1
	}
	if i == ii && j == jj {
		return
	}
	if !c.share(i, ii, j, jj) {
		c.add(i, ii, j, jj)
		return
	}
	for _, d := range lcs.DiffRunes(c.x.id[i:ii], c.y.id[j:jj]) {
		c.add(i+d.Start, i+d.End, j+d.ReplStart, j+d.ReplEnd)
	}
}

// share reports whether a line stands on both sides. The search for common lines is costly to
// start and mostly has nothing to find.
func (c *comparison) share(i, ii, j, jj int) bool {
	if i == ii || j == jj {
		return false
	}
	c.gaps++
	for _, id := range c.x.id[i:ii] {
		c.seen[id] = c.gaps
	}
	return slices.ContainsFunc(c.y.id[j:jj], func(id int32) bool { return c.seen[id] == c.gaps })
}

func (c *comparison) add(i, ii, j, jj int) {
	c.list = join(c.list, region{c.x.start[i], c.x.start[ii], c.y.start[j], c.y.start[jj]})
}

// pair is a line of x and the line of y that is the same.
type pair struct{ x, y int }

// anchors pairs the lines that occur once in x and once in y, and keeps the longest sequence of
// pairs that rises on both sides.
func anchors(x, y []int32, ids int) []pair {
	inX, inY := places(x, ids), places(y, ids)
	var once []pair
	for i, id := range x {
		if inX[id] == i && inY[id] >= 0 {
			once = append(once, pair{i, inY[id]})
		}
	}
	return rising(once)
}

// places gives for each number the index where it stands, -1 for none, -2 for several.
func places(list []int32, ids int) []int {
	at := slices.Repeat([]int{-1}, ids)
	for i, id := range list {
		if at[id] == -1 {
			at[id] = i
		} else {
			at[id] = -2
		}
	}
	return at
}

// rising returns a longest subsequence of pairs, sorted by x, whose y rises too.
func rising(pairs []pair) []pair {
	var last []int                    // last[k]: index of the pair that ends the best sequence of k+1 pairs
	before := make([]int, len(pairs)) // index of the pair in front of each, -1 for none
	for i, p := range pairs {
		k := sort.Search(len(last), func(k int) bool { return pairs[last[k]].y > p.y })
		before[i] = -1
		if k > 0 {
			before[i] = last[k-1]
		}
		if k == len(last) {
			last = append(last, i)
		} else {
			last[k] = i
		}
	}
	best := make([]pair, len(last))
	for k, i := len(last)-1, -1; k >= 0; k-- {
		if i < 0 {
			i = last[k]
		}
		best[k] = pairs[i]
		i = before[i]
	}
	return best
}
