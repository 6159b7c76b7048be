package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// DiffRequest says between which moments files are compared. Without anything it is from before the
// newest operation that is not undone to now.
type DiffRequest struct {
	// From and To name operations as in UndoRequest: from what the one left to what the other left.
	// Without From it is from before the oldest operation on record, without To to what stands there
	// now.
	From, To string
	// Session and Turn, instead, ask for what the operations that carry them, and are not undone,
	// changed together.
	Session, Turn string
	// Paths restricts the comparison, as in UndoRequest.
	Paths []string
}

// NetDiff is what several operations come to for each path.
type NetDiff struct {
	Root string
	// Operations are those that were composed, newest first.
	Operations []string
	// Paths are those that differ.
	Paths []OperationPath
	// Exact is true if nothing but these operations made the difference. Otherwise the problems name
	// the paths that something else changed between two of them.
	Exact    bool
	Diff     []byte   // unified
	Changes  []Change // what Diff shows; not part of the JSON form
	Problems []Problem
}

// Diff compares the files of several operations with what was there before them, path by path: the
// before of the oldest against the after of the newest, or against what stands there now. Files that
// no operation touched are never looked at. Errors: ErrUnknownOperation, ErrNothingToUndo where there
// is no operation to compare, ErrUsage.
func (e *Engine) Diff(ctx context.Context, req DiffRequest) (*NetDiff, error) {
	d := &differ{e: e, ctx: ctx, req: req, out: &NetDiff{Root: e.site.Root, Exact: true}}
	if err := d.run(); err != nil {
		return d.out, marked(err)
	}
	return d.out, nil
}

type differ struct {
	e   *Engine
	ctx context.Context
	req DiffRequest
	out *NetDiff
	// ops are what is composed, newest first; all says that what is undone counts too.
	ops []logged
	all bool
	// from is the operation from whose after the comparison starts; now says that it ends with what
	// stands there now.
	from *logged
	now  bool
}

func (d *differ) run() error {
	if (d.req.Session != "" || d.req.Turn != "") && (d.req.From != "" || d.req.To != "") {
		return usage("either operations or a session or turn, not both")
	}
	if err := d.choose(); err != nil {
		return err
	}
	d.out.Operations = append([]string{}, idsOf(d.ops)...)
	composed := d.ops
	if d.from != nil {
		composed = append(slices.Clone(composed), *d.from)
	}
	wanted := make([]string, len(d.req.Paths))
	for i, name := range d.req.Paths {
		var err error
		if wanted[i], err = d.e.recordedPath(name); err != nil {
			return err
		}
	}
	entries := entriesIn(composed)
	var keep func(string) bool
	if len(wanted) > 0 {
		keep = history.Within(entries, d.all, wanted)
	}
	if err := d.compare(composed, history.Compose(entries, d.all, keep)); err != nil {
		return err
	}
	d.out.Diff = diffOf(d.out.Changes)
	return nil
}

// choose finds the operations.
func (d *differ) choose() error {
	if d.req.From != "" || d.req.To != "" {
		return d.between()
	}
	c := choice{session: d.req.Session, turn: d.req.Turn}
	found, problems, err := d.e.pick(c)
	d.out.Problems = append(d.out.Problems, problems...)
	var none *noneError
	if errors.As(err, &none) {
		none.verb = "compare"
	}
	if err != nil {
		return err
	}
	d.ops, d.now = found.targets, !c.filtered()
	return nil
}

// between takes the operations after From up to To.
func (d *differ) between() error {
	d.all, d.now = true, d.req.To == ""
	var from, to snapshot.Operation
	var err error
	if d.req.From != "" {
		if from, err = d.e.site.History().Find(d.req.From); err != nil {
			return err
		}
	}
	if d.req.To != "" {
		if to, err = d.e.site.History().Find(d.req.To); err != nil {
			return err
		}
		if to.ID < from.ID {
			return usage("operation %s is older than operation %s; exchange them", to.ID, from.ID)
		}
	}
	log, err := d.e.openLog()
	if err != nil {
		return err
	}
	for op, err := range log.each() {
		switch {
		case err != nil:
			d.inexact(Problem{Kind: KindIO, Message: err.Error(), Hint: "what it changed is shown as if it belonged to those around it"})
		case d.ctx.Err() != nil:
			return d.ctx.Err()
		case to.ID != "" && op.Meta.ID > to.ID:
		case op.Meta.ID == from.ID:
			d.from = &op
			return nil
		case op.Meta.Kind != snapshot.KindCheckpoint:
			d.ops = append(d.ops, op)
		}
	}
	if from.ID != "" {
		return &snapshot.UnknownError{ID: d.req.From} // it is listed, and cannot be read
	}
	return nil
}

