package snapshot

import "time"

// Retention says what is kept of a history. A negative number is no limit.
type Retention struct {
	Operations int           `json:"operations"` // of each root
	Age        time.Duration `json:"age_ns"`     // of an operation
	Bytes      int64         `json:"bytes"`      // of a store, which may serve several roots
}

// DefaultRetention keeps 200 operations of a root, for 30 days, in 512 MiB of a store.
func DefaultRetention() Retention {
	return Retention{Operations: 200, Age: 30 * 24 * time.Hour, Bytes: 512 << 20}
}

// keepAlways is how many of a root's newest operations stay whatever the limits say. It does not hold
// for roots that are gone: theirs go with age.
const keepAlways = 10

// slack is what automatic pruning lets a limit be passed by, as a divisor of it, and how far below the
// limit on bytes it then goes: so one operation in many pays for it.
const slack = 8

// expired says which of a root's operations are past the limits on count and age. ids ascend.
func (r Retention) expired(ids []string, now time.Time, gone bool) []bool {
	out := make([]bool, len(ids))
	for i, id := range ids {
		newer := len(ids) - 1 - i
		if newer < keepAlways && !gone {
			continue
		}
		out[i] = r.Operations >= 0 && newer >= r.Operations || r.Age >= 0 && now.Sub(idTime(id)) > r.Age
	}
	return out
}

// overdue says whether automatic pruning has something to do for a root with so many operations: whether
// the limits on count and age are passed by more than the slack.
func (r Retention) overdue(count int, oldest string, now time.Time) bool {
	most := max(r.Operations, keepAlways)
	switch {
	case count <= keepAlways:
		return false
	case r.Operations >= 0 && count > most+most/slack:
		return true
	}
	return r.Age >= 0 && now.Sub(idTime(oldest)) > r.Age+r.Age/slack
}

// idTime is when an operation began, as its id tells.
func idTime(id string) time.Time {
	n, _ := parseID(id)
	return time.UnixMilli(int64(n >> idRandBits))
}
