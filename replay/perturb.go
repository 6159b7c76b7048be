package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/textapply"
)

// perturbation is a way in which models misspell the old side of a hunk.
type perturbation string

const (
	perturbNone   perturbation = "none"
	perturbSpace  perturbation = "space"
	perturbIndent perturbation = "indent"
	perturbTypo   perturbation = "typo"
)

func (p perturbation) known() bool {
	switch p {
	case perturbNone, perturbSpace, perturbIndent, perturbTypo:
		return true
	}
	return false
}

// spell returns the lines of a hunk in the perturbed spelling. Added lines change only with the
// indentation.
func (p perturbation) spell(lines []textapply.Line, rnd *rand.Rand) []textapply.Line {
	if p == perturbNone {
		return lines
	}
	out := append([]textapply.Line(nil), lines...)
	indent := ""
	if p == perturbIndent {
		indent = commonIndent(lines)
	}
	for i := range out {
		l := &out[i]
		switch {
		case p == perturbIndent:
			if hasText(l.Text) {
				l.Text = l.Text[len(indent):]
			}
		case l.Op == textapply.Insert || rnd.IntN(2) == 0:
		case p == perturbSpace:
			l.Text = otherTrailing(l.Text, rnd)
		case p == perturbTypo:
			l.Text = otherPunctuation(l.Text)
		}
	}
	return out
}

func hasText(s string) bool { return strings.TrimSpace(s) != "" }

// commonIndent returns the blanks and tabs that all lines with text begin with; "" where no old
// line has text, since nothing would tell then how deep the added ones belong.
func commonIndent(lines []textapply.Line) string {
	common, first := "", true
	if !slices.ContainsFunc(lines, func(l textapply.Line) bool { return l.Op != textapply.Insert && hasText(l.Text) }) {
		return ""
	}
	for _, l := range lines {
		if !hasText(l.Text) {
			continue
		}
		indent := l.Text[:len(l.Text)-len(strings.TrimLeft(l.Text, " \t"))]
		if first {
			common, first = indent, false
		}
		for !strings.HasPrefix(indent, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}

// otherTrailing drops the blanks at the end of a line, or adds some where there are none.
func otherTrailing(s string, rnd *rand.Rand) string {
	if trimmed := strings.TrimRight(s, " \t"); trimmed != s {
		return trimmed
	}
	return s + []string{" ", "  ", "\t"}[rnd.IntN(3)]
}

var (
	toTypographic = strings.NewReplacer("'", "\u2019", `"`, "\u201d", "-", "\u2013")
	toASCII       = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
		"\u2013", "-", "\u2014", "-", "\u2212", "-", "\u00a0", " ")
)

// otherPunctuation writes typographic quotes and dashes in ASCII, or else the other way round.
func otherPunctuation(s string) string {
	if ascii := toASCII.Replace(s); ascii != s {
		return ascii
	}
	return toTypographic.Replace(s)
}
