package gitapply

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/openoxide/oxpatch/change"
)

// finish turns the scanned sections into Sections. exists and content tell of the files beside the
// patch: content returns what stands at a path of the working tree, nil for nothing.
//
// The error is a *RefusedError that leads the others.
func (s *scanner) finish(reverse bool, exists func(string) bool, content func(string) []byte) ([]Section, error) {
	var all []Section
	var refused []*RefusedError
	for i := range s.sections {
		sec, err := s.one(i+1, reverse, exists, content)
		if err != nil {
			refused = append(refused, err)
			rough := roughly(&s.sections[i])
			sec = &rough
		}
		all = append(all, *sec)
	}
	return all, joined(refused)
}

func (s *scanner) one(number int, reverse bool, exists func(string) bool, content func(string) []byte) (*Section, *RefusedError) {
	raw := &s.sections[number-1]
	switch {
	case s.folder != "" && !raw.git:
		if refused := s.below(number, raw, exists); refused != nil {
			return nil, refused
		}
	case s.repair:
		if refused := s.addPrefixes(number, raw, exists); refused != nil {
			return nil, refused
		}
	}
	f, refused := parseOne(number, raw)
	if refused != nil {
		return nil, refused
	}
	sec := convert(f, raw)
	if refused := check(number, sec, raw); refused != nil {
		return nil, refused
	}
	if s.crlf {
		s.lineEndings(number, raw, sec, reverse, content)
	}
	sec.aim(reverse)
	sec.collect(raw, reverse)
	return sec, nil
}

// roughly describes a section that could not be read, by the names in its header.
func roughly(raw *rawSection) Section {
	h := namesOf(raw)
	sec := Section{Op: OpModify, Old: stripped(h.old), New: stripped(h.new), Plain: !raw.git, Line: raw.line, Target: guessName(raw)}
	if h.oldNull {
		sec.Op = OpAdd
	} else if h.newNull {
		sec.Op = OpDelete
	}
	return sec
}

// parseOne has go-gitdiff read one section alone, so that nothing in it can hide the next one.
func parseOne(number int, raw *rawSection) (*gitdiff.File, *RefusedError) {
	if raw.file == nil && raw.refused == nil {
		raw.file, raw.refused = parseRaw(number, raw)
	}
	return raw.file, raw.refused
}

func parseRaw(number int, raw *rawSection) (*gitdiff.File, *RefusedError) {
	refuse := func(kind error, problem string) *RefusedError {
		return &RefusedError{Kind: kind, Section: number, Line: raw.line, Problem: problem, Path: guessName(raw)}
	}
	if raw.noData {
		return nil, refuse(ErrBinary, "the patch says that the binary files differ, but not how")
	}
	if len(raw.binary) > 0 {
		if n := brokenBinary(raw.binary); n > 0 {
			e := refuse(ErrBinary, "the binary data is broken; git would drop this section and all after it")
			e.Line = n
			return nil, e
		}
	}
	files, _, err := gitdiff.Parse(strings.NewReader(canonical(raw)))
	if err != nil {
		kind := ErrCorrupt
		if len(raw.binary) > 0 {
			kind = ErrBinary
		}
		return nil, refuse(kind, strings.TrimPrefix(err.Error(), "gitdiff: "))
	}
	if len(files) != 1 {
		return nil, refuse(ErrCorrupt, "the section cannot be read")
	}
	return files[0], nil
}

// guessName is the name for messages about a section that cannot be read.
func guessName(raw *rawSection) string {
	h := namesOf(raw)
	for _, n := range []string{h.new, h.old, h.sec} {
		if n != "" {
			return stripped(n)
		}
	}
	return ""
}

// canonical writes a section in git's form, for the parser. It closes three of its traps: without a
// "diff --git" line it keeps the prefixes, a quoted name that ends in a backslash is cut short, and
// a quoted name with an octal escape over \377 is refused.
func canonical(raw *rawSection) string {
	var b strings.Builder
	if !raw.git {
		traditional(&b, raw)
	}
	for _, l := range raw.header {
		if raw.git {
			b.WriteString(octalBackslashes(l.s) + "\n")
		}
	}
	for _, h := range raw.hunks {
		b.WriteString(h.head.s + "\n")
		for _, l := range h.body {
			b.WriteString(l.s + "\n")
		}
	}
	for _, l := range raw.binary {
		b.WriteString(l.s + "\n")
	}
	if len(raw.binary) > 0 {
		b.WriteString("\n") // ends the data
	}
	return b.String()
}

