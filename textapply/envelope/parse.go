// Package envelope reads and writes the patch format of Codex's apply_patch:
//
//	*** Begin Patch
//	*** Update File: main.go
//	@@ func main() {
//	-	old()
//	+	renewed()
//	*** End Patch
//
// It accepts what the apply_patch of codex-cli 0.171.0 accepts, and its errors have that program's
// wording. Text that is not UTF-8 is refused by that program before it parses; here it passes
// through byte for byte.
package envelope

import (
	"errors"
	"strings"

	"github.com/openoxide/oxpatch/textapply"
)

// Format is the value of Patch.Format in every patch this package returns.
const Format = "envelope"

// Mode says what may stand around the envelope.
type Mode uint8

const (
	// Lenient reads as Codex does. Unicode white space around the text is dropped, and then one
	// heredoc around it: a first line "<<EOF", "<<'EOF'" or `<<"EOF"` with a last line that ends
	// in "EOF". The Begin and End lines may be padded with blanks. Blank lines and then one more
	// End line may follow the End line.
	Lenient Mode = iota
	// Strict reads the envelope alone. The first line is exactly "*** Begin Patch", the last one
	// is exactly "*** End Patch" and the only End line, and after it at most its own line ending
	// may follow. What Strict accepts, Lenient reads in the same way.
	Strict
	// Tolerant reads all that Lenient reads, in the same way but for the texts behind "@@", and
	// mends more; each repair is among the patch's Notes. The envelope may be indented, stand in a
	// code fence or amid prose, or be the one string in a JSON value that holds it; there may be
	// several, one behind the other. The End line may be missing. Several "@@" lines in a row are
	// scopes within scopes. Of "@@ text @@" the text is the scope, of "@@ -1,2 +1,2 @@ text" the
	// numbers are a hint besides. A line of a chunk without prefix is taken for context.
	Tolerant
)

// Parse reads a complete patch. Time and memory are linear in the length of text, and the patch
// refers to text instead of copying it, so that it keeps text alive.
//
// The error is a *ParseError. The first and last line are judged before anything between them, so
// a patch cut short is reported as that (ErrEnd), whatever else is wrong with it. An envelope
// without sections is no error.
func Parse(text string, mode Mode) (*textapply.Patch, error) {
	body, err := unwrap(text, mode)
	if mode == Tolerant && (err != nil || indentedWhole(text)) {
		return parseAmid(text, err)
	}
	if err != nil {
		return nil, err
	}
	patch, err := parseBody(body, rules{bare: mode == Strict, tolerant: mode == Tolerant})
	if mode == Tolerant && errors.Is(err, ErrEnd) {
		// More than one envelope, or words between two End lines.
		if amid, amidErr := parseAmid(text, err); amidErr == nil {
			return amid, nil
		}
	}
	return patch, err
}

// parseBody reads the lines from the Begin to the End line.
func parseBody(body string, r rules) (*textapply.Patch, error) {
	p := Parser{rules: r}
	rest := body
	for {
		line, after, more := strings.Cut(rest, "\n")
		if !more {
			break
		}
		// Codex splits the text into lines and feeds them joined again to its line parser. Each
		// step drops one carriage return, so that two vanish from the end of a line. The last
		// line ends in none: it was trimmed, or it is the End line.
		if err := p.feed(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, err
		}
		if p.state == inAdd && p.section().Line == p.line {
			p.section().Content = makeContent(after)
		}
		rest = after
	}
	patch, err := p.close(rest)
	if err != nil {
		return nil, err
	}
	patch.Text = body
	return patch, nil
}

// makeContent returns room for the added lines that rest begins with. Letting the slice grow would
// cost a large addition most of its time, and several times the memory.
func makeContent(rest string) []string {
	n := 0
	for more := true; more && strings.HasPrefix(rest, "+"); n++ {
		_, rest, more = strings.Cut(rest, "\n")
	}
	if n == 0 {
		return nil
	}
	return make([]string, 0, n)
}

// unwrap returns the envelope in text, from its Begin to its End line.
func unwrap(text string, mode Mode) (string, error) {
	if mode == Strict {
		body, ended := strings.CutSuffix(text, "\n")
		if ended {
			body = strings.TrimSuffix(body, "\r")
		}
		return body, checkEnds(body, func(line string) string { return line })
	}
	body := strings.TrimSpace(text)
	err := checkEnds(body, strings.TrimSpace)
	if err == nil {
		return body, nil
	}
	inner, ok := cutHeredoc(body)
	if !ok {
		return "", err
	}
	return inner, checkEnds(inner, strings.TrimSpace)
}

// checkEnds says whether body begins and ends as an envelope does. Of an empty body it is the End
// line that is missed.
func checkEnds(body string, trim func(string) string) error {
	if body == "" {
		return endError()
	}
	first, _, _ := strings.Cut(body, "\n")
	if trim(strings.TrimSuffix(first, "\r")) != beginMarker {
		return beginError()
	}
	if trim(body[strings.LastIndexByte(body, '\n')+1:]) != endMarker {
		return endError()
	}
	return nil
}

// cutHeredoc returns what stands between the two lines of a heredoc. Codex wants at least two
// lines there, and takes any last line that merely ends in EOF for the closing one.
func cutHeredoc(body string) (inner string, ok bool) {
	opener, rest, _ := strings.Cut(body, "\n")
	switch strings.TrimSuffix(opener, "\r") {
	case "<<EOF", "<<'EOF'", `<<"EOF"`:
	default:
		return "", false
	}
	end := strings.LastIndexByte(rest, '\n')
	if end < 0 || !strings.HasSuffix(rest[end:], "EOF") {
		return "", false
	}
	inner = rest[:end]
	if !strings.Contains(inner, "\n") {
		return "", false
	}
	return strings.TrimSuffix(inner, "\r"), true
}
