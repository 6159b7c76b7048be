package oxpatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// RestoreRequest asks for files to be brought to the state that an operation recorded.
type RestoreRequest struct {
	// ID is that of a checkpoint, or of another operation for the state that it left behind; or the
	// beginning of one.
	ID string
	// Paths, if there are any, are the files and folders to restore; all else stays as it is.
	Paths []string
	// Base is as in Request.
	Base string
	// Check, Diff and Gate are as in UndoRequest.
	Check, Diff bool
	Gate        func(ctx context.Context, changes []Change) error
	// DeleteNew removes files that were not there at the checkpoint and that no operation made since.
	// Without it they stay, and are named in warnings.
	DeleteNew bool
	// Session, Turn and Label are kept in the operation's record.
	Session, Turn, Label string
}

// Restore brings the recorded paths to the state that they have in a record, whatever they hold now:
// content, kind and, from a checkpoint, permissions. All of them or none; what is there already is
// not written. It is an operation: what it replaces is recorded, and undo takes it back.
//
// In the scope of a checkpoint (its folders, or the tree) files that were not there go too if an
// operation made them since. Others stay, unless DeleteNew is set, and so does what git ignores.
// Folders that become empty go if an operation made them since; with DeleteNew also those that the
// checkpoint does not know. git's index is left alone.
//
// A path of an interrupted operation is refused with ErrPending.
func (e *Engine) Restore(ctx context.Context, req RestoreRequest) (*Result, error) {
	command := "restore"
	if req.Check {
		command = "check"
	}
	r := &restoring{e: e, ctx: ctx, req: req, result: e.newResult(command), op: e.newOperation(ctx)}
	err := r.run()
	r.op.end()
	if r.tree != nil {
		r.tree.Close()
	}
	if req.Diff && len(r.result.Changes) > 0 {
		r.result.Diff = diffOf(r.result.Changes)
	}
	r.result.finish(e.o.now())
	return r.result, err
}

// restoring is one restore under way.
type restoring struct {
	e      *Engine
	ctx    context.Context
	req    RestoreRequest
	result *Result
	op     *operation
	tree   *worktree.Tree
	rec    *snapshot.Record
	plan   *restorePlan
}

func (r *restoring) run() error {
	if !r.req.Check {
		if err := r.op.begin(); err != nil {
			return r.result.failOperation(err)
		}
	}
	var err error
	r.rec, err = r.e.site.History().Read(r.req.ID)
	if err != nil {
		return r.result.failOperation(err)
	}
	r.result.Restores = r.rec.Meta.ID
	if err := r.work(); err != nil {
		var list *listError
		if errors.As(err, &list) {
			return r.result.failListing(list, "restore without --delete-new; new files then stay")
		}
		var rules *ignoreRulesError
		changed := errors.As(err, &rules)
		err = r.result.failOperation(err)
		r.result.askAgain()
		if n := len(r.result.Problems); changed && n > 0 {
			r.result.Problems[n-1].Hint = rules.hint()
		}
		return err
	}
	r.result.OK, r.result.Exact = true, true
	return nil
}

// work plans, asks and writes.
func (r *restoring) work() error {
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.gate(); err != nil {
		return err
	}
	r.report()
	j := job{
		kind: snapshot.KindRestore, tree: r.tree, files: r.plan.files, made: r.plan.made, removed: r.plan.removed,
		meta: snapshot.Meta{Restores: r.rec.Meta.ID, Session: r.req.Session, Turn: r.req.Turn, Label: r.req.Label},
	}
	switch {
	case r.req.Check:
		if err := r.e.forecastPending(r.result); err != nil || len(r.plan.files) == 0 {
			return err
		}
		return r.e.foresee(&j)
	case len(r.plan.files) == 0:
		return nil
	}
	return r.op.perform(&j, r.result)
}

// prepare opens the tree and makes the plan. It may be called again.
func (r *restoring) prepare() error {
	if r.tree != nil {
		r.tree.Close()
		r.tree = nil
	}
	r.result.Problems = nil
	free := false
	for _, p := range r.rec.Meta.Paths {
		free = free || p.Outside
	}
	var err error
	if r.tree, err = r.e.scanTree(r.req.Base, free); err != nil {
		return err
	}
	r.plan, err = r.makePlan()
	if err == nil {
		r.result.Changes = fileChangesOf(r.plan.files)
	}
	return err
}

func fileChangesOf(files []worktree.File) []change.Change {
	var out []change.Change
	for _, f := range files {
		out = append(out, f.Change)
	}
	return out
}

// gate asks with the lock released and makes sure that nothing moved meanwhile.
func (r *restoring) gate() error {
	if r.req.Gate == nil || len(r.plan.files) == 0 {
		return nil
	}
	asked := r.result.Changes
	r.op.end()
	if err := r.req.Gate(r.ctx, asked); err != nil {
		return &declinedError{cause: err}
	}
	if r.req.Check {
		return nil
	}
	if err := r.op.begin(); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		return err
	}
	now := r.result.Changes
	for i := range max(len(asked), len(now)) {
		if i < len(asked) && i < len(now) && sameChange(asked[i], now[i]) {
			continue
		}
		changed := now
		if i >= len(now) {
			changed = asked
		}
		return &worktree.PathError{Path: changed[i].Path, Err: worktree.ErrDrift,
			Problem: "it changed while the changes were being approved; restore again"}
	}
	return nil
}

func sameChange(a, b change.Change) bool {
	same := func(s, t change.State) bool { return s.Equal(t) && s.Mode == t.Mode }
	return a.Path == b.Path && same(a.Before, b.Before) && same(a.After, b.After)
}

// report lists what is done, and what stays although it was not there.
func (r *restoring) report() {
	p := r.plan
	for _, f := range p.files {
		r.result.Files = append(r.result.Files, FileResult{
			Path: change.DisplayPath(f.Path), Change: stateWord(f.Before, f.After), Status: StatusApplied,
		})
	}
	r.result.listPaths()
	for _, path := range p.ours {
		r.result.warn(Problem{Kind: KindExists, Path: change.DisplayPath(path),
			Message: "it was not there then, and an operation made it since: it is removed"})
	}
	for i, path := range p.left {
		if i == maxNamed {
			r.result.warn(Problem{Kind: KindExists, Message: fmt.Sprintf("%d more files were not there then and stay", len(p.left)-i)})
			break
		}
		r.result.warn(Problem{Kind: KindExists, Path: change.DisplayPath(path), Message: "it was not there then and stays"})
	}
	if n := len(r.result.Problems); len(p.left) > 0 {
		r.result.Problems[n-1].Hint = "--delete-new removes such files" // once is enough
	}
	switch {
	case len(p.files) > 0:
	case len(p.left) > 0:
		r.result.warn(Problem{Kind: KindAlreadyApplied, Message: "there is nothing to bring back; what is new stays"})
	default:
		r.result.warn(Problem{Kind: KindAlreadyApplied, Message: "everything is as it was recorded"})
	}
}

// askAgain is the hint to a file that changed under a command that has no patch to be made anew.
func (r *Result) askAgain() {
	for i := range r.Problems {
		if r.Problems[i].Kind == KindDrift {
			r.Problems[i].Hint = "nothing was changed; run the command again"
		}
	}
}

// stateWord says what turns one state into another.
func stateWord(before, after change.State) string {
	switch {
	case before.Kind == change.Absent:
		return "add"
	case after.Kind == change.Absent:
		return "delete"
	case before.Kind == after.Kind && string(before.Content) == string(after.Content):
		return "mode"
	}
	return "modify"
}
