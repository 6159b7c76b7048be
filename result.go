package oxpatch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/unified"
	"github.com/openoxide/oxpatch/worktree"
)

// newResult begins a result; Duration holds the start until finish.
func (e *Engine) newResult(command string) *Result {
	return &Result{
		Command: command, Root: e.site.Root, started: e.o.now(),
		AppliedPaths: []string{}, SkippedPaths: []string{}, ConflictedPaths: []string{},
	}
}

func (r *Result) finish(now time.Time) { r.Duration = now.Sub(r.started) }

// refuseInput completes a result whose patch could not be read.
func (r *Result) refuseInput(err error) error {
	r.Exact = true
	var m *malformedError
	if errors.As(err, &m) {
		r.fail(m.problem)
	} else {
		r.fail(Problem{Kind: KindMalformed, Message: err.Error()})
	}
	return r.refusal(err)
}

// failOperation completes a result whose operation could not be carried out: what was planned is
// not done, and the problem says why.
func (r *Result) failOperation(err error) error {
	r.Exact = !errors.Is(err, ErrRollback)
	if !r.Applied {
		r.Changes = nil
		for i := range r.Files {
			r.Files[i].skip()
		}
		r.listPaths()
	}
	for _, one := range parts(err) {
		r.fail(operationProblem(one))
	}
	return r.refusal(append([]error{err}, sentinels(err)...)...)
}

// skip marks a file as left as it was.
func (f *FileResult) skip() {
	if f.Unchanged {
		return
	}
	f.Status = StatusSkipped
	for i := range f.Hunks {
		if f.Hunks[i].Status == StatusApplied {
			f.Hunks[i].Status = StatusSkipped
		}
	}
}

// parts splits a list of errors that stand side by side.
func parts(err error) []error {
	var d *driftError
	if errors.As(err, &d) {
		return d.each()
	}
	return []error{err}
}

// sentinels returns the package's own sentinels for an error from below.
func sentinels(err error) []error {
	var out []error
	for _, pair := range []struct{ below, ours error }{
		{snapshot.ErrBusy, ErrBusy}, {snapshot.ErrNoStore, ErrNoSnapshot}, {snapshot.ErrTooLarge, ErrTooLarge},
		{snapshot.ErrUnknownOperation, ErrUnknownOperation}, {snapshot.ErrAmbiguousID, ErrUnknownOperation},
	} {
		if errors.Is(err, pair.below) {
			out = append(out, pair.ours)
		}
	}
	for _, pair := range gitSentinels {
		if errors.Is(err, pair.below) {
			out = append(out, pair.ours)
		}
	}
	return out
}

// marked returns an error that matches the package's own sentinels too.
func marked(err error) error {
	if own := sentinels(err); len(own) > 0 {
		return &markedError{err, own}
	}
	return err
}

type markedError struct {
	err error
	own []error
}

func (e *markedError) Error() string { return e.err.Error() }

func (e *markedError) Unwrap() []error { return append([]error{e.err}, e.own...) }

// operationProblem describes why an operation could not be carried out.
func operationProblem(err error) Problem {
	if p, ok := gitProblem(err); ok {
		return p
	}
	p := Problem{Kind: problemKind(err), Message: trimmed(err)}
	var pe *worktree.PathError
	if errors.As(err, &pe) {
		p.Path, p.Message, p.Hint = change.DisplayPath(pe.Path), pe.Problem, pe.Hint
	}
	var drift *driftedPath
	var pending *pendingError
	var none *snapshot.NoStoreError
	var state *stateError
	var untouched *untouchedError
	var few *tooFewError
	var large *snapshot.TooLargeError
	switch {
	case errors.Is(err, ErrRollback):
		p.Kind, p.Message, p.Hint = KindIO, trimmed(err), "oxpatch recover brings back what is not restored"
	case errors.As(err, &drift):
		p.Kind, p.Path, p.Line, p.Message, p.Hint = drift.kind, change.DisplayPath(drift.path), drift.line, drift.reason, drift.hint
	case errors.As(err, &state):
		p.Kind, p.Hint = KindNothingToDo, state.hint
	case errors.As(err, &untouched):
		p.Kind, p.Path, p.Hint = KindNothingToDo, change.DisplayPath(untouched.path), untouched.hint()
	case errors.As(err, &few):
		p.Hint = fmt.Sprintf("-n %d takes all of them", few.have)
	case errors.Is(err, snapshot.ErrAmbiguousID):
		p.Hint = "give more of the id; oxpatch log lists the operations"
	case errors.Is(err, snapshot.ErrUnknownOperation):
		p.Hint = "oxpatch log lists the operations; @ is the newest; files come after --"
	case errors.As(err, &pending):
		p.Path, p.Message = change.DisplayPath(pending.path), fmt.Sprintf("operation %s was interrupted and is not settled for this file", pending.id)
		p.Hint = "settle it with oxpatch recover"
	case errors.As(err, &none):
		p.Kind, p.Message = KindNoSnapshot, "what this operation replaces could not be recorded, so it could not be undone: "+none.Error()
		p.Hint = none.Hint() + " (--no-snapshot)"
	case errors.As(err, &large):
		p.Path, p.Message = change.DisplayPath(large.Path), large.Error()
		p.Hint = "raise the limit with --max-snapshot, or apply it without undo with --no-snapshot"
	case errors.Is(err, snapshot.ErrBusy):
		p.Kind, p.Hint = KindBusy, "wait for it to end and try again"
	case errors.Is(err, snapshot.ErrNewerFormat):
		p.Kind, p.Hint = KindUnsupported, "use that newer oxpatch here; nothing was touched"
	case errors.Is(err, worktree.ErrDrift):
		p.Hint = "nothing was changed; look at the file and run the command again"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		p.Hint = "nothing was changed; free some space and run the command again"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p.Kind, p.Message, p.Hint = KindInterrupted, "interrupted; everything is as it was before", "run the command again"
	}
	return p
}

// diffOf returns the changes as a unified diff.
func diffOf(changes []change.Change) []byte {
	var b bytes.Buffer
	_ = unified.Write(&b, changes, unified.Options{}) // a buffer takes everything
	return b.Bytes()
}

func isOutside(path string) bool { return filepath.IsAbs(filepath.FromSlash(path)) }

// randomID names an operation that is not recorded, for its temporary files.
func randomID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails (Go 1.24)
	return hex.EncodeToString(b[:])
}
