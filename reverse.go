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

// concerns reports whether a folder is for the request to make or remove: where only some paths are wanted,
// those that are above one of them.
func (u *reversal) concerns(dir string) bool {
	return !u.chosen.partial || slices.ContainsFunc(u.chosen.paths, func(p *history.Path) bool {
		return p.Path == dir || strings.HasPrefix(p.Path, dir+"/")
	})
}

// plan works out the way back for every path, or why there is none.
func (u *reversal) plan() error {
	u.files, u.still, u.conflicts, u.result.Changes, u.result.Files = nil, nil, nil, nil, nil
	var refused driftError
	files, backs := make([]worktree.File, len(u.chosen.paths)), make([]*wayBack, len(u.chosen.paths))
	for i, p := range u.chosen.paths {
		now, stamp, err := u.dirs.standing(u.tree, p.Path)
		if err != nil {
			return err
		}
		if id, ok := u.op.unresolved[p.Path]; ok {
			return &pendingError{path: p.Path, id: id}
		}
		back, err := u.back(p, now)
		if err != nil {
			return err
		}
		if back.drift != nil {
			refused.paths = append(refused.paths, back.drift)
		}
		if back.conflict != nil {
			u.conflicts = append(u.conflicts, back.conflict)
		}
		if back.drift == nil && now.Kind == change.Dir && back.state.Kind != change.Dir {
			return &worktree.PathError{Path: p.Path, Err: worktree.ErrIsDirectory,
				Problem: "a folder stands there now; move it away first"}
		}
		c := change.Change{Path: p.Path, Before: now, After: back.state, Index: indexBackOf(p)}
		files[i], backs[i] = worktree.File{Change: c, Stamp: stamp, InPlace: p.Newest().Meta().InPlace}, back
	}
	moved, done := movedFrom(u.chosen.paths, files), map[string]bool{}
	for i, p := range u.chosen.paths {
		files[i].OldPath = moved[p.Path]
		u.add(reverseWord(p), files[i], backs[i])
		done[p.Path] = true
	}
	u.addAnchored(done)
	if len(refused.paths) > 0 {
		for i := range u.result.Files {
			u.result.Files[i].skip()
		}
		u.result.listPaths()
		return &refused
	}
	u.result.listPaths()
	return nil
}

// add puts a path into the plan and the result.
func (u *reversal) add(word string, f worktree.File, back *wayBack) {
	r := FileResult{Path: change.DisplayPath(f.Path), Change: word, Status: StatusApplied}
	if back.drift != nil {
		r.Status = StatusSkipped
		u.result.Files = append(u.result.Files, r)
		return
	}
	still := f.Before.Equal(f.After) && f.Before.Mode == f.After.Mode
	switch {
	case back.conflict != nil:
		r.Status = StatusConflicted
	case still && f.Index == nil:
		r.Unchanged = true
	}
	if still {
		u.still = append(u.still, f)
	} else {
		u.files = append(u.files, f)
	}
	if !still || f.Index != nil {
		u.result.Changes = append(u.result.Changes, f.Change)
	}
	u.result.Files = append(u.result.Files, r)
}

// reverseWord says what taking the operations back does to a path.
func reverseWord(p *history.Path) string {
	from, to := p.Newest().Meta().After, p.Oldest().Meta().Before
	switch {
	case to.Kind == change.Absent:
		return "delete"
	case from.Kind == change.Absent && !from.Unknown:
		return "add"
	case from.OID == to.OID && from.Mode != to.Mode:
		return "mode"
	}
	return "modify"
}

// movedFrom maps the old name of a file that was moved to the new one, from which it comes back. Where
// several were moved away from there, one after the other, it is the first that comes back.
func movedFrom(paths []*history.Path, files []worktree.File) map[string]string {
	out, since := map[string]string{}, map[string]string{}
	for i, p := range paths {
		m, id := p.Oldest().Meta(), p.Oldest().Entry.Meta.ID
		goes := files[i].Before.Kind != change.Absent && files[i].After.Kind == change.Absent
		if m.OldPath == "" || m.Before.Kind != change.Absent || !goes {
			continue
		}
		if old, ok := since[m.OldPath]; !ok || id < old {
			out[m.OldPath], since[m.OldPath] = p.Path, id
		}
	}
	return out
}

// indexBackOf returns what happens to the path's lines of git's index.
func indexBackOf(p *history.Path) *change.IndexChange {
	var back *change.IndexChange
	for _, s := range p.Steps {
		x := s.Meta().Index
		switch {
		case x == nil:
		case back == nil:
			back = &change.IndexChange{Before: x.After, After: x.Before}
		default:
			back.After = x.Before
		}
	}
	return back
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
		u.result.fail(c.problem(u.how.check))
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

// index says which lines of git's index go back with the files; nil where the operations left the
// index alone.
func (u *reversal) index() (*indexJob, error) {
	w := gitapply.Restore{Want: map[string][]change.IndexLine{}, Expect: map[string][]change.IndexLine{}, Blob: u.blob}
	for _, p := range u.chosen.paths {
		if x := indexBackOf(p); x != nil {
			w.Want[p.Path], w.Expect[p.Path] = x.After, x.Before
		}
	}
	if len(w.Want) == 0 {
		return nil, nil
	}
	repo, err := u.e.gitRepo()
	if err != nil {
		return nil, err
	}
	return &indexJob{repo: repo, options: gitapply.Options{Env: u.e.o.env}, restore: w, timeout: u.e.o.lockTimeout}, nil
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
