package textapply

import (
	"slices"
	"sort"
)

// lineSource is a list of lines to search in.
type lineSource interface {
	Len() int
	Line(i int) []byte
}

// Index answers searches for patterns in one text. Lines are interned to small numbers once per
// pass, when the first search needs that pass; a search then compares numbers and starts from the
// rarest line of its pattern, so that many chunks cost little more than one.
type Index struct {
	src   lineSource
	known []string // every line that a pattern may hold
	pass  [passes]*passIndex
}

// passIndex is the text as one pass sees it.
type passIndex struct {
	dict map[string]int32
	line []int32 // id of each line of the text; -1 where no pattern holds such a line
	// places[first[id]:first[id+1]] are the lines with that id, ascending.
	first  []int32
	places []int32
}

// newIndex prepares a search for patterns made of the given lines.
func newIndex(src lineSource, known []string) *Index {
	return &Index{src: src, known: known}
}

func (x *Index) at(p Pass) *passIndex {
	if x.pass[p] == nil {
		x.pass[p] = buildPass(x.src, x.known, p)
	}
	return x.pass[p]
}

func buildPass(src lineSource, known []string, p Pass) *passIndex {
	pi := &passIndex{dict: make(map[string]int32, len(known))}
	lengths := newLengthSet()
	for _, s := range known {
		key := string(normalize([]byte(s), p))
		if _, ok := pi.dict[key]; !ok {
			pi.dict[key] = int32(len(pi.dict))
			lengths.add(len(key))
		}
	}
	n := src.Len()
	pi.line = make([]int32, n)
	pi.first = make([]int32, len(pi.dict)+2)
	hits := int32(0)
	for i := range n {
		pi.line[i] = -1
		key := normalize(src.Line(i), p)
		if !lengths.has(len(key)) {
			continue
		}
		if id, ok := pi.dict[string(key)]; ok {
			pi.line[i] = id
			pi.first[id+2]++
			hits++
		}
	}
	pi.collect(hits)
	return pi
}

// collect turns the counts in first[2:] into the table of places.
func (pi *passIndex) collect(hits int32) {
	for i := 2; i < len(pi.first); i++ {
		pi.first[i] += pi.first[i-1]
	}
	pi.places = make([]int32, hits)
	for i, id := range pi.line {
		if id >= 0 {
			pi.places[pi.first[id+1]] = int32(i)
			pi.first[id+1]++
		}
	}
	pi.first = pi.first[:len(pi.first)-1]
}

// lengthSet remembers byte lengths below a bound, to skip hashing lines that cannot be in a
// dictionary.
type lengthSet struct {
	bits [4]uint64
	long bool
}

func newLengthSet() *lengthSet { return &lengthSet{} }

func (s *lengthSet) add(n int) {
	if n >= 256 {
		s.long = true
		return
	}
	s.bits[n>>6] |= 1 << (n & 63)
}

func (s *lengthSet) has(n int) bool {
	if n >= 256 {
		return s.long
	}
	return s.bits[n>>6]&(1<<(n&63)) != 0
}

// ids translates a pattern; ok is false where one of its lines stands nowhere in the text.
func (pi *passIndex) ids(pattern []string, p Pass) (ids []int32, ok bool) {
	ids = make([]int32, len(pattern))
	for i, s := range pattern {
		id, known := pi.dict[string(normalize([]byte(s), p))]
		if !known || pi.first[id] == pi.first[id+1] {
			return nil, false
		}
		ids[i] = id
	}
	return ids, true
}

func (pi *passIndex) placesOf(id int32) []int32 { return pi.places[pi.first[id]:pi.first[id+1]] }

func (pi *passIndex) matchesAt(ids []int32, at int) bool {
	return at >= 0 && at+len(ids) <= len(pi.line) && slices.Equal(pi.line[at:at+len(ids)], ids)
}

// each calls yield for every place at or after from where the pattern matches, ascending, until
// yield returns false. The pattern is not empty.
func (pi *passIndex) each(ids []int32, from int, yield func(int) bool) {
	rare := 0
	for i, id := range ids {
		if len(pi.placesOf(id)) < len(pi.placesOf(ids[rare])) {
			rare = i
		}
	}
	list := pi.placesOf(ids[rare])
	list = list[sort.Search(len(list), func(i int) bool { return int(list[i]) >= from+rare }):]
	// Comparing at every place of the rarest line is best where lines differ; where they repeat,
	// it would cost places times pattern, and the automaton is linear whatever the text is.
	if len(list) > 16 && len(list) > 4*(len(pi.line)-from)/len(ids) {
		pi.eachKMP(ids, from, yield)
		return
	}
	for _, place := range list {
		if at := int(place) - rare; pi.matchesAt(ids, at) && !yield(at) {
			return
		}
	}
}

// eachKMP is the search of Knuth, Morris and Pratt: linear in the text and the pattern.
func (pi *passIndex) eachKMP(ids []int32, from int, yield func(int) bool) {
	back := make([]int, len(ids))
	for i, k := 1, 0; i < len(ids); i++ {
		for k > 0 && ids[i] != ids[k] {
			k = back[k-1]
		}
		if ids[i] == ids[k] {
			k++
		}
		back[i] = k
	}
	k := 0
	for i := from; i < len(pi.line); i++ {
		for k > 0 && pi.line[i] != ids[k] {
			k = back[k-1]
		}
		if pi.line[i] == ids[k] {
			k++
		}
		if k == len(ids) {
			if !yield(i - k + 1) {
				return
			}
			k = back[k-1]
		}
	}
}
