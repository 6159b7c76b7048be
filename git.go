package oxpatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/worktree"
)

// GitApplier applies unified diffs with git's three-way machinery, whatever the mode of the request.
// It is a PatchApplier.
type GitApplier struct {
	Engine *Engine
}

// Apply is Engine.Apply with ModeGit.
func (a GitApplier) Apply(ctx context.Context, req Request) (*Result, error) {
	req.Mode = ModeGit
	return a.Engine.Apply(ctx, req)
}

// GitRun is how git was called for a plan, and what it said. It ran beside the repository.
type GitRun struct {
	Command        string
	ExitCode       int
	Stdout, Stderr []byte
}

// gitRepo returns the repository in the terms of gitapply, or why there is none to use.
func (e *Engine) gitRepo() (gitapply.Repo, error) {
	repo := e.site.Repo
	if repo == nil {
		return gitapply.Repo{}, fmt.Errorf("%s: %w", e.site.Root, e.site.NoRepo)
	}
	return gitapply.Repo{Top: repo.Top, GitDir: repo.GitDir, CommonDir: repo.CommonDir, ObjectFormat: repo.Format.Objects}, nil
}

func (r *run) gitOptions() (gitapply.Options, error) {
	config, err := gitapply.ParseConfig(r.e.o.env("OXPATCH_GIT_CFG"))
	if err != nil {
		return gitapply.Options{}, fmt.Errorf("OXPATCH_GIT_CFG: %w", err)
	}
	folder, err := r.folder()
	if err != nil {
		return gitapply.Options{}, err
	}
	return gitapply.Options{
		Env: r.e.o.env, Folder: folder, Reverse: r.req.Reverse, NoRepair: r.req.NoRepair, NoStage: r.req.NoStage, Fetch: r.req.Fetch,
		Config: config, MaxFile: r.e.o.maxFile,
	}, nil
}

