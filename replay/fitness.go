package main

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/openoxide/oxpatch/textapply"
)

// utf8BOM is the UTF-8 byte-order mark.
const utf8BOM = "\xef\xbb\xbf"

// unfit says why a patch cannot express the change of a file, "" if it can. Its hunks still hold
// their terminators.
func (f *file) unfit(m mode) string {
	switch m {
	case modeGit:
		return ""
	case modeText:
		return f.unfitForDiff()
	}
	switch {
	case bytes.IndexByte(f.before, 0) >= 0, bytes.IndexByte(f.after, 0) >= 0:
		return "binary"
	case strings.ContainsAny(f.old+f.path, "\n\r\t"), strings.TrimSpace(f.path) != f.path, strings.TrimSpace(f.old) != f.old:
		return "path"
	case f.kind == textapply.Delete:
		return ""
	case f.kind == textapply.Update && !f.diffIsComplete():
		return "git's diff is not the change" // as with the attribute "-diff"
	case f.kind == textapply.Add && bytes.HasPrefix(f.after, []byte(utf8BOM)),
		bytes.HasPrefix(f.before, []byte(utf8BOM)) != bytes.HasPrefix(f.after, []byte(utf8BOM)):
		return "byte-order mark"
	case !f.isUTF8():
		return "not UTF-8"
	case !f.endsFit():
		return "final newline"
	case !f.terminatorsFit():
		return "line ends"
	}
	return ""
}

// unfitForDiff is unfit for diffs that are placed by content.
func (f *file) unfitForDiff() string {
	switch {
	case bytes.IndexByte(f.before, 0) >= 0, bytes.IndexByte(f.after, 0) >= 0:
		return "binary"
	case f.kind == textapply.Delete:
		return ""
	case f.kind == textapply.Update && !f.diffIsComplete():
		return "git's diff is not the change"
	case !f.terminatorsFit():
		return "line ends"
	}
	return ""
}

// diffIsComplete makes the hunks' changes in the content before and compares.
func (f *file) diffIsComplete() bool {
	old := bytes.SplitAfter(f.before, []byte{'\n'})
	var out []byte
	at := 0
	for _, h := range f.hunks {
		for ; at < h.line-1 && at < len(old); at++ {
			out = append(out, old[at]...)
		}
		for _, l := range h.lines {
			if l.Op != textapply.Insert {
				if at >= len(old) || string(old[at]) != l.Text {
					return false
				}
				at++
			}
			if l.Op != textapply.Remove {
				out = append(out, l.Text...)
			}
		}
	}
	for ; at < len(old); at++ {
		out = append(out, old[at]...)
	}
	return bytes.Equal(out, f.after)
}

// isUTF8 reports whether what the patch has to spell is UTF-8.
func (f *file) isUTF8() bool {
	if f.kind == textapply.Add {
		return utf8.Valid(f.after)
	}
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if !utf8.ValidString(l.Text) {
				return false
			}
		}
	}
	return true
}

// endsFit reports whether the final newline is left as it is; new text ends in one.
func (f *file) endsFit() bool {
	if len(f.after) == 0 {
		return true
	}
	finished := bytes.HasSuffix(f.after, []byte{'\n'})
	if len(f.before) == 0 {
		return finished
	}
	return finished == bytes.HasSuffix(f.before, []byte{'\n'})
}

// terminatorsFit reports whether added lines end as the others do. Where the file before is mixed,
// anything goes, since the rules for added lines are what is to be tried.
func (f *file) terminatorsFit() bool {
	before, after := terminators(f.before), terminators(f.after)
	switch {
	case f.kind == textapply.Add || len(f.before) == 0:
		return after == lf || after == 0
	case bytes.IndexByte(f.before, '\n') < 0 && bytes.IndexByte(f.before, '\r') >= 0:
		return false // CR alone ends lines here, and git sees only one line
	case before == 0:
		return after == 0 || after == lf
	case before == lf|crlf:
		return true
	}
	return after == before || after == 0
}

const (
	lf = 1 << iota
	crlf
)

// terminators says which line ends a text has.
func terminators(b []byte) int {
	all := bytes.Count(b, []byte{'\n'})
	long := bytes.Count(b, []byte("\r\n"))
	found := 0
	if all > long {
		found |= lf
	}
	if long > 0 {
		found |= crlf
	}
	return found
}

// trim takes the terminators off all lines of the hunks, and the byte-order mark off the first line
// of the file, which no one who reads the file sees.
func (f *file) trim() {
	for i := range f.hunks {
		h := &f.hunks[i]
		first := h.line == 1
		for j := range h.lines {
			l := &h.lines[j]
			if text, ok := strings.CutSuffix(l.Text, "\n"); ok {
				l.Text = strings.TrimSuffix(text, "\r")
			}
			if first {
				l.Text = strings.TrimPrefix(l.Text, utf8BOM)
			}
			first = first && l.Op == textapply.Remove
		}
	}
}
