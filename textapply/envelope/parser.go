package envelope

import (
	"strings"

	"github.com/openoxide/oxpatch/textapply"
)

// The lines that structure an envelope. A header's path follows its marker directly.
const (
	beginMarker       = "*** Begin Patch"
	endMarker         = "*** End Patch"
	environmentMarker = "*** Environment ID:"
	addMarker         = "*** Add File: "
	deleteMarker      = "*** Delete File: "
	updateMarker      = "*** Update File: "
	moveMarker        = "*** Move to: "
	eofMarker         = "*** End of File"
	chunkMarker       = "@@"
)

// Parser reads an envelope that arrives piece by piece. Its zero value is ready and reads as Codex's
// own parser of streams does, which differs from Parse in what can be judged only when all of the
// text is there: nothing may stand in front of the Begin line, no heredoc is recognised, a missing
// End line is noticed last, and one carriage return instead of two vanishes from a line's end.
//
// A Parser is not safe for concurrent use, and it must not be copied after the first Push.
type Parser struct {
	rules       rules
	state       state
	line        int // lines handled so far, which is the 1-based number of the current one
	environment string
	sections    []textapply.Section
	notes       []textapply.Note
	err         error // the first error; it stays

	text    strings.Builder // all that was pushed
	pending []byte          // the last line, of which the end has not arrived
}

// rules are the points in which readings of the grammar differ. The zero value is Codex's reading.
type rules struct {
	// bare refuses what may otherwise follow the End line: blank lines and, as the very last line
	// and without a line feed, a second End line.
	bare bool
	// tolerant stacks scopes, reads what stands behind "@@" as more than text, and takes lines
	// without prefix for context.
	tolerant bool
}

// state says what the lines handled so far have led to.
type state uint8

const (
	unstarted state = iota // the Begin line is due
	preamble               // behind Begin, before the first section
	inAdd
	inDelete
	inUpdate
	ended // behind the End line
)

// Push takes the next piece of the text and returns the sections known so far. The last one may be
// unfinished: it holds the lines that have arrived. A line counts once its line feed has arrived,
// and the number of sections never goes down. Any number of pushes costs time linear in the text.
//
// The slice is the parser's own. It is good for reading until the next call of Push or Finish,
// which may change its last element; what is to last longer must be copied.
//
// The error is a *ParseError; it comes from the push that completed the bad line. It is final:
// later calls return it again, with the sections known before it.
func (p *Parser) Push(delta string) ([]textapply.Section, error) {
	if p.err != nil {
		return p.known(), p.err
	}
	p.text.WriteString(delta)
	for {
		line, rest, complete := strings.Cut(delta, "\n")
		if !complete {
			break
		}
		if len(p.pending) > 0 {
			line = string(append(p.pending, line...))
			p.pending = p.pending[:0]
		}
		if err := p.feed(line); err != nil {
			return p.known(), err
		}
		delta = rest
	}
	p.pending = append(p.pending, delta...)
	return p.known(), nil
}

// known returns the sections, so cut that appending to the result cannot reach the parser's own.
func (p *Parser) known() []textapply.Section { return p.sections[:len(p.sections):len(p.sections)] }

// Finish says that the text is complete and returns the patch, which then belongs to the caller;
// its Text is all that was pushed. The error is a *ParseError: that of an earlier Push, one of a
// last line without line feed, or ErrEnd where the End line never came. Neither Push nor Finish
// may be called after it.
func (p *Parser) Finish() (*textapply.Patch, error) {
	patch, err := p.close(string(p.pending))
	if err != nil {
		return nil, err
	}
	patch.Text = p.text.String()
	return patch, nil
}

// close handles what stands behind the last line feed and returns the patch without its Text.
func (p *Parser) close(last string) (*textapply.Patch, error) {
	if p.err == nil && last != "" {
		p.feedLast(last)
	}
	if p.err == nil && p.state != ended {
		p.err = endError()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &textapply.Patch{Format: Format, EnvironmentID: p.environment, Sections: p.sections, Notes: p.notes}, nil
}

// feedLast handles a last line without line feed, in which an End line counts for more: it may be
// indented where blanks in front would make it a line of context, and it may come a second time.
func (p *Parser) feedLast(line string) {
	if strings.TrimSpace(line) == endMarker {
		switch {
		case p.state == inUpdate:
			line = endMarker
		case p.state == ended && !p.rules.bare:
			return
		}
	}
	p.err = p.feed(line)
}

// feed handles one line, given without its line feed. One carriage return at its end is dropped.
func (p *Parser) feed(line string) error {
	p.line++
	p.err = p.handle(strings.TrimSuffix(line, "\r"))
	return p.err
}

func (p *Parser) handle(line string) error {
	switch p.state {
	case unstarted:
		if strings.TrimSpace(line) != beginMarker {
			return beginError()
		}
		p.state = preamble
		return nil
	case ended:
		return p.handleTail(line)
	case inUpdate:
		return p.handleUpdate(line)
	case inAdd:
		if content, ok := strings.CutPrefix(line, "+"); ok {
			section := p.section()
			section.Content = append(section.Content, content)
			return nil
		}
	}
	return p.handleOutside(strings.TrimSpace(line))
}

// handleTail judges a line behind the End line.
func (p *Parser) handleTail(line string) error {
	if strings.TrimSpace(line) == "" && !p.rules.bare {
		return nil
	}
	return endError()
}

// handleOutside takes a line where only a header or the End line can stand.
func (p *Parser) handleOutside(trimmed string) error {
	if p.state == preamble {
		if id, ok := strings.CutPrefix(trimmed, environmentMarker); ok {
			return p.setEnvironment(strings.TrimSpace(id))
		}
	}
	if ok, err := p.handleHeader(trimmed); ok || err != nil {
		return err
	}
	return headerError(p.line, trimmed)
}

func (p *Parser) setEnvironment(id string) error {
	switch {
	case p.environment != "":
		return environmentError("specified more than once")
	case id == "":
		return environmentError("empty")
	}
	p.environment = id
	return nil
}

// handleHeader begins a section or ends the patch, and reports whether the line is one for that.
// The caller has trimmed it; how far depends on where it stands. Since no blank ends it, a marker
// that is found has a path behind it.
func (p *Parser) handleHeader(trimmed string) (bool, error) {
	if trimmed == endMarker {
		if err := p.checkUpdate(trimmed); err != nil {
			return false, err
		}
		p.state = ended
		return true, nil
	}
	section := textapply.Section{Line: p.line}
	next := inAdd
	var ok bool
	if section.Path, ok = strings.CutPrefix(trimmed, addMarker); ok {
		section.Kind = textapply.Add
	} else if section.Path, ok = strings.CutPrefix(trimmed, deleteMarker); ok {
		section.Kind, next = textapply.Delete, inDelete
	} else if section.Path, ok = strings.CutPrefix(trimmed, updateMarker); ok {
		section.Kind, next = textapply.Update, inUpdate
	} else {
		return false, nil
	}
	if err := p.checkUpdate(trimmed); err != nil {
		return false, err
	}
	p.sections = append(p.sections, section)
	p.state = next
	return true, nil
}

// section returns the section being read.
func (p *Parser) section() *textapply.Section { return &p.sections[len(p.sections)-1] }
