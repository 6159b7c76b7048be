package oxpatch

import (
	"errors"
	"iter"

	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
)

// logged is an operation of the log with its record.
type logged struct {
	*history.Entry
	rec *snapshot.Record
}

// logReader reads the operations on the root, newest first, each when it is asked for.
type logReader struct {
	ops    []snapshot.Operation
	walker history.Walker
	// partial is what kept a store from being listed, where others could be.
	partial error
}

// openLog lists the operations on the root. The error is for a history of which nothing can be read, or
// that a newer version has written.
func (e *Engine) openLog() (*logReader, error) {
	ops, err := e.site.History().Ops()
	if errors.Is(err, snapshot.ErrNewerFormat) || err != nil && len(ops) == 0 {
		return nil, err
	}
	return &logReader{ops: ops, partial: err}, nil
}

// each returns the operations that are left, newest first. One whose record cannot be read comes as an
// *unreadableError; the next one follows all the same.
func (l *logReader) each() iter.Seq2[logged, error] {
	return func(yield func(logged, error) bool) {
		for len(l.ops) > 0 {
			op := l.ops[0]
			l.ops = l.ops[1:]
			rec, err := op.Read()
			switch {
			case errors.Is(err, snapshot.ErrUnknownOperation):
				continue // pruned since it was listed
			case err != nil:
				if !yield(logged{}, &unreadableError{id: op.ID, err: err}) {
					return
				}
				continue
			}
			if !yield(logged{l.walker.Next(&rec.Meta), rec}, nil) {
				return
			}
		}
	}
}

// unreadableError is an operation whose record cannot be read.
type unreadableError struct {
	id  string
	err error
}

func (e *unreadableError) Error() string {
	return "operation " + e.id + " cannot be read: " + e.err.Error()
}

func (e *unreadableError) Unwrap() error { return e.err }

// unlistedStore is the warning for stores that could not be listed.
func unlistedStore(err error) Problem {
	return Problem{Severity: SeverityWarning, Kind: KindIO, Message: "a store cannot be read: " + trimmed(err),
		Hint: "operations that are recorded there are passed over"}
}
