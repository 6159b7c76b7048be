// Package history reads meaning out of the list of operations: which of them stand and which are
// undone, what the next undo and redo take back, and how several operations make one change for
// each path. It derives everything from what the records say of themselves, and stores nothing, so
// a record that is gone changes what is known, never what is true of the others.
package history

import (
	"slices"

	"github.com/openoxide/oxpatch/snapshot"
)

// State says how an operation stands.
type State string

const (
	// Done: nothing of the operation is undone.
	Done State = "done"
	// Undone: all of its paths are taken back by later operations that stand.
	Undone State = "undone"
	// Partly: some of them are.
	Partly State = "partly"
	// Unresolved: the operation was interrupted and is not settled.
	Unresolved State = "unresolved"
)

// Entry is an operation as it stands in the log.
type Entry struct {
	Meta  *snapshot.Meta
	State State
	// standing[i] says that the path Meta.Paths[i] is not taken back.
	standing []bool
}

// Stands reports whether the path Meta.Paths[i] is not taken back.
func (e *Entry) Stands(i int) bool { return e.standing[i] }

// Undoable reports whether an undo that names no operation may take this one back: it is an apply or
// a restore, and something of it stands. What recovery saved is never taken back unasked, since it
// is torn; a checkpoint changed nothing.
func (e *Entry) Undoable() bool {
	return e.IsEdit() && (e.State == Done || e.State == Partly)
}

// Redoable reports whether the entry is an undo of which something stands.
func (e *Entry) Redoable() bool {
	return e.Meta.Kind == snapshot.KindUndo && (e.State == Done || e.State == Partly)
}

// IsEdit reports whether the operation began something new, as an edit does in an editor: an apply or a
// restore.
func (e *Entry) IsEdit() bool {
	return e.Meta.Kind == snapshot.KindApply || e.Meta.Kind == snapshot.KindRestore
}

// Walker derives the state of each operation of a log. An operation that takes others back does so
// path by path, as far as it stands itself: so when an undo is undone, what it had taken back stands
// again, and one for some paths leaves the others standing.
type Walker struct {
	// taken holds, for each operation, the paths that later operations took back.
	taken map[string]map[string]bool
}

// Next returns the entry of an operation. Operations come newest first; the result for one never
// depends on those that come after it.
func (w *Walker) Next(m *snapshot.Meta) *Entry {
	e := &Entry{Meta: m, State: Done, standing: make([]bool, len(m.Paths))}
	gone := w.taken[m.ID]
	stand := 0
	for i, p := range m.Paths {
		if !gone[p.Path] {
			e.standing[i] = true
			stand++
		}
	}
	switch {
	case m.Kind == snapshot.KindCheckpoint: // it changed nothing, so nothing of it is undone
	case stand == len(m.Paths):
	case stand == 0:
		e.State = Undone
	default:
		e.State = Partly
	}
	w.take(e)
	return e
}

// take notes what an operation takes back.
func (w *Walker) take(e *Entry) {
	for _, id := range e.Meta.Reverts {
		if id >= e.Meta.ID {
			continue // an operation can only take back earlier ones
		}
		if w.taken == nil {
			w.taken = map[string]map[string]bool{}
		}
		if w.taken[id] == nil {
			w.taken[id] = map[string]bool{}
		}
		for i, p := range e.Meta.Paths {
			if e.standing[i] {
				w.taken[id][p.Path] = true
			}
		}
	}
}

// Pending returns the entry of an operation that is not settled.
func Pending(m *snapshot.Meta) *Entry {
	return &Entry{Meta: m, State: Unresolved, standing: make([]bool, len(m.Paths))}
}

// Reverse returns the kind of the operation that takes the given ones back: a redo if all of them are
// undos, else an undo.
func Reverse(targets []*Entry) snapshot.Kind {
	if slices.ContainsFunc(targets, func(e *Entry) bool { return e.Meta.Kind != snapshot.KindUndo }) {
		return snapshot.KindUndo
	}
	return snapshot.KindRedo
}
