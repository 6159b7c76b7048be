package envelope

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/openoxide/oxpatch/textapply"
)

// ErrUnprintable is what errors.Is finds in every error of Print.
var ErrUnprintable = errors.New("not expressible as an envelope")

// PrintError says what in a patch has no spelling in the grammar.
type PrintError struct {
	Section int    // 1-based; 0 if the patch as a whole is meant
	Path    string // of the section
	Chunk   int    // 1-based within the section; 0 if no chunk is meant
	Problem string
}

// Error returns the place and then the problem.
func (e *PrintError) Error() string {
	var place string
	if e.Section > 0 {
		place = fmt.Sprintf("section %d (%q): ", e.Section, e.Path)
	}
	if e.Chunk > 0 {
		place += fmt.Sprintf("chunk %d: ", e.Chunk)
	}
	return place + e.Problem
}

// Unwrap returns ErrUnprintable.
func (e *PrintError) Unwrap() error { return ErrUnprintable }

// Print writes a patch as an envelope, with a line feed at its end. Parse in either mode reads the
// result back as the same patch, Text and line numbers aside, and Format where p is of another
// one. Every chunk gets its "@@" line, and an empty line of context is spelled as one blank.
//
// The error is a *PrintError. It says what would be lost or read as something else: a line feed
// inside a name or a line, blanks that a reader trims, nested scopes, an Update without chunks, a
// chunk without lines, fields that the kind of the section has no use for.
func Print(p *textapply.Patch) (string, error) {
	var b strings.Builder
	writeLine(&b, beginMarker, "")
	if id := p.EnvironmentID; id != "" {
		if strings.Contains(id, "\n") {
			return "", &PrintError{Problem: "line feed in the environment ID"}
		}
		if strings.TrimSpace(id) != id {
			return "", &PrintError{Problem: "blank at an end of the environment ID"}
		}
		writeLine(&b, environmentMarker+" ", id)
	}
	for i, section := range p.Sections {
		if chunk, problem := printSection(&b, section); problem != "" {
			return "", &PrintError{Section: i + 1, Path: section.Path, Chunk: chunk, Problem: problem}
		}
	}
	writeLine(&b, endMarker, "")
	return b.String(), nil
}

// printSection writes one section. Where that is impossible it returns the problem, and the
// 1-based number of the chunk that has it or 0.
func printSection(b *strings.Builder, s textapply.Section) (chunk int, problem string) {
	if problem := checkName("path", s.Path); problem != "" {
		return 0, problem
	}
	if problem := checkFields(s); problem != "" {
		return 0, problem
	}
	switch s.Kind {
	case textapply.Add:
		writeLine(b, addMarker, s.Path)
		for _, line := range s.Content {
			if strings.Contains(line, "\n") {
				return 0, "line feed in a line"
			}
			writeLine(b, "+", line)
		}
	case textapply.Delete:
		writeLine(b, deleteMarker, s.Path)
	case textapply.Update:
		writeLine(b, updateMarker, s.Path)
		if s.MoveTo != "" {
			writeLine(b, moveMarker, s.MoveTo)
		}
		for i, c := range s.Chunks {
			if problem := printChunk(b, c); problem != "" {
				return i + 1, problem
			}
		}
	}
	return 0, ""
}

// checkFields says what keeps the section, lines and chunks aside, from being written.
func checkFields(s textapply.Section) string {
	switch {
	case s.Kind > textapply.Update:
		return "unknown kind of section"
	case s.Kind != textapply.Add && len(s.Content) > 0:
		return "content in a section that is no addition"
	case s.Kind != textapply.Update && len(s.Chunks) > 0:
		return "chunks in a section that is no update"
	case s.Kind != textapply.Update && s.MoveTo != "":
		return "new name in a section that is no update"
	case s.Kind == textapply.Update && len(s.Chunks) == 0:
		return "update without chunks"
	case s.MoveTo != "":
		return checkName("new name", s.MoveTo)
	}
	return ""
}

func printChunk(b *strings.Builder, c textapply.Chunk) string {
	switch {
	case len(c.Lines) == 0:
		return "no lines"
	case len(c.Scopes) > 1:
		return "nested scopes"
	case c.Ending != textapply.KeepEnding:
		return "changed line endings"
	case len(c.Scopes) == 0:
		writeLine(b, chunkMarker, "")
	default:
		if problem := checkName("scope", c.Scopes[0]); problem != "" {
			return problem
		}
		writeLine(b, chunkMarker+" ", c.Scopes[0])
	}
	for _, line := range c.Lines {
		if line.Op > textapply.Insert {
			return "unknown kind of line"
		}
		if strings.Contains(line.Text, "\n") {
			return "line feed in a line"
		}
		writeLine(b, prefix(line.Op), line.Text)
	}
	if c.EOF {
		writeLine(b, eofMarker, "")
	}
	return ""
}

// checkName says what keeps a text from standing behind a marker, where readers trim the end of
// the line but not the front of the text.
func checkName(what, name string) string {
	switch {
	case name == "":
		return "empty " + what
	case strings.Contains(name, "\n"):
		return "line feed in the " + what
	case strings.TrimRightFunc(name, unicode.IsSpace) != name:
		return "blank at the end of the " + what
	}
	return ""
}

func prefix(op textapply.Op) string {
	switch op {
	case textapply.Remove:
		return "-"
	case textapply.Insert:
		return "+"
	}
	return " "
}

// writeLine writes one line. Parse drops two carriage returns at its end, so a line that is to
// keep those it has gets two more.
func writeLine(b *strings.Builder, prefix, text string) {
	b.WriteString(prefix)
	b.WriteString(text)
	if strings.HasSuffix(text, "\r") {
		b.WriteString("\r\r")
	}
	b.WriteByte('\n')
}
