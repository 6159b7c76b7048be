package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// UndoRequest asks for an operation to be taken back.
type UndoRequest struct {
	// Check says what would be done and changes nothing. It takes no lock.
	Check bool
	// Diff asks for a unified diff in the result.
	Diff bool
	// Gate is as in Request.
	Gate func(ctx context.Context, changes []Change) error
}

// Undo takes back the newest operation that is not undone: every file that it touched becomes what
// it was before, in content, mode and kind. It is refused, with ErrDrift naming each file, if one of
// them is no longer as the operation left it. The undo is itself recorded. Without an operation to
// take back the error is ErrNothingToUndo.
func (e *Engine) Undo(ctx context.Context, req UndoRequest) (*Result, error) {
	command := "undo"
	if req.Check {
		command = "check"
	}
	u := &undo{e: e, ctx: ctx, req: req, result: e.newResult(command), op: e.newOperation(ctx)}
	err := u.run()
	u.op.end()
	if u.tree != nil {
		u.tree.Close()
	}
	if req.Diff && len(u.result.Changes) > 0 {
		u.result.Diff = diffOf(u.result.Changes)
	}
	u.result.finish(e.o.now())
	return u.result, err
}

// undo is one undo under way.
type undo struct {
	e      *Engine
	ctx    context.Context
	req    UndoRequest
	result *Result
	op     *operation
	tree   *worktree.Tree
	rec    *snapshot.Record
	// later maps a path to the newest operation after rec that touched it.
	later map[string]string
	files []worktree.File
}

func (u *undo) run() error {
	if !u.req.Check {
		if err := u.op.begin(); err != nil {
			return u.result.failOperation(err)
		}
	}
	if err := u.find(); err != nil {
		return u.result.failOperation(err)
	}
	u.result.Reverts = u.rec.Meta.ID
	var err error
	if u.tree, err = u.e.recordTree(u.rec); err != nil {
		return u.result.failOperation(err)
	}
	if err := u.plan(); err != nil {
		return u.result.failOperation(err)
	}
	if err := u.gate(); err != nil {
		return u.result.failOperation(err)
	}
	u.result.Exact = true
	if err := u.carryOut(); err != nil {
		return u.result.failOperation(err)
	}
	u.result.OK = true
	return nil
}

// carryOut does what was planned, or with Check looks at what could be in its way.
func (u *undo) carryOut() error {
	switch {
	case u.req.Check:
		if err := u.e.forecastPending(u.result); err != nil || len(u.files) == 0 {
			return err
		}
		return u.e.foresee(&job{tree: u.tree, files: u.files, snapshot: snapshotAlways})
	case len(u.files) == 0:
		return nil
	}
	return u.write()
}

// find looks for the newest operation that is not undone. An undo that is not itself undone marks
// what it took back.
func (u *undo) find() error {
	ops, err := u.e.site.History().Ops()
	if errors.Is(err, snapshot.ErrNewerFormat) || err != nil && len(ops) == 0 {
		return err
	}
	if err != nil {
		u.result.warn(Problem{Kind: KindIO, Message: "a store cannot be read: " + err.Error(),
			Hint: "operations that are recorded there are passed over"})
	}
	undone := map[string]bool{}
	u.later = map[string]string{}
	for _, op := range ops {
		rec, err := op.Read()
		if errors.Is(err, snapshot.ErrNewerFormat) {
			return err
		}
		if err != nil {
			u.result.warn(Problem{Kind: KindIO, Message: fmt.Sprintf("operation %s cannot be read: %v", op.ID, err),
				Hint: "it is passed over; other operations can still be undone"})
			continue
		}
		if undone[op.ID] {
			continue
		}
		switch rec.Meta.Kind {
		case snapshot.KindUndo, snapshot.KindRedo:
			if !rec.Meta.Partial {
				for _, id := range rec.Meta.Reverts {
					undone[id] = true
				}
			}
		case snapshot.KindRecover:
			// What a killed process had torn was saved; nobody wants it back by undo.
		default:
			u.rec = rec
			return nil
		}
		for _, p := range rec.Meta.Paths {
			if _, ok := u.later[p.Path]; !ok {
				u.later[p.Path] = op.ID
			}
		}
	}
	return ErrNothingToUndo
}

// plan compares what stands at every path with what the operation left there, and works out the
// way back.
func (u *undo) plan() error {
	var drifted driftError
	renamed := map[string]string{}
	for _, p := range u.rec.Meta.Paths {
		if p.OldPath != "" {
			renamed[p.OldPath] = p.Path
		}
	}
	for i, p := range u.rec.Meta.Paths {
		now, stamp, err := standing(u.tree, u.rec, p.Path)
		if err != nil {
			return err
		}
		if id, ok := u.op.unresolved[p.Path]; ok {
			return &pendingError{path: p.Path, id: id}
		}
		if !p.After.Same(now) {
			drifted.paths = append(drifted.paths, u.drift(p, now))
			continue
		}
		before, err := u.rec.Before(i)
		if err != nil {
			return err
		}
		if p.Before.Kind == change.File && p.Before.Mode == p.After.Mode {
			// The operation left the mode alone, so a mode set since is the user's.
			before.Mode = now.Mode
		}
		c := change.Change{Path: p.Path, OldPath: renamed[p.Path], Before: now, After: before}
		if p.Index != nil {
			c.Index = &change.IndexChange{Before: p.Index.After, After: p.Index.Before}
		}
		u.result.Changes = append(u.result.Changes, c)
		u.files = append(u.files, worktree.File{Change: c, Stamp: stamp, InPlace: p.InPlace})
	}
	u.report(len(drifted.paths) == 0)
	if len(drifted.paths) > 0 {
		return &drifted
	}
	return nil
}

// report lists the files of the operation.
func (u *undo) report(done bool) {
	for _, p := range u.rec.Meta.Paths {
		f := FileResult{Path: change.DisplayPath(p.Path), Change: undoWord(p), Status: StatusSkipped}
		if done {
			f.Status = StatusApplied
		}
		u.result.Files = append(u.result.Files, f)
	}
	u.result.listPaths()
}

// undoWord says what the undo does to a path.
func undoWord(p snapshot.PathMeta) string {
	switch {
	case p.Before.Kind == change.Absent:
		return "delete"
	case p.After.Kind == change.Absent && !p.After.Unknown:
		return "add"
	case p.Before.OID == p.After.OID && p.Before.Mode != p.After.Mode:
		return "mode"
	}
	return "modify"
}

// gate asks with the lock released and makes sure that nothing moved meanwhile.
func (u *undo) gate() error {
	if u.req.Gate == nil || len(u.files) == 0 {
		return nil
	}
	u.op.end()
	if err := u.req.Gate(u.ctx, u.result.Changes); err != nil {
		return &declinedError{cause: err}
	}
	if u.req.Check {
		return nil
	}
	if err := u.op.begin(); err != nil {
		return err
	}
	id := u.rec.Meta.ID
	if err := u.find(); err != nil {
		return err
	}
	if u.rec.Meta.ID != id {
		return &worktree.PathError{Path: u.e.site.Root, Err: worktree.ErrDrift, Problem: "another operation came in between; look at the log and undo again"}
	}
	return u.again()
}

// again plans anew, on folders opened anew: those that were there before may have been moved away.
func (u *undo) again() error {
	tree, err := u.e.recordTree(u.rec)
	if err != nil {
		return err
	}
	u.tree.Close()
	u.tree, u.files, u.result.Changes, u.result.Files = tree, nil, nil, nil
	return u.plan()
}

func (u *undo) write() error {
	made, removed, err := u.tree.Dirs(fileChanges(u.result.Changes))
	if err != nil {
		return err
	}
	index, err := u.index()
	if err != nil {
		return err
	}
	j := job{
		index: index,
		kind:  snapshot.KindUndo, tree: u.tree, files: u.files,
		made: u.modes(made), removed: u.leftover(u.ours(removed)),
		meta: snapshot.Meta{
			Reverts: []string{u.rec.Meta.ID}, Session: u.rec.Meta.Session, Turn: u.rec.Meta.Turn,
			Mode: u.rec.Meta.Mode, Policy: u.rec.Meta.Policy,
		},
	}
	if err := u.op.perform(&j, u.result); err != nil || index == nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(index.left)) {
		u.result.warn(Problem{Kind: KindIndexMismatch, Path: change.DisplayPath(path),
			Message: "its line in git's index was changed since and is left as it is: " + trimmed(index.left[path]),
			Hint:    "git status shows what is staged"})
	}
	return nil
}

// index says which lines of git's index go back with the files; nil where the operation left the
// index alone.
func (u *undo) index() (*indexJob, error) {
	if !touchesIndex(u.rec) {
		return nil, nil
	}
	repo, err := u.e.gitRepo()
	if err != nil {
		return nil, err
	}
	return &indexJob{repo: repo, options: gitapply.Options{Env: u.e.o.env}, restore: linesBack(u.rec), timeout: u.e.o.lockTimeout}, nil
}

// modes gives folders that are made again the mode that they had.
func (u *undo) modes(made []worktree.Dir) []worktree.Dir {
	had := map[string]snapshot.DirMeta{}
	for _, d := range u.rec.Meta.DirsRemoved {
		had[d.Path] = d
	}
	for i, d := range made {
		if old, ok := had[d.Path]; ok {
			made[i].Mode = old.Mode
		}
	}
	return made
}

// ours keeps of the folders that become empty those that the operation had made.
func (u *undo) ours(removed []worktree.Dir) []worktree.Dir {
	made := map[string]bool{}
	for _, d := range u.rec.Meta.DirsMade {
		made[d.Path] = true
	}
	kept := removed[:0]
	for _, d := range removed {
		if made[d.Path] {
			kept = append(kept, d)
		}
	}
	return kept
}

// leftover adds the folders that the operation made and did not come to use, as a run under Codex's
// rules does that fails midway: those in which there is nothing but folders that go.
func (u *undo) leftover(removed []worktree.Dir) []worktree.Dir {
	goes := map[string]bool{}
	for _, d := range removed {
		goes[d.Path] = true
	}
	for _, d := range slices.Backward(u.rec.Meta.DirsMade) {
		now, _, err := u.tree.Read(d.Path)
		if goes[d.Path] || err != nil || now.Kind != change.Dir {
			continue
		}
		names, err := os.ReadDir(u.tree.Abs(d.Path))
		if err == nil && !slices.ContainsFunc(names, func(n os.DirEntry) bool { return !goes[d.Path+"/"+n.Name()] }) {
			goes[d.Path] = true
			removed = append(removed, worktree.Dir{Path: d.Path, Mode: now.Mode})
		}
	}
	return removed
}
