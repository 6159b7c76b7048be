package textapply

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// shift adapts the added lines of a chunk whose old lines fit only after trimming. Where every old
// line lacks the same white space that the file has in front of it, the added lines were written
// without it too, and get it; but not where they were written with it. Where every old line has too
// much of the same, the added lines lose it. If the old lines are not all shifted alike, the added
// lines stay as they are, and that is reported; but where the old lines have blanks for the file's tabs, or
// tabs for its blanks, so many each, the added lines are converted too.
func (pl *placement) shift(t *text) {
	if !addsTextTo(pl.lines) {
		return
	}
	add, drop, uniform := pl.shiftOf(t)
	switch {
	case !uniform:
		pl.convert(t)
	case drop != "" && !allBeginWith(pl.lines, drop):
		pl.uneven = true
	case drop != "":
		pl.lines = mapInserted(pl.lines, func(s string) string { return s[len(drop):] })
		pl.match = matchShifted
	case add == "":
	default:
		pl.loss = loss{indent: add, written: pl.lines, all: !allBeginWith(pl.lines, add)}
		pl.loss.without, pl.loss.sure = pl.reading(add)
		pl.read(pl.loss.all, pl.loss.without)
	}
}

// loss is what a chunk shows of the indentation that its old lines lost.
type loss struct {
	indent  string // what they lack; "" for nothing
	written []Line // the chunk's lines as the patch has them
	all     bool   // some added line lacks it too, so that the chunk lost it as a whole
	without int    // how many more runs of added lines look written without it than with it
	sure    bool   // all of them do, clearly
}

// read decides whether the added lines were written without what the old lines lack, by whether that is plain
// and else by what more of them look like.
func (pl *placement) read(plain bool, without int) {
	l := &pl.loss
	pl.lines, pl.match = l.written, ""
	pl.kept = !plain && (without < 0 || without == 0 && atMargin(l.written))
	pl.doubtful = !plain && !l.sure || l.all && l.without < 0
	if !pl.kept {
		pl.lines = mapInserted(pl.lines, func(s string) string { return l.indent + s })
		pl.match = matchShifted
	}
}

// agree lets the chunks of a section be read alike: who left the indentation out of one hunk's added lines
// did so in all that lost it, and who wrote blanks for tabs in one did so where no old line has any.
func agree(placed []*placement) {
	plain, without := false, 0
	var u units
	for _, pl := range placed {
		switch {
		case pl == nil:
		case pl.loss.indent != "":
			plain = plain || pl.loss.all && pl.loss.without >= 0
			without += pl.loss.without
		case pl.units.patch != "":
			u = pl.units
		}
	}
	for _, pl := range placed {
		switch {
		case pl == nil:
		case pl.loss.indent != "":
			pl.read(plain || pl.loss.all, without)
		case u.patch != "" && pl.units.patch == "" && atMargin(pl.lines):
			pl.inUnits(u)
		}
	}
}

// shiftOf compares the indentation of the old lines with that of the file's: add is what the old
// lines lack, drop what they have too much.
func (pl *placement) shiftOf(t *text) (add, drop string, uniform bool) {
	at, first := pl.at, true
	for _, l := range pl.lines {
		if l.Op == Insert {
			continue
		}
		have, want := indentation(t.Line(at)), indentation([]byte(l.Text))
		at++
		if !hasText(l.Text) {
			continue
		}
		a, d := "", ""
		switch {
		case strings.HasSuffix(have, want):
			a = have[:len(have)-len(want)]
		case strings.HasSuffix(want, have):
			d = want[:len(want)-len(have)]
		default:
			return "", "", false
		}
		if !first && (a != add || d != drop) {
			return "", "", false
		}
		add, drop, first = a, d, false
	}
	return add, drop, true
}

// reading judges added lines that all begin with what the old lines lack. They may have been written
// without it too, and be that much deeper than their surroundings, or have the file's indentation. Each
// run of them is compared with the old lines, once as these are written and once as they stand in the file.
// It returns how many runs more speak for the first than for the second, and whether all do so clearly.
func (pl *placement) reading(lacking string) (without int, sure bool) {
	sure = true
	for i := 0; i < len(pl.lines); i++ {
		if pl.lines[i].Op != Insert {
			continue
		}
		end := i
		for end < len(pl.lines) && pl.lines[end].Op == Insert {
			end++
		}
		if depth, ok := leastIndent(pl.lines[i:end]); ok {
			asWritten, asInFile := pl.fit(i, end, depth, ""), pl.fit(i, end, depth, lacking)
			without += cmp.Compare(asWritten, asInFile)
			sure = sure && asWritten == fitsReplaced && asInFile <= fitsSome
		}
		i = end
	}
	return without, sure
}

// How well added lines go with the old lines around them, worst to best.
const (
	fitsNothing = iota
	fitsSome    // as deep as any old line
	fitsAbove   // as the neighbour above, or one step into the block that it opens
	fitsReplaced
)

// leastIndent returns the shortest indentation among lines with text.
func leastIndent(lines []Line) (indent string, ok bool) {
	for _, l := range lines {
		if in := indentation([]byte(l.Text)); hasText(l.Text) && (!ok || len(in) < len(indent)) {
			indent, ok = in, true
		}
	}
	return indent, ok
}

