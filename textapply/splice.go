package textapply

import (
	"slices"

	"github.com/openoxide/oxpatch/change"
)

// replacement puts the added lines in the place of the old lines [from, to) of a text.
type replacement struct {
	from, to int
	added    []string
	// after[i] is the old line (0-based) whose terminator added[i] copies, -1 for none.
	after []int
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
	return keepFinalNewline(t, all, edits)
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
		r.added = append(r.added, l.Text)
		r.after = append(r.after, at-1)
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
			last.after = append(last.after, r.after...)
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
	size := 0
	for _, s := range r.added {
		size += len(s) + 2
	}
	e.New = make([]byte, 0, size)
	if r.from == t.Len() && len(r.added) > 0 && !t.endsInTerminator() {
		e.New = append(e.New, terminatorFor(t, r.from-1, r.from, p)...)
	}
	for i, s := range r.added {
		e.New = append(e.New, s...)
		e.New = append(e.New, terminatorFor(t, r.after[i], r.to, p)...)
	}
	return e
}

// terminatorFor returns the terminator of an added line: the file's first one, or that of the old
// line before it, else of one before that, else of the old line after it.
func terminatorFor(t *text, before, after int, p Policy) string {
	if p.Ending == EndingOfFirstLine {
		return t.firstTerminator()
	}
	for i := before; i >= 0 && i > before-2; i-- {
		if s := t.terminator(i); s != "" {
			return s
		}
	}
	if after < t.Len() {
		if s := t.terminator(after); s != "" {
			return s
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
func keepFinalNewline(t *text, all []replacement, edits []change.Edit) []change.Edit {
	n := len(edits)
	if t.endsInTerminator() || n == 0 || edits[n-1].End != len(t.data) {
		return edits
	}
	last, r := &edits[n-1], all[n-1]
	if k := len(r.added); k > 0 {
		last.New = last.New[:len(last.New)-len(terminatorFor(t, r.after[k-1], r.to, Policy{}))]
		return edits
	}
	if r.from > 0 {
		last.Start -= len(t.terminator(r.from - 1))
	}
	return edits
}
