package textapply

import (
	"slices"

	"github.com/openoxide/oxpatch/change"
)

// replacement puts the added lines in the place of the old lines [from, to) of a text.
type replacement struct {
	from, to int
	added    []addedLine
}

// addedLine is a line that comes in front of old line at (0-based).
type addedLine struct {
	text string
	at   int
	// leads is set where the chunk has old lines, but none before this one.
	leads  bool
	ending LineEnding // KeepEnding for that of the neighbours
}

// splice turns placed chunks into byte edits of the text. Only removed lines go and only inserted
// lines come; a context line keeps every byte, however loosely it matched.
func splice(t *text, placed []*placement, p Policy) []change.Edit {
	var all []replacement
	for _, pl := range placed {
		if pl != nil {
			all = appendReplacements(all, pl)
		}
	}
	slices.SortStableFunc(all, func(a, b replacement) int { return a.from - b.from })
	all = mergeTouching(all)
	edits := make([]change.Edit, 0, len(all)+1)
	for _, r := range all {
		edits = append(edits, r.edit(t, p))
	}
	if p.ForceFinalNewline {
		return forceFinalNewline(t, edits)
	}
	return keepFinalNewline(t, all, edits, p)
}

// appendReplacements adds one replacement for every run of removed and inserted lines between
// context lines.
func appendReplacements(all []replacement, pl *placement) []replacement {
	at := pl.at
	open := false
	for _, l := range pl.lines {
		if l.Op == Context {
			at++
			open = false
			continue
		}
		if !open {
			all = append(all, replacement{from: at, to: at})
			open = true
		}
		r := &all[len(all)-1]
		if l.Op == Remove {
			at++
			r.to = at
			continue
		}
		r.added = append(r.added, addedLine{text: l.Text, at: at, leads: at == pl.at && pl.old > 0, ending: pl.ending})
	}
	return all
}

// mergeTouching joins replacements without a kept line between them.
func mergeTouching(all []replacement) []replacement {
	merged := all[:0]
	for _, r := range all {
		if n := len(merged); n > 0 && merged[n-1].to >= r.from {
			last := &merged[n-1]
			last.to = max(last.to, r.to)
			last.added = append(last.added, r.added...)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// edit gives the added lines their terminators. An addition behind an unfinished last line
// finishes that line first.
func (r replacement) edit(t *text, p Policy) change.Edit {
	e := change.Edit{Start: int(t.starts[r.from]), End: int(t.starts[r.to])}
	if len(r.added) == 0 {
		return e
	}
	size := 2
	for _, l := range r.added {
		size += len(l.text) + 2
	}
	e.New = make([]byte, 0, size)
	if r.from == t.Len() && !t.endsInTerminator() {
		e.New = append(e.New, addedLine{at: r.from}.terminator(t, p)...)
	}
	for _, l := range r.added {
		e.New = append(e.New, l.text...)
		e.New = append(e.New, l.terminator(t, p)...)
	}
	return e
}

// terminator returns the file's first terminator, or by EndingOfNeighbour that of the old line
// before, else after the added one; for a line that leads its chunk the other way round. Behind an
// unfinished last line it is that of the line before.
func (l addedLine) terminator(t *text, p Policy) string {
	if l.ending != KeepEnding {
		return l.ending.terminator()
	}
	if p.Ending == EndingOfFirstLine {
		return t.firstTerminator()
	}
	neighbours := [...]int{l.at - 1, l.at, l.at - 2}
	if l.leads {
		neighbours = [...]int{l.at, l.at - 1, l.at - 2}
	}
	for _, i := range neighbours {
		if i >= 0 && i < t.Len() {
			if s := t.terminator(i); s != "" {
				return s
			}
		}
	}
	return t.firstTerminator()
}

// forceFinalNewline ends a text that keeps an unfinished last line with the preferred terminator.
// Added lines always have theirs.
func forceFinalNewline(t *text, edits []change.Edit) []change.Edit {
	end := len(t.data)
	if t.endsInTerminator() {
		return edits
	}
	if n := len(edits); n > 0 && edits[n-1].End == end {
		// The last line was removed or is followed by an addition, which finished it.
		return edits
	}
	return append(edits, change.Edit{Start: end, End: end, New: []byte(t.firstTerminator())})
}

// keepFinalNewline takes the terminator off the new last line of a text whose last line was
// unfinished. A text without lines, new or emptied before, ends in a terminator.
func keepFinalNewline(t *text, all []replacement, edits []change.Edit, p Policy) []change.Edit {
	n := len(edits)
	if t.endsInTerminator() || n == 0 || edits[n-1].End != len(t.data) {
		return edits
	}
	last, r := &edits[n-1], all[n-1]
	if k := len(r.added); k > 0 {
		last.New = last.New[:len(last.New)-len(r.added[k-1].terminator(t, p))]
		return edits
	}
	if r.from > 0 {
		last.Start -= len(t.terminator(r.from - 1))
	}
	return edits
}
