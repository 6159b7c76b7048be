package outputparse

import (
	"regexp"
	"strings"
)

// matcher is a row made ready for searching. The expressions are made only when a line holds the
// row's fixed pieces: most output needs a handful of the rows.
type matcher struct {
	Message
	fixed   []string // the fixed pieces of the text, in lower case
	starts  bool     // a line must begin with the first of them
	hasPath bool

	line *regexp.Regexp // the whole line, the name being group 1 where there is one
	head *regexp.Regexp // what stands before the name
	tail *regexp.Regexp // what stands after it, up to the end of the line
}

func compile() []*matcher {
	var all []*matcher
	for _, m := range Messages() {
		c := &matcher{Message: m, hasPath: strings.Contains(m.Text, "<path>"), starts: !strings.HasPrefix(m.Text, "<")}
		for _, piece := range pieces(strings.ToLower(m.Text)) {
			if piece = strings.TrimSpace(piece); piece != "" && !strings.HasPrefix(piece, "<") {
				c.fixed = append(c.fixed, piece)
			}
		}
		all = append(all, c)
	}
	return all
}

// ready makes the expressions.
func (m *matcher) ready() {
	if m.line != nil {
		return
	}
	if !m.hasPath {
		m.line = regexp.MustCompile(`(?is)^` + expression(m.Text) + `$`)
		return
	}
	head, tail, _ := strings.Cut(m.Text, "<path>")
	m.line = regexp.MustCompile(`(?is)^` + expression(head) + `(.+)` + expression(tail) + `$`)
	m.head = regexp.MustCompile(`(?is)^` + expression(head))
	m.tail = regexp.MustCompile(`(?is)^` + expression(tail) + `(\n|$)`)
}

// expression turns a piece of a message into a regular expression. A blank fits any run of blanks.
func expression(text string) string {
	var b strings.Builder
	for _, piece := range pieces(text) {
		if form := placeholder(piece); form != "" {
			b.WriteString(form)
		} else {
			b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(piece), " ", `[ \t]+`))
		}
	}
	return b.String()
}

// placeholder returns what a variable part may be, "" for a fixed piece.
func placeholder(piece string) string {
	switch piece {
	case "<n>":
		return `\d+`
	case "<oid>":
		return `[0-9a-f]+`
	case "<mode>":
		return `[0-7]+`
	case "<where>":
		return `(?:line \d+|[^\n]*:\d+)`
	case "<text>":
		return `[^\n]*`
	}
	return ""
}

// pieces cuts a text before and after each of its placeholders.
func pieces(text string) []string {
	var all []string
	for text != "" {
		start, end := strings.IndexByte(text, '<'), strings.IndexByte(text, '>')
		if start < 0 || end < start {
			return append(all, text)
		}
		all = append(all, text[:start], text[start:end+1])
		text = text[end+1:]
	}
	return all
}

// possible is a cheap test that spares most expressions: whether the fixed pieces stand in a line,
// given in lower case and with single blanks. With names of several lines only the first piece is
// sure to stand on it.
func (m *matcher) possible(line string, multiline bool) bool {
	if m.starts && !strings.HasPrefix(line, m.fixed[0]) {
		return false
	}
	if multiline && m.hasPath {
		return true
	}
	for _, piece := range m.fixed {
		if !strings.Contains(line, piece) {
			return false
		}
	}
	return true
}
