package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// ShowRequest asks for one operation.
type ShowRequest struct {
	// ID names the operation as in UndoRequest; "" is the newest of the log.
	ID string
	// Patch asks for the inputs as they were received, Diff for what the operation changed, as a
	// unified diff that Apply and "git apply" take.
	Patch, Diff bool
}

// Shown is one operation with what was asked for of it.
type Shown struct {
	Operation
	// Inputs are the patches as they were received; there are none for an undo, a redo, a restore.
	Inputs [][]byte
	Diff   []byte
	// Problems are warnings: what the diff cannot show.
	Problems []Problem

	meta *snapshot.Meta
}

// Show returns an operation, also one that is undone. An operation that waits to be settled is found by
// the beginning of its id too. Errors: ErrUnknownOperation, and those of a damaged store.
func (e *Engine) Show(ctx context.Context, req ShowRequest) (*Shown, error) {
	if req.ID == "" {
		req.ID = "@"
	}
	op, err := e.findLogged(ctx, req.ID)
	if err != nil {
		return nil, marked(err)
	}
	s := &Shown{Operation: operationOf(op), meta: op.Meta}
	if req.Patch {
		for i := range op.Meta.Patches {
			in, err := op.rec.Patch(i)
			if err != nil {
				return nil, err
			}
			s.Inputs = append(s.Inputs, in)
		}
	}
	if req.Diff {
		if err := s.diff(op.rec); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// findLogged returns the operation that an id stands for, with its state.
func (e *Engine) findLogged(ctx context.Context, id string) (logged, error) {
	if id == "" {
		return logged{}, errEmptyID
	}
	found, err := e.site.History().Find(id)
	if err != nil {
		pending, _ := e.site.History().Pending() // its errors say nothing of this id
		for _, rec := range pending {
			if rec.Meta.ID == id {
				found, err = snapshot.Operation{ID: id}, nil
			}
		}
	}
	if err != nil {
		return logged{}, err
	}
	for op, err := range e.logEntries(ctx) {
		var unreadable *unreadableError
		switch {
		case err == nil && op.Meta.ID == found.ID:
			return op, nil
		case errors.As(err, &unreadable) && unreadable.id != found.ID:
		case err != nil && ctx.Err() == nil && !errors.As(err, &unreadable):
		case err != nil:
			return logged{}, err
		}
	}
	return logged{}, &snapshot.UnknownError{ID: id}
}

// diff fills in what the operation changed.
func (s *Shown) diff(rec *snapshot.Record) error {
	var changes []change.Change
	for i, p := range rec.Meta.Paths {
		shown := change.DisplayPath(p.Path)
		switch {
		case p.Outside:
			s.warn(Problem{Kind: KindUnsupported, Path: shown, Message: "it is outside of the root, so the diff leaves it out"})
			continue
		case p.After.Unknown:
			s.warn(Problem{Kind: KindUnsupported, Path: shown, Message: "what the operation left is not known, so the diff leaves it out"})
			continue
		}
		before, err := rec.Before(i)
		if err != nil {
			return err
		}
		after, err := rec.After(i)
		if err != nil {
			return err
		}
		changes = append(changes, change.Change{Path: p.Path, OldPath: p.OldPath, Before: before, After: after})
	}
	s.Diff = diffOf(changes)
	return nil
}

func (s *Shown) warn(p Problem) {
	p.Severity = SeverityWarning
	s.Problems = append(s.Problems, p)
}

// Request returns the request that applies the operation once more, with the Engine e, which may be
// that of another tree: the patches as they were received, with the choices of that time; for an
// operation that had none, such as an undo, what it changed, as a diff that is placed by content. Both
// Patch and Diff must have been asked for.
func (s *Shown) Request(e *Engine) Request {
	m := s.meta
	req := Request{Label: fmt.Sprintf("%s %s again", m.Kind, m.ID), Mode: ModeText}
	if m.Label != "" {
		req.Label = m.Label
	}
	if len(s.Inputs) == 0 {
		req.Patch, req.Format, req.Base = s.Diff, FormatUnified, e.Root()
		return req
	}
	for i, in := range s.Inputs {
		name := ""
		if len(s.Inputs) > 1 {
			name = fmt.Sprintf("input %d of operation %s", i+1, m.ID)
		}
		req.Inputs = append(req.Inputs, Input{Name: name, Data: in})
	}
	if m.Mode == string(ModeGit) {
		req.Mode = ModeAuto // the other tree may have no repository
	}
	if m.Policy == string(CompatCodex) {
		req.Compat = CompatCodex
	}
	req.Base = filepath.Join(e.Root(), filepath.FromSlash(m.Request.Base))
	req.Reverse, req.Partial, req.First, req.SkipApplied = m.Request.Reverse, m.Request.Partial, m.Request.First, m.Request.SkipApplied
	req.NoStage, req.NoRepair, req.RefuseConflicts = m.Request.NoStage, m.Request.NoRepair, m.Request.RefuseConflicts
	req.Parse, req.Format = Parse(m.Request.Parse), Format(m.Format)
	return req
}
