package textapply

import (
	"bytes"
	"strings"
)

// shift adapts the added lines of a chunk whose old lines fit only after trimming. Where every old
// line lacks the same white space that the file has in front of it, the added lines were written
// without it too, and get it; but not where they were written with it. Where every old line has too
// much of the same, the added lines lose it. If the old lines are not all shifted alike, the added
// lines stay as they are, and that is reported.
func (pl *placement) shift(t *text) {
	if !addsTextTo(pl.lines) {
		return
	}
	add, drop, uniform := pl.shiftOf(t)
	switch {
	case !uniform, drop != "" && !allBeginWith(pl.lines, drop):
		pl.uneven = true
	case drop != "":
		pl.lines = mapInserted(pl.lines, func(s string) string { return s[len(drop):] })
		pl.match = matchShifted
	case add == "":
	case allBeginWith(pl.lines, add) && atMargin(pl.lines) && !pl.writtenWithout(add):
		pl.kept = true
	default:
		pl.lines = mapInserted(pl.lines, func(s string) string { return add + s })
		pl.match = matchShifted
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

// writtenWithout judges added lines that all begin with what the old lines lack. They may have been
// written with the file's indentation, or without it and be that much deeper than their
// surroundings. The first line of a run tells: it follows a line that opens a block and would else
// stand no deeper than that line.
func (pl *placement) writtenWithout(lacking string) bool {
	before := -1
	for i, l := range pl.lines {
		if l.Op == Insert && hasText(l.Text) {
			if before < 0 || pl.lines[before].Op == Insert {
				continue
			}
			opener := pl.lines[before]
			inFile := lacking + indentation([]byte(opener.Text))
			if opener.Op == Context && opens(opener.Text) && indentation([]byte(l.Text)) == inFile {
				return true
			}
		}
		if hasText(l.Text) {
			before = i
		}
	}
	return false
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
