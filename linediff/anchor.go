package linediff

import "sort"

// point is a line of a and the line of b that is the same.
type point struct{ x, y int }

// anchors pairs the lines that occur once in a and once in b, and keeps the longest sequence of
// pairs that rises on both sides. The counts are all 0 before and after.
func anchors(a, b []int32, count *[2][]int32) []point {
	placeA, placeB := count[0], count[1]
	mark(placeA, a)
	mark(placeB, b)
	var once []point
	for i, id := range a {
		if placeA[id] > 0 && placeB[id] > 0 {
			once = append(once, point{i, int(placeB[id]) - 1})
		}
	}
	for _, id := range a {
		placeA[id] = 0
	}
	for _, id := range b {
		placeB[id] = 0
	}
	return rising(once)
}

// mark notes for each number the index where it stands plus 1, or -1 if it stands in several places.
func mark(place, list []int32) {
	for i, id := range list {
		if place[id] == 0 {
			place[id] = int32(i) + 1
		} else {
			place[id] = -1
		}
	}
}

// rising returns a longest subsequence of points, sorted by x, whose y rises too.
func rising(points []point) []point {
	var last []int                     // last[k]: index of the point that ends the best sequence of k+1
	before := make([]int, len(points)) // index of the point in front of each, -1 for none
	for i, p := range points {
		k := sort.Search(len(last), func(k int) bool { return points[last[k]].y > p.y })
		before[i] = -1
		if k > 0 {
			before[i] = last[k-1]
		}
		if k == len(last) {
			last = append(last, i)
		} else {
			last[k] = i
		}
	}
	best := make([]point, len(last))
	for k, i := len(last)-1, -1; k >= 0; k-- {
		if i < 0 {
			i = last[k]
		}
		best[k] = points[i]
		i = before[i]
	}
	return best
}
