package textapply

const (
	// maxPlaces bounds the places that are looked at for one chunk; a chunk with more is placed
	// only where the policy takes the first.
	maxPlaces = 4096
	// mostCandidates bounds those of all chunks of a section together. Behind it a chunk gets only
	// as many as a refusal shows.
	mostCandidates = 1 << 22
	// fewPlaces is how many are not worth remembering.
	fewPlaces = 32
)

// searches is an Index that keeps long answers: where many chunks ask the same question, it is
// answered once, and the answer is held once.
type searches struct {
	*Index
	// room is how many places may still be listed.
	room  int
	known map[string]answer
	key   []byte // the last question
	// moved holds the answers that below has given, by the first element of what it was given.
	moved map[*int][]int
}

type answer struct {
	at   []int
	more bool
}

// all returns the places at or after from where pattern matches at pass p, ascending. They may be
// shared: a caller does not change them. more says that there are others behind them.
func (x *searches) all(pattern []string, p Pass, from int) (at []int, more bool) {
	x.ask(pattern, p, from)
	if a, ok := x.known[string(x.key)]; ok {
		return a.at, a.more
	}
	most := maxPlaces
	if x.room <= 0 {
		most = mostOthers
	}
	at = x.places(pattern, p, from, most+1)
	if len(at) > most {
		at, more = at[:most], true
	}
	x.room -= len(at)
	if len(at) > fewPlaces || more {
		if x.known == nil {
			x.known = map[string]answer{}
		}
		x.known[string(x.key)] = answer{at, more}
	}
	return at, more
}

// below returns the lines below those of an answer; it is as shared as that is.
func (x *searches) below(at []int) []int {
	if moved, ok := x.moved[&at[0]]; ok {
		return moved
	}
	moved := make([]int, len(at))
	for i, line := range at {
		moved[i] = line + 1
	}
	if len(at) > fewPlaces {
		if x.moved == nil {
			x.moved = map[*int][]int{}
		}
		x.moved[&at[0]] = moved
	}
	return moved
}

// ask makes the key of a question: lines hold no line feed, so that no two have the same.
func (x *searches) ask(pattern []string, p Pass, from int) {
	x.key = append(x.key[:0], byte(p), byte(from), byte(from>>8), byte(from>>16), byte(from>>24))
	for _, line := range pattern {
		x.key = append(append(x.key, line...), '\n')
	}
}
