package linediff

// front is how far a box can be walked from one of its corners in a number of differences.
type front struct {
	far       []int // per diagonal the furthest x; the corner's diagonal is in the middle
	shift     int   // from the diagonal to its index in far
	low, high int   // the diagonals at hand, every second one of them
}

// begin sets the front at a corner: its diagonal and its x.
func (f *front) begin(diagonal, x int) {
	f.low, f.high = diagonal, diagonal
	f.shift = len(f.far)/2 - diagonal
	f.put(diagonal, x)
}

func (f *front) at(d int) int     { return f.far[d+f.shift] }
func (f *front) put(d, x int)     { f.far[d+f.shift] = x }
func (f *front) holds(d int) bool { return f.low <= d && d <= f.high }

// grow adds a diagonal at each end, with a neighbour that loses against any other. Where an end has
// met the border of the box it draws back by one instead, since the diagonals alternate.
func (f *front) grow(b box, loser int) {
	if f.low > b.x0-b.y1 {
		f.low--
		f.put(f.low-1, loser)
	} else {
		f.low++
	}
	if f.high < b.x1-b.y0 {
		f.high++
		f.put(f.high+1, loser)
	} else {
		f.high--
	}
}

// best returns the point of the front, drawn into the box, that has the highest sum of coordinates
// (sign 1), or the lowest (sign -1).
func (f *front) best(b box, sign int) (x, y int) {
	found := false
	for d := f.high; d >= f.low; d -= 2 {
		px := min(max(f.at(d), b.x0, b.y0+d), b.x1, b.y1+d)
		if py := px - d; !found || sign*(px+py) > sign*(x+y) {
			x, y, found = px, py, true
		}
	}
	return x, y
}