// octalBackslashes spells each backslash inside the quoted names of a header line by its octal escape,
// which no parser can take for the escape of a closing quote.
func octalBackslashes(line string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case !quoted && c == '"':
			quoted = i == 0 || line[i-1] == ' '
			b.WriteByte(c)
		case quoted && c == '"':
			quoted = false
			b.WriteByte(c)
		case quoted && c == '\\' && i+1 < len(line):
			i++
			if line[i] == '\\' {
				b.WriteString(`\134`)
			} else {
				b.WriteString(line[i-1 : i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// traditional writes the header of a section that began with "---". As git does with -p1, the first
// component of each name is dropped.
func traditional(b *strings.Builder, raw *rawSection) {
	h := namesOf(raw)
	old, new := stripped(h.old), stripped(h.new)
	if h.oldNull {
		old = new
	}
	if h.newNull {
		new = old
	}
	a, z := octalBackslashes(spell("a/"+old)), octalBackslashes(spell("b/"+new))
	fmt.Fprintf(b, "diff --git %s %s\n", a, z)
	switch {
	case h.oldNull:
		fmt.Fprintf(b, "new file mode 100644\n--- /dev/null\n+++ %s\n", z)
	case h.newNull:
		fmt.Fprintf(b, "deleted file mode 100644\n--- %s\n+++ /dev/null\n", a)
	default:
		fmt.Fprintf(b, "--- %s\n+++ %s\n", a, z)
	}
}

func convert(f *gitdiff.File, raw *rawSection) *Section {
	sec := &Section{
		Old: f.OldName, New: f.NewName, OldMode: uint32(f.OldMode), NewMode: uint32(f.NewMode), Binary: f.IsBinary, Plain: !raw.git, Line: raw.line,
		oldID: f.OldOIDPrefix, newID: f.NewOIDPrefix,
	}
	switch {
	case f.IsNew:
		sec.Op, sec.Old = OpAdd, ""
	case f.IsDelete:
		sec.Op, sec.New = OpDelete, ""
	case f.IsRename:
		sec.Op = OpRename
	case f.IsCopy:
		sec.Op = OpCopy
	case len(f.TextFragments) == 0 && !f.IsBinary && f.OldMode != f.NewMode && f.NewMode != 0:
		sec.Op = OpMode
	default:
		sec.Op = OpModify
	}
	if !raw.git && sec.Op == OpAdd {
		sec.NewMode = 0
	}
	if !raw.git && sec.Op == OpDelete {
		sec.OldMode = 0
	}
	for _, h := range raw.hunks {
		sec.Hunks = append(sec.Hunks, Hunk{OldStart: h.oldStart, OldLines: h.oldN, NewStart: h.newStart, NewLines: h.newN, Line: h.head.n})
	}
	return sec
}

// check refuses a section that says nothing, or that names paths which nobody may write.
func check(number int, sec *Section, raw *rawSection) *RefusedError {
	h := namesOf(raw)
	if strings.Contains(h.old, "//") || strings.Contains(h.new, "//") {
		// Tools do not agree about what a doubled slash leaves, which may be a path from the root.
		return &RefusedError{Kind: ErrUnsafePath, Path: sec.name(), Section: number, Line: raw.line, Problem: "a doubled slash in the name"}
	}
	for _, name := range []string{sec.Old, sec.New} {
		if name == "" {
			continue
		}
		if problem := checkPath(name); problem != "" {
			return &RefusedError{Kind: ErrUnsafePath, Path: name, Section: number, Line: raw.line, Problem: problem}
		}
	}
	refuse := func(format string, args ...any) *RefusedError {
		return &RefusedError{Kind: ErrCorrupt, Path: sec.name(), Section: number, Line: raw.line, Problem: fmt.Sprintf(format, args...)}
	}
	empty := len(sec.Hunks) == 0 && !sec.Binary
	switch {
	case sec.Op == OpModify && sec.Old != sec.New:
		return refuse("the header names two files, %s and %s, but no rename", change.DisplayPath(sec.Old), change.DisplayPath(sec.New))
	case empty && sec.Op == OpModify:
		return refuse("the section has a header and no hunks")
	case empty && (sec.Op == OpAdd || sec.Op == OpDelete) && !raw.git:
		return refuse("the section has a header and no hunks")
	}
	return nil
}

func (sec *Section) name() string {
	if sec.New != "" {
		return sec.New
	}
	return sec.Old
}

// aim sets Target and Source for the direction of application.
func (sec *Section) aim(reverse bool) {
	from, to := sec.Old, sec.New
	if reverse {
		from, to = to, from
	}
	sec.Target = to
	if to == "" {
		sec.Target = from
	}
	if reverse && sec.Op == OpCopy {
		// git does not remove the copy: it edits the source, as if that were the copy.
		sec.Source = from
		return
	}
	if from != "" && from != sec.Target {
		sec.Source = from
	}
}

// collect counts the lines of the hunks and keeps them in the direction of application.
func (sec *Section) collect(raw *rawSection, reverse bool) {
	for _, h := range raw.hunks {
		for _, l := range h.body {
			switch {
			case strings.HasPrefix(l.s, "+"):
				sec.added = append(sec.added, l.s[1:])
			case strings.HasPrefix(l.s, "-"):
				sec.removed = append(sec.removed, l.s[1:])
			}
		}
	}
	sec.Added, sec.Removed = len(sec.added), len(sec.removed)
	if reverse {
		sec.added, sec.removed = sec.removed, sec.added
	}
}

// lineEndings decides whether the lines of a patch that went through CRLF had a CR before: they had
// if the file has.
func (s *scanner) lineEndings(number int, raw *rawSection, sec *Section, reverse bool, content func(string) []byte) {
	name := sec.Old
	if reverse {
		name = sec.New
	}
	if name != "" && bytes.Contains(content(name), []byte("\r\n")) {
		for i := range raw.hunks {
			for j, l := range raw.hunks[i].body {
				if !strings.HasPrefix(l.s, "\\") {
					raw.hunks[i].body[j].s += "\r"
				}
			}
		}
		return
	}
	if len(raw.hunks) > 0 {
		s.repairs = append(s.repairs, Repair{Line: sec.Line, Section: number, Message: "took the carriage returns off the lines, since the file has none"})
	}
}

// text returns what git is to read: the patch itself if nothing was mended, else its sections.
func (s *scanner) text(patch []byte) []byte {
	if len(s.repairs) == 0 && !s.moved {
		return patch
	}
	var b bytes.Buffer
	for _, sec := range s.sections {
		lines := append([]textLine(nil), sec.header...)
		for _, h := range sec.hunks {
			lines = append(append(lines, h.head), h.body...)
		}
		lines = append(lines, sec.binary...)
		for _, l := range lines {
			b.WriteString(l.s + "\n")
		}
		if len(sec.binary) > 0 {
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}
