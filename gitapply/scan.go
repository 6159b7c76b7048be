package gitapply

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// textLine is one line of the patch without its terminator, and its 1-based number.
type textLine struct {
	n int
	s string
}

// rawSection is a section as it stands in the patch, cut into lines.
type rawSection struct {
	git    bool // begins with "diff --git"
	header []textLine
	hunks  []rawHunk
	binary []textLine // from "GIT binary patch" on
	noData bool       // "Binary files … differ"
	line   int

	file    *gitdiff.File // as go-gitdiff reads it, or
	refused *RefusedError // why it cannot
}

type rawHunk struct {
	head                           textLine
	oldStart, oldN, newStart, newN int
	tail                           string // what follows the second "@@"
	body                           []textLine
}

// scanner cuts a patch into sections. It reads as git does, except that it drops nothing: what git
// would pass over in silence, though it may be meant, is mended where that is certain, and refused
// otherwise.
type scanner struct {
	lines    []textLine
	at       int
	repair   bool
	sections []rawSection
	repairs  []Repair
	crlf     bool   // every line ended in CRLF, which was taken off
	folder   string // that names without "diff --git" count from, "" for the top
	moved    bool   // names were put below it
}

// scan reads the whole patch. The error is a *RefusedError.
func scan(patch []byte, repair bool) (*scanner, error) {
	s := &scanner{repair: repair}
	if err := s.load(patch); err != nil {
		return s, err
	}
	for s.at < len(s.lines) {
		if err := s.step(); err != nil {
			return s, err
		}
	}
	if len(s.sections) == 0 {
		return s, &RefusedError{Kind: ErrCorrupt, Problem: "there is no file section in it"}
	}
	return s, nil
}

// load splits the patch into lines and takes off what surrounds all of it.
func (s *scanner) load(patch []byte) error {
	if rest, ok := bytes.CutPrefix(patch, []byte("\xef\xbb\xbf")); ok && s.repair {
		patch = rest
		s.mended(0, "took off a byte order mark")
	}
	text := string(patch)
	if text != "" && !strings.HasSuffix(text, "\n") {
		if !s.repair {
			return &RefusedError{Kind: ErrCorrupt, Line: strings.Count(text, "\n") + 1, Problem: "its last line has no line feed"}
		}
		s.mended(strings.Count(text, "\n")+1, "ended the last line")
	}
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		s.lines = append(s.lines, textLine{i + 1, l})
	}
	if s.repair {
		s.takeOffCR()
		s.takeOutOfFence()
	}
	return nil
}

// takeOffCR handles a patch whose every line ends in CRLF: it went through something that changed
// its line endings, since git ends header lines in LF always. Whether the lines of the hunks had a
// CR before is found out later, by the file.
func (s *scanner) takeOffCR() {
	for _, l := range s.lines {
		if l.s != "" && !strings.HasSuffix(l.s, "\r") {
			return
		}
	}
	for i, l := range s.lines {
		s.crlf = s.crlf || l.s != ""
		s.lines[i].s = strings.TrimSuffix(l.s, "\r")
	}
}

// takeOutOfFence keeps only the fenced blocks that hold a diff, if there are any. A line of a hunk
// never begins with a fence, it has a prefix.
func (s *scanner) takeOutOfFence() {
	var kept, block []textLine
	inside := false
	for _, l := range append(s.lines, textLine{s: "```"}) {
		switch fence := strings.HasPrefix(strings.TrimSpace(l.s), "```") && !strings.HasPrefix(l.s, " "); {
		case fence && inside:
			if holdsDiff(block) {
				kept = append(kept, block...)
			}
			inside, block = false, nil
		case fence:
			inside = true
		case inside:
			block = append(block, l)
		}
	}
	if len(kept) > 0 {
		s.lines = kept
		s.mended(0, "took the diff out of a code fence")
	}
}

func holdsDiff(lines []textLine) bool {
	for i, l := range lines {
		if strings.HasPrefix(l.s, "diff --git ") || pairAt(lines, i) {
			return true
		}
	}
	return false
}

// pairAt reports whether a "---" and a "+++" line stand at i.
func pairAt(lines []textLine, i int) bool {
	return i+1 < len(lines) && strings.HasPrefix(lines[i].s, "--- ") && strings.HasPrefix(lines[i+1].s, "+++ ")
}

// headerAt reports whether a section without "diff --git" begins at i: the pair, and a hunk.
func headerAt(lines []textLine, i int) bool {
	return pairAt(lines, i) && i+2 < len(lines) && strings.HasPrefix(lines[i+2].s, "@@")
}

func (s *scanner) mended(line int, format string, args ...any) {
	s.repairs = append(s.repairs, Repair{Line: line, Section: len(s.sections), Message: fmt.Sprintf(format, args...)})
}

func (s *scanner) refuse(kind error, line int, format string, args ...any) error {
	return &RefusedError{Kind: kind, Section: len(s.sections), Line: line, Problem: fmt.Sprintf(format, args...)}
}

// step reads one section, or passes over one line between sections.
func (s *scanner) step() error {
	l := s.lines[s.at]
	switch {
	case strings.HasPrefix(l.s, "diff --cc ") || strings.HasPrefix(l.s, "diff --combined ") || strings.HasPrefix(l.s, "@@@ "):
		return s.refuse(ErrCombined, l.n, "it is a combined diff, as git shows a merge")
	case strings.HasPrefix(l.s, "diff --git "):
		s.sections = append(s.sections, rawSection{git: true, line: l.n, header: []textLine{l}})
		s.at++
		return s.section()
	case pairAt(s.lines, s.at):
		s.sections = append(s.sections, rawSection{line: l.n})
		return s.section()
	case isHunkHead(l.s):
		return s.refuse(ErrCorrupt, l.n, "a hunk without a file header")
	}
	s.at++
	return nil
}

// section reads the rest of a header, and what it heads.
func (s *scanner) section() error {
	sec := &s.sections[len(s.sections)-1]
	s.header(sec)
	if s.at < len(s.lines) && s.lines[s.at].s == "GIT binary patch" {
		return s.binary(sec)
	}
	for s.at < len(s.lines) && strings.HasPrefix(s.lines[s.at].s, "@@") && !strings.HasPrefix(s.lines[s.at].s, "@@@") {
		if err := s.hunk(sec); err != nil {
			return err
		}
	}
	return nil
}

// header reads the header's lines up to the first hunk.
func (s *scanner) header(sec *rawSection) {
	for s.at < len(s.lines) {
		l := s.lines[s.at]
		plain := strings.TrimSuffix(l.s, "\r")
		switch {
		case pairAt(s.lines, s.at):
			s.keep(sec)
			s.keep(sec)
			return
		case sec.git && isExtended(plain):
			s.keep(sec)
		case sec.git && strings.HasPrefix(plain, "Binary files ") && strings.HasSuffix(plain, " differ"):
			sec.noData = true
			s.at++
			return
		default:
			return
		}
	}
}

// keep takes the current line into the header, without a CR: no line of a header ends in one, but
// for names that do, which git quotes.
func (s *scanner) keep(sec *rawSection) {
	l := s.lines[s.at]
	if plain, ok := strings.CutSuffix(l.s, "\r"); ok {
		l.s = plain
		if s.repair {
			s.mended(l.n, "took a carriage return off a header line")
		}
	}
	sec.header = append(sec.header, l)
	s.at++
}

func isExtended(l string) bool {
	for _, p := range []string{"index ", "old mode ", "new mode ", "new file mode ", "deleted file mode ", "copy from ", "copy to ",
		"rename from ", "rename to ", "rename old ", "rename new ", "similarity index ", "dissimilarity index "} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// binary takes all lines up to the next section. Whether they are sound is found by decoding them.
func (s *scanner) binary(sec *rawSection) error {
	for s.at < len(s.lines) && !strings.HasPrefix(s.lines[s.at].s, "diff --git ") && !isSignature(s.lines, s.at) {
		sec.binary = append(sec.binary, s.lines[s.at])
		s.at++
	}
	for n := len(sec.binary); n > 0 && sec.binary[n-1].s == ""; n-- {
		sec.binary = sec.binary[:n-1]
	}
	return nil
}

// isSignature reports whether the end of a mail begins at i: "-- ", perhaps with its blank lost, and
// a line with the version of git, or nothing.
func isSignature(lines []textLine, i int) bool {
	if l := lines[i].s; l != "-- " && l != "--" {
		return false
	}
	return i+1 >= len(lines) || lines[i+1].s != "" && lines[i+1].s[0] >= '0' && lines[i+1].s[0] <= '9'
}
