// Package udiff reads unified diffs, git's and plain ones, as people and models write them: with or
// without "diff --git" lines, prefixes, line numbers and counts, in a code fence or amid prose.
//
// The result is placed by content, so numbers are only hints. What a text placement cannot do is
// refused by name: binary contents, copies, links, and diffs of merges.
package udiff

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/textapply"
)

// Format is the value of Patch.Format in every patch this package returns.
const Format = "udiff"

// The kinds of ParseError, for errors.Is.
var (
	// ErrNoDiff: there is no section and no hunk in the text.
	ErrNoDiff = errors.New("no unified diff")
	// ErrNoName: a hunk or section comes without the name of a file.
	ErrNoName = errors.New("no file name")
	// ErrTwoNames: two names in a section, and no telling which file is meant.
	ErrTwoNames = errors.New("two file names")
	// ErrLine: a line in a hunk that has no prefix.
	ErrLine = errors.New("line without prefix in a hunk")
	// ErrEmpty: a section without hunks that says nothing else either.
	ErrEmpty = errors.New("section without hunks")
	// ErrUnsupported: something that is not placed by content.
	ErrUnsupported = errors.New("not placed by content")
)

// ParseError says why a text cannot be read as a unified diff.
type ParseError struct {
	Line    int // 1-based line of the text
	Message string
	kind    error
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Unwrap returns the kind of the error, one of the Err… values.
func (e *ParseError) Unwrap() error { return e.kind }

// Looks reports whether a text seems to hold a unified diff: a "diff --git" line, or a pair of
// "---" and "+++" lines with a hunk header behind it.
func Looks(text string) bool {
	lines := 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
			return true
		case strings.HasPrefix(line, "--- ") && lines == 0:
			lines = 1
		case strings.HasPrefix(line, "+++ ") && lines == 1:
			lines = 2
		case strings.HasPrefix(line, "@@") && lines == 2:
			return true
		default:
			lines = 0
		}
	}
	return false
}

// Numbered reports whether every hunk of a text has line numbers. Without them only its content says
// where a hunk belongs.
func Numbered(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, "@@@") && !ranges().MatchString(strings.TrimRight(line, "\r\n")) {
			return false
		}
	}
	return true
}

// Parse reads all sections of a text, and passes over prose and fences around them. Time and memory
// are linear in the length of text. The error is a *ParseError.
func Parse(text string) (*textapply.Patch, error) {
	p := &parser{text: text, patch: &textapply.Patch{Format: Format, Text: text}}
	for p.scan() {
		if err := p.outside(); err != nil {
			return nil, err
		}
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if len(p.patch.Sections) == 0 {
		return nil, &ParseError{Line: 1, Message: "there is no unified diff in this text", kind: ErrNoDiff}
	}
	return p.patch, nil
}

// parser walks over the lines of a text.
type parser struct {
	text  string // what is left
	cur   string // the current line, without its terminator
	line  int    // its 1-based number
	patch *textapply.Patch
	open  *header // the section being read, nil between sections
}

// scan goes to the next line.
func (p *parser) scan() bool {
	if p.text == "" {
		return false
	}
	p.cur, p.text, _ = strings.Cut(p.text, "\n")
	p.line++
	return true
}

// peek returns the lines ahead without going there, "" behind the end.
func (p *parser) peek(n int) string {
	rest := p.text
	for range n {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

func (p *parser) fail(kind error, format string, args ...any) error {
	return &ParseError{Line: p.line, Message: fmt.Sprintf(format, args...), kind: kind}
}

// outside takes a line between hunks: a header, the start of a hunk, or prose.
func (p *parser) outside() error {
	line := strings.TrimSuffix(p.cur, "\r")
	switch {
	case strings.HasPrefix(line, "diff --git "):
		if err := p.finish(); err != nil {
			return err
		}
		p.open = &header{line: p.line, git: true}
		p.open.fromGitLine(strings.TrimPrefix(line, "diff --git "))
	case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "), strings.HasPrefix(line, "@@@ "):
		return p.fail(ErrUnsupported, "this is the diff of a merge, which has no single old text; make a diff against one parent")
	case strings.HasPrefix(line, "--- ") && strings.HasPrefix(p.peek(0), "+++ "):
		return p.names(line)
	case strings.HasPrefix(line, "@@"):
		if p.open == nil {
			return p.fail(ErrNoName, "a hunk comes before any file name; put --- and +++ lines in front of it")
		}
		return p.hunk(line)
	case p.open != nil && len(p.open.chunks) == 0:
		return p.extended(line)
	}
	return nil
}

// names takes a pair of "---" and "+++" lines.
func (p *parser) names(line string) error {
	if p.open == nil || !p.open.git || p.open.named {
		if err := p.finish(); err != nil {
			return err
		}
		p.open = &header{line: p.line}
	}
	old := line[len("--- "):]
	p.scan()
	p.open.setNames(old, strings.TrimSuffix(p.cur, "\r")[len("+++ "):])
	return nil
}

// finish ends the section being read.
func (p *parser) finish() error {
	if p.open == nil {
		return nil
	}
	h := p.open
	p.open = nil
	s, err := h.section()
	if err != nil {
		var pe *ParseError
		if errors.As(err, &pe) && pe.Line == 0 {
			pe.Line = h.line
		}
		return err
	}
	p.patch.Sections = append(p.patch.Sections, s)
	return nil
}
