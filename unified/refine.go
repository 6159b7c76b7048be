package unified

import "github.com/openoxide/oxpatch/linediff"

// refineLimit is the size in bytes of one side of a region above which it is shown as replaced
// whole, so that memory stays bounded.
const refineLimit = 64 << 20

// refine appends the smaller regions in which the two sides of r really differ.
func refine(list []region, old, new []byte, r region) []region {
	r = trim(old, new, r)
	if r.empty() {
		return list
	}
	a, b := old[r.oldStart:r.oldEnd], new[r.newStart:r.newEnd]
	if len(a) == 0 || len(b) == 0 || len(a) > refineLimit || len(b) > refineLimit {
		return join(list, r)
	}
	var t linediff.Table
	x, y := t.Lines(a), t.Lines(b)
	for _, c := range t.Compare(x.ID, y.ID) {
		list = join(list, region{
			r.oldStart + x.Start[c.OldStart], r.oldStart + x.Start[c.OldEnd],
			r.newStart + y.Start[c.NewStart], r.newStart + y.Start[c.NewEnd],
		})
	}
	return list
}
