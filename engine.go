package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openoxide/oxpatch/gitrepo"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/udiff"
	"github.com/openoxide/oxpatch/worktree"
)

// Engine applies patches to one root and takes them back. It holds no state between calls and may
// be used by several goroutines and processes at once: operations on one root wait for each other.
type Engine struct {
	dir  string // absolute, links resolved
	site *snapshot.Site
	o    options
}

// Open returns an Engine for the folder dir. Its root is the top level of the git working tree that
// dir is in; without one, the nearest folder at or above dir that operations were recorded for;
// else dir. Nothing is written.
func Open(dir string, opts ...Option) (*Engine, error) {
	o := defaultOptions()
	o.with(opts)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	switch info, err := os.Stat(abs); {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	site, err := snapshot.Locate(abs, o.env)
	if err != nil {
		return nil, err
	}
	if o.settings {
		if o, err = withSettings(abs, site.Repo, o.env, opts); err != nil {
			return nil, err
		}
	}
	return &Engine{dir: abs, site: site, o: o}, nil
}

// Root returns the absolute path that the paths of results are relative to.
func (e *Engine) Root() string { return e.site.Root }

// Apply applies the patch of the request, or with Check says what it would do. See PatchApplier for
// what comes back.
//
// It parses the patch, plans all changes in memory, asks the Gate, records before and after, writes,
// and closes the operation; an error before the writing leaves everything untouched, one during it
// puts everything back (but see Request.Compat: Codex keeps what it did before an error).
func (e *Engine) Apply(ctx context.Context, req Request) (*Result, error) {
	r := e.newRun(ctx, req)
	err := r.apply()
	return r.close(err)
}

// run is one operation under way.
type run struct {
	e      *Engine
	ctx    context.Context
	req    Request
	inputs []Input
	preset preset
	base   string // folder that relative paths of the patch count from, absolute
	result *Result
	op     *operation
	tree   *worktree.Tree
	disk   *diskTree
	ahead  *snapshot.Ahead // what is likely to be recorded is worked on already; nil where it is not
}

func (e *Engine) newRun(ctx context.Context, req Request) *run {
	r := &run{e: e, ctx: ctx, req: req, inputs: req.inputs(), preset: presetFor(req.Compat), base: e.base(req)}
	command := "apply"
	if req.Check {
		command = "check"
	}
	r.result = e.newResult(command)
	p := &r.preset.policy
	p.Strict, p.TakeFirst, p.SkipApplied = req.Strict, req.First, req.SkipApplied
	if e.o.inPlace {
		r.preset.inPlace = true
	}
	if e.o.noSnapshot {
		r.preset.snapshot = snapshotNever
	}
	r.op = e.newOperation(ctx)
	return r
}

// base returns the folder that a request's relative paths count from.
func (e *Engine) base(req Request) string {
	switch {
	case req.Base == "":
		return e.dir
	case filepath.IsAbs(req.Base):
		return filepath.Clean(req.Base)
	}
	return filepath.Join(e.dir, req.Base)
}

// apply does the work; the result is filled as far as it came.
func (r *run) apply() error {
	useGit, err := r.usesGit()
	if err != nil {
		return r.result.refuseInput(err)
	}
	if useGit {
		return r.applyGit()
	}
	if !r.req.Check && r.preset.snapshot != snapshotNever && r.req.Compat != CompatCodex {
		r.ahead = snapshot.NewAhead()
		defer r.ahead.Stop()
		for _, patch := range r.patchBytes() {
			r.ahead.Add(patch)
		}
	}
	patches, err := r.parse()
	if err != nil {
		r.codexMalformed(err)
		return r.result.refuseInput(err)
	}
	if r.req.Compat == CompatCodex {
		return r.applyCodex(patches)
	}
	if !r.req.Check {
		if err := r.op.begin(); err != nil {
			return r.result.failOperation(err)
		}
		defer r.op.end()
	}
	plan, err := r.plan(patches)
	if err != nil {
		return r.result.failOperation(err)
	}
	defer r.tree.Close()
	return r.carryOut(plan)
}

// plan opens the tree and works out the changes.
func (r *run) plan(patches []*textapply.Patch) (*textPlan, error) {
	rel, err := filepath.Rel(r.e.site.Root, r.base)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, &worktree.PathError{Path: r.base, Err: worktree.ErrUnsafePath,
			Problem: fmt.Sprintf("the base folder is outside of %s", r.e.site.Root)}
	}
	o := worktree.Options{
		Base: filepath.ToSlash(rel), Free: !r.preset.confined, InPlace: r.preset.inPlace,
		Effects: r.e.o.treeEffects,
	}
	if r.preset.confined {
		o.MaxFile, o.Forbidden, o.Foreign = r.e.o.maxFile, r.e.storeFolders(), r.e.foreign()
	}
	if r.tree, err = worktree.Open(r.e.site.Root, o); err != nil {
		return nil, err
	}
	if patches[0].Format == udiff.Format {
		r.preset.policy.NewExecutable = 0o777 &^ worktree.Umask()
	}
	r.disk = newDiskTree(r.tree, !r.preset.confined, r.base, r.e.past().knows)
	r.disk.ahead = r.ahead
	plan := planText(patches, r.disk, r.preset.policy)
	if r.preset.confined {
		plan.hintAtFiles(r.disk)
	}
	return plan, nil
}

