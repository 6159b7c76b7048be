package snapshot

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// History is what a root's operations were, over all stores that may hold some.
type History struct {
	places []Place
}

// Operation names an operation, mostly a finished one, and where its record is.
type Operation struct {
	ID    string
	Place Place
	ref   opRef
	// pending: it is not settled. Only Neighbours lists those.
	pending bool
}

// History returns the root's history. Nothing is read yet.
func (s *Site) History() *History { return &History{places: s.Read} }

// Ops returns the finished operations, newest first. It reads only names. Errors: a
// *NewerFormatError if one of the stores may hold operations that this code cannot know of, or one
// of the file system; with an error the list holds what the other stores have.
func (h *History) Ops() ([]Operation, error) {
	var ops []Operation
	var failures []error
	for _, p := range h.places {
		if _, err := checkFormat(p.Dir); err != nil {
			failures = append(failures, err)
			continue
		}
		refs, err := listRefs(p, groupOps)
		if err != nil {
			failures = append(failures, err)
		}
		for _, ref := range refs {
			ops = append(ops, Operation{ID: ref.id, Place: p, ref: ref})
		}
	}
	slices.SortStableFunc(ops, func(a, b Operation) int { return strings.Compare(b.ID, a.ID) })
	// A store copied by hand may hold the same operation as another; the better place wins.
	ops = slices.CompactFunc(ops, func(a, b Operation) bool { return a.ID == b.ID })
	return ops, errors.Join(failures...)
}

// Neighbours returns all operations in the history's stores, newest first: also those of other roots, and
// those that are not settled. It reads only names. With an error the list holds what could be listed.
func (h *History) Neighbours() ([]Operation, error) {
	var ops []Operation
	var failures []error
	for _, p := range h.places {
		if _, err := checkFormat(p.Dir); err != nil {
			failures = append(failures, err)
			continue
		}
		roots, err := storeRoots(p)
		failures = append(failures, err)
		for _, root := range roots {
			for _, group := range []string{groupOps, groupPending} {
				refs, err := listRefs(root, group)
				failures = append(failures, err)
				for _, ref := range refs {
					ops = append(ops, Operation{ID: ref.id, Place: root, ref: ref, pending: group == groupPending})
				}
			}
		}
	}
	slices.SortStableFunc(ops, func(a, b Operation) int { return strings.Compare(b.ID, a.ID) })
	return ops, errors.Join(failures...)
}

// Read returns the record of the finished operation that id stands for; see Find. Errors: those of
// Find and of Operation.Read.
func (h *History) Read(id string) (*Record, error) {
	op, err := h.Find(id)
	if err != nil {
		return nil, err
	}
	return op.Read()
}

// Find returns the finished operation that id stands for: its id, in either case; the beginning of an
// id that no other has; "@" for the newest operation, "@~2" for the second before that. Errors:
// ErrUnknownOperation, *AmbiguousError, and those of Ops where a store that cannot be read may hold
// the operation.
func (h *History) Find(id string) (Operation, error) {
	ops, listing := h.Ops()
	if n, ok := fromNewest(id); ok {
		switch {
		case n < len(ops):
			return ops[n], nil
		case listing != nil:
			return Operation{}, listing
		}
		return Operation{}, &UnknownError{ID: id}
	}
	prefix := strings.ToLower(id)
	var found []Operation
	for _, o := range ops {
		if prefix != "" && strings.HasPrefix(o.ID, prefix) {
			found = append(found, o)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && listing != nil:
		return Operation{}, listing
	case len(found) == 0:
		return Operation{}, &UnknownError{ID: id}
	}
	e := &AmbiguousError{Prefix: id}
	for _, o := range found {
		e.IDs = append(e.IDs, o.ID)
	}
	return Operation{}, e
}

// fromNewest reads "@", "@~" and "@~N": how many operations back from the newest.
func fromNewest(id string) (int, bool) {
	rest, ok := strings.CutPrefix(id, "@")
	switch {
	case !ok:
		return 0, false
	case rest == "":
		return 0, true
	case rest == "~":
		return 1, true
	}
	digits, ok := strings.CutPrefix(rest, "~")
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), ok && err == nil
}

// Read returns the operation's record. Errors: ErrUnknownOperation if it is gone, *TornError,
// *NewerFormatError.
func (o Operation) Read() (*Record, error) {
	group := groupOps
	if o.pending {
		group = groupPending
	}
	r, err := readRecord(o.Place, group, o.ref)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrTorn) {
		return nil, &UnknownError{ID: o.ID}
	}
	return r, err
}

// Pending returns the records of operations that were begun and not finished, over all stores,
// oldest first. Those that cannot be read are left out, and their errors joined.
func (h *History) Pending() ([]*Record, error) {
	var records []*Record
	var failures []error
	for _, p := range h.places {
		some, err := pendingAt(p)
		records = append(records, some...)
		failures = append(failures, err)
	}
	slices.SortStableFunc(records, func(a, b *Record) int { return strings.Compare(a.Meta.ID, b.Meta.ID) })
	return records, errors.Join(failures...)
}

// UnknownError names an operation that is in no store. It is an ErrUnknownOperation.
type UnknownError struct {
	ID string
}

func (e *UnknownError) Error() string {
	if e.ID == "" {
		return "an empty id: unknown operation"
	}
	return e.ID + ": unknown operation"
}

// Is makes errors.Is(err, ErrUnknownOperation) true.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknownOperation }
