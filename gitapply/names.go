package gitapply

import (
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/outputparse"
)

const devNull = "/dev/null"

const prefixHint = "write a/ and b/ in front of the names"

// headerNames are the names of a header as they are spelt, prefixes included, quoting taken off.
// A side that is /dev/null or not named is "".
type headerNames struct {
	old, new   string // from the "---" and "+++" lines
	first, sec string // the halves of the "diff --git" line, where they can be told apart
	pair       bool   // there are "---" and "+++" lines
	oldNull    bool
	newNull    bool
}

func namesOf(sec *rawSection) headerNames {
	var h headerNames
	for _, l := range sec.header {
		if rest, ok := strings.CutPrefix(l.s, "diff --git "); ok {
			h.first, h.sec = halves(rest)
		} else if rest, ok := strings.CutPrefix(l.s, "--- "); ok {
			h.pair = true
			h.old, h.oldNull = sideName(rest, sec.git)
		} else if rest, ok := strings.CutPrefix(l.s, "+++ "); ok {
			h.new, h.newNull = sideName(rest, sec.git)
		}
	}
	return h
}

// sideName reads the name on a "---" or "+++" line: up to a tab, behind which other tools put the
// time. The beginning of Unix time there means that the file does not exist.
func sideName(s string, git bool) (name string, null bool) {
	if strings.HasPrefix(s, `"`) {
		if end := strings.LastIndexByte(s, '"'); end > 0 {
			s = s[:end+1]
		}
		name = outputparse.Unquote(s)
		return name, name == devNull
	}
	name, stamp, _ := strings.Cut(s, "\t")
	name = strings.TrimRight(name, " ")
	if git {
		name = strings.TrimSuffix(s, "\t") // git itself writes a tab behind a name with blanks
		name, _, _ = strings.Cut(name, "\t")
	}
	if name == devNull || !git && (strings.HasPrefix(stamp, "1970-01-01 00:00:00") || strings.HasPrefix(stamp, "1969-12-31 ")) {
		return "", true
	}
	return name, false
}

// halves cuts the names of a "diff --git" line apart where they are quoted or spelt alike; other
// lines cannot be cut for certain.
func halves(s string) (string, string) {
	if strings.Contains(s, `"`) {
		first, rest := token(s)
		second, rest := token(strings.TrimPrefix(rest, " "))
		if rest == "" {
			return first, second
		}
		return "", ""
	}
	if n := len(s); n%2 == 1 && s[n/2] == ' ' && s[:n/2] == s[n/2+1:] {
		return s[:n/2], s[n/2+1:]
	}
	if strings.Count(s, " ") == 1 {
		a, b, _ := strings.Cut(s, " ")
		return a, b
	}
	return "", ""
}

func token(s string) (name, rest string) {
	if !strings.HasPrefix(s, `"`) {
		name, rest, _ = strings.Cut(s, " ")
		return name, rest
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return outputparse.Unquote(s[:i+1]), s[i+1:]
		}
	}
	return s, ""
}

// candidates returns every path that the header may mean, with its prefix taken as one and not.
func (h headerNames) candidates() []string {
	var all []string
	for _, n := range []string{h.old, h.new, h.first, h.sec} {
		if n == "" {
			continue
		}
		all = append(all, n)
		if s := stripped(n); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// stripped takes the first component off, "" if there is only one.
func stripped(name string) string {
	_, rest, _ := strings.Cut(name, "/")
	return rest
}

// bare says whether the names are spelt without the a/ and b/ that git puts in front: then both
// sides are alike, or a single side begins with something that no tool uses as a prefix.
func (h headerNames) bare(sec *rawSection) bool {
	switch {
	case sec.git && h.first != "" && renamesBare(sec, h.first):
		return true
	case h.pair && h.old != "" && h.new != "":
		return h.old == h.new
	case sec.git && h.first != "":
		return h.first == h.sec
	case h.old+h.new != "":
		first, _, nested := strings.Cut(h.old+h.new, "/")
		return !nested || len(first) != 1 || !strings.Contains("abciow12", first)
	}
	return false
}

// renamesBare reports whether a rename or copy gives the same name as the "diff --git" line: there
// it is without a prefix always.
func renamesBare(sec *rawSection, first string) bool {
	for _, l := range sec.header {
		for _, p := range []string{"rename from ", "copy from "} {
			if rest, ok := strings.CutPrefix(l.s, p); ok {
				return outputparse.Unquote(rest) == first
			}
		}
	}
	return false
}

// addPrefixes rewrites a header without prefixes, if the tree shows that they are missing. git would
// take the first folder for one and go to another file, or to none.
func (s *scanner) addPrefixes(number int, sec *rawSection, exists func(string) bool) *RefusedError {
	h := namesOf(sec)
	if !h.bare(sec) {
		return nil
	}
	name := h.old
	if name == "" {
		name = h.new
	}
	if !h.pair {
		name = h.first
	}
	adds := h.pair && h.old == "" || hasLine(sec, "new file mode ")
	short := stripped(name)
	full, cut := exists(name), short != "" && exists(short)
	first, _, _ := strings.Cut(name, "/")
	switch {
	case full && cut:
		return &RefusedError{Kind: ErrWhichFile, Section: number, Line: sec.line, Path: name,
			Problem: fmt.Sprintf("the header has no a/ and b/ prefixes, and both %s and %s exist", change.DisplayPath(name), change.DisplayPath(short)),
			Hint:    prefixHint}
	case cut, !full && !adds && short != "", !full && (first == "a" || first == "b") && short != "":
		return nil
	}
	s.repairs = append(s.repairs, Repair{Line: sec.line, Section: number, Message: "put the prefixes a/ and b/ before the names"})
	prefix(sec, h)
	return nil
}

func hasLine(sec *rawSection, prefix string) bool {
	for _, l := range sec.header {
		if strings.HasPrefix(l.s, prefix) {
			return true
		}
	}
	return false
}

func prefix(sec *rawSection, h headerNames) {
	sec.file, sec.refused = nil, nil
	for i, l := range sec.header {
		switch {
		case strings.HasPrefix(l.s, "diff --git "):
			if h.first != "" {
				sec.header[i].s = "diff --git " + spell("a/"+h.first) + " " + spell("b/"+h.sec)
			}
		case strings.HasPrefix(l.s, "--- ") && h.old != "":
			sec.header[i].s = "--- " + spell("a/"+h.old)
		case strings.HasPrefix(l.s, "+++ ") && h.new != "":
			sec.header[i].s = "+++ " + spell("b/"+h.new)
		}
	}
}

// spell writes a name for a header: quoted if it must be, with a tab behind it if it has blanks
// (but only where it ends the line, which the callers see to).
func spell(name string) string {
	if change.NeedsQuote(name) {
		return change.Quote(name)
	}
	return name
}

// checkPath refuses names that lead out of the tree or into a git directory. git refuses more of
// them, in spellings that only some file systems take for ".git".
func checkPath(name string) string {
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsRune(name, 0) {
		return "not a path inside the tree"
	}
	for _, c := range strings.Split(name, "/") {
		switch {
		case c == "" || c == "." || c == "..":
			return "not a path inside the tree"
		case strings.EqualFold(strings.TrimRight(c, " ."), ".git") || strings.EqualFold(c, "git~1"):
			return "inside a git directory"
		}
	}
	return ""
}
