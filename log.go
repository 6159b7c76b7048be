package oxpatch

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
)

// Operation is one entry of the log. Its JSON form is described by schema/oxpatch-1.schema.json.
type Operation struct {
	ID   string
	Kind string // apply, undo, recover, …
	// State is done, undone, partly (undone for some of its paths), or unresolved for one that was
	// interrupted and not settled.
	State string
	// Reverts lists the operations that an undo or redo took back.
	Reverts              []string
	Time                 time.Time
	Session, Turn, Label string
	Mode, Format         string
	// Restores is, of a restore, the operation whose state it brought back.
	Restores string
	// Tree sums up the tree that a checkpoint recorded as a whole; its paths are not listed.
	Tree *OperationTree
	// Paths lists what the operation touched; of a checkpoint, what it recorded.
	Paths []OperationPath
	// Commit and Store say where the record is.
	Commit, Store string
}

// OperationTree sums up a recorded tree.
type OperationTree struct {
	Files int // links too
	Bytes int64
}

// OperationPath is one path of an operation.
type OperationPath struct {
	Path    string `json:"path"` // as in FileResult
	OldPath string `json:"old_path,omitempty"`
	// Change is add, modify, delete, rename or mode; of a checkpoint as in FileResult.
	Change string `json:"change"`
}

// LogRequest says which operations are listed; the zero value is all of them.
type LogRequest struct {
	// Count is how many are listed at most; 0 is all.
	Count int
	// Session and Turn, if not empty, are those that listed operations carry.
	Session, Turn string
	// Paths, if not empty, restricts the list to operations that touched one of these files or a file
	// in one of these folders. Relative ones count from the folder the Engine was opened in.
	Paths []string
}

// Log returns the operations on the root, newest first; an interrupted one that is not settled stands
// among them by its time. Records are read one by one, as the caller goes on.
//
// An operation whose record cannot be read comes as an error, after which the list goes on; so does a
// store that cannot be listed. Where nothing can be read at all, the error is the only element.
func (e *Engine) Log(ctx context.Context, req LogRequest) iter.Seq2[Operation, error] {
	return func(yield func(Operation, error) bool) {
		keep, err := e.logFilter(req)
		if err != nil {
			yield(Operation{}, err)
			return
		}
		n := 0
		for op, err := range e.logEntries(ctx) {
			switch {
			case err != nil:
				if !yield(Operation{}, err) {
					return
				}
			case keep(op):
				if !yield(operationOf(op), nil) {
					return
				}
				if n++; n == req.Count {
					return
				}
			}
		}
	}
}

// logFilter returns the test for what is listed.
func (e *Engine) logFilter(req LogRequest) (func(logged) bool, error) {
	if req.Count < 0 {
		return nil, usage("the number of operations to list is %d", req.Count)
	}
	wanted := make([]string, len(req.Paths))
	for i, name := range req.Paths {
		var err error
		if wanted[i], err = e.recordedPath(name); err != nil {
			return nil, err
		}
	}
	c := choice{session: req.Session, turn: req.Turn}
	in := history.Within(nil, false, wanted)
	return func(op logged) bool {
		return c.wants(op.Meta) && (len(wanted) == 0 ||
			slices.ContainsFunc(op.Meta.Paths, func(p snapshot.PathMeta) bool { return in(p.Path) }))
	}, nil
}

// logEntries joins finished and unsettled operations by age.
func (e *Engine) logEntries(ctx context.Context) iter.Seq2[logged, error] {
	return func(yield func(logged, error) bool) {
		pending, unlisted := e.site.History().Pending()
		// unresolved yields those that are newer than an id.
		unresolved := func(id string) bool {
			for len(pending) > 0 && pending[len(pending)-1].Meta.ID > id {
				rec := pending[len(pending)-1]
				pending = pending[:len(pending)-1]
				if !yield(logged{history.Pending(&rec.Meta), rec}, nil) {
					return false
				}
			}
			return true
		}
		log, err := e.openLog()
		if err == nil {
			err = log.partial
		}
		// What is wrong with a whole store is wrong with both lists, and said once.
		if unlisted != nil && (err == nil || unlisted.Error() != err.Error()) && !yield(logged{}, unlisted) {
			return
		}
		if err != nil && !yield(logged{}, err) {
			return
		}
		if log != nil {
			for op, err := range log.each() {
				if ctx.Err() != nil {
					yield(logged{}, ctx.Err())
					return
				}
				if err == nil && !unresolved(op.Meta.ID) || !yield(op, err) {
					return
				}
			}
		}
		unresolved("")
	}
}

func operationOf(op logged) Operation { return entryOf(op.rec, string(op.State)) }

func entryOf(rec *snapshot.Record, state string) Operation {
	m := rec.Meta
	op := Operation{
		ID: m.ID, Kind: string(m.Kind), State: state, Reverts: m.Reverts, Time: m.Time,
		Session: m.Session, Turn: m.Turn, Label: m.Label, Mode: m.Mode, Format: m.Format,
		Paths: []OperationPath{}, Commit: rec.Commit(), Store: rec.Place().Dir,
	}
	if op.Reverts == nil {
		op.Reverts = []string{}
	}
	op.Restores = m.Restores
	if m.Tree != nil {
		op.Tree = &OperationTree{Files: m.Tree.Files, Bytes: m.Tree.Bytes}
	}
	moved := map[string]bool{}
	for _, p := range m.Paths {
		if p.OldPath != "" {
			moved[p.OldPath] = true
		}
	}
	for _, p := range m.Paths {
		if moved[p.Path] && p.After.Kind == change.Absent {
			continue // shown with its new name
		}
		op.Paths = append(op.Paths, OperationPath{
			Path: change.DisplayPath(p.Path), OldPath: shownOld(p.OldPath), Change: operationWord(p),
		})
	}
	if m.Kind == snapshot.KindCheckpoint {
		for i, p := range m.Paths {
			op.Paths[i].Change = "record"
			if p.After.Kind == change.Absent {
				op.Paths[i].Change = "absent"
			}
		}
	}
	return op
}

func shownOld(path string) string {
	if path == "" {
		return ""
	}
	return change.DisplayPath(path)
}

func operationWord(p snapshot.PathMeta) string {
	switch {
	case p.OldPath != "":
		return "rename"
	case p.Before.Kind == change.Absent:
		return "add"
	case p.After.Kind == change.Absent && !p.After.Unknown:
		return "delete"
	case p.Before.OID == p.After.OID && p.Before.Mode != p.After.Mode:
		return "mode"
	}
	return "modify"
}
