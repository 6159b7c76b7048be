package textapply

import "sort"

// lineSource is a list of lines to search in.
type lineSource interface {
	Len() int
	Line(i int) []byte
}

// Index answers searches for patterns in one text. Lines are interned to small numbers once per
// pass, when the first search needs that pass; a search then compares numbers and starts from the
// rarest line of its pattern, so that many chunks cost little more than one. Texts and patterns
// that are made of few different lines defeat that; a pass that has spent a multiple of the text's
// length on comparing changes to an automaton, which bounds the work whatever the input is.
type Index struct {
	src      lineSource
	patterns [][]string // every pattern that may be searched for
	pass     [passes]*passIndex
}

// passIndex is the text as one pass sees it.
type passIndex struct {
	dict map[string]int32
	line []int32 // id of each line of the text; -1 where no pattern holds such a line
	// places[first[id]:first[id+1]] are the lines with that id, ascending.
	first  []int32
	places []int32
	// patterns are those of the Index whose lines all stand in the text.
	patterns [][]int32
	// work counts the line comparisons of all searches so far.
	work int
	auto *automaton
}

// newIndex prepares a search for the given patterns.
func newIndex(src lineSource, patterns [][]string) *Index {
	return &Index{src: src, patterns: patterns}
}

func (x *Index) at(p Pass) *passIndex {
	if x.pass[p] == nil {
		x.pass[p] = buildPass(x.src, x.patterns, p)
	}
	return x.pass[p]
}

func buildPass(src lineSource, patterns [][]string, p Pass) *passIndex {
	pi := &passIndex{dict: map[string]int32{}}
	norm := normalizer{pass: p}
	var may lineFilter
	for _, pattern := range patterns {
		for _, s := range pattern {
			key := norm.string(s)
			if _, ok := pi.dict[string(key)]; !ok {
				pi.dict[string(key)] = int32(len(pi.dict))
				may.add(key)
			}
		}
	}
	n := src.Len()
	pi.line = make([]int32, n)
	pi.first = make([]int32, len(pi.dict)+2)
	hits := int32(0)
	for i := range n {
		pi.line[i] = -1
		key := norm.bytes(src.Line(i))
		if !may.have(key) {
			continue
		}
		if id, ok := pi.dict[string(key)]; ok {
			pi.line[i] = id
			pi.first[id+2]++
			hits++
		}
	}
	pi.collect(hits)
	for _, pattern := range patterns {
		if ids, ok := pi.ids(pattern, p); ok {
			pi.patterns = append(pi.patterns, ids)
		}
	}
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

// ids translates a pattern; ok is false where one of its lines stands nowhere in the text.
func (pi *passIndex) ids(pattern []string, p Pass) (ids []int32, ok bool) {
	ids = make([]int32, len(pattern))
	norm := normalizer{pass: p}
	for i, s := range pattern {
		id, known := pi.dict[string(norm.string(s))]
		if !known || pi.first[id] == pi.first[id+1] {
			return nil, false
		}
		ids[i] = id
	}
	return ids, true
}

func (pi *passIndex) placesOf(id int32) []int32 { return pi.places[pi.first[id]:pi.first[id+1]] }

// matchesAt compares and counts what that costs.
func (pi *passIndex) matchesAt(ids []int32, at int) bool {
	pi.work++
	if at < 0 || at+len(ids) > len(pi.line) {
		return false
	}
	for i, id := range ids {
		if pi.line[at+i] != id {
			pi.work += i
			return false
		}
	}
	pi.work += len(ids)
	return true
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
	for _, place := range list[sort.Search(len(list), func(i int) bool { return int(list[i]) >= from+rare }):] {
		at := int(place) - rare
		if pi.exhausted() && pi.auto.each(ids, at, yield) {
			return
		}
		if pi.matchesAt(ids, at) && !yield(at) {
			return
		}
	}
}

// comparisonsPerLine is how often a pass may compare each line of the text before it builds the
// automaton, which costs about as much.
const comparisonsPerLine = 8

// exhausted reports whether the pass has spent its comparisons and has the automaton now.
func (pi *passIndex) exhausted() bool {
	if pi.work < comparisonsPerLine*(len(pi.line)+16) {
		return false
	}
	if pi.auto == nil {
		pi.auto = newAutomaton(pi.patterns, pi.line)
	}
	return true
}
