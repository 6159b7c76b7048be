package gitapply

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/openoxide/oxpatch/outputparse"
)

// place notes where the hunks went. git tells of each section that it checks, and then of those of
// its hunks that it found elsewhere than the patch says; of merged files it tells nothing.
func (p *planner) place() {
	waiting := map[string][]int{} // sections by target, in order
	for i := range p.Sections {
		s := &p.Sections[i]
		waiting[s.Target] = append(waiting[s.Target], i)
	}
	if p.o.Reverse {
		for _, list := range waiting {
			slices.Reverse(list) // from 2.30 on git takes back the last section first
		}
	}
	moved := regexp.MustCompile(`^Hunk #(\d+) succeeded at (\d+)`)
	var now *Section
	for _, f := range p.found {
		switch m := moved.FindStringSubmatch(f.Line); {
		case f.Text == outputparse.CheckingPatch:
			now = p.next(waiting, f.Paths)
		case m != nil && now != nil:
			n, _ := strconv.Atoi(m[1])
			if n >= 1 && n <= len(now.Hunks) {
				now.Hunks[n-1].Placed, _ = strconv.Atoi(m[2])
			}
		}
	}
	for i := range p.Sections {
		p.Sections[i].settleHunks(p.o.Reverse)
	}
}

// next returns the next section with one of the names as its target.
func (p *planner) next(waiting map[string][]int, names []string) *Section {
	for _, n := range slices.Backward(names) {
		if list := waiting[n]; len(list) > 0 {
			waiting[n] = list[1:]
			return &p.Sections[list[0]]
		}
	}
	return nil
}

func (s *Section) settleHunks(reverse bool) {
	for i := range s.Hunks {
		h := &s.Hunks[i]
		switch {
		case s.Merged || s.Class != ClassApplied || s.Unchanged:
			h.Placed = 0
		case h.Placed == 0 && reverse:
			h.Placed = h.NewStart
		case h.Placed == 0:
			h.Placed = h.OldStart
		}
	}
}
