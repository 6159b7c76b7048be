package snapshot

import (
	"crypto/rand"
	"strings"
	"time"
)

// Operation ids are 12 digits in Crockford's base 32, lower case: nine for the time in ms since
// 1970, three at random. They sort by time, as text.
const (
	idDigits   = "0123456789abcdefghjkmnpqrstvwxyz"
	idLen      = 12
	idRandBits = 15
)

// NewID returns an id for an operation that begins now. It is greater than every id that the root
// has in any of its stores, and than those this Store gave out before, also if the clock went back.
// The caller holds the root's lock.
func (s *Store) NewID(now time.Time) string {
	n := uint64(max(now.UnixMilli(), 0))<<idRandBits | randomBits()
	last := s.lastID
	for _, p := range s.site.Read {
		if id := newestID(p); id > last {
			last = id
		}
	}
	if id := formatID(n); id > last {
		s.lastID = id
	} else if v, ok := parseID(last); ok && v < 1<<(5*idLen)-1 {
		s.lastID = formatID(v + 1)
	}
	return s.lastID
}

func randomBits() uint64 {
	var b [2]byte
	rand.Read(b[:]) // never fails
	return (uint64(b[0])<<8 | uint64(b[1])) & (1<<idRandBits - 1)
}

func formatID(n uint64) string {
	var b [idLen]byte
	for i := idLen - 1; i >= 0; i-- {
		b[i] = idDigits[n&31]
		n >>= 5
	}
	return string(b[:])
}

func parseID(id string) (uint64, bool) {
	if len(id) != idLen {
		return 0, false
	}
	var n uint64
	for i := range idLen {
		d := strings.IndexByte(idDigits, id[i])
		if d < 0 {
			return 0, false
		}
		n = n<<5 | uint64(d)
	}
	return n, true
}

// validID reports whether a ref's name is the id of an operation.
func validID(id string) bool {
	_, ok := parseID(id)
	return ok
}

// newestID returns the greatest id of a place, pending ones included, or "". What cannot be read
// counts as empty here; those who need the operations will report it.
func newestID(p Place) string {
	newest := ""
	for _, group := range []string{groupOps, groupPending} {
		refs, _ := listRefs(p, group)
		for _, ref := range refs {
			newest = max(newest, ref.id)
		}
	}
	return newest
}
