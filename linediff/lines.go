// Package linediff finds the lines that two texts have in common. It is pure.
//
// Lines become numbers first, so that comparing two of them costs the same however long they are.
// The rules are those by which git's default algorithm compares, so that a diff shown and a merge
// made from it come out as a git user expects:
//
//   - What both texts have in common at their ends is matched at once.
//   - A line without a counterpart takes no part in the search, and neither does a line that is
//     frequent on the other side and stands amid such lines, where a match would be chance.
//   - Between them a shortest edit script is searched for from both ends (Myers, 1986), in linear
//     space. Where that takes too many steps, the lines that occur once on each side are matched
//     first; where there are none, the search goes on from where it got furthest.
//   - A run of added or removed lines that could as well stand further up or down stands at the
//     lowest place, or at the lowest where the other text has a change too.
//
// So time is nearly linear for any input. The result is always a right one, not always the shortest.
package linediff

import (
	"bytes"
	"strings"
)

// Table gives equal lines equal numbers, counted from 0. The zero value is ready. It holds scratch
// space for comparisons too, so it serves one goroutine at a time.
type Table struct {
	ids   map[string]int32
	count [2][]int32 // per number how often it stands in the two lists at hand; all 0 in between
}

// Lines is a text as numbers, one a line.
type Lines struct {
	ID    []int32
	Start []int // offset of each line, and of the end of the text
}

// Len is the number of lines, an unfinished last one too.
func (l Lines) Len() int { return len(l.ID) }

// Lines numbers the lines of a text: the bytes up to and with each LF, and what is behind the last
// one. Lines equal in every byte have the same number in all texts of the table.
func (t *Table) Lines(text []byte) Lines {
	if t.ids == nil {
		t.ids = make(map[string]int32)
	}
	n := bytes.Count(text, []byte{'\n'}) + 1
	l := Lines{ID: make([]int32, 0, n), Start: make([]int, 1, n+1)}
	at := 0
	for line := range strings.Lines(string(text)) {
		id, ok := t.ids[line]
		if !ok {
			id = int32(len(t.ids))
			t.ids[line] = id
		}
		at += len(line)
		l.ID, l.Start = append(l.ID, id), append(l.Start, at)
	}
	return l
}

// Change is a run of old lines that a run of new lines replaces: indexes of lines, the ends
// excluded. One of the runs may be empty.
type Change struct {
	OldStart, OldEnd int
	NewStart, NewEnd int
}

// Compare returns what differs between two lists of the table's numbers, sorted. Outside the
// changes the lists are equal, and between two changes there is at least one line.
func (t *Table) Compare(old, new []int32) []Change {
	m := matching{a: old, b: new}
	m.find(t.scratch())
	slide(old, m.atA, m.atB, len(new))
	slide(new, m.atB, m.atA, len(old))
	return m.changes()
}

func (t *Table) scratch() *[2][]int32 {
	for i := range t.count {
		if n := len(t.ids) - len(t.count[i]); n > 0 {
			t.count[i] = append(t.count[i], make([]int32, n)...)
		}
	}
	return &t.count
}
