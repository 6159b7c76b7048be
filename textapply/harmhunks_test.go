package textapply_test

import (
	"slices"
	"strings"
	"unicode"

	"github.com/openoxide/oxpatch/textapply"
)

// drawChunks renders the script with zero to three lines of context; chunks that touch are one.
func (d *harmDrawer) drawChunks() []textapply.Chunk {
	context := d.IntN(4)
	var chunks []textapply.Chunk
	used := 0
	for at := 0; at < len(d.script); at++ {
		if d.script[at].Op == textapply.Context {
			continue
		}
		last := d.lastChange(at, context)
		from, to := max(used, at-context), min(len(d.script), last+1+context)
		if c, ok := d.belowScope(from, to, used); ok {
			chunks = append(chunks, c)
			at, used = to-1, to
			continue
		}
		from, to = d.anchored(from, to, used)
		chunks = append(chunks, d.chunk(from, to))
		at, used = to-1, to
	}
	return chunks
}

// lastChange returns the last line of the chunk whose first change is at: changes with at most
// twice the context between them are in one chunk.
func (d *harmDrawer) lastChange(at, context int) int {
	last := at
	for i := at; i < len(d.script) && i <= last+2*context+1; i++ {
		if d.script[i].Op != textapply.Context {
			last = i
		}
	}
	return last
}

// belowScope sometimes names the line above an addition without old lines as its scope.
func (d *harmDrawer) belowScope(from, to, used int) (textapply.Chunk, bool) {
	c := textapply.Chunk{Lines: d.script[from:to]}
	if len(c.Old()) > 0 || from == used || d.IntN(2) == 0 {
		return c, false
	}
	scope := strings.TrimRight(d.script[from-1].Text, " \t")
	if d.IntN(3) == 0 {
		scope = strings.TrimLeft(scope, " \t")
	}
	c.Scopes = []string{scope}
	return c, scope != ""
}

// anchored gives an addition without any old line the line above it, or the one below where that
// above is used; in an empty file there is none.
func (d *harmDrawer) anchored(from, to, used int) (int, int) {
	switch {
	case len(textapply.Chunk{Lines: d.script[from:to]}.Old()) > 0:
	case from > used:
		from--
	case to < len(d.script):
		to++
	}
	return from, to
}

// chunk cuts a chunk out of the script, sometimes with scopes and with the end of the file marked.
func (d *harmDrawer) chunk(from, to int) textapply.Chunk {
	c := textapply.Chunk{Lines: append([]textapply.Line(nil), d.script[from:to]...)}
	rest := textapply.Chunk{Lines: d.script[to:]}
	if len(rest.Old()) == 0 && len(c.Old()) > 0 && d.IntN(3) == 0 {
		c.EOF = true
	}
	if d.IntN(3) > 0 {
		return c
	}
	scopes := d.enclosing(from)
	if heading := d.heading(from); heading != "" && d.IntN(2) == 0 {
		scopes = []string{heading}
	}
	if len(scopes) == 0 || len(c.Old()) == 0 {
		return c
	}
	if d.IntN(2) == 0 {
		scopes = scopes[len(scopes)-1:]
	}
	for _, s := range scopes {
		if d.IntN(4) == 0 {
			s = strings.TrimSpace(s)
		}
		if d.IntN(4) == 0 {
			runes := []rune(s)
			s = string(runes[:1+d.IntN(len(runes))])
		}
		if s = strings.TrimRight(s, " \t"); s != "" { // blanks at the end are lost in a patch
			c.Scopes = append(c.Scopes, s)
		}
	}
	return c
}

// enclosing returns old lines above the script's line from that open the blocks it is in: each is
// indented less than all below it. The outermost comes first.
func (d *harmDrawer) enclosing(from int) []string {
	var scopes []string
	depth := 1 << 20
	for i := from - 1; i >= 0; i-- {
		l := d.script[i]
		text := strings.TrimLeft(l.Text, " \t")
		if l.Op == textapply.Insert || text == "" || len(l.Text)-len(text) >= depth {
			continue
		}
		depth = len(l.Text) - len(text)
		scopes = append([]string{l.Text}, scopes...)
	}
	return scopes
}

// heading returns what git prints behind a hunk's "@@": the nearest old line above that begins with
// a letter.
func (d *harmDrawer) heading(from int) string {
	for i := from - 1; i >= 0; i-- {
		l := d.script[i]
		if l.Op != textapply.Insert && l.Text != "" && unicode.IsLetter(rune(l.Text[0])) {
			return l.Text
		}
	}
	return ""
}

// spell writes a chunk's old side as the spelling says; without indentation its added lines too.
func (d *harmDrawer) spell(lines []textapply.Line, spelling string) []textapply.Line {
	common := commonIndentation(lines)
	out := append([]textapply.Line(nil), lines...)
	for i := range out {
		l := &out[i]
		old := l.Op != textapply.Insert && d.IntN(2) == 0
		switch {
		case spelling == "no indentation" && strings.TrimSpace(l.Text) != "":
			l.Text = l.Text[len(common):]
		case spelling == "trailing space" && old:
			if cut := strings.TrimRight(l.Text, " \t"); cut != l.Text {
				l.Text = cut
			} else {
				l.Text += pick(d, " ", "\t ")
			}
		case spelling == "punctuation" && old:
			l.Text = strings.NewReplacer("'", "’", "\"", "”", "-", "–", "’", "'", "–", "-").Replace(l.Text)
		}
	}
	return out
}

// commonIndentation is what all lines with text begin with; "" where no old line has text, since
// nothing would tell then how deep the added ones belong.
func commonIndentation(lines []textapply.Line) string {
	common, first := "", true
	if !slices.ContainsFunc(lines, func(l textapply.Line) bool { return l.Op != textapply.Insert && strings.TrimSpace(l.Text) != "" }) {
		return ""
	}
	for _, l := range lines {
		text := strings.TrimLeft(l.Text, " \t")
		if text == "" {
			continue
		}
		indent := l.Text[:len(l.Text)-len(text)]
		if first {
			common, first = indent, false
		}
		for !strings.HasPrefix(indent, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}
