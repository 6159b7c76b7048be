package textapply

import (
	"bytes"
	"slices"
	"strings"
)

// text is a file split into lines without copying it.
type text struct {
	data []byte
	// starts holds the offset of every line and, as a last element, len(data). A byte-order mark
	// that a policy keeps out of matching lies before starts[0].
	starts []uint32
	// loneCR says that a CR which no LF follows ends a line.
	loneCR bool
}

// utf8BOM is the UTF-8 byte-order mark.
const utf8BOM = "\xef\xbb\xbf"

// splitText splits data at CRLF, LF and, where the policy says so, lone CRs. A final piece without
// characters is not a line.
func splitText(data []byte, p Policy) *text {
	t := &text{data: data, loneCR: p.LoneCR == LoneCRAlways}
	at := 0
	if p.SkipBOM && bytes.HasPrefix(data, []byte(utf8BOM)) {
		at = len(utf8BOM)
	}
	hasCR := bytes.IndexByte(data, '\r') >= 0
	if hasCR && !t.loneCR && bytes.IndexByte(data, '\n') < 0 {
		t.loneCR = true
	}
	t.starts = make([]uint32, 0, t.count()+2)
	for at < len(data) {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if hasCR && t.loneCR {
			t.splitAtCR(at, end)
		} else {
			t.starts = append(t.starts, uint32(at))
		}
		at = end
	}
	t.starts = append(t.starts, uint32(len(data)))
	return t
}

// count returns how many bytes of the text end a line, the LF of a CRLF perhaps counted apart.
func (t *text) count() int {
	n := bytes.Count(t.data, []byte{'\n'})
	if t.loneCR {
		n += bytes.Count(t.data, []byte{'\r'})
	}
	return n
}

// splitAtCR adds the lines of data[at:end], which holds at most one LF, as its last byte.
func (t *text) splitAtCR(at, end int) {
	for at < end {
		t.starts = append(t.starts, uint32(at))
		i := bytes.IndexByte(t.data[at:end], '\r')
		if i < 0 {
			return
		}
		at += i + 1
		if at == end-1 && t.data[at] == '\n' {
			return
		}
	}
}

// Len returns the number of lines.
func (t *text) Len() int { return len(t.starts) - 1 }

// Line returns line i (0-based) without its terminator.
func (t *text) Line(i int) []byte {
	start, end := t.starts[i], t.starts[i+1]
	return t.data[start : end-uint32(len(t.terminator(i)))]
}

// terminator returns the bytes that end line i: CRLF, LF, CR or, for an unfinished last line, "".
func (t *text) terminator(i int) string {
	start, end := int(t.starts[i]), int(t.starts[i+1])
	switch last := t.data[end-1]; {
	case last == '\n' && end-2 >= start && t.data[end-2] == '\r':
		return "\r\n"
	case last == '\n':
		return "\n"
	case last == '\r' && t.loneCR:
		return "\r"
	}
	return ""
}

// firstTerminator returns the terminator of the first line that has one, else LF.
func (t *text) firstTerminator() string {
	if t.Len() > 0 {
		if s := t.terminator(0); s != "" {
			return s
		}
	}
	return "\n"
}

// endsInTerminator reports whether the last line is finished; true for a text without lines.
func (t *text) endsInTerminator() bool {
	n := t.Len()
	return n == 0 || t.terminator(n-1) != ""
}

// withoutBOM returns the section for a file whose byte-order mark is kept out of its lines: a patch
// that was copied from the file may hold the mark in front of the first line.
func (s *Section) withoutBOM() *Section {
	out := *s
	out.Chunks = slices.Clone(s.Chunks)
	for i, c := range out.Chunks {
		out.Chunks[i].Lines = slices.Clone(c.Lines)
		for k, l := range c.Lines {
			out.Chunks[i].Lines[k].Text = strings.TrimPrefix(l.Text, utf8BOM)
		}
	}
	return &out
}
