package linediff

// searchLimit is the number of differences, counted from each end, after which a search for the
// shortest script gives up.
const searchLimit = 256

// search walks the grid of two lists: right over a line of a is a removal, down over a line of b
// an addition, and across where the two are equal. A diagonal is named by x-y.
type search struct {
	a, b     []int32
	emit     func(x, y int) // takes the pairs in order
	count    *[2][]int32    // all 0 whenever the search does not look
	down, up front          // from the top left and from the bottom right corner of the box at hand
}

// box is the lines [x0, x1) of a and [y0, y1) of b.
type box struct{ x0, x1, y0, y1 int }

func (s *search) run() {
	n := min(len(s.a)+len(s.b), searchLimit) + 3 // one diagonal to each side in each round, and beyond
	s.down.far, s.up.far = make([]int, 2*n), make([]int, 2*n)
	s.match(box{0, len(s.a), 0, len(s.b)}, false)
}

// match pairs the lines of a box. Once anchored it does not look for lines that occur once any more,
// which bounds how often that is done.
func (s *search) match(b box, anchored bool) {
	head, tail := commonEnds(s.a[b.x0:b.x1], s.b[b.y0:b.y1])
	for i := range head {
		s.emit(b.x0+i, b.y0+i)
	}
	b = box{b.x0 + head, b.x1 - tail, b.y0 + head, b.y1 - tail}
	if b.x0 < b.x1 && b.y0 < b.y1 {
		x, y, ok := s.split(b)
		if ok || anchored || !s.anchored(b) {
			s.match(box{b.x0, x, b.y0, y}, anchored || !ok)
			s.match(box{x, b.x1, y, b.y1}, anchored || !ok)
		}
	}
	for i := range tail {
		s.emit(b.x1+i, b.y1+i)
	}
}

// anchored matches a box around the lines that occur once in it on each side. It reports false,
// and does nothing, where there are none.
func (s *search) anchored(b box) bool {
	points := anchors(s.a[b.x0:b.x1], s.b[b.y0:b.y1], s.count)
	x, y := b.x0, b.y0
	for _, p := range points {
		px, py := b.x0+p.x, b.y0+p.y
		s.match(box{x, px, y, py}, true)
		s.emit(px, py)
		x, y = px+1, py+1
	}
	if len(points) > 0 {
		s.match(box{x, b.x1, y, b.y1}, true)
	}
	return len(points) > 0
}

// split returns a point through which a shortest script of the box leads, halfway. Where finding
// it takes too long, ok is false, and the point is the one furthest from its corner that was
// reached. The box has lines on both sides, and both the first and the last two differ, so the point
// is none of the two corners.
func (s *search) split(b box) (x, y int, ok bool) {
	s.down.begin(b.x0-b.y0, b.x0)
	s.up.begin(b.x1-b.y1, b.x1)
	odd := (s.down.low-s.up.low)&1 != 0
	for range searchLimit {
		if x, d, met := s.goDown(b, odd); met {
			return x, x - d, true
		}
		if x, d, met := s.goUp(b, !odd); met {
			return x, x - d, true
		}
	}
	fx, fy := s.down.best(b, 1)
	bx, by := s.up.best(b, -1)
	if b.x1+b.y1-bx-by < fx+fy-b.x0-b.y0 {
		return fx, fy, false
	}
	return bx, by, false
}

// goDown walks one difference further from the top left corner, and then across as far as it goes.
// If it looks for the other front, it stops where the two meet, on diagonal d.
func (s *search) goDown(b box, look bool) (x, d int, met bool) {
	f := &s.down
	f.grow(b, -1)
	for d := f.high; d >= f.low; d -= 2 {
		x := max(f.at(d-1)+1, f.at(d+1))
		for y := x - d; x < b.x1 && y < b.y1 && s.a[x] == s.b[y]; y++ {
			x++
		}
		f.put(d, x)
		if look && s.up.holds(d) && s.up.at(d) <= x {
			return x, d, true
		}
	}
	return 0, 0, false
}

// goUp is goDown from the other corner.
func (s *search) goUp(b box, look bool) (x, d int, met bool) {
	f := &s.up
	f.grow(b, int(^uint(0)>>1))
	for d := f.high; d >= f.low; d -= 2 {
		x := min(f.at(d-1), f.at(d+1)-1)
		for y := x - d; x > b.x0 && y > b.y0 && s.a[x-1] == s.b[y-1]; y-- {
			x--
		}
		f.put(d, x)
		if look && s.down.holds(d) && x <= s.down.at(d) {
			return x, d, true
		}
	}
	return 0, 0, false
}
