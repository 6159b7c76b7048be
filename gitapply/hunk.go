package gitapply

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

func isHunkHead(l string) bool {
	_, ok := parseHunkHead(l)
	return ok
}

// parseHunkHead reads "@@ -1,2 +3,4 @@ tail". A missing count is 1.
func parseHunkHead(l string) (rawHunk, bool) {
	rest, ok := strings.CutPrefix(l, "@@ -")
	if !ok {
		return rawHunk{}, false
	}
	m := hunkHead().FindStringSubmatch(rest)
	if m == nil {
		return rawHunk{}, false
	}
	var h rawHunk
	for i, field := range []*int{&h.oldStart, &h.oldN, &h.newStart, &h.newN} {
		n, err := strconv.Atoi(m[i+1])
		switch {
		case m[i+1] == "":
			n = 1
		case err != nil || n > 1<<30:
			return rawHunk{}, false
		}
		*field = n
	}
	h.tail = m[5]
	return h, true
}

// hunkHead is a constant in all but name, compiled when it is needed.
var hunkHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$`)
})

func (h rawHunk) String() string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@%s", h.oldStart, h.oldN, h.newStart, h.newN, h.tail)
}

// isBody reports whether a line can belong to a hunk. An empty one is a blank line of context whose
// prefix was lost.
func isBody(l string) bool { return l == "" || l == "\r" || strings.IndexByte(" +-\\", l[0]) >= 0 }

// hunk reads one hunk by its counts and makes sure that they are right.
func (s *scanner) hunk(sec *rawSection) error {
	head := s.lines[s.at]
	number := len(sec.hunks) + 1
	h, ok := parseHunkHead(strings.TrimSuffix(head.s, "\r"))
	if !ok {
		return &RefusedError{Kind: ErrCorrupt, Section: len(s.sections), Hunk: number, Line: head.n,
			Problem: "the hunk has no line numbers, so it can only be placed by its content"}
	}
	h.head = head
	if s.repair {
		h.head.s = strings.TrimSuffix(head.s, "\r")
	}
	s.at++
	body, complete := s.counted(h)
	end := s.at + len(body)
	if complete && !s.surplus(end) {
		h.body = body
	} else if err := s.recount(sec, &h, number, complete); err != nil {
		return err
	} else {
		end = s.at + len(h.body)
	}
	if o, n := s.changes(h.body); o+n == 0 {
		return &RefusedError{Kind: ErrCorrupt, Section: len(s.sections), Hunk: number, Line: head.n, Problem: "the hunk changes nothing"}
	}
	sec.hunks = append(sec.hunks, h)
	s.at = end
	return nil
}

func (s *scanner) changes(body []textLine) (removed, added int) {
	for _, l := range body {
		if strings.HasPrefix(l.s, "-") {
			removed++
		} else if strings.HasPrefix(l.s, "+") {
			added++
		}
	}
	return removed, added
}

// counted returns the lines that the counts of the header ask for, and whether they are there.
func (s *scanner) counted(h rawHunk) ([]textLine, bool) {
	end := s.at
	for oldN, newN := h.oldN, h.newN; oldN > 0 || newN > 0; end++ {
		if end >= len(s.lines) || !isBody(s.lines[end].s) {
			return s.lines[s.at:end], false
		}
		switch l := s.lines[end].s; {
		case strings.HasPrefix(l, "\\"):
		case strings.HasPrefix(l, "-"):
			oldN--
		case strings.HasPrefix(l, "+"):
			newN--
		default:
			oldN--
			newN--
		}
		if oldN < 0 || newN < 0 {
			return s.lines[s.at:end], false
		}
	}
	for end < len(s.lines) && strings.HasPrefix(s.lines[end].s, "\\") {
		end++
	}
	return s.lines[s.at:end], true
}

// surplus reports whether a line stands right behind a hunk that looks like one of its lines. git
// drops such lines in silence. Behind a blank line it may be a list in the prose around the patch,
// so there only lines that no list has count.
func (s *scanner) surplus(at int) bool {
	blank := false
	for at < len(s.lines) && (s.lines[at].s == "" || s.lines[at].s == "\r") {
		blank = true
		at++
	}
	if at >= len(s.lines) || !isBody(s.lines[at].s) || headerAt(s.lines, at) || isSignature(s.lines, at) || strings.HasPrefix(s.lines[at].s, "---") && !blank && pairAt(s.lines, at) {
		return false
	}
	l := s.lines[at].s
	if !blank {
		return true
	}
	list := strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "+ ") || strings.HasPrefix(l, "--") || l[0] == ' ' || l[0] == '\\'
	return !list
}

// recount takes all lines up to the next hunk or section, and sets the counts by them. That is
// certain only if nothing else stands in between, and if the patch was not cut off.
func (s *scanner) recount(sec *rawSection, h *rawHunk, number int, complete bool) error {
	refuse := func(line int, format string, args ...any) error {
		return &RefusedError{Kind: ErrCorrupt, Section: len(s.sections), Hunk: number, Line: line, Problem: fmt.Sprintf(format, args...)}
	}
	end := s.at
	for end < len(s.lines) && isBody(s.lines[end].s) && !headerAt(s.lines, end) && !isSignature(s.lines, end) {
		end++
	}
	body := s.lines[s.at:end]
	for n := len(body); n > 0 && (body[n-1].s == "" || body[n-1].s == "\r"); n-- {
		body = body[:n-1]
	}
	oldN, newN := count(body)
	wrong := fmt.Sprintf("the hunk's header counts %d old and %d new lines, there are %d and %d", h.oldN, h.newN, oldN, newN)
	switch {
	case !s.repair:
		return refuse(h.head.n, "%s", wrong)
	case !s.endsCleanly(end):
		return refuse(s.lines[end].n, "%s, and the line after them is no part of a diff", wrong)
	case end >= len(s.lines) && !complete && hasIndexLine(sec):
		return refuse(h.head.n, "%s: the patch was cut off", wrong)
	}
	s.mended(h.head.n, "recounted hunk %d: -%d +%d lines instead of -%d +%d", number, oldN, newN, h.oldN, h.newN)
	h.body, h.oldN, h.newN = body, oldN, newN
	if h.oldN > 0 && h.oldStart == 0 {
		h.oldStart = 1
	}
	if h.newN > 0 && h.newStart == 0 {
		h.newStart = 1
	}
	h.head.s = h.String()
	return nil
}

// endsCleanly reports whether a hunk may end before line i: at the end, or where something of a
// diff begins.
func (s *scanner) endsCleanly(i int) bool {
	if i >= len(s.lines) {
		return true
	}
	l := s.lines[i].s
	return strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "From ") ||
		headerAt(s.lines, i) || isSignature(s.lines, i) || strings.HasPrefix(l, "Index: ")
}

func count(body []textLine) (oldN, newN int) {
	for _, l := range body {
		switch {
		case strings.HasPrefix(l.s, "\\"):
		case strings.HasPrefix(l.s, "-"):
			oldN++
		case strings.HasPrefix(l.s, "+"):
			newN++
		default:
			oldN++
			newN++
		}
	}
	return oldN, newN
}

func hasIndexLine(sec *rawSection) bool {
	for _, l := range sec.header {
		if strings.HasPrefix(l.s, "index ") {
			return true
		}
	}
	return false
}
