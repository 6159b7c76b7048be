package textapply

import (
	"bytes"
	"fmt"
	"strings"
)

// Nearest is the region of a file that comes closest to lines that were not found.
type Nearest struct {
	Line int // 1-based line where the region begins
	// Score is the share of the wanted lines that stand at their place in the region, 0 to 1.
	Score float64
	// DiffLine is the 1-based line of the file where the region first differs. Want is the line
	// that was looked for there, Have the one that the file has; AtEnd says that it has none.
	DiffLine   int
	Want, Have string
	AtEnd      bool
	// Kind says in words how the two differ.
	Kind string
	// Excerpt holds the lines of the file in front of the difference, at most two.
	Excerpt []string
}

const (
	// commonLine is how often a line may stand in a file to say anything about the place.
	commonLine = 200
	// leastAlike is the similarity below which two lines have nothing to do with each other.
	leastAlike = 0.5
)

// nearest looks for the region that is most like the wanted lines, at or after line from; nil
// where nothing is alike. It goes over the file once, and where no wanted line stands in it, a
// second time for the most telling line.
func nearest(t *text, want []string, from int) *Nearest {
	start, ok := voteForRegion(t, want, from)
	if !ok {
		start, ok = mostAlike(t, want, from)
	}
	if !ok {
		return nil
	}
	return describeRegion(t, want, start)
}

// loose is the form in which lines are compared here: trimmed, punctuation folded.
func loose(line []byte) []byte { return normalize(line, Punctuation) }

// voteForRegion lets every line of the file that is also wanted vote for the place where the
// region would then begin; a rare line says more than a common one.
func voteForRegion(t *text, want []string, from int) (start int, ok bool) {
	norm := normalizer{pass: Punctuation}
	var may lineFilter
	offsets := map[string][]int{}
	for k, w := range want {
		if l := norm.string(w); len(l) > 0 && len(offsets[string(l)]) < commonLine {
			offsets[string(l)] = append(offsets[string(l)], k)
			may.add(l)
		}
	}
	places := map[string][]int{}
	for i := from; i < t.Len(); i++ {
		l := norm.bytes(t.Line(i))
		if !may.have(l) {
			continue
		}
		if _, wanted := offsets[string(l)]; wanted && len(places[string(l)]) <= commonLine {
			places[string(l)] = append(places[string(l)], i)
		}
	}
	votes := map[int]region{}
	most := 0.0
	for l, at := range places {
		if len(at) > commonLine || len(at)*len(offsets[l]) > commonLine*4 {
			continue
		}
		for _, i := range at {
			for _, k := range offsets[l] {
				r, ok := votes[i-k]
				if !ok || k < r.first {
					r.first = k
				}
				r.votes += 1 / float64(len(at))
				votes[i-k] = r
				most = max(most, r.votes)
			}
		}
	}
	// Of equals the one that agrees from its beginning shows where lines were added or left out.
	first := len(want)
	for s, r := range votes {
		if r.votes > most-1e-9 && (r.first < first || r.first == first && s < start) {
			first, start = r.first, s
		}
	}
	return start, most > 0
}

// region is what speaks for a place: the votes, and the first wanted line that stands there.
type region struct {
	votes float64
	first int
}

// mostAlike looks for the line of the file that is most like the longest wanted line.
func mostAlike(t *text, want []string, from int) (start int, ok bool) {
	longest := 0
	for k, w := range want {
		if len(trimRight([]byte(w))) > len(trimRight([]byte(want[longest]))) {
			longest = k
		}
	}
	target := loose([]byte(want[longest]))
	if len(target) == 0 {
		return 0, false
	}
	best := leastAlike
	norm := normalizer{pass: Punctuation}
	for i := from; i < t.Len(); i++ {
		if a := alike(target, norm.bytes(t.Line(i))); a > best {
			best, start, ok = a, i-longest, true
		}
	}
	return start, ok
}

// alike is the share of two lines that their common beginning and end make up, 0 to 1.
func alike(a, b []byte) float64 {
	if len(a) == 0 || len(b) == 0 || len(a) > 4*len(b) || len(b) > 4*len(a) {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	m := 0
	for m < len(a) && m < len(b) && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	return 2 * float64(n+m) / float64(2*n+len(a)+len(b))
}

// describeRegion compares the wanted lines with the region that begins at a line of the file,
// which may lie partly outside of it.
func describeRegion(t *text, want []string, start int) *Nearest {
	n := &Nearest{Line: max(start, 0) + 1}
	agree, diff := 0, -1
	for k, w := range want {
		i := start + k
		if i >= 0 && i < t.Len() && bytes.Equal(loose(t.Line(i)), loose([]byte(w))) {
			agree++
		} else if diff < 0 {
			diff = k
		}
	}
	n.Score = float64(agree) / float64(len(want))
	if diff < 0 {
		diff = 0
	}
	i := start + diff
	n.DiffLine, n.Want = max(i, 0)+1, want[diff]
	switch {
	case i < 0:
		n.Have, n.Kind = string(t.Line(0)), "the file begins behind that line"
	case i >= t.Len():
		n.AtEnd, n.Kind = true, "the file ends in front of that line"
	default:
		n.Have = string(t.Line(i))
		n.Kind = differenceKind(n.Want, n.Have)
	}
	for x := max(i-2, 0); x < min(i, t.Len()); x++ {
		n.Excerpt = append(n.Excerpt, string(t.Line(x)))
	}
	return n
}

// differenceKind says how a line that was looked for differs from the one that is there.
func differenceKind(want, have string) string {
	w, h := string(loose([]byte(want))), string(loose([]byte(have)))
	switch {
	case w == "":
		return "the patch has an empty line there"
	case h == "":
		return "the file has an empty line there"
	case collapse(w) == collapse(h):
		if strings.Contains(w, "\t") != strings.Contains(h, "\t") {
			return "tabs and blanks inside the line differ"
		}
		return "blanks inside the line differ"
	case numbered(w, h):
		return "a line number was copied into the patch"
	case unescape(w) == h:
		return "the patch escapes characters that the file has plain"
	case w == unescape(h):
		return "the file escapes characters that the patch has plain"
	case unescape(w) == unescape(h):
		return "the patch and the file escape different characters"
	case strings.HasPrefix(h, w):
		return fmt.Sprintf("the file's line goes on, with %q", shortText(h[len(w):]))
	case strings.HasPrefix(w, h):
		return fmt.Sprintf("the patch's line goes on, with %q", shortText(w[len(h):]))
	case strings.EqualFold(w, h):
		return "upper and lower case differ"
	}
	return "the text differs"
}

// collapse makes every run of white space one blank.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// numbered reports whether want is have with a number and a separator in front, as a reader that
// numbers its lines shows it.
func numbered(want, have string) bool {
	rest := strings.TrimLeft(want, "0123456789")
	if len(rest) == len(want) {
		return false
	}
	rest = strings.TrimLeft(rest, " \t:|→.)-")
	return rest == have
}

// unescape takes one level of backslashes off.
func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\t`, "\t", "\\`", "`", `\$`, `$`, `\/`, `/`).Replace(s)
}

func shortText(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
