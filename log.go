package oxpatch

import (
	"context"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// Operation is one entry of the log. Its JSON form is described by schema/oxpatch-1.schema.json.
type Operation struct {
	ID   string
	Kind string // apply, undo, recover, …
	// State is done, undone, or unresolved for one that was interrupted and not settled.
	State string
	// Reverts lists the operations that an undo took back.
	Reverts              []string
	Time                 time.Time
	Session, Turn, Label string
	Mode, Format         string
	// Paths lists what the operation touched.
	Paths []OperationPath
	// Commit and Store say where the record is.
	Commit, Store string
}

// OperationPath is one path of an operation.
type OperationPath struct {
	Path    string `json:"path"` // as in FileResult
	OldPath string `json:"old_path,omitempty"`
	Change  string `json:"change"` // add, modify, delete, rename or mode
}

// Log returns the operations on the root, newest first, at most limit of them (all with 0). An
// operation whose record cannot be read is left out and named among the problems.
func (e *Engine) Log(ctx context.Context, limit int) ([]Operation, []Problem, error) {
	history := e.site.History()
	var log []Operation
	var problems []Problem
	pending, err := history.Pending()
	if err != nil {
		problems = append(problems, Problem{Severity: SeverityWarning, Kind: KindIO, Message: err.Error()})
	}
	unresolved := func(newerThan string) {
		for len(pending) > 0 && pending[len(pending)-1].Meta.ID > newerThan && (limit <= 0 || len(log) < limit) {
			log = append(log, entryOf(pending[len(pending)-1], "unresolved"))
			pending = pending[:len(pending)-1]
		}
	}
	ops, err := history.Ops()
	if err != nil && len(ops) == 0 {
		unresolved("")
		return log, problems, err
	}
	if err != nil {
		problems = append(problems, Problem{Severity: SeverityWarning, Kind: KindIO, Message: err.Error()})
	}
	undone := map[string]bool{}
	for _, op := range ops {
		unresolved(op.ID)
		if limit > 0 && len(log) >= limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return log, problems, err
		}
		rec, err := op.Read()
		if err != nil {
			problems = append(problems, Problem{Severity: SeverityWarning, Kind: KindIO,
				Message: "operation " + op.ID + " cannot be read: " + err.Error()})
			continue
		}
		state := "done"
		if undone[op.ID] {
			state = "undone"
		} else if !rec.Meta.Partial {
			for _, id := range rec.Meta.Reverts {
				undone[id] = true
			}
		}
		log = append(log, entryOf(rec, state))
	}
	unresolved("")
	return log, problems, nil
}

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
