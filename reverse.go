package oxpatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// reversal is an undo or redo under way.
type reversal struct {
	command string
	choose  choice
	how     reverseOptions

	e       *Engine
	ctx     context.Context
	result  *Result
	op      *operation
	tree    *worktree.Tree
	chosen  *chosen
	dirs    madeDirs
	anchors anchors
	// files are those to be written; still are those that have to be recorded only, since they are
	// already what they are to be.
	files, still []worktree.File
	conflicts    []*conflictedPath
	// indexLeft holds the paths whose lines in the index stay, and why.
	indexLeft map[string]error
	ways      *waysOut
}

func (e *Engine) reverse(ctx context.Context, u *reversal) (*Result, error) {
	command := u.command
	if u.how.check {
		command = "check"
	}
	u.e, u.ctx, u.result, u.op = e, ctx, e.newResult(command), e.newOperation(ctx)
	err := u.run()
	u.op.end()
	if u.tree != nil {
		u.tree.Close()
	}
	if u.how.diff && len(u.result.Changes) > 0 {
		u.result.Diff = diffOf(u.result.Changes)
	}
	u.result.finish(e.o.now())
	return u.result, err
}

func (u *reversal) run() error {
	if err := u.how.validate(); err != nil {
		return u.result.failOperation(err)
	}
	if !u.how.check {
		if err := u.op.begin(); err != nil {
			return u.result.failOperation(err)
		}
	}
	if err := u.find(); err != nil {
		return u.result.failOperation(err)
	}
	if len(u.chosen.targets) == 0 { // a group of which all is undone already
		u.result.OK, u.result.Exact = true, true
		return nil
	}
	if err := u.open(); err != nil {
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
	u.movedHead()
	if len(u.conflicts) > 0 {
		return u.result.refusal(ErrConflict)
	}
	u.result.OK = true
	return nil
}

// validate refuses options that contradict each other.
func (o *reverseOptions) validate() error {
	switch {
	case o.force && (o.merge || o.markers):
		return usage("either merge or force, not both")
	case o.markers && !o.merge:
		return usage("conflict markers are for a merge")
	}
	return nil
}

// find chooses the operations.
func (u *reversal) find() error {
	c, problems, err := u.e.pick(u.choose)
	for _, p := range problems {
		u.result.warn(p)
	}
	if err != nil {
		return err
	}
	u.chosen, u.result.Reverts = c, idsOf(slices.DeleteFunc(slices.Clone(c.targets), isCheckpoint))
	return nil
}

func isCheckpoint(op logged) bool { return op.Meta.Kind == snapshot.KindCheckpoint }

// open opens the tree anew: folders that were there before may have been moved away.
func (u *reversal) open() error {
	free := slices.ContainsFunc(u.chosen.paths, func(p *history.Path) bool { return p.Newest().Meta().Outside })
	tree, err := worktree.Open(u.e.site.Root, worktree.Options{Effects: u.e.o.treeEffects, InPlace: true, Free: free})
	if err != nil {
		return err
	}
	if u.tree != nil {
		u.tree.Close()
	}
	u.tree, u.dirs = tree, dirsOfAll(u.chosen.targets, u.concerns)
	u.anchors, err = u.findAnchors()
	return err
}

// gate asks with the lock released and makes sure that nothing moved meanwhile.
func (u *reversal) gate() error {
	if u.how.gate == nil || len(u.result.Changes) == 0 {
		return nil
	}
	u.op.end()
	if err := u.how.gate(u.ctx, u.result.Changes); err != nil {
		return &declinedError{cause: err}
	}
	if u.how.check {
		return nil
	}
	if err := u.op.begin(); err != nil {
		return err
	}
	ids, approved := u.result.Reverts, u.result.Changes
	if err := u.find(); err != nil {
		return err
	}
	if !slices.Equal(u.result.Reverts, ids) {
		return &worktree.PathError{Path: u.e.site.Root, Err: worktree.ErrDrift, Problem: "another operation came in between; look at the log and try again"}
	}
	if err := u.open(); err != nil {
		return err
	}
	if err := u.plan(); err != nil {
		return err
	}
	return u.unmoved(approved)
}

// unmoved returns an error where the plan is no longer the one that was approved, as it can be where
// what stands there now is merged or overwritten.
func (u *reversal) unmoved(approved []Change) error {
	same := func(a, b Change) bool {
		return a.Path == b.Path && a.Before.Equal(b.Before) && a.Before.Mode == b.Before.Mode && a.After.Equal(b.After)
	}
	if slices.EqualFunc(approved, u.result.Changes, same) {
		return nil
	}
	return &worktree.PathError{Path: u.e.site.Root, Err: worktree.ErrDrift, Problem: "files changed while the changes were being approved; try again"}
}

// carryOut does what was planned, or with Check looks at what could be in its way.
func (u *reversal) carryOut() error {
	for _, c := range u.conflicts {
		u.result.fail(c.problem(history.Reverse(entriesIn(u.chosen.targets)), u.how.check))
	}
	if u.how.check {
		if err := u.e.forecastPending(u.result); err != nil || len(u.files) == 0 {
			return err
		}
		made, removed, err := u.folders()
		if err != nil {
			return err
		}
		return u.e.foresee(&job{tree: u.tree, files: u.files, made: made, removed: removed, snapshot: snapshotAlways})
	}
	return u.write()
}

// folders returns those that are made and removed with the files.
func (u *reversal) folders() (made, removed []worktree.Dir, err error) {
	made, _, err = u.tree.Dirs(fileChanges(changesOf(u.files)))
	if err != nil {
		return nil, nil, err
	}
	return u.dirs.toMake(u.tree, u.files, made), u.dirs.toRemove(u.tree, u.files), nil
}

func (u *reversal) write() error {
	made, removed, err := u.folders()
	if err != nil {
		return err
	}
	u.indexLeft = map[string]error{}
	index, err := u.index()
	if err != nil {
		return err
	}
	j := job{
		index: index,
		kind:  history.Reverse(entriesIn(u.chosen.targets)), tree: u.tree, files: u.files, still: u.still,
		made: u.anchors.modes(made), removed: removed,
		meta: u.meta(), snapshot: snapshotAlways,
	}
	if err := u.op.perform(&j, u.result); err != nil {
		return err
	}
	if index != nil {
		maps.Copy(u.indexLeft, index.left)
	}
	for _, path := range sortedKeys(u.indexLeft) {
		u.result.warn(Problem{Kind: KindIndexMismatch, Path: change.DisplayPath(path),
			Message: "its line in git's index was changed since and is left as it is: " + trimmed(u.indexLeft[path]),
			Hint:    "git status shows what is staged"})
	}
	return nil
}

// meta describes the operation. What all targets have in common describes it too.
func (u *reversal) meta() snapshot.Meta {
	first := u.chosen.targets[0].Meta
	common := func(field func(*snapshot.Meta) string) string {
		for _, t := range u.chosen.targets {
			if field(t.Meta) != field(first) {
				return ""
			}
		}
		return field(first)
	}
	return snapshot.Meta{
		Reverts: u.result.Reverts, Partial: u.chosen.partial, Merged: len(u.conflicts) > 0,
		Session: common(func(m *snapshot.Meta) string { return m.Session }),
		Turn:    common(func(m *snapshot.Meta) string { return m.Turn }),
		Mode:    common(func(m *snapshot.Meta) string { return m.Mode }),
		Policy:  common(func(m *snapshot.Meta) string { return m.Policy }),
	}
}

// index says which lines of git's index go back with the files; nil where none do. Lines that somebody
// else has changed since are left, and are no part of the operation: taking it back leaves them too.
func (u *reversal) index() (*indexJob, error) {
	x := map[string]*change.IndexChange{}
	for _, p := range u.chosen.paths {
		if back := indexBackOf(p); back != nil {
			x[p.Path] = back
		}
	}
	if len(x) == 0 {
		return nil, nil
	}
	repo, err := u.e.gitRepo()
	if err != nil {
		return nil, err
	}
	options := gitapply.Options{Env: u.e.o.env}
	now, err := gitapply.ReadIndex(u.ctx, repo, options, sortedKeys(x))
	if err != nil {
		return nil, err
	}
	w := gitapply.Restore{Want: map[string][]change.IndexLine{}, Expect: map[string][]change.IndexLine{}, Blob: u.blob}
	for path, back := range x {
		switch {
		case slices.Equal(now[path], back.Before):
			w.Want[path], w.Expect[path] = back.After, back.Before
		case !slices.Equal(now[path], back.After):
			u.indexLeft[path] = fmt.Errorf("%s: %w", change.DisplayPath(path), gitapply.ErrIndexChanged)
		}
	}
	for _, list := range [][]worktree.File{u.files, u.still} {
		for i, f := range list {
			if _, ok := w.Want[f.Path]; !ok {
				list[i].Index = nil
			}
		}
	}
	if len(w.Want) == 0 {
		return nil, nil
	}
	return &indexJob{repo: repo, options: options, restore: w, timeout: u.e.o.lockTimeout}, nil
}

// blob looks for a blob of the repository in the records of the operations.
func (u *reversal) blob(id string) ([]byte, bool) {
	for _, t := range u.chosen.targets {
		if content, ok := recordedBlob(t.rec, id); ok {
			return content, true
		}
	}
	return nil, false
}

// movedHead says that something else is checked out than when the newest of the operations was
// recorded. The files decided whether it could be taken back.
func (u *reversal) movedHead() {
	t := u.chosen.targets[0].Meta
	now := u.e.head()
	if t.Head == nil || now == nil || *t.Head == *now {
		return
	}
	u.result.warn(Problem{Kind: KindDrift,
		Message: fmt.Sprintf("HEAD has moved since operation %s: it was at %s, now it is at %s", t.ID, headWords(t.Head), headWords(now)),
		Hint:    "only files are taken back; commits stay as they are"})
}

func headWords(h *snapshot.Head) string {
	oid := h.OID
	if len(oid) > 10 {
		oid = oid[:10]
	}
	ref := strings.TrimPrefix(h.Ref, "refs/heads/")
	switch {
	case oid == "":
		return ref + ", which has no commit"
	case ref == "":
		return oid
	}
	return ref + " " + oid
}

func changesOf(files []worktree.File) []change.Change {
	out := make([]change.Change, len(files))
	for i, f := range files {
		out[i] = f.Change
	}
	return out
}
