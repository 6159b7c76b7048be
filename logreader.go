package oxpatch

import (
	"errors"
	"iter"
	"slices"

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
	ops  []snapshot.Operation
	past *snapshot.History
	// gone are operations that took others back and are no longer in the history, newest first.
	gone   []snapshot.Meta
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
	log := &logReader{ops: ops, past: e.site.History()}
	gone, torn := log.past.Gone()
	log.gone, log.partial = gone, errors.Join(err, torn)
	return log, nil
}

// each returns the operations that are left, newest first. One whose record cannot be read comes as an
// *unreadableError; the next one follows all the same.
func (l *logReader) each() iter.Seq2[logged, error] {
	return func(yield func(logged, error) bool) {
		for len(l.ops) > 0 {
			op := l.ops[0]
			l.ops = l.ops[1:]
			l.passGone(op.ID)
			rec, err := op.Read()
			switch {
			case errors.Is(err, snapshot.ErrUnknownOperation):
				// It was dropped since it was listed.
				l.gone, _ = l.past.Gone()
				l.gone = slices.DeleteFunc(l.gone, func(m snapshot.Meta) bool { return m.ID > op.ID })
				continue
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

// passGone takes into account what is gone and newer than an operation. What is not gone yet comes as
// that operation itself.
func (l *logReader) passGone(id string) {
	for len(l.gone) > 0 && l.gone[0].ID >= id {
		if l.gone[0].ID > id {
			l.walker.Next(&l.gone[0])
		}
		l.gone = l.gone[1:]
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
