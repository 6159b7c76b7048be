package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
)

// section is a file's change as a section of a patch, with the true place of every chunk.
type section struct {
	file *file
	textapply.Section
	places []int  // 1-based lines of the file before
	raw    string // git's diff, where that is the patch
}

// render writes the commit as sections of a patch, in an order in which they can be done.
func (c *commit) render(s setting, rnd *rand.Rand) []section {
	if s.mode == modeText {
		return c.renderDiff(s.drift, rnd)
	}
	files, _ := inOrder(c.files)
	sections := make([]section, len(files))
	for i, f := range files {
		sections[i] = f.render(s, rnd)
	}
	return sections
}

// renderDiff takes git's diffs as they are, in git's order. They go with the files as they have
// drifted.
func (c *commit) renderDiff(d drift, rnd *rand.Rand) []section {
	var sections []section
	for i := range c.files {
		f := c.files[i].drifted(d, rnd)
		out := section{file: &f, Section: textapply.Section{Kind: f.kind, Path: f.old}, raw: f.raw}
		if f.kind == textapply.Update {
			for _, h := range f.hunks {
				out.Chunks = append(out.Chunks, textapply.Chunk{Lines: h.lines})
				out.places = append(out.places, h.line)
			}
		}
		sections = append(sections, out)
	}
	return sections
}

// render writes a file's change as the setting says. rnd chooses what is spelled differently.
func (f *file) render(s setting, rnd *rand.Rand) section {
	out := section{file: f, Section: textapply.Section{Kind: f.kind, Path: f.old}}
	if f.path != f.old {
		out.MoveTo = f.path
	}
	switch f.kind {
	case textapply.Add:
		out.Content = contentLines(f.after)
	case textapply.Update:
		for _, h := range f.patchHunks(s.context) {
			c := textapply.Chunk{Lines: s.perturb.spell(h.lines, rnd)}
			if scope := scopeOf(h.heading); s.scope && scope != "" {
				c.Scopes = []string{scope}
			}
			out.Chunks = append(out.Chunks, c)
			out.places = append(out.places, h.line)
		}
	}
	return out
}

func contentLines(b []byte) []string {
	var lines []string
	for line := range strings.Lines(string(b)) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// scopeOf returns a hunk heading as it can stand behind "@@". git cuts headings at 80 bytes, which
// may be within a character.
func scopeOf(heading string) string {
	for len(heading) > 0 {
		r, size := utf8.DecodeLastRuneInString(heading)
		if r != utf8.RuneError || size > 1 {
			break
		}
		heading = heading[:len(heading)-1]
	}
	if !utf8.ValidString(heading) {
		return ""
	}
	return strings.TrimRightFunc(heading, unicode.IsSpace)
}

// patchHunks returns the hunks as the patch gives them: additions without any old line get a line
// of context, and a file that is only moved gets a hunk of context, since the format asks for one.
func (f *file) patchHunks(context int) []hunk {
	lines := f.beforeLines()
	if len(f.hunks) == 0 {
		h := hunk{line: 1}
		for _, l := range lines[:min(max(context, 1), len(lines))] {
			h.lines = append(h.lines, textapply.Line{Text: l})
		}
		return []hunk{h}
	}
	used := 0 // lines of the file that the hunks so far hold or stand behind
	var out []hunk
	for _, h := range f.hunks {
		if countOld(h.lines) == 0 && len(lines) > 0 {
			h = h.anchored(lines, used)
		}
		out = append(out, h)
		used = h.line - 1 + countOld(h.lines)
	}
	return out
}

// anchored adds the line above the hunk as context, or the one below where that above is taken.
func (h hunk) anchored(lines []string, used int) hunk {
	switch above, below := h.line-1, h.line; {
	case above > used:
		h.lines = slices.Insert(slices.Clone(h.lines), 0, textapply.Line{Text: lines[above-1]})
		h.line = above
	case below <= len(lines):
		h.lines = append(slices.Clone(h.lines), textapply.Line{Text: lines[below-1]})
	}
	return h
}

func countOld(lines []textapply.Line) int {
	n := 0
	for _, l := range lines {
		if l.Op != textapply.Insert {
			n++
		}
	}
	return n
}

// beforeLines returns the lines of the file before, as a patch spells them.
func (f *file) beforeLines() []string {
	lines := contentLines(bytes.TrimPrefix(f.before, []byte(utf8BOM)))
	for i, l := range lines {
		if i < len(lines)-1 || bytes.HasSuffix(f.before, []byte{'\n'}) {
			lines[i] = strings.TrimSuffix(l, "\r")
		}
	}
	return lines
}

// patchText writes sections as one patch: an envelope, or git's diffs.
func patchText(sections []section) ([]byte, error) {
	var p textapply.Patch
	var diffs strings.Builder
	for _, s := range sections {
		diffs.WriteString(s.raw)
		p.Sections = append(p.Sections, s.Section)
	}
	if diffs.Len() > 0 {
		return []byte(diffs.String()), nil
	}
	text, err := envelope.Print(&p)
	return []byte(text), err
}

// inOrder sorts files so that each section finds what it needs when sections are done one after the
// other: deletions first, and a file that is moved away before another takes its name. ok is false
// where names are swapped, which no order of sections can do.
func inOrder(files []file) (sorted []*file, ok bool) {
	left := make([]*file, 0, len(files))
	for i := range files {
		if files[i].kind == textapply.Delete {
			sorted = append(sorted, &files[i])
		} else {
			left = append(left, &files[i])
		}
	}
	for len(left) > 0 {
		rest := left[:0:0]
		for _, f := range left {
			if slices.ContainsFunc(left, func(g *file) bool { return g != f && g.old == f.path && g.path != g.old }) {
				rest = append(rest, f)
			} else {
				sorted = append(sorted, f)
			}
		}
		if len(rest) == len(left) {
			return nil, false
		}
		left = rest
	}
	return sorted, true
}
