package textapply

const (
	// mostSearches bounds the hunks of one plan for which the nearest region is looked for, each a
	// walk over the whole file.
	mostSearches = 20
	// mostLookedBack bounds the lines that one plan looks at for the blocks around places.
	mostLookedBack = 2_000_000
	// mostCutScopes bounds the lines that one plan compares with scopes that were cut short.
	mostCutScopes = 20_000_000
)

// effort is what one plan may still spend beyond finding places. A patch of which nothing fits
// must cost little more than one with a single mistake.
type effort struct {
	searches, lookedBack, cutScopes int
	// context is evenContext of the patch; bounded says that it settled a place, uneven that a chunk
	// showed that it is even by chance.
	context         int
	bounded, uneven bool
}

func newEffort() *effort {
	return &effort{searches: mostSearches, lookedBack: mostLookedBack, cutScopes: mostCutScopes}
}

// spend takes n from what is left of one of the bounds; false where nothing is.
func spend(left *int, n int) bool {
	if *left <= 0 {
		return false
	}
	*left -= n
	return true
}