// fit says how well a run of added lines of a depth goes with the old lines, if those have more in front of
// what the patch says.
func (pl *placement) fit(from, end int, depth, more string) int {
	above, below := from, end
	for above > 0 && pl.lines[above-1].Op == Remove {
		above--
	}
	for below < len(pl.lines) && pl.lines[below].Op == Remove {
		below++
	}
	old := func(l Line) bool { return l.Op != Insert && hasText(l.Text) }
	in := func(l Line) string { return more + indentation([]byte(l.Text)) }
	replaced := append(pl.lines[above:from:from], pl.lines[end:below]...)
	if least, ok := leastIndent(replaced); ok && depth == more+least {
		return fitsReplaced
	}
	for above--; above >= 0 && !old(pl.lines[above]); above-- {
	}
	if above >= 0 && goesBelow(depth, in(pl.lines[above]), opens(pl.lines[above].Text)) {
		return fitsAbove
	}
	if slices.ContainsFunc(pl.lines, func(l Line) bool { return old(l) && depth == in(l) }) {
		return fitsSome
	}
	return fitsNothing
}

// goesBelow reports whether a line of a depth goes below one of another, which may open a block.
func goesBelow(depth, above string, opened bool) bool {
	if !opened {
		return depth == above
	}
	return strings.HasPrefix(depth, above) && isOneStep(depth[len(above):])
}

// isOneStep reports whether white space is what one level of indentation adds: a tab, or up to eight blanks.
func isOneStep(s string) bool {
	return s == "\t" || s != "" && len(s) <= 8 && strings.Trim(s, " ") == ""
}

// opens reports whether a line ends as lines do that open a block.
func opens(line string) bool {
	b := trimRight([]byte(line))
	return len(b) > 0 && strings.IndexByte("{([:", b[len(b)-1]) >= 0
}

// indentation returns the blanks and tabs at the start of a line.
func indentation(line []byte) string {
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// allBeginWith reports whether every added line that is not blank begins with the white space.
func allBeginWith(lines []Line, indent string) bool {
	for _, l := range lines {
		if l.Op == Insert && hasText(l.Text) && !strings.HasPrefix(l.Text, indent) {
			return false
		}
	}
	return true
}

func hasText(s string) bool { return len(trimRight([]byte(s))) > 0 }

func addsTextTo(lines []Line) bool {
	for _, l := range lines {
		if l.Op == Insert && hasText(l.Text) {
			return true
		}
	}
	return false
}

// mapInserted changes the added lines that are not blank.
func mapInserted(lines []Line, f func(string) string) []Line {
	out := append([]Line(nil), lines...)
	for i, l := range out {
		if l.Op == Insert && hasText(l.Text) {
			out[i].Text = f(l.Text)
		}
	}
	return out
}

// atMargin reports whether no old line shows any indentation.
func atMargin(lines []Line) bool {
	for _, l := range lines {
		if l.Op != Insert && hasText(l.Text) && indentation([]byte(l.Text)) != "" {
			return false
		}
	}
	return true
}

// convert gives added lines the file's tabs or blanks where all old lines have the other.
func (pl *placement) convert(t *text) {
	if pl.units = pl.unitsOf(t); pl.units.patch == "" {
		pl.uneven = true
		return
	}
	pl.inUnits(pl.units)
}

// units are what one level of indentation is in the patch and in the file.
type units struct{ patch, file string }

func (pl *placement) inUnits(u units) {
	pl.lines = mapInserted(pl.lines, func(s string) string {
		levels := 0
		for strings.HasPrefix(s, u.patch) {
			s = s[len(u.patch):]
			levels++
		}
		if levels > 0 {
			pl.match = matchShifted
		}
		return strings.Repeat(u.file, levels) + s
	})
}

// unitsOf returns the units if one side has a tab for a level and the other a number of blanks, the same in all
// old lines; else none.
func (pl *placement) unitsOf(t *text) (u units) {
	at := pl.at
	for _, l := range pl.lines {
		if l.Op == Insert {
			continue
		}
		have, want := indentation(t.Line(at)), indentation([]byte(l.Text))
		at++
		if !hasText(l.Text) || have == "" && want == "" {
			continue
		}
		between := unitsBetween(want, have)
		if between.patch == "" || u.patch != "" && u != between {
			return units{}
		}
		u = between
	}
	return u
}

// unitsBetween returns the units of two indentations of the same depth, one of tabs and one of blanks.
func unitsBetween(patch, file string) units {
	const tab = "\t"
	switch {
	case strings.Trim(file, tab) == "" && strings.Trim(patch, " ") == "":
		if unit := blanksPerTab(len(patch), len(file)); unit != "" {
			return units{unit, tab}
		}
	case strings.Trim(patch, tab) == "" && strings.Trim(file, " ") == "":
		if unit := blanksPerTab(len(file), len(patch)); unit != "" {
			return units{tab, unit}
		}
	}
	return units{}
}

// blanksPerTab returns the blanks for one of the tabs; "" where that is no number from two to eight.
func blanksPerTab(blanks, tabs int) string {
	if tabs == 0 || blanks%tabs != 0 || blanks/tabs < 2 || blanks/tabs > 8 {
		return ""
	}
	return strings.Repeat(" ", blanks/tabs)
}
