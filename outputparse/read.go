package outputparse

import "strings"

// Finding is one message that was recognised.
type Finding struct {
	Message
	// Paths are the names it is about: none for a message about the whole patch, two for one
	// about a rename. Known names are given as the caller gave them, others with the quoting
	// taken off.
	Paths []string
	// Line is the text as printed, without the line feed; a name with a line feed in it is part
	// of it.
	Line string
}

// Read recognises the messages in one stream of git's output, in order. Lines that are no message
// are left out, and so is the text of the patch where git quotes it.
//
// Where known is not empty, only those names are found, compared byte for byte in raw and in quoted
// form: a message about another name gives nothing. Otherwise a name is what stands in its place on
// the line.
func Read(output []byte, known []string) []Finding {
	r := reader{text: string(output), rows: compile(), names: newNames(known)}
	for r.text != "" {
		r.step()
	}
	return r.found
}

type reader struct {
	text     string
	rows     []*matcher
	names    names
	lastSeen []string
	found    []Finding
}

// step reads one message, or passes over one line.
func (r *reader) step() {
	line, rest, _ := strings.Cut(r.text, "\n")
	plain := strings.TrimSuffix(line, "\r")
	lower := strings.ToLower(strings.Join(strings.Fields(plain), " "))
	for _, row := range r.rows {
		if !row.possible(lower, r.names.multiline) {
			continue
		}
		paths, used, ok := r.match(row, plain)
		if !ok {
			continue
		}
		if used > 0 {
			line, rest = r.text[:used], strings.TrimPrefix(r.text[used:], "\n")
		}
		r.take(row, paths, line)
		r.text = passOver(rest, row.Follow)
		return
	}
	r.text = rest
}

// match tries one row at the current line. used is how much of the text the message takes where
// that is not just the line.
func (r *reader) match(row *matcher, line string) (paths []string, used int, ok bool) {
	row.ready()
	m := row.line.FindStringSubmatch(line)
	if !row.hasPath {
		return nil, 0, m != nil
	}
	if !r.names.given() {
		if m == nil {
			return nil, 0, false
		}
		return split(m[1]), 0, true
	}
	if m != nil {
		if paths := r.names.lookup(m[1]); paths != nil {
			return paths, 0, true
		}
	}
	head := row.head.FindString(r.text)
	if head == "" && !row.head.MatchString(r.text) {
		return nil, 0, false
	}
	return r.search(row, len(head))
}

// search looks for a known name at offset at, followed by what the row wants behind it.
func (r *reader) search(row *matcher, at int) ([]string, int, bool) {
	var best string
	used := 0
	for _, name := range r.names.odd[beginning(r.text[at:])] {
		if !strings.HasPrefix(r.text[at:], name) || len(name) < len(best) {
			continue
		}
		end := at + len(name)
		if tail := row.tail.FindString(r.text[end:]); tail != "" || row.tail.MatchString(r.text[end:]) {
			best, used = name, end+len(strings.TrimSuffix(tail, "\n"))
		}
	}
	if best == "" {
		return nil, 0, false
	}
	return r.names.lookup(best), used, true
}

func (r *reader) take(row *matcher, paths []string, line string) {
	if row.hasPath {
		r.lastSeen = paths
	} else if row.Class != Whole && row.Meaning != "" {
		paths = r.lastSeen
	}
	r.found = append(r.found, Finding{Message: row.Message, Paths: paths, Line: strings.TrimSuffix(line, "\r")})
}

// passOver drops the lines that quote the patch.
func passOver(text string, follow int) string {
	for ; follow > 0; follow-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	if follow == untilFailed {
		const end = "error: patch failed: "
		if strings.HasPrefix(text, end) {
			return text
		}
		if i := strings.Index(text, "\n"+end); i >= 0 {
			return text[i+1:]
		}
	}
	return text
}

// split takes the quoting off a name, and takes "OLD => NEW" apart.
func split(name string) []string {
	name = strings.TrimSpace(name)
	if len(name) > 2 && name[0] == '\'' && name[len(name)-1] == '\'' {
		name = name[1 : len(name)-1]
	}
	if old, new, ok := strings.Cut(name, " => "); ok {
		return []string{Unquote(old), Unquote(new)}
	}
	return []string{Unquote(name)}
}
