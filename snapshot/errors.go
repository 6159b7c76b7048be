package snapshot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// What a caller may want to tell apart.
var (
	// ErrNoStore: no place for a store can be used. It comes as a *NoStoreError.
	ErrNoStore = errors.New("no place for the undo store")
	// ErrNewerFormat: written by a later version of oxpatch. It comes as a *NewerFormatError.
	ErrNewerFormat = errors.New("written by a newer oxpatch")
	// ErrTorn: a file of the store is damaged or missing. It comes as a *TornError.
	ErrTorn = errors.New("damaged undo store")
	// ErrBusy: another operation holds the lock. It comes as a *BusyError.
	ErrBusy = errors.New("busy")
	// ErrUnknownOperation: no operation has this id.
	ErrUnknownOperation = errors.New("unknown operation")
	// ErrAmbiguousID: several operations begin with this id. It comes as an *AmbiguousError.
	ErrAmbiguousID = errors.New("ambiguous operation id")
	// ErrTooLarge: a record would be over the limit. It comes as a *TooLargeError.
	ErrTooLarge = errors.New("the record is too large")
	// ErrKilled is for an Options.Effects hook in tests: it stops the store as a kill would, with
	// nothing cleaned up.
	ErrKilled = errors.New("killed")
)

// Unusable is a place that could not be used as a store, and why.
type Unusable struct {
	Place Place
	Err   error
}

// NoStoreError lists the places that were tried. It is an ErrNoStore.
type NoStoreError struct {
	Tried []Unusable
}

func (e *NoStoreError) Error() string {
	if len(e.Tried) == 0 {
		return "undo store: there is neither XDG_STATE_HOME nor a home folder that exists"
	}
	var reasons []string
	for _, u := range e.Tried {
		reasons = append(reasons, fmt.Sprintf("%s: %v", u.Place.Dir, u.Err))
	}
	return "undo store: " + strings.Join(reasons, "; ")
}

// Hint says what the user can do.
func (e *NoStoreError) Hint() string {
	return "set OXPATCH_STORE to a folder that can be written, or go without undo"
}

// Is makes errors.Is(err, ErrNoStore) true.
func (e *NoStoreError) Is(target error) bool { return target == ErrNoStore }

// Unwrap returns the reasons.
func (e *NoStoreError) Unwrap() []error {
	var errs []error
	for _, u := range e.Tried {
		errs = append(errs, u.Err)
	}
	return errs
}

// NewerFormatError reports a store or a record that this version of oxpatch must not touch. It is
// an ErrNewerFormat.
type NewerFormatError struct {
	Path      string // the file that says so, or the record's id
	Version   int    // the version found there
	Supported int    // the latest version that this code knows
}

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s: format version %d is newer than version %d that this oxpatch knows",
		e.Path, e.Version, e.Supported)
}

// Is makes errors.Is(err, ErrNewerFormat) true.
func (e *NewerFormatError) Is(target error) bool { return target == ErrNewerFormat }

// TornError reports a file of the store that is damaged or lacks what it should hold. The file is
// left as it is. It is an ErrTorn.
type TornError struct {
	Path string
	Err  error
}

func (e *TornError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Is makes errors.Is(err, ErrTorn) true.
func (e *TornError) Is(target error) bool { return target == ErrTorn }

// Unwrap returns the cause.
func (e *TornError) Unwrap() error { return e.Err }

// TooLargeError reports a record whose contents are over the limit, and the path that takes up the
// most. It is an ErrTooLarge.
type TooLargeError struct {
	Size, Limit int64
	Path        string // as in change.Change
	PathSize    int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("what undo needs is %s, over the limit of %s; %s alone takes %s",
		FormatSize(e.Size), FormatSize(e.Limit), change.DisplayPath(e.Path), FormatSize(e.PathSize))
}

// Is makes errors.Is(err, ErrTooLarge) true.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// BusyError reports a lock that was not to be had in time. It is an ErrBusy.
type BusyError struct {
	Path string // what is locked
	PID  int    // the holder's process id, or 0 if unknown
	What string // the holder's command, or "" if unknown
}

func (e *BusyError) Error() string {
	switch {
	case e.PID == 0:
		return e.Path + ": locked by another oxpatch"
	case e.What == "":
		return fmt.Sprintf("%s: locked by process %d", e.Path, e.PID)
	}
	return fmt.Sprintf("%s: locked by process %d (%s)", e.Path, e.PID, e.What)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// AmbiguousError lists the operations that begin with a prefix. It is an ErrAmbiguousID.
type AmbiguousError struct {
	Prefix string
	IDs    []string // newest first
}

func (e *AmbiguousError) Error() string {
	const most = 5
	ids, more := e.IDs, ""
	if len(ids) > most {
		ids, more = ids[:most], fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return fmt.Sprintf("%s: ambiguous operation id, could be %s%s", e.Prefix, strings.Join(ids, ", "), more)
}

// Is makes errors.Is(err, ErrAmbiguousID) true.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguousID }
