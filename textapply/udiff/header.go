package udiff

import (
	"fmt"
	"path"
	"strings"

	"github.com/openoxide/oxpatch/textapply"
)

const devNull = "/dev/null"

// header is what stands in front of a section's hunks.
type header struct {
	line   int
	git    bool // it began with "diff --git"
	named  bool // "---" and "+++" were seen
	paired bool // the names were a/… and b/…
	old    string
	new    string
	added  bool
	gone   bool
	from   string // of a rename
	to     string
	mode   textapply.Executable
	blob   string // abbreviated id of the old content
	chunks []textapply.Chunk
}

// fromGitLine takes the names of a "diff --git" line, for sections that have no other: the line is
// a/NAME b/NAME, and where NAME holds blanks only equal halves tell where it is cut.
func (h *header) fromGitLine(rest string) {
	if strings.HasPrefix(rest, `"`) {
		if end := quotedEnd(rest); end > 0 && end+1 < len(rest) {
			h.old, h.new = unquote(rest[:end]), unquote(rest[end+1:])
			h.strip()
		}
		return
	}
	for i := 0; i < len(rest); i++ {
		if rest[i] != ' ' {
			continue
		}
		a, b := rest[:i], unquote(rest[i+1:])
		if base(a) == base(b) {
			h.old, h.new = a, b
			h.strip()
			return
		}
	}
}

// base is a name without its first component, as the prefixes a/ and b/ are.
func base(name string) string {
	_, rest, _ := strings.Cut(name, "/")
	return rest
}

// setNames takes the names of "---" and "+++" lines. A time may stand behind a tab.
func (h *header) setNames(old, new string) {
	h.named = true
	was := *h
	h.old, h.new = cleanName(old), cleanName(new)
	h.strip()
	// Beside /dev/null only the "diff --git" line tells that there is another prefix than a/ or b/.
	switch {
	case h.old == devNull && cutPrefix(h.new) == was.new:
		h.new = was.new
	case h.new == devNull && cutPrefix(h.old) == was.old:
		h.old = was.old
	}
}

func cleanName(name string) string {
	if strings.HasPrefix(name, `"`) {
		if end := quotedEnd(name); end > 0 {
			return unquote(name[:end])
		}
	}
	name, _, cut := strings.Cut(name, "\t")
	if cut {
		return name // the tab ends the name, which is how git writes one that holds blanks
	}
	return strings.TrimRight(name, " ")
}

// exactName takes the name of a line that holds nothing else: as it stands, blanks at its end too.
func exactName(name string) string {
	if strings.HasPrefix(name, `"`) {
		return cleanName(name)
	}
	return name
}

// prefixes are what programs put in front of the two names of one file: git by default, with
// diff.mnemonicPrefix and with --no-index, and people who compare two copies of a tree.
var prefixes = []string{"a/", "b/", "c/", "i/", "o/", "w/", "1/", "2/", "old/", "new/", "orig/"}

// strip takes the prefixes off: a/ and b/ where both names carry them, or the other is /dev/null; those and
// others where the names are the same without.
func (h *header) strip() {
	a, okA := strings.CutPrefix(h.old, "a/")
	b, okB := strings.CutPrefix(h.new, "b/")
	switch {
	case okA && okB:
		h.old, h.new, h.paired = a, b, true
	case okA && h.new == devNull:
		h.old = a
	case okB && h.old == devNull:
		h.new = b
	case h.old != h.new:
		if a, b = cutPrefix(h.old), cutPrefix(h.new); a == b {
			h.old, h.new = a, b
		}
	}
}

func cutPrefix(name string) string {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest
		}
	}
	return name
}

// oneFile settles a section whose names differ. Only "rename from" and "rename to" move a file, and the pair
// of a/ and b/, with which that is said too; other names come from comparing a file with a copy of it, which
// is then the longer one. Neither git nor patch moves a file for two names.
func (h *header) oneFile() error {
	if h.new == "" || h.paired || h.from != "" && h.to != "" || path.Clean(h.old) == path.Clean(h.new) {
		return nil
	}
	for _, suffix := range []string{".orig", ".bak", ".old", ".new", "~"} {
		switch {
		case h.old == h.new+suffix:
			h.old = h.new
			return nil
		case h.new == h.old+suffix:
			h.new = h.old
			return nil
		}
	}
	return &ParseError{kind: ErrTwoNames, Message: fmt.Sprintf("the section names two files, %s and %s; "+
		"name the one that is meant in both lines, or write \"rename from\" and \"rename to\" lines to move it", h.old, h.new)}
}

// What git writes as the mode of what is no regular file.
const (
	linkMode      = "120000"
	submoduleMode = "160000"
)

// extended takes a line of git's extended header; other lines are prose.
func (p *parser) extended(line string) error {
	h := p.open
	cut := func(prefix string) (string, bool) { return strings.CutPrefix(line, prefix) }
	if mode, ok := cut("new file mode "); ok {
		h.added = true
		return p.setMode(mode)
	}
	if mode, ok := cut("new mode "); ok {
		return p.setMode(mode)
	}
	if name, ok := cut("rename from "); ok {
		h.from = exactName(name)
	} else if name, ok := cut("rename to "); ok {
		h.to = exactName(name)
	} else if ids, ok := cut("index "); ok {
		h.blob, _, _ = strings.Cut(ids, "..")
	}
	if mode, ok := cut("deleted file mode "); ok {
		h.gone = true
		if mode = strings.TrimSpace(mode); mode == linkMode || mode == submoduleMode {
			return p.irregular(mode)
		}
		return nil
	}
	switch {
	case strings.HasPrefix(line, "copy from "):
		return p.fail(ErrUnsupported, "a copy is not placed by content; add the file instead")
	case strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files "):
		return p.fail(ErrUnsupported, "binary contents are not placed by content; use git mode, inside a repository")
	}
	return nil
}

func (p *parser) setMode(mode string) error {
	switch strings.TrimSpace(mode) {
	case "100755":
		p.open.mode = textapply.MakeExecutable
	case "100644":
		if !p.open.added {
			p.open.mode = textapply.MakePlain
		}
	default:
		return p.irregular(mode)
	}
	return nil
}

// irregular refuses the mode of what is not a regular file.
func (p *parser) irregular(mode string) error {
	return p.fail(ErrUnsupported, "mode %s is not placed by content: it is not that of a regular file; use git mode, inside a repository", mode)
}

// whole reports whether the section holds a file as a whole: one that is new or gone.
func (h *header) whole() bool {
	return h.added || h.gone || h.old == devNull || h.new == devNull
}

// section makes the section.
func (h *header) section() (textapply.Section, error) {
	if h.from != "" && h.to != "" {
		h.old, h.new = h.from, h.to
	}
	s := textapply.Section{Line: h.line, Chunks: h.chunks, Path: h.old, Blob: h.blob, Executable: h.mode}
	if h.unnamed() {
		return s, &ParseError{Message: "the section does not name its file", kind: ErrNoName}
	}
	switch {
	case h.added, h.old == devNull:
		return h.addition(s)
	case h.gone, h.new == devNull:
		s.Kind, s.Checked = textapply.Delete, true
		s.Content, s.NoFinalNewline = h.text(textapply.Remove)
		s.Chunks = nil
		return s, nil
	}
	if err := h.oneFile(); err != nil {
		return s, err
	}
	s.Kind, s.Path = textapply.Update, h.old
	if h.new != h.old && h.new != "" {
		s.MoveTo = h.new
	}
	if len(s.Chunks) == 0 && s.MoveTo == "" && s.Executable == textapply.KeepExecutable {
		return s, &ParseError{Message: fmt.Sprintf("the section for %s has no hunks", h.old), kind: ErrEmpty}
	}
	return s, nil
}

// unnamed reports whether the name that the section needs is missing.
func (h *header) unnamed() bool {
	switch {
	case h.added, h.old == devNull:
		return h.new == "" || h.new == devNull
	default:
		return h.old == ""
	}
}

func (h *header) addition(s textapply.Section) (textapply.Section, error) {
	s.Kind, s.Path = textapply.Add, h.new
	for _, c := range h.chunks {
		if len(c.Old()) > 0 {
			return s, &ParseError{Line: c.Line, Message: fmt.Sprintf("the hunk has old lines, but %s is a new file", h.new), kind: ErrLine}
		}
	}
	s.Content, s.NoFinalNewline = h.text(textapply.Insert)
	s.Chunks = nil
	return s, nil
}

// text joins the lines of all hunks that have one Op: the content of a file that is new or gone.
func (h *header) text(op textapply.Op) (lines []string, noNewline bool) {
	for _, c := range h.chunks {
		for _, l := range c.Lines {
			if l.Op == op {
				lines = append(lines, l.Text)
			}
		}
		noNewline = op == textapply.Insert && c.Final == textapply.FinalRemoved ||
			op == textapply.Remove && c.Final == textapply.FinalAdded
	}
	return lines, noNewline
}
