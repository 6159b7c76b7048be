package linediff

// slidePasses times the number of lines is how many steps sliding may take. Only texts that repeat
// themselves all over with changes all over come near it; what is left then stays where it is.
const slidePasses = 64

// slide moves each run of unmatched lines of a list to where the package's rule wants it: at is the
// matched lines' indexes, other those of the lines of the other list, otherLen long, that they are
// matched with. A run can go down over a line
// that equals its own first one, by matching that first one instead, and up likewise. Runs that
// meet become one.
func slide(list []int32, at, other []int, otherLen int) {
	s := slider{list: list, at: at, other: other, otherLen: otherLen, steps: slidePasses * (len(list) + 1)}
	for k := 0; k <= len(at); k++ {
		if s.size(k) > 0 {
			k = s.settle(k)
		}
	}
}

type slider struct {
	list      []int32
	at, other []int
	otherLen  int
	steps     int // left
}

// start and end bound the run in front of the matched line k.
func (s *slider) start(k int) int {
	if k == 0 {
		return 0
	}
	return s.at[k-1] + 1
}

func (s *slider) end(k int) int {
	if k == len(s.at) {
		return len(s.list)
	}
	return s.at[k]
}

func (s *slider) size(k int) int { return s.end(k) - s.start(k) }

// meets reports whether the other text has a change in front of its matched line k too.
func (s *slider) meets(k int) bool {
	start, end := 0, s.otherLen
	if k > 0 {
		start = s.other[k-1] + 1
	}
	if k < len(s.other) {
		end = s.other[k]
	}
	return start < end
}

// up moves the run in front of line k over the line before it, if it can, and so to k-1.
func (s *slider) up(k int) bool {
	end := s.end(k)
	if k == 0 || s.steps == 0 || s.list[s.at[k-1]] != s.list[end-1] {
		return false
	}
	s.steps--
	s.at[k-1] = end - 1
	return true
}

// down moves the run in front of line k over that line, if it can, and so to k+1.
func (s *slider) down(k int) bool {
	start := s.start(k)
	if k == len(s.at) || s.steps == 0 || s.list[s.at[k]] != s.list[start] {
		return false
	}
	s.steps--
	s.at[k] = start
	return true
}

// settle slides the run in front of line k, with all that it meets, and returns where it stays.
func (s *slider) settle(k int) int {
	meeting := -1
	for size := 0; size != s.size(k); {
		size = s.size(k)
		for s.up(k) {
			k--
		}
		meeting = -1
		for more := true; more; {
			if s.meets(k) {
				meeting = k
			}
			if more = s.down(k); more {
				k++
			}
		}
	}
	for meeting >= 0 && k > meeting && s.up(k) {
		k--
	}
	return k
}