// folder is the base folder relative to the root, "" for the root itself.
func (r *run) folder() (string, error) {
	rel, err := filepath.Rel(r.e.site.Root, r.base)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &worktree.PathError{Path: r.base, Err: worktree.ErrUnsafePath,
			Problem: fmt.Sprintf("the base folder is outside of %s", r.e.site.Root)}
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// applyGit has git work the patch out and carries its outcome through the common pipeline.
func (r *run) applyGit() error {
	r.result.Mode, r.result.Format, r.result.Exact = ModeGit, FormatUnified, true
	if !r.req.Check {
		if err := r.op.begin(); err != nil {
			return r.result.failOperation(err)
		}
		defer r.op.end()
	}
	repo, err := r.e.gitRepo()
	if err != nil {
		return r.result.failOperation(err)
	}
	options, err := r.gitOptions()
	if err != nil {
		return r.result.failOperation(err)
	}
	plan, err := gitapply.Plan(r.ctx, repo, joinInputs(r.inputs), options)
	r.result.Git = &GitRun{Command: plan.Command, ExitCode: plan.ExitCode, Stdout: plan.Stdout, Stderr: plan.Stderr}
	if err != nil {
		return r.gitRefused(plan, err)
	}
	defer func() { _ = plan.Close() }() // the scratch is swept by the system if not by us
	if r.req.RefuseConflicts && len(plan.Conflicted) > 0 {
		r.result.reportGit(plan, r.req.Reverse, false)
		r.result.failConflicts(plan)
		return r.result.refusal(ErrConflict)
	}
	if err := r.overwritesUnasked(plan); err != nil {
		return err
	}
	return r.carryOutGit(plan)
}

// joinInputs makes one patch of several.
func joinInputs(inputs []Input) []byte {
	if len(inputs) == 1 {
		return inputs[0].Data
	}
	var all bytes.Buffer
	for _, in := range inputs {
		all.Write(ended(in.Data))
	}
	return all.Bytes()
}

// ended is a text with a line feed at its end.
func ended(data []byte) []byte {
	if bytes.HasSuffix(data, []byte("\n")) {
		return data
	}
	return append(bytes.Clone(data), '\n')
}

// gitRefused reports a refusal by git, or places the patch by content where the mode allows it.
func (r *run) gitRefused(plan *gitapply.Result, err error) error {
	var byText *textPlan
	if r.req.Mode == ModeAuto && !r.req.Reverse && gitapply.MayPlace(err) {
		done, placed, textErr := r.placeInstead(plan, err)
		if done {
			return textErr
		}
		byText = placed
	}
	r.result.reportGit(plan, r.req.Reverse, false)
	err = r.result.failGit(err)
	r.nameInputs()
	if byText == nil {
		return err
	}
	r.result.explain(byText, r.inputs)
	return r.result.refusal(append([]error{err}, causes(byText.Errors())...)...)
}

// nameInputs says of problems which input they are about, where there are several: git was given them
// as one patch, by whose lines it counts.
func (r *run) nameInputs() {
	if len(r.inputs) < 2 {
		return
	}
	for i := range r.result.Problems {
		p := &r.result.Problems[i]
		if p.PatchLine <= 0 || p.Input != "" {
			continue
		}
		for _, in := range r.inputs {
			lines := bytes.Count(ended(in.Data), []byte("\n"))
			if p.PatchLine <= lines {
				p.Input = in.Name
				break
			}
			p.PatchLine -= lines
		}
	}
}

// placeInstead places a diff that git refused by its content, if every place is certain: all
// sections or none, without a guess, nothing staged. It is false where that is not possible; then
// the result is as before, and the plan, if there is one, says why.
func (r *run) placeInstead(refused *gitapply.Result, cause error) (bool, *textPlan, error) {
	if !r.baseForText(refused) {
		return false, nil, nil
	}
	var patches []*textapply.Patch
	for _, in := range r.inputs {
		p, err := parseUnified(in)
		if err != nil {
			return false, nil, nil //nolint:nilerr // git's own refusal says more
		}
		patches = append(patches, p)
	}
	r.preset.policy.Strict = true
	plan, err := r.plan(patches)
	if err != nil {
		return false, nil, nil //nolint:nilerr // as above
	}
	defer r.tree.Close()
	if len(plan.Errors()) > 0 {
		return false, plan, nil
	}
	r.result.Mode = ModeText
	r.result.warn(Problem{Kind: KindRepaired, Message: "git refused the diff (" + gitReason(cause) + "); it was placed by its content instead, and nothing is staged",
		Hint: "--mode git leaves it at git's refusal"})
	return true, nil, r.carryOut(plan)
}

// baseForText makes the paths of a diff count from where git counts them: from the root with a
// "diff --git" line, else from the base folder. It is false where one patch has both.
func (r *run) baseForText(refused *gitapply.Result) bool {
	plain, headed := 0, 0
	for _, s := range refused.Sections {
		if s.Plain {
			plain++
		} else {
			headed++
		}
	}
	if plain > 0 && headed > 0 {
		return r.base == r.e.site.Root
	}
	if plain == 0 {
		r.base = r.e.site.Root
	}
	return true
}

func gitReason(err error) string {
	var refused *gitapply.RefusedError
	if errors.As(err, &refused) {
		return refused.Error()
	}
	return trimmed(err)
}

// carryOutGit shows, records and writes what git made of the patch.
func (r *run) carryOutGit(plan *gitapply.Result) error {
	r.result.reportGit(plan, r.req.Reverse, true)
	r.nameInputs()
	tree, err := worktree.Open(r.e.site.Root, worktree.Options{
		Effects: r.e.o.treeEffects, InPlace: r.preset.inPlace, Forbidden: r.e.storeFolders(), Foreign: r.e.foreign(),
	})
	if err != nil {
		return r.result.failOperation(err)
	}
	defer tree.Close()
	clearFolders(plan.Changes)
	r.result.Changes = plan.Changes
	if err := r.performGit(tree, plan); err != nil {
		return r.result.failOperation(err)
	}
	r.result.warnConflicts(plan)
	r.result.failDropped(plan)
	r.nameInputs()
	if slices.ContainsFunc(r.result.Problems, func(p Problem) bool { return p.Severity == SeverityError }) {
		return r.result.refusal(ErrConflict)
	}
	r.result.OK = true
	return nil
}

// performGit asks the gate and carries the plan out; with Check it stops before the first effect.
func (r *run) performGit(tree *worktree.Tree, plan *gitapply.Result) error {
	if _, err := r.ask(plan.Changes); err != nil {
		return err
	}
	if err := confined(tree, plan.Changes); err != nil {
		return err
	}
	made, removed, err := tree.Dirs(fileChanges(plan.Changes))
	if err != nil {
		return err
	}
	if err := r.blockedBy(plan.Changes); err != nil {
		return err
	}
	j := &job{
		kind: snapshot.KindApply, tree: tree, made: made, removed: removed, meta: r.meta(), patches: r.patchBytes(),
		snapshot: r.preset.snapshot, index: &indexJob{plan: plan, timeout: r.e.o.lockTimeout},
	}
	// What git was given is compared with what is there now, also after the gate.
	if j.files, err = gitFiles(tree, plan.Changes, made, removed); err != nil {
		return err
	}
	r.howWritten(j.files)
	switch {
	case len(plan.Changes) == 0:
		return nil
	case r.req.Check:
		if err := r.e.forecastPending(r.result); err != nil {
			return err
		}
		j.files = onDisk(j.files)
		return r.e.foresee(j)
	}
	return r.op.perform(j, r.result)
}

// confined refuses changes where no patch may reach: git knows nothing of a store in the tree.
func confined(tree *worktree.Tree, changes []change.Change) error {
	after := map[string]change.Kind{}
	for _, c := range changes {
		after[c.Path] = c.After.Kind
	}
	planned := func(key string) (change.Kind, bool) {
		kind, ok := after[key]
		return kind, ok
	}
	for _, c := range fileChanges(changes) {
		// What else could be wrong with a path, git has looked at.
		if _, err := tree.Resolve(c.Path, worktree.Entry, planned); errors.Is(err, worktree.ErrUnsafePath) {
			return err
		}
	}
	return nil
}

// howWritten marks files that are to be written in place, and warns of names that the others lose.
func (r *run) howWritten(files []worktree.File) {
	for i := range files {
		f := &files[i]
		f.InPlace = r.preset.inPlace
		if !f.InPlace && f.Stamp.HardLinks > 1 && f.After.Kind != change.Absent {
			r.warnOfHardLink(f.Path)
		}
	}
}

// overwritesUnasked refuses, under strict rules, to replace files that the patch does not know of.
func (r *run) overwritesUnasked(plan *gitapply.Result) error {
	unknown := slices.DeleteFunc(slices.Clone(plan.Sections), func(s gitapply.Section) bool { return !s.Overwrites })
	if !r.req.Strict || len(unknown) == 0 {
		return nil
	}
	r.result.reportGit(plan, r.req.Reverse, false)
	for _, s := range unknown {
		r.result.fail(Problem{Kind: KindExists, Path: change.DisplayPath(s.Target), PatchLine: s.Line, Message: "another file stands there and would be replaced",
			Hint: "move it out of the way, or leave --strict out"})
	}
	r.nameInputs()
	return r.result.refusal(ErrExists)
}

// clearFolders makes nothing of the folders in whose place a file comes and that the changes empty, or
// that are empty: when its turn comes, nothing is there. What else is in them is found later. The folder
// of a submodule holds no file that git knows, and stays.
func clearFolders(changes []change.Change) {
	for i, c := range changes {
		if c.Before.Kind != change.Dir || c.After.Kind == change.Dir {
			continue
		}
		holds := slices.ContainsFunc(changes, func(other change.Change) bool { return strings.HasPrefix(other.Path, c.Path+"/") })
		if holds || c.After.Kind != change.Absent && (c.Index == nil || len(c.Index.Before) == 0) {
			changes[i].Before = change.State{}
		}
	}
}

// fileChanges leaves out paths of which only the index changes: submodules.
func fileChanges(changes []change.Change) []change.Change {
	var out []change.Change
	for _, c := range changes {
		if c.Before.Kind != change.Dir && c.After.Kind != change.Dir {
			out = append(out, c)
		}
	}
	return out
}

// gitFiles pairs the changes with the stamps of the files as they are now, and makes sure that they
// are what git was given.
func gitFiles(tree *worktree.Tree, changes []change.Change, made, removed []worktree.Dir) ([]worktree.File, error) {
	files := make([]worktree.File, len(changes))
	for i, c := range changes {
		files[i] = worktree.File{Change: c}
		if c.Before.Kind == change.Dir || c.After.Kind == change.Dir {
			continue
		}
		now, stamp, err := tree.ReadBetween(c.Path, made, removed)
		if err != nil {
			return nil, err
		}
		if !now.Equal(c.Before) {
			return nil, &worktree.PathError{Path: c.Path, Err: worktree.ErrDrift, Problem: "it changed while git worked on a copy; run the patch again"}
		}
		files[i].Stamp = stamp
	}
	return files, nil
}
