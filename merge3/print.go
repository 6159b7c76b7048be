package merge3

import (
	"bytes"
	"slices"
	"strings"
)

// The characters of the markers. Labels stand behind all but the separator.
const (
	markOurs   = '<'
	markBase   = '|'
	markMiddle = '='
	markTheirs = '>'
)

// printer writes the result and counts its lines.
type printer struct {
	*merger
	out  []byte
	line int // of the result, counted from 0
	size int // of the markers
}

// print writes ours with the parts in their places.
func (m *merger) print() Result {
	p := printer{merger: m, size: m.markerSize(), out: make([]byte, 0, max(len(m.ours.bytes), len(m.theirs.bytes)))}
	r := Result{MarkerSize: p.size}
	at := 0
	for _, s := range m.parts {
		p.lines(m.ours, run{at, s.ours.start})
		switch s.kind {
		case takeOurs:
			p.lines(m.ours, s.ours)
		case takeTheirs:
			p.lines(m.theirs, s.theirs)
		case conflict:
			first := p.line
			p.conflict(s)
			r.Conflicts = append(r.Conflicts, Conflict{
				Lines: run{first, p.line}.lines(), Base: s.base.lines(), Ours: s.ours.lines(), Theirs: s.theirs.lines(),
			})
		}
		at = s.ours.end
	}
	p.lines(m.ours, run{at, m.ours.Len()})
	r.Content = p.out
	return r
}

func (p *printer) lines(t text, r run) {
	p.out = append(p.out, t.slice(r)...)
	p.line += r.end - r.start
}

func (p *printer) conflict(s part) {
	end := "\n"
	if p.crlf(s) {
		end = "\r\n"
	}
	labels := p.options.Labels
	p.marker(markOurs, labels.Ours, end)
	p.block(p.ours, s.ours, end)
	if p.options.Style == StyleDiff3 {
		p.marker(markBase, labels.Base, end)
		p.block(p.base, s.base, end)
	}
	p.marker(markMiddle, "", end)
	p.block(p.theirs, s.theirs, end)
	p.marker(markTheirs, labels.Theirs, end)
}

// block writes lines and ends an unfinished one, since a marker has a line of its own.
func (p *printer) block(t text, r run, end string) {
	p.lines(t, r)
	if !r.empty() && p.out[len(p.out)-1] != '\n' {
		p.out = append(p.out, end...)
	}
}

func (p *printer) marker(char byte, label, end string) {
	p.out = append(p.out, bytes.Repeat([]byte{char}, p.size)...)
	if label != "" {
		p.out = append(p.out, ' ')
		p.out = append(p.out, strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ").Replace(label)...)
	}
	p.out = append(p.out, end...)
	p.line++
}

// crlf reports whether the markers of a conflict end in CRLF: if the lines in front of it, or the
// first lines, do so on both sides, and the first line of base too. A text that does not tell has
// no say, but one has to tell.
func (p *printer) crlf(s part) bool {
	told := false
	for _, l := range []struct {
		text text
		line int
	}{{p.ours, s.ours.start - 1}, {p.theirs, s.theirs.start - 1}, {p.base, 0}} {
		crlf, tells := l.text.ending(max(0, l.line))
		if tells && !crlf {
			return false
		}
		told = told || tells
	}
	return told
}

// ending reports whether a line ends in CRLF. An unfinished line does not tell, so the one in front
// of it does, if there is one.
func (t text) ending(line int) (crlf, tells bool) {
	for ; line >= 0 && line < t.Len(); line-- {
		if content := t.slice(run{line, line + 1}); content[len(content)-1] == '\n' {
			return bytes.HasSuffix(content, []byte("\r\n")), true
		}
	}
	return false, false
}

// markerSize is the length of the markers of the result, 0 if it needs none.
func (m *merger) markerSize() int {
	switch {
	case !slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == conflict }):
		return 0
	case m.options.MarkerSize > 0:
		return m.options.MarkerSize
	}
	taken := m.takenSizes()
	size := defaultMarkerSize
	for taken[size] {
		size++
	}
	return size
}

// defaultMarkerSize is git's.
const defaultMarkerSize = 7

// takenSizes returns the lengths of what reads as a marker already. A row of equals signs counts
// only inside a conflict, where it would part it; elsewhere it is mostly an underline.
func (m *merger) takenSizes() map[int]bool {
	taken := make(map[int]bool)
	for _, t := range []text{m.base, m.ours, m.theirs} {
		noteMarkers(taken, t.bytes, "<|>")
	}
	for _, s := range m.parts {
		if s.kind == conflict {
			noteMarkers(taken, m.ours.slice(s.ours), "=")
			noteMarkers(taken, m.theirs.slice(s.theirs), "=")
			if m.options.Style == StyleDiff3 {
				noteMarkers(taken, m.base.slice(s.base), "=")
			}
		}
	}
	return taken
}

// noteMarkers notes the length of each line's first run of one of some characters, if it is as long
// as a marker and a blank or the end of the line follows.
func noteMarkers(taken map[int]bool, content []byte, chars string) {
	for line := range bytes.Lines(content) {
		if strings.IndexByte(chars, line[0]) < 0 {
			continue
		}
		rest := bytes.TrimLeft(line, string(line[0]))
		if n := len(line) - len(rest); n >= defaultMarkerSize && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0) {
			taken[n] = true
		}
	}
}
