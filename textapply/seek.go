package textapply

// Match is a place where a pattern stands.
type Match struct {
	Line int  // 0-based line of the first pattern line
	Pass Pass // the strictest pass that found a place
	// Others are the further places at or after the start of the search where the same pass
	// matches, ascending; places that overlap the match count too.
	Others []int
}

// Seek looks for pattern, a run of whole lines, in lines, from line start (0-based) on. The passes
// are tried in turn over the whole rest of the text and the first place of the first pass that has
// one is taken, as codex-cli 0.171.0 does. With eof the only candidate is the tail of the text,
// and only if it is not before start. An empty pattern matches at start, without Others. It
// reports false where no pass finds a place or start is negative.
func Seek(lines, pattern []string, start int, eof bool) (Match, bool) {
	if start < 0 {
		return Match{}, false
	}
	x := newIndex(stringLines(lines), [][]string{pattern})
	m, ok := x.Seek(pattern, start, eof)
	if ok && !eof {
		m.Others = x.places(pattern, m.Pass, m.Line+1, len(lines))
	}
	return m, ok
}

type stringLines []string

func (s stringLines) Len() int          { return len(s) }
func (s stringLines) Line(i int) []byte { return []byte(s[i]) }

// Seek is the package's Seek on an index that is used for several patterns; it leaves Others to
// the caller (see places).
func (x *Index) Seek(pattern []string, start int, eof bool) (Match, bool) {
	if len(pattern) == 0 {
		return Match{Line: start}, true
	}
	if len(pattern) > x.src.Len() {
		return Match{}, false
	}
	for p := Exact; int(p) < passes; p++ {
		pi := x.at(p)
		ids, ok := pi.ids(pattern, p)
		if !ok {
			continue
		}
		if eof {
			if tail := x.src.Len() - len(pattern); tail >= start && pi.matchesAt(ids, tail) {
				return Match{Line: tail, Pass: p}, true
			}
			continue
		}
		found := -1
		pi.each(ids, start, func(at int) bool { found = at; return false })
		if found >= 0 {
			return Match{Line: found, Pass: p}, true
		}
	}
	return Match{}, false
}

// places returns the first few places, at most the given number, at or after from where pattern
// matches at pass p, ascending.
func (x *Index) places(pattern []string, p Pass, from, most int) []int {
	pi := x.at(p)
	ids, ok := pi.ids(pattern, p)
	if !ok || len(pattern) == 0 {
		return nil
	}
	var all []int
	pi.each(ids, from, func(at int) bool {
		all = append(all, at)
		return len(all) < most
	})
	return all
}
