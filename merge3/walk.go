package merge3

import (
	"slices"

	"github.com/openoxide/oxpatch/linediff"
)

// part is a place that the sides do not agree on.
type part struct {
	base, ours, theirs run
	kind               kind
}

// kind says what stands in the result.
type kind int

const (
	takeOurs kind = iota
	takeTheirs
	conflict
)

// side is the changes of one text that are still to come.
type side struct {
	changes []linediff.Change
	shift   int // line in the text minus line in base, behind the last change taken
}

// take moves past the first change.
func (s *side) take() {
	c := s.changes[0]
	s.changes, s.shift = s.changes[1:], c.NewEnd-c.OldEnd
}

// reaches reports whether the next change begins at a base line or in front of it.
func (s *side) reaches(line int) bool { return len(s.changes) > 0 && s.changes[0].OldStart <= line }

// walk finds the parts. Changes of the two sides that overlap or touch are looked at together.
func (m *merger) walk() {
	ours := side{changes: m.table.Compare(m.base.ID, m.ours.ID)}
	theirs := side{changes: m.table.Compare(m.base.ID, m.theirs.ID)}
	for len(ours.changes)+len(theirs.changes) > 0 {
		p := part{}
		p.base.start = min(next(ours), next(theirs))
		p.base.end = p.base.start
		p.ours.start, p.theirs.start = p.base.start+ours.shift, p.base.start+theirs.shift
		byOurs, byTheirs := false, false
		for {
			// An end that grows can bring the next change of the other side within reach.
			if ours.reaches(p.base.end) {
				p.base.end, byOurs = max(p.base.end, ours.changes[0].OldEnd), true
				ours.take()
			} else if theirs.reaches(p.base.end) {
				p.base.end, byTheirs = max(p.base.end, theirs.changes[0].OldEnd), true
				theirs.take()
			} else {
				break
			}
		}
		p.ours.end, p.theirs.end = p.base.end+ours.shift, p.base.end+theirs.shift
		switch {
		case byOurs && byTheirs:
			m.both(p)
		case byTheirs:
			p.kind = takeTheirs
			fallthrough
		default:
			m.parts = append(m.parts, p)
		}
	}
	if m.options.Style == StyleMerge {
		m.join()
	}
}

// next is the base line of the next change, beyond any line if there is none.
func next(s side) int {
	if len(s.changes) == 0 {
		return int(^uint(0) >> 1)
	}
	return s.changes[0].OldStart
}

// both adds a part that both sides changed: nothing where they agree, else one conflict or, in the
// merge style, one for each stretch in which ours and theirs differ.
func (m *merger) both(p part) {
	ours, theirs := m.ours.ids(p.ours), m.theirs.ids(p.theirs)
	if slices.Equal(ours, theirs) {
		return
	}
	p.kind = conflict
	if m.options.Style != StyleMerge || p.ours.empty() || p.theirs.empty() {
		m.parts = append(m.parts, p)
		return
	}
	for _, c := range m.table.Compare(ours, theirs) {
		m.parts = append(m.parts, part{
			base:   p.base,
			ours:   run{p.ours.start + c.OldStart, p.ours.start + c.OldEnd},
			theirs: run{p.theirs.start + c.NewStart, p.theirs.start + c.NewEnd},
			kind:   conflict,
		})
	}
}

// joinGap is the number of common lines up to which two conflicts are shown as one: so many lines
// take less room than a pair of markers.
const joinGap = 3

// join makes one conflict of two with little between them that is common to both sides: no more
// lines than joinGap, or none with a letter or a digit.
func (m *merger) join() {
	var list []part
	for _, p := range m.parts {
		n := len(list) - 1
		if n < 0 || list[n].kind != conflict || p.kind != conflict || !m.little(run{list[n].ours.end, p.ours.start}) {
			list = append(list, p)
			continue
		}
		list[n].base.end = p.base.end
		list[n].ours.end = p.ours.end
		list[n].theirs.end = p.theirs.end
	}
	m.parts = list
}

func (m *merger) little(between run) bool {
	return between.end-between.start <= joinGap || !slices.ContainsFunc(m.ours.slice(between), alphanumeric)
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
