package envelope

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/openoxide/oxpatch/textapply"
)

// numberedScope is what git puts behind "@@": the ranges of old and new lines, and a heading. It is
// compiled when there is a use for it: most runs end before that would have paid.
var numberedScope = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@(?: (.*))?$`)
})

// readScope reads the text behind "@@" of a patch whose author had other formats in mind. It
// returns the scope, "" for none, and the hint, or the one known before.
func readScope(text string, hint int) (scope string, line int) {
	var m []string
	if strings.HasPrefix(text, "-") {
		m = numberedScope().FindStringSubmatch(text)
	}
	if m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			hint = n
		}
		return strings.TrimSpace(m[2]), hint
	}
	if inner, ok := strings.CutSuffix(text, chunkMarker); ok {
		text = strings.TrimRight(inner, " \t")
		if trimmed := strings.TrimSpace(text); trimmed == "..." || trimmed == "…" {
			return "", hint
		}
	}
	return text, hint
}

// noteUnprefixed marks a chunk that has a line without prefix.
func (p *Parser) noteUnprefixed(chunk *textapply.Chunk, line string) {
	if !chunk.Unprefixed {
		p.notes = append(p.notes, textapply.Note{Line: p.line, Message: fmt.Sprintf(
			"the line %q begins with neither a blank nor - nor +; it is taken for context", cutText(line))})
	}
	chunk.Unprefixed = true
}

func cutText(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// indentedWhole reports whether the whole envelope is indented like its Begin line. Read plainly,
// all its markers but the outer ones would be context.
func indentedWhole(text string) bool {
	text = strings.Trim(text, "\r\n")
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	if indent == "" {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indent) {
			return false
		}
	}
	return true
}

// parseAmid reads the envelopes that stand somewhere in a text. Without any the error is the one
// that the plain reading gave.
func parseAmid(text string, plain error) (*textapply.Patch, error) {
	var notes []textapply.Note
	if inner, ok := fromJSON(text); ok {
		text = inner
		notes = append(notes, textapply.Note{Message: "the patch was a string in a JSON value"})
	}
	a := &amid{rest: text}
	patch := &textapply.Patch{Format: Format}
	for a.next() {
		if err := a.readInto(patch); err != nil {
			return nil, err
		}
	}
	switch {
	case a.found == 0:
		return nil, plain
	case a.stray:
		// Part of a patch outside of any envelope must not be passed over as prose.
		return nil, endError()
	}
	patch.Notes = append(notes, patch.Notes...)
	patch.Text = a.text.String()
	return patch, nil
}

// fromJSON returns the string of a JSON array or object that holds an envelope, where there is
// exactly one: some callers hand over the arguments of a call as they received them.
func fromJSON(text string) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`[{"`, rune(trimmed[0])) {
		return "", false
	}
	var value any
	if json.Unmarshal([]byte(trimmed), &value) != nil {
		return "", false
	}
	found := envelopesIn(value, nil)
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

func envelopesIn(value any, found []string) []string {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, beginMarker) {
			found = append(found, v)
		}
	case []any:
		for _, x := range v {
			found = envelopesIn(x, found)
		}
	case map[string]any:
		for _, x := range v {
			found = envelopesIn(x, found)
		}
	}
	return found
}

// amid walks through a text that holds envelopes among other things.
type amid struct {
	rest   string
	before string // the last line that is not blank in front of the envelope
	indent string // white space in front of the Begin line
	found  int
	stray  bool            // a line of a patch stands behind the End line
	text   strings.Builder // the envelopes alone
	lines  int             // lines in text
}

// next goes to the next Begin line.
func (a *amid) next() bool {
	for a.rest != "" {
		line, rest, _ := strings.Cut(a.rest, "\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == beginMarker {
			a.indent = line[:strings.Index(line, beginMarker)]
			a.found++
			return true
		}
		if trimmed != "" {
			a.before = trimmed
		}
		a.stray = a.stray || a.found > 0 && belongs(trimmed)
		a.rest = rest
	}
	return false
}

// belongs reports whether a line can only be part of an envelope.
func belongs(line string) bool {
	for _, marker := range []string{addMarker, deleteMarker, updateMarker, moveMarker, endMarker} {
		if strings.HasPrefix(line, marker) {
			return true
		}
	}
	return false
}

// readInto reads the envelope that begins here and adds its sections to the patch.
func (a *amid) readInto(patch *textapply.Patch) error {
	p := Parser{rules: rules{tolerant: true}, line: a.lines}
	for p.state != ended && a.rest != "" {
		line, rest, _ := strings.Cut(a.rest, "\n")
		line = strings.TrimSuffix(strings.TrimPrefix(line, a.indent), "\r")
		if a.closes(line) {
			break
		}
		a.rest = rest
		a.text.WriteString(line + "\n")
		if rest == "" && p.state == inUpdate && strings.TrimSpace(line) == endMarker {
			line = endMarker
		}
		if err := p.feed(line); err != nil {
			return err
		}
	}
	if p.state != ended {
		if err := p.checkUpdate(endMarker); err != nil {
			return err
		}
		p.notes = append(p.notes, textapply.Note{Line: p.line,
			Message: "the line *** End Patch is missing; the patch may have been cut short"})
	}
	a.lines = p.line
	patch.Sections = append(patch.Sections, p.sections...)
	patch.Notes = append(patch.Notes, p.notes...)
	if p.environment != "" {
		patch.EnvironmentID = p.environment
	}
	a.before = ""
	return nil
}

// closes reports whether a line ends the fence or heredoc that the envelope stands in. No line of
// an envelope looks so.
func (a *amid) closes(line string) bool {
	if fence := strings.TrimRight(line, "`~"); fence == "" && len(line) >= 3 {
		return strings.HasPrefix(a.before, line[:3])
	}
	if _, word, ok := strings.Cut(a.before, "<<"); ok {
		word = strings.Trim(strings.TrimPrefix(word, "-"), `'" `)
		return word != "" && line == word
	}
	return false
}