// foreign returns the test for folders that belong to another repository. Where the root is in none, all
// that is below it is the root's.
func (e *Engine) foreign() func(dir string) bool {
	if e.site.Repo == nil {
		return nil
	}
	return gitrepo.IsTop
}

// storeFolders returns the folders that no patch may reach into.
func (e *Engine) storeFolders() []string {
	var dirs []string
	for _, p := range e.site.Read {
		dirs = append(dirs, p.Dir)
	}
	return dirs
}

// carryOut judges the plan and, unless it is refused or only checked, does it.
func (r *run) carryOut(p *textPlan) error {
	errs := p.Errors()
	refused := len(errs) > 0 && !r.req.Partial
	r.result.Exact = true
	r.result.report(p, r.inputs, !refused)
	if r.req.Check {
		if err := r.e.forecastPending(r.result); err != nil {
			return r.result.failOperation(err)
		}
	}
	if len(p.Sections) == 0 {
		r.result.fail(Problem{Kind: KindNothingToDo, Message: "the patch has no sections", Hint: "add a file section between the two markers"})
		return r.result.refusal()
	}
	if refused {
		return r.result.refusal(causes(errs)...)
	}
	made, removed, err := r.tree.Dirs(p.Changes)
	if err != nil {
		return r.result.failOperation(err)
	}
	if err := r.blocked(p); err != nil {
		return r.result.failOperation(err)
	}
	r.result.Changes = p.Changes
	r.warnOfHardLinks(p)
	if err := r.gate(p); err != nil {
		return r.result.failOperation(err)
	}
	files := r.disk.files(p.Changes, r.preset.inPlace)
	if r.req.Check && len(p.Changes) > 0 {
		if err := r.e.foresee(&job{
			kind: snapshot.KindApply, tree: r.tree, files: files, made: made, removed: removed, patches: r.patchBytes(), snapshot: r.preset.snapshot,
		}); err != nil {
			return r.result.failOperation(err)
		}
	}
	if r.req.Check || len(p.Changes) == 0 {
		return r.settle(errs)
	}
	job := job{
		kind: snapshot.KindApply, tree: r.tree, files: files, made: made, removed: removed,
		meta: r.meta(), patches: r.patchBytes(), snapshot: r.preset.snapshot, ahead: r.ahead,
	}
	if err := r.op.perform(&job, r.result); err != nil {
		return r.result.failOperation(err)
	}
	return r.settle(errs)
}

// foresee returns the error that recording or writing would end with, as far as that can be told
// without writing, so that a check exits as the run would.
func (e *Engine) foresee(j *job) error {
	if j.snapshot == snapshotAlways {
		if err := e.site.Foresee(); err != nil {
			return noSnapshot(err)
		}
		if err := snapshot.Fits(j.recordLimit(e.o), entriesOf(j.files), j.patches); err != nil {
			return err
		}
	}
	return j.tree.Foresee(onDisk(j.files), j.made, j.removed)
}

// settle ends a run that did what could be done.
func (r *run) settle(errs []*textapply.Error) error {
	if len(errs) > 0 {
		return r.result.refusal(causes(errs)...)
	}
	r.result.OK = true
	return nil
}

func causes(errs []*textapply.Error) []error {
	out := make([]error, len(errs))
	for i, e := range errs {
		out[i] = e
	}
	return out
}

func (r *run) warnOfHardLinks(p *textPlan) {
	for _, c := range p.Changes {
		if r.disk.stamps[c.Path].HardLinks > 1 && !r.preset.inPlace && c.After.Kind != 0 {
			r.warnOfHardLink(c.Path)
		}
	}
}

func (r *run) warnOfHardLink(path string) {
	r.result.warn(Problem{Kind: KindHardLink, Path: shownPath(path, ""),
		Message: "the file has other names (hard links), which keep the old content",
		Hint:    "with --in-place all names keep being one file"})
}

func (r *run) meta() snapshot.Meta {
	return snapshot.Meta{
		Session: r.req.Session, Turn: r.req.Turn, Label: r.req.Label,
		Mode: string(r.result.Mode), Format: string(r.result.Format), Policy: r.preset.policy.Name,
		Request: snapshot.RequestMeta{
			Base: relativeTo(r.e.site.Root, r.base), Parse: string(r.req.Parse), Reverse: r.req.Reverse, Partial: r.req.Partial,
			First: r.req.First, SkipApplied: r.req.SkipApplied, NoStage: r.req.NoStage, NoRepair: r.req.NoRepair,
			RefuseConflicts: r.req.RefuseConflicts,
		},
	}
}

// relativeTo returns dir relative to the root, with slashes; "" for the root itself and for what is not
// in it.
func relativeTo(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// patchBytes returns the inputs as they were received.
func (r *run) patchBytes() [][]byte {
	var all [][]byte
	for _, in := range r.req.inputs() {
		all = append(all, in.Data)
	}
	return all
}

// close completes the result.
func (r *run) close(err error) (*Result, error) {
	if r.req.Diff && len(r.result.Changes) > 0 {
		r.result.Diff = diffOf(r.result.Changes)
	}
	if err != nil && r.result.Exact && errors.Is(err, ErrRollback) {
		r.result.Exact = false
	}
	r.result.finish(r.e.o.now())
	return r.result, err
}

// trimmed returns the text of an error without a trailing newline.
func trimmed(err error) string { return strings.TrimSuffix(err.Error(), "\n") }
