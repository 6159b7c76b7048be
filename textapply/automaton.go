package textapply

import "sort"

// automaton finds all patterns in a text with one walk over it (Aho and Corasick): linear in the
// text and the patterns together, however much they repeat themselves.
type automaton struct {
	next map[edge]int32
	last []bool  // per node: a pattern ends here
	fail []int32 // per node: the longest proper suffix that is a node
	// Nodes where a pattern ends form a tree: above each is the longest other pattern that ends
	// it. They are numbered in preorder, so that the patterns ending in a given one are a range.
	order []int32 // per node: the number of the longest pattern that ends it, -1 for none
	below []int32 // per number: the end of the range
	// ends[number] are the lines of the text where that pattern ends and no longer one does,
	// ascending.
	ends [][]int32
}

type edge struct{ node, id int32 }

func newAutomaton(patterns [][]int32, text []int32) *automaton {
	a := &automaton{next: map[edge]int32{}, last: []bool{false}, fail: []int32{0}}
	a.grow(patterns)
	a.number(a.link(patterns))
	a.walk(text)
	return a
}

// grow builds the trie.
func (a *automaton) grow(patterns [][]int32) {
	for _, ids := range patterns {
		node := int32(0)
		for _, id := range ids {
			e := edge{node, id}
			child, ok := a.next[e]
			if !ok {
				child = int32(len(a.fail))
				a.next[e] = child
				a.fail = append(a.fail, -1)
				a.last = append(a.last, false)
			}
			node = child
		}
		a.last[node] = node != 0
	}
}

// link sets the fail links level by level and returns the nodes in that order, without the root.
func (a *automaton) link(patterns [][]int32) []int32 {
	type walker struct {
		node int32
		rest []int32
	}
	walkers := make([]walker, len(patterns))
	for i, ids := range patterns {
		walkers[i].rest = ids
	}
	var levels []int32
	for len(walkers) > 0 {
		going := walkers[:0]
		for _, w := range walkers {
			if len(w.rest) == 0 {
				continue
			}
			id := w.rest[0]
			node := a.next[edge{w.node, id}]
			if a.fail[node] < 0 {
				a.fail[node] = 0
				if w.node != 0 {
					a.fail[node] = a.step(a.fail[w.node], id)
				}
				levels = append(levels, node)
			}
			going = append(going, walker{node: node, rest: w.rest[1:]})
		}
		walkers = going
	}
	return levels
}

// step returns the node for the longest suffix of node's lines and id that is a node.
func (a *automaton) step(node, id int32) int32 {
	for {
		if child, ok := a.next[edge{node, id}]; ok {
			return child
		}
		if node == 0 {
			return 0
		}
		node = a.fail[node]
	}
}

// number gives the pattern ends their preorder numbers.
func (a *automaton) number(levels []int32) {
	owner := make([]int32, len(a.fail)) // the longest pattern end at or above a node's suffixes; 0 for none
	size := make([]int32, len(a.fail))
	for _, node := range levels {
		owner[node] = owner[a.fail[node]]
		if a.last[node] {
			owner[node] = node
		}
	}
	for i := len(levels) - 1; i >= 0; i-- {
		if node := levels[i]; a.last[node] {
			size[node]++
			size[owner[a.fail[node]]] += size[node]
		}
	}
	a.order = make([]int32, len(a.fail))
	a.below = make([]int32, size[0])
	free := make([]int32, len(a.fail)) // the next number to give below a pattern end
	a.order[0] = -1
	for _, node := range levels {
		if a.last[node] {
			above := owner[a.fail[node]]
			n := free[above]
			free[above] += size[node]
			a.order[node], a.below[n] = n, n+size[node]
			free[node] = n + 1
		}
	}
	for _, node := range levels {
		if o := owner[node]; o == 0 {
			a.order[node] = -1
		} else {
			a.order[node] = a.order[o]
		}
	}
}

// walk notes where in the text the patterns end.
func (a *automaton) walk(text []int32) {
	a.ends = make([][]int32, len(a.below))
	node := int32(0)
	for i, id := range text {
		if id < 0 {
			node = 0
			continue
		}
		node = a.step(node, id)
		if n := a.order[node]; n >= 0 {
			a.ends[n] = append(a.ends[n], int32(i))
		}
	}
}

// each calls yield for every place at or after from where the pattern matches, ascending, until
// yield returns false. It is false, without a call, for a pattern that it was not built for.
func (a *automaton) each(ids []int32, from int, yield func(int) bool) bool {
	node := int32(0)
	for _, id := range ids {
		child, ok := a.next[edge{node, id}]
		if !ok {
			return false
		}
		node = child
	}
	if !a.last[node] {
		return false
	}
	for {
		end := a.first(node, from+len(ids)-1)
		if end < 0 {
			return true
		}
		from = end - len(ids) + 1
		if !yield(from) {
			return true
		}
		from++
	}
}

// first returns the first line at or after from where node's pattern ends, or -1.
func (a *automaton) first(node int32, from int) int {
	best := int32(-1)
	n := a.order[node]
	for _, list := range a.ends[n:a.below[n]] {
		i := sort.Search(len(list), func(i int) bool { return int(list[i]) >= from })
		if i < len(list) && (best < 0 || list[i] < best) {
			best = list[i]
		}
	}
	return int(best)
}
