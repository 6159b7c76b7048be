package envelope

import (
	"strings"
	"unicode"

	"github.com/openoxide/oxpatch/textapply"
)

// Inside an Update section blanks in front of a line mean context, so markers are recognised only
// at the very beginning of a line; blanks behind them do not matter.

// handleUpdate takes a line of an Update section.
func (p *Parser) handleUpdate(line string) error {
	section := p.section()
	chunk := lastChunk(section)
	if line != "" && (line[0] == '*' || line[0] == '@') {
		marker := strings.TrimRightFunc(line, unicode.IsSpace)
		if ok, err := p.handleHeader(marker); ok || err != nil {
			return err
		}
		if ok, err := p.handleMarker(section, chunk, marker); ok || err != nil {
			return err
		}
		return p.badLine(chunk, line)
	}
	if chunk != nil && chunk.EOF {
		// The chunk is closed. Blank lines may separate it from what follows.
		if strings.TrimSpace(line) == "" {
			return nil
		}
		return markerError(p.line, line)
	}
	content, ok := textapply.ReadLine(line)
	if !ok && (!p.rules.tolerant || chunk == nil) {
		return p.badLine(chunk, line)
	}
	if chunk == nil {
		// The first chunk of a section needs no "@@" line.
		chunk = p.openChunk(section)
	}
	if !ok {
		content = textapply.Line{Op: textapply.Context, Text: line}
		p.noteUnprefixed(chunk, line)
	}
	chunk.Lines = append(chunk.Lines, content)
	return nil
}

// handleMarker takes the markers that occur in Update sections only, and reports whether the line
// is one that can stand here.
func (p *Parser) handleMarker(section *textapply.Section, chunk *textapply.Chunk, marker string) (bool, error) {
	if path, ok := strings.CutPrefix(marker, moveMarker); ok && chunk == nil && section.MoveTo == "" {
		section.MoveTo = path
		return true, nil
	}
	if marker == eofMarker {
		return p.handleEOF(chunk)
	}
	scope, ok := strings.CutPrefix(marker, chunkMarker+" ")
	if !ok && marker != chunkMarker {
		return false, nil
	}
	switch {
	case chunk == nil || len(chunk.Lines) > 0:
		chunk = p.openChunk(section)
	case !p.rules.tolerant:
		return false, nil
	}
	if ok && p.rules.tolerant {
		scope, chunk.Hint = readScope(scope, chunk.Hint)
		ok = scope != ""
	}
	if ok {
		chunk.Scopes = append(chunk.Scopes, scope)
	}
	return true, nil
}

// handleEOF takes "*** End of File". Before the first chunk it has nothing to close and is ignored.
func (p *Parser) handleEOF(chunk *textapply.Chunk) (bool, error) {
	switch {
	case chunk == nil:
		return true, nil
	case chunk.EOF:
		return false, nil
	case len(chunk.Lines) == 0:
		return false, emptyChunkError(p.line)
	}
	chunk.EOF = true
	return true, nil
}

// checkUpdate says whether the section being read may end before the line given. It has nothing to
// say about sections that are no Update.
func (p *Parser) checkUpdate(before string) error {
	if p.state != inUpdate {
		return nil
	}
	section := p.section()
	chunk := lastChunk(section)
	switch {
	case chunk == nil:
		return emptySectionError(section.Line, section.Path)
	case len(chunk.Lines) > 0:
		return nil
	case before == endMarker:
		return emptyChunkError(p.line)
	}
	return lineError(p.line, before)
}

// badLine is the error of a line that fits nowhere. Behind a complete chunk Codex misses a "@@"
// line, elsewhere a prefix.
func (p *Parser) badLine(chunk *textapply.Chunk, line string) error {
	if chunk != nil && len(chunk.Lines) > 0 {
		return markerError(p.line, line)
	}
	return lineError(p.line, line)
}

func (p *Parser) openChunk(section *textapply.Section) *textapply.Chunk {
	section.Chunks = append(section.Chunks, textapply.Chunk{Line: p.line})
	return lastChunk(section)
}

func lastChunk(section *textapply.Section) *textapply.Chunk {
	if len(section.Chunks) == 0 {
		return nil
	}
	return &section.Chunks[len(section.Chunks)-1]
}
