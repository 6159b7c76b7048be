// Package merge3 merges two texts that come from a common one. It is pure: bytes in, bytes out.
//
// It merges by lines and follows "git merge-file":
//
//   - A line is the bytes up to and with an LF; a CRLF and a lone CR stay as they are. What is behind
//     the last LF is a line too, and differs from the same line with an LF.
//   - Where only one side changed base lines, its lines are taken. Where both put the same lines in the
//     place of the same base lines, these are taken once.
//   - Where changes of the two sides overlap or touch, that is, with no unchanged base line between
//     them, there is a conflict.
//   - A side that equals base changed nothing, so the other is the result, byte for byte, whatever
//     it holds. Otherwise texts with a NUL byte near the beginning are not merged.
//
// Which base lines a side changed is found by linediff. Where lines repeat, several answers can be
// right; whichever it is, a clean result holds the changes of both sides as found, each at the base
// lines it was found at.
//
// What differs from "git merge-file", all of it in texts that conflict:
//
//   - Whether the result is clean does not depend on the style. git leaves a conflict with equal
//     sides in the diff3 style that it resolves in the other.
//   - Markers grow so that no line of the contents reads as one, unless a size is asked for.
//   - A conflict of binary texts is a result, not an error.
package merge3

import (
	"bytes"

	"github.com/openoxide/oxpatch/linediff"
)

// Style is what a conflict shows.
type Style int

const (
	// StyleMerge shows ours and theirs, narrowed to where they differ from one another.
	StyleMerge Style = iota
	// StyleDiff3 shows ours, base and theirs, all lines of them that the conflict spans.
	StyleDiff3
)

// Labels stand behind the markers. An empty one leaves the marker alone; an end of line in one
// becomes a blank.
type Labels struct{ Ours, Base, Theirs string }

// Options tunes Merge. The zero value merges as git does, without labels.
type Options struct {
	Labels Labels
	Style  Style
	// MarkerSize is the length of the markers. 0 means 7, or the next length with which no line of the
	// contents could be taken for a marker.
	MarkerSize int
}

// Range is a run of lines. First counts from 1; with a Count of 0 it is the line in front of which
// the run is empty.
type Range struct{ First, Count int }

// Conflict is a place that needs a decision.
type Conflict struct {
	// Lines is where it stands in the result, markers included.
	Lines Range
	// Base, Ours and Theirs are where its sides stand in the texts. Narrowed conflicts that were one
	// have the same base lines.
	Base, Ours, Theirs Range
}

// Result is a merged text.
type Result struct {
	// Content is the text, with markers in the place of each conflict; ours if Binary. It may share
	// memory with an input.
	Content   []byte
	Conflicts []Conflict // in their order
	// Binary says that the texts were not merged because one of them is binary. The one conflict
	// spans all of them, and there are no markers.
	Binary bool
	// MarkerSize is the length of the markers, 0 if there are none.
	MarkerSize int
}

// Clean reports whether nothing needs a decision.
func (r Result) Clean() bool { return len(r.Conflicts) == 0 }

// Merge puts the changes that lead from base to theirs into ours.
func Merge(base, ours, theirs []byte, o Options) Result {
	switch {
	case bytes.Equal(ours, theirs) || bytes.Equal(base, theirs):
		return Result{Content: ours}
	case bytes.Equal(base, ours):
		return Result{Content: theirs}
	case isBinary(base) || isBinary(ours) || isBinary(theirs):
		all := whole(ours)
		return Result{Content: ours, Binary: true, Conflicts: []Conflict{
			{Lines: all, Base: whole(base), Ours: all, Theirs: whole(theirs)},
		}}
	}
	m := merger{options: o, base: text{bytes: base}, ours: text{bytes: ours}, theirs: text{bytes: theirs}}
	for _, t := range []*text{&m.base, &m.ours, &m.theirs} {
		t.Lines = m.table.Lines(t.bytes)
	}
	m.walk()
	return m.print()
}

// binaryWindow is how far git looks for a NUL byte.
const binaryWindow = 8000

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryWindow)], 0) >= 0
}

// whole is the range of all lines of a text.
func whole(content []byte) Range {
	n := bytes.Count(content, []byte{'\n'})
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return Range{First: 1, Count: n}
}

// merger is one merge on its way.
type merger struct {
	options            Options
	table              linediff.Table
	base, ours, theirs text
	parts              []part
}

// text is one of the three with its lines.
type text struct {
	bytes []byte
	linediff.Lines
}

// slice returns the bytes of some lines.
func (t text) slice(r run) []byte { return t.bytes[t.Start[r.start]:t.Start[r.end]] }

// ids returns the numbers of some lines.
func (t text) ids(r run) []int32 { return t.ID[r.start:r.end] }

// run is the lines [start, end) of a text.
type run struct{ start, end int }

func (r run) empty() bool { return r.start == r.end }

func (r run) lines() Range { return Range{First: r.start + 1, Count: r.end - r.start} }
