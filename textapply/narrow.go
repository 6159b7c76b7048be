package textapply

import "slices"

// narrow settles what the lines and the order of the chunks leave open by what else the patch says: its
// line numbers, what its scopes open, and where it lets files begin and end. Each rule leaves the places
// that it vouches for, and counts only where a placement remains; what one leaves open the next may settle.
// Where they do not leave a single result, all candidates are as they were.
func (j *joint) narrow(earliest, latest []int) bool {
	all := j.keep()
	for _, rule := range []func(earliest, latest []int) bool{j.byHints, j.byScopes, j.byBounds, j.byScopes} {
		kept := j.keep()
		if !rule(earliest, latest) {
			continue
		}
		first, ok := j.sweep()
		if !ok {
			j.giveBack(kept)
			continue
		}
		earliest, latest = first, j.sweepBack()
		if j.settled(earliest, latest) {
			j.chosen = earliest
			return true
		}
	}
	j.giveBack(all)
	return false
}

func (j *joint) keep() []candidates {
	kept := make([]candidates, len(j.chunks))
	for i, c := range j.chunks {
		kept[i] = *c
	}
	return kept
}

func (j *joint) giveBack(kept []candidates) {
	j.errs = nil
	for i := range kept {
		*j.chunks[i] = kept[i]
	}
}

// only leaves one place.
func (c *candidates) only(at int) {
	c.among([]int{at})
	c.strict, c.more = nil, false
}

// among leaves the places given.
func (c *candidates) among(at []int) {
	if c.everywhere == nil {
		c.everywhere = c.at
	}
	c.at = at
	if c.strict != nil {
		c.strict = slices.DeleteFunc(slices.Clone(c.strict), func(line int) bool {
			_, found := slices.BinarySearch(at, line)
			return !found
		})
	}
}