func (d *differ) inexact(p Problem) {
	p.Severity = SeverityWarning
	d.out.Exact = false
	d.out.Problems = append(d.out.Problems, p)
}

// compare works out the change of each path.
func (d *differ) compare(composed []logged, paths []*history.Path) error {
	var tree *worktree.Tree
	if d.now {
		outside := slices.ContainsFunc(paths, func(p *history.Path) bool { return p.Newest().Meta().Outside })
		var err error
		if tree, err = worktree.Open(d.e.site.Root, worktree.Options{Free: outside}); err != nil {
			return err
		}
		defer tree.Close()
	}
	records := map[*history.Entry]*snapshot.Record{}
	for _, op := range composed {
		records[op.Entry] = op.rec
	}
	dirs := dirsOfAll(composed, nil)
	for _, p := range paths {
		d.gaps(p)
		c, err := d.change(p, records, tree, dirs)
		if errors.Is(err, snapshot.ErrUnknownState) {
			d.inexact(Problem{Kind: KindUnsupported, Path: change.DisplayPath(p.Path), Message: trimmed(err) + ", so it is left out"})
			continue
		}
		if err != nil {
			return err
		}
		if c.Before.Equal(c.After) {
			continue
		}
		d.out.Changes = append(d.out.Changes, c)
	}
	d.moves(paths)
	moved := map[string]bool{}
	for _, c := range d.out.Changes {
		moved[c.OldPath] = true
	}
	for _, c := range d.out.Changes {
		if moved[c.Path] {
			continue // shown with its new name
		}
		d.out.Paths = append(d.out.Paths, OperationPath{Path: change.DisplayPath(c.Path), OldPath: shownOld(c.OldPath), Change: netWord(c)})
	}
	return nil
}

func (d *differ) change(p *history.Path, records map[*history.Entry]*snapshot.Record, tree *worktree.Tree, dirs madeDirs) (change.Change, error) {
	c := change.Change{Path: p.Path}
	first, last := p.Oldest(), p.Newest()
	var err error
	if d.from != nil && first.Entry == d.from.Entry {
		c.Before, err = records[first.Entry].After(first.Index)
	} else {
		c.Before, err = records[first.Entry].Before(first.Index)
	}
	if err != nil {
		return c, err
	}
	if tree != nil {
		c.After, _, err = dirs.standing(tree, p.Path)
		if m := last.Meta(); err == nil && !m.After.Unknown && !m.After.Same(c.After) {
			d.inexact(Problem{Kind: KindDrift, Path: change.DisplayPath(p.Path),
				Message: fmt.Sprintf("something else changed it since operation %s; the diff shows that too", last.Entry.Meta.ID)})
		}
		return c, err
	}
	c.After, err = records[last.Entry].After(last.Index)
	return c, err
}

// gaps says where something else changed a path between two operations.
func (d *differ) gaps(p *history.Path) {
	for i := len(p.Steps) - 1; i > 0; i-- {
		older, newer := p.Steps[i], p.Steps[i-1]
		if history.Follows(older, newer) {
			continue
		}
		d.inexact(Problem{Kind: KindDrift, Path: change.DisplayPath(p.Path),
			Message: fmt.Sprintf("something else changed it between operation %s and operation %s; the diff shows that too", older.Entry.Meta.ID, newer.Entry.Meta.ID)})
	}
}

// moves joins the halves of a move whose old name is gone and whose new name is new.
func (d *differ) moves(paths []*history.Path) {
	gone := map[string]bool{}
	for _, c := range d.out.Changes {
		gone[c.Path] = c.Before.Kind != change.Absent && c.After.Kind == change.Absent
	}
	old := map[string]string{}
	for _, p := range paths {
		old[p.Path] = p.Oldest().Meta().OldPath
	}
	for i, c := range d.out.Changes {
		if c.Before.Kind == change.Absent && gone[old[c.Path]] {
			d.out.Changes[i].OldPath = old[c.Path]
			gone[old[c.Path]] = false
		}
	}
}

// netWord says what a change does to its path.
func netWord(c change.Change) string {
	switch {
	case c.OldPath != "":
		return "rename"
	case c.Before.Kind == change.Absent:
		return "add"
	case c.After.Kind == change.Absent:
		return "delete"
	case c.Before.Kind == c.After.Kind && slices.Equal(c.Before.Content, c.After.Content):
		return "mode"
	}
	return "modify"
}
