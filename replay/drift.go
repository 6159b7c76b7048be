package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/textapply"
)

// drift is what has happened to the files since the commit that a diff was made against.
type drift string

const (
	driftNone    drift = "none"
	driftApart   drift = "apart"   // lines outside of the hunks
	driftOverlap drift = "overlap" // lines anywhere
)

func (d drift) known(m mode) bool {
	return d == driftNone || d == driftApart || d == driftOverlap && m == modeGit
}

// drifted returns the file with lines changed that its hunks do not hold, the same before and after
// the commit. Other files come back as they are.
func (f file) drifted(d drift, rnd *rand.Rand) file {
	if d != driftApart || !f.editable() {
		return f
	}
	before, after := splitLines(f.before), splitLines(f.after)
	free := len(before)
	for _, h := range f.hunks {
		free -= countOld(h.lines)
	}
	c := changer{rnd: rnd, lines: before, of: max(free, 1), edits: 1 + rnd.IntN(4)}
	var old, new []string
	hunks := slices.Clone(f.hunks)
	i, j := 0, 0
	gap := func(to int) {
		changed := c.change(before[i:to])
		old, new = append(old, changed...), append(new, changed...)
		j += to - i
		i = to
	}
	for k, h := range f.hunks {
		gap(h.line - 1)
		o, n := countOld(h.lines), countNew(h.lines)
		hunks[k].line = len(old) + 1
		old, new = append(old, before[i:i+o]...), append(new, after[j:j+n]...)
		i, j = i+o, j+n
	}
	gap(len(before))
	f.before, f.after, f.hunks = []byte(strings.Join(old, "")), []byte(strings.Join(new, "")), hunks
	return f
}

// editable reports whether the file stands before the commit and is one of text.
func (f file) editable() bool {
	return f.kind != textapply.Add && (f.oldMode == modePlain || f.oldMode == modeExecutable) &&
		bytes.IndexByte(f.before, 0) < 0 && f.diffIsKnown()
}

// diffIsKnown reports whether the hunks are the whole change: between files with hunks or of the
// same content.
func (f file) diffIsKnown() bool { return len(f.hunks) > 0 || bytes.Equal(f.before, f.after) }

func splitLines(b []byte) []string {
	return slices.Collect(strings.Lines(string(b)))
}

func countNew(lines []textapply.Line) int {
	n := 0
	for _, l := range lines {
		if l.Op != textapply.Remove {
			n++
		}
	}
	return n
}

// changer changes about so many edits of so many lines.
type changer struct {
	rnd       *rand.Rand
	lines     []string // of the whole file
	edits, of int
}

// change returns lines with some of them changed, dropped, or others in front of them. The last line
// of a file that has no terminator stays.
func (c changer) change(lines []string) []string {
	var out []string
	for _, l := range lines {
		text, ok := strings.CutSuffix(l, "\n")
		if !ok || c.rnd.IntN(c.of) >= c.edits {
			out = append(out, l)
			continue
		}
		end := "\n"
		if strings.HasSuffix(text, "\r") {
			text, end = text[:len(text)-1], "\r\n"
		}
		switch c.rnd.IntN(4) {
		case 0:
			out = append(out, text+" drift"+end)
		case 1: // dropped
		case 2:
			out = append(out, fmt.Sprintf("drift %d%s", c.rnd.IntN(1000), end), l)
		default: // a line that makes others ambiguous
			if other := c.lines[c.rnd.IntN(len(c.lines))]; strings.HasSuffix(other, "\n") {
				out = append(out, other)
			}
			out = append(out, l)
		}
	}
	return out
}

// trees returns the files of the parent commit and what has become of them.
func (c *commit) trees(d drift, rnd *rand.Rand) (parent, now tree) {
	parent, now = tree{}, tree{}
	for name, e := range c.around {
		parent[name], now[name] = e, e
	}
	for _, f := range c.files {
		if f.kind == textapply.Add {
			continue
		}
		parent[f.old] = entry{f.oldMode, f.before}
		now[f.old] = entry{f.oldMode, f.moved(d, rnd)}
	}
	if d == driftOverlap {
		c.add(now, rnd)
	}
	return parent, now
}

// moved returns the content that a file has drifted to.
func (f file) moved(d drift, rnd *rand.Rand) []byte {
	if d != driftOverlap {
		return f.drifted(d, rnd).before
	}
	if !f.editable() {
		return f.before
	}
	lines := splitLines(f.before)
	if len(lines) == 0 {
		return f.before
	}
	// Most of the edits are to be where the hunks are, and these are but few lines of the file.
	near := changer{rnd: rnd, lines: lines, edits: 1 + rnd.IntN(3), of: 30}
	far := changer{rnd: rnd, lines: lines, edits: 1 + rnd.IntN(4), of: len(lines)}
	var out []string
	i := 0
	for _, h := range f.hunks {
		out = append(out, far.change(lines[i:h.line-1])...)
		i = h.line - 1 + countOld(h.lines)
		out = append(out, near.change(lines[h.line-1:i])...)
	}
	out = append(out, far.change(lines[i:])...)
	return []byte(strings.Join(out, ""))
}

// add puts some of the files that the commit adds where they will be, one half of them changed.
func (c *commit) add(now tree, rnd *rand.Rand) {
	for _, f := range c.files {
		if f.kind != textapply.Add || rnd.IntN(4) > 0 || f.newMode == modeSubmodule || !roomFor(now, f.path) {
			continue
		}
		e := entry{f.newMode, f.after}
		if lines := splitLines(f.after); len(lines) > 0 && f.newMode != modeLink && rnd.IntN(2) == 0 {
			e.data = []byte(strings.Join(changer{rnd: rnd, lines: lines, edits: 3, of: len(lines)}.change(lines), ""))
		}
		now[f.path] = e
	}
}

// roomFor reports whether a file can stand at a name: no file is in the place of a folder above it,
// and no folder in its own.
func roomFor(t tree, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := t[dir]; ok {
			return false
		}
	}
	for other := range t {
		if strings.HasPrefix(other, name+"/") {
			return false
		}
	}
	return true
}
