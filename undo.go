package oxpatch

import (
	"context"
)

// UndoRequest says which operations are to be taken back, and how. Without any choice it is the newest
// apply or restore that is not undone.
type UndoRequest struct {
	// IDs names operations: by id, by the beginning of one, "@" for the newest of the log, "@~2" for
	// the second before that. An undo among them is redone.
	IDs []string
	// Count is how many of the newest operations that stand are taken back.
	Count int
	// To names an operation; everything after it is taken back, so that what it left is there again.
	To string
	// Session and Turn choose the operations that carry them, all of those that stand or, with Count
	// or To, as many as these say.
	Session, Turn string
	// Paths restricts the undo to these files and to what is in these folders. Relative ones count
	// from the folder the Engine was opened in. The other name of a moved file comes along.
	Paths []string
	// Merge keeps what was changed since: the change is taken out of what stands there now, by a
	// three-way merge. A conflict refuses everything, unless Markers is set.
	Merge bool
	// Markers, with Merge, writes conflicts into the files, marked.
	Markers bool
	// Force brings back what was there before whatever stands there now. That is recorded, so this
	// can itself be undone.
	Force bool
	// Check says what would be done and changes nothing. It takes no lock.
	Check bool
	// Diff asks for a unified diff in the result.
	Diff bool
	// Gate is as in Request.
	Gate func(ctx context.Context, changes []Change) error
}

// RedoRequest says which undos are to be taken back, and how. Without any choice it is the newest that
// no apply or restore has followed.
type RedoRequest struct {
	// IDs names undos, or operations that are undone, as in UndoRequest.
	IDs []string
	// Count is how many undos are taken back.
	Count int
	// The others are as in UndoRequest.
	Paths                              []string
	Merge, Markers, Force, Check, Diff bool
	Gate                               func(ctx context.Context, changes []Change) error
}

// Undo takes operations back: every file that they touched becomes what it was before the oldest of
// them, in content, mode and kind, all files or none. It is refused, with ErrDrift naming each file, if
// one of them is no longer as the newest left it, or if something else changed it between two of
// them; Merge and Force are the ways on. The undo is itself recorded, as one operation.
//
// Errors besides: ErrNothingToUndo without an operation to take back, ErrUnknownOperation,
// ErrConflict, ErrPending, ErrBusy, ErrUsage for a request that contradicts itself.
func (e *Engine) Undo(ctx context.Context, req UndoRequest) (*Result, error) {
	return e.reverse(ctx, &reversal{command: "undo", choose: choice{
		ids: req.IDs, count: req.Count, to: req.To, session: req.Session, turn: req.Turn, paths: req.Paths,
	}, how: reverseOptions{req.Merge, req.Markers, req.Force, req.Check, req.Diff, req.Gate}})
}

// Redo takes undos back, so that what they had taken back stands again. Redo after redo walks forward
// as undo after undo walks back, as in an editor; an apply or restore ends that, but each undo can
// still be named. All else is as with Undo; without an undo to take back the error is
// ErrNothingToRedo.
func (e *Engine) Redo(ctx context.Context, req RedoRequest) (*Result, error) {
	return e.reverse(ctx, &reversal{command: "redo", choose: choice{
		redo: true, ids: req.IDs, count: req.Count, paths: req.Paths,
	}, how: reverseOptions{req.Merge, req.Markers, req.Force, req.Check, req.Diff, req.Gate}})
}

// reverseOptions are what both requests say of how operations are taken back.
type reverseOptions struct {
	merge, markers, force, check, diff bool
	gate                               func(ctx context.Context, changes []Change) error
}
