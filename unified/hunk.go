package unified

import (
	"bytes"
	"strconv"
)

// hunk is a run of regions with the context around and between them.
type hunk struct {
	regions          []region
	oldStart, oldEnd int // byte offsets in the old text, context included
}

// hunks groups regions that have no more than twice the context between them.
func hunks(old []byte, list []region, context int) []hunk {
	var out []hunk
	for len(list) > 0 {
		n := 1
		for n < len(list) && forward(old, list[n-1].oldEnd, 2*context) >= list[n].oldStart {
			n++
		}
		out = append(out, hunk{
			regions:  list[:n],
			oldStart: backward(old, list[0].oldStart, context),
			oldEnd:   forward(old, list[n-1].oldEnd, context),
		})
		list = list[n:]
	}
	return out
}

// forward returns the offset n lines further on, at most the end.
func forward(text []byte, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		size := bytes.IndexByte(text[at:], '\n') + 1
		if size == 0 {
			return len(text)
		}
		at += size
	}
	return at
}

// backward returns the offset n lines before the beginning of a line, at least 0.
func backward(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return at
}

// body prints the hunks of two texts. Line numbers are counted once over the old text; those of
// the new one follow from the regions passed.
func (p *printer) body(old, new []byte, list []region) {
	at, line, shift := 0, 0, 0
	for _, h := range hunks(old, list, p.context) {
		line += bytes.Count(old[at:h.oldStart], []byte{'\n'})
		at = h.oldStart
		removed, added := 0, 0
		for _, r := range h.regions {
			removed += lineCount(old[r.oldStart:r.oldEnd])
			added += lineCount(new[r.newStart:r.newEnd])
		}
		size := lineCount(old[h.oldStart:h.oldEnd])
		p.put("@@ -", span(line, size), " +", span(line+shift, size-removed+added), " @@\n")
		shift += added - removed
		p.hunk(old, new, h)
	}
}

func (p *printer) hunk(old, new []byte, h hunk) {
	at := h.oldStart
	for _, r := range h.regions {
		p.lines(' ', old[at:r.oldStart])
		p.lines('-', old[r.oldStart:r.oldEnd])
		p.lines('+', new[r.newStart:r.newEnd])
		at = r.oldEnd
	}
	p.lines(' ', old[at:h.oldEnd])
}

// lines prints whole lines behind a sign. Only the last line of a text can lack its LF, and git
// says so on a line of its own.
func (p *printer) lines(sign byte, text []byte) {
	for len(text) > 0 {
		size := bytes.IndexByte(text, '\n') + 1
		if size == 0 {
			p.sign(sign, text)
			p.put("\n\\ No newline at end of file\n")
			return
		}
		p.sign(sign, text[:size])
		text = text[size:]
	}
}

func (p *printer) sign(sign byte, line []byte) {
	_ = p.w.WriteByte(sign) // the writer keeps its first error for Flush
	_, _ = p.w.Write(line)
}

// span writes a line range as diff does: the first line's number counts from 1, an empty range
// gives the line in front of it, and a length of 1 is left out.
func span(before, size int) string {
	switch size {
	case 0:
		return strconv.Itoa(before) + ",0"
	case 1:
		return strconv.Itoa(before + 1)
	}
	return strconv.Itoa(before+1) + "," + strconv.Itoa(size)
}
