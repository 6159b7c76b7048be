package oxpatch

import (
	"fmt"

	"github.com/openoxide/oxpatch/worktree"
)

// gate asks the request's Gate without holding the lock, and makes sure that nothing moved
// meanwhile.
func (r *run) gate(p *textPlan) error {
	asked, err := r.ask(p.Changes)
	if err != nil || !asked {
		return err
	}
	return r.unmoved(p)
}

// ask calls the request's Gate without holding the lock. It reports whether it did, and the changes
// are to be carried out now.
func (r *run) ask(changes []Change) (bool, error) {
	if r.req.Gate == nil || len(changes) == 0 {
		return false, nil
	}
	locked := r.op.held()
	r.op.end()
	if err := r.req.Gate(r.ctx, changes); err != nil {
		return false, &declinedError{cause: err}
	}
	if r.req.Check {
		return false, nil
	}
	if locked { // a run under Codex's rules that records nothing holds no lock
		if err := r.op.begin(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// unmoved returns an error where a file is no longer as it was planned on. Permissions count too,
// since the writer would put back the old ones.
func (r *run) unmoved(p *textPlan) error {
	for _, c := range p.Changes {
		now, err := r.disk.Read(c.Path)
		if err != nil {
			return err
		}
		if !now.Equal(c.Before) || now.Mode != c.Before.Mode {
			return &worktree.PathError{Path: c.Path, Err: worktree.ErrDrift, Problem: "it changed while the changes were being approved; run the patch again"}
		}
	}
	if r.req.Compat == CompatCodex {
		return nil // no operation of another holds up Codex
	}
	return r.blocked(p)
}

// blocked returns an error where the plan touches a path of an operation that is not settled.
func (r *run) blocked(p *textPlan) error { return r.blockedBy(p.Changes) }

func (r *run) blockedBy(changes []Change) error {
	for _, c := range changes {
		if id, ok := r.op.unresolved[c.Path]; ok {
			return &pendingError{path: c.Path, id: id}
		}
	}
	return nil
}

// declinedError is a refusal by the gate.
type declinedError struct{ cause error }

func (e *declinedError) Error() string { return "declined: " + e.cause.Error() }

func (e *declinedError) Unwrap() []error { return []error{ErrDeclined, e.cause} }

// pendingError is a path that an unsettled operation holds.
type pendingError struct{ path, id string }

func (e *pendingError) Error() string {
	return fmt.Sprintf("%s: operation %s was interrupted and is not settled for this file", shownPath(e.path, ""), e.id)
}

func (e *pendingError) Unwrap() error { return ErrPending }
