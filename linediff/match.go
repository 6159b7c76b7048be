package linediff

// matching is a list of pairs of equal lines, rising in a and in b: the lines that stay.
type matching struct {
	a, b     []int32
	atA, atB []int // indexes of the pairs' lines
}

func (m *matching) pair(i, j int) {
	m.atA, m.atB = append(m.atA, i), append(m.atB, j)
}

// changes is what the pairs leave over.
func (m *matching) changes() []Change {
	var list []Change
	i, j := 0, 0
	for k, x := range m.atA {
		y := m.atB[k]
		if i < x || j < y {
			list = append(list, Change{i, x, j, y})
		}
		i, j = x+1, y+1
	}
	if i < len(m.a) || j < len(m.b) {
		list = append(list, Change{i, len(m.a), j, len(m.b)})
	}
	return list
}

// find fills the matching. The counts are all 0 before and after.
func (m *matching) find(count *[2][]int32) {
	head, tail := commonEnds(m.a, m.b)
	m.atA, m.atB = make([]int, 0, head+tail), make([]int, 0, head+tail)
	for i := range head {
		m.pair(i, i)
	}
	endA, endB := len(m.a)-tail, len(m.b)-tail
	if head < endA && head < endB {
		m.middle(head, endA, endB, count)
	}
	for i := range tail {
		m.pair(endA+i, endB+i)
	}
}

// middle matches what lies between the common ends.
func (m *matching) middle(head, endA, endB int, count *[2][]int32) {
	for _, id := range m.a {
		count[0][id]++
	}
	for _, id := range m.b {
		count[1][id]++
	}
	keepA := partakers(m.a, head, endA, count[1])
	keepB := partakers(m.b, head, endB, count[0])
	for _, id := range m.a {
		count[0][id] = 0
	}
	for _, id := range m.b {
		count[1][id] = 0
	}
	s := search{a: pick(m.a, keepA), b: pick(m.b, keepB), count: count}
	s.emit = func(x, y int) { m.pair(keepA[x], keepB[y]) }
	s.run()
}

func pick(list []int32, at []int) []int32 {
	out := make([]int32, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}

// commonEnds counts the equal lines at the beginning and, of the rest, at the end.
func commonEnds(a, b []int32) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// How often a line stands on the other side.
const (
	never = iota
	rarely
	often
)

// partakers returns the indexes in [start, end) of the lines that the search looks at. other says
// how often each number stands on the other side.
func partakers(list []int32, start, end int, other []int32) []int {
	limit := frequent(len(list))
	class := make([]byte, end-start)
	for i, id := range list[start:end] {
		switch n := int(other[id]); {
		case n >= limit:
			class[i] = often
		case n > 0:
			class[i] = rarely
		}
	}
	keep := make([]int, 0, len(class))
	for i, c := range class {
		if c == rarely || c == often && !byChance(class, i) {
			keep = append(keep, start+i)
		}
	}
	return keep
}

// frequent is the number of occurrences from which on a line counts as frequent in a text of n
// lines: about the square root, as a power of two, and at most 1024.
func frequent(n int) int {
	limit := 1
	for ; n > 0; n >>= 2 {
		limit <<= 1
	}
	return min(limit, 1024)
}

// chanceWindow is how many lines around a frequent one are looked at, each way.
const chanceWindow = 100

// byChance reports whether a frequent line stands amid lines without a counterpart: some on either
// side, and over three times as many as there are frequent lines among them, itself counted for
// each side.
func byChance(class []byte, i int) bool {
	frequent, without := 2, 0
	count := func(c byte) bool {
		switch c {
		case never:
			without++
		case often:
			frequent++
		}
		return c != rarely
	}
	for k := i - 1; k >= max(0, i-chanceWindow) && count(class[k]); k-- {
	}
	above := without
	if above == 0 {
		return false
	}
	for k := i + 1; k <= min(len(class)-1, i+chanceWindow) && count(class[k]); k++ {
	}
	return without > above && without > 3*frequent
}
