package unified

import (
	"bytes"

	"github.com/openoxide/oxpatch/change"
)

// region is a run of old lines that a run of new lines replaces: byte offsets, each at the
// beginning of a line or at the end of the text. A list of regions is sorted, its regions do not
// touch, and between them the texts are equal. Only LF ends a line.
type region struct {
	oldStart, oldEnd int
	newStart, newEnd int
}

func (r region) empty() bool { return r.oldStart == r.oldEnd && r.newStart == r.newEnd }

// regions finds what differs between two texts, from the edits where they fit.
func regions(old, new []byte, edits []change.Edit) []region {
	if edits == nil || !fit(old, new, edits) {
		return refine(nil, old, new, region{0, len(old), 0, len(new)})
	}
	var list []region
	for _, r := range widen(old, new, edits) {
		list = refine(list, old, new, r)
	}
	return list
}

// fit reports whether the edits keep the rules of their type and turn old into new.
func fit(old, new []byte, edits []change.Edit) bool {
	at, newAt := 0, 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(old) {
			return false
		}
		kept := old[at:e.Start]
		if !bytes.HasPrefix(new[newAt:], kept) || !bytes.HasPrefix(new[newAt+len(kept):], e.New) {
			return false
		}
		at, newAt = e.End, newAt+len(kept)+len(e.New)
	}
	return bytes.Equal(old[at:], new[newAt:])
}

// widen stretches fitting edits to whole lines of both texts, joining those that meet.
func widen(old, new []byte, edits []change.Edit) []region {
	var list []region
	floor, shift := 0, 0 // end of the last region in old; new offset minus old offset there
	for len(edits) > 0 {
		start := floor + bytes.LastIndexByte(old[floor:edits[0].Start], '\n') + 1
		r := region{oldStart: start, newStart: start + shift}
		edits = r.stretch(old, new, edits)
		floor, shift = r.oldEnd, r.newEnd-r.oldEnd
		list = join(list, r)
	}
	return list
}

// stretch moves the region's ends over the first edit, and over every further one that begins
// before both texts are at the end of a line. It returns the edits that are left.
func (r *region) stretch(old, new []byte, edits []change.Edit) []change.Edit {
	r.oldEnd, r.newEnd = r.oldStart, r.newStart
	for len(edits) > 0 {
		kept := edits[0].Start - r.oldEnd
		r.oldEnd = edits[0].End
		r.newEnd += kept + len(edits[0].New)
		edits = edits[1:]
		limit := len(old)
		if len(edits) > 0 {
			limit = edits[0].Start
		}
		if limit == r.oldEnd {
			continue // the next edit touches this one
		}
		if lineEnd(old, r.oldEnd) && lineEnd(new, r.newEnd) {
			break
		}
		if n := bytes.IndexByte(old[r.oldEnd:limit], '\n'); n >= 0 {
			r.oldEnd += n + 1
			r.newEnd += n + 1
			break
		}
		if len(edits) == 0 {
			r.newEnd += limit - r.oldEnd
			r.oldEnd = limit
		}
	}
	return edits
}

// lineEnd reports whether a line may begin at the offset.
func lineEnd(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }

// join appends a region, or grows the last one where the two touch.
func join(list []region, r region) []region {
	if n := len(list) - 1; n >= 0 && list[n].oldEnd == r.oldStart && list[n].newEnd == r.newStart {
		list[n].oldEnd, list[n].newEnd = r.oldEnd, r.newEnd
		return list
	}
	return append(list, r)
}

// trim takes the lines off a region that both sides have in common at its ends.
func trim(old, new []byte, r region) region {
	n := commonPrefix(old[r.oldStart:r.oldEnd], new[r.newStart:r.newEnd])
	if n < r.oldEnd-r.oldStart || n < r.newEnd-r.newStart {
		n = bytes.LastIndexByte(old[r.oldStart:r.oldStart+n], '\n') + 1
	}
	r.oldStart, r.newStart = r.oldStart+n, r.newStart+n
	n = commonSuffix(old[r.oldStart:r.oldEnd], new[r.newStart:r.newEnd])
	oldTail, newTail := r.oldEnd-n, r.newEnd-n
	whole := (oldTail == r.oldStart || old[oldTail-1] == '\n') && (newTail == r.newStart || new[newTail-1] == '\n')
	if !whole { // the first line of the common tail is cut: leave it in the region
		first := bytes.IndexByte(old[oldTail:r.oldEnd], '\n')
		if first < 0 {
			first = n - 1
		}
		n -= first + 1
	}
	r.oldEnd, r.newEnd = r.oldEnd-n, r.newEnd-n
	return r
}

// block is the step in which equal stretches are passed over: comparing slices is many times
// faster than comparing bytes.
const block = 4 << 10

func commonPrefix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+block <= limit && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+block <= limit && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < limit && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// lineCount counts lines, an unfinished last one too.
func lineCount(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
