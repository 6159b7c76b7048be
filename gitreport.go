package oxpatch

import (
	"errors"
	"fmt"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/gitrepo"
)

// ErrConflict: a merge left conflicts.
var ErrConflict = errors.New("conflicts")

// ErrNoGit: git mode needs git and a repository, and one of them is not there.
var ErrNoGit = errors.New("no git repository to work in")

// reportGit fills the result's files and warnings from git's plan. reverse says that the patch is taken
// back.
func (r *Result) reportGit(plan *gitapply.Result, reverse, done bool) {
	for _, n := range plan.Repairs {
		r.warn(Problem{Kind: KindRepaired, PatchLine: n.Line, Message: n.Message})
	}
	for _, w := range plan.Warnings {
		r.warn(Problem{Kind: KindGit, Message: w})
	}
	for i := range plan.Sections {
		s := &plan.Sections[i]
		f := gitFileResult(s, reverse, done)
		r.Files = append(r.Files, f)
		if f.Unchanged && done {
			r.warn(Problem{Kind: KindAlreadyApplied, Path: f.Path, Message: "the change is in the file already"})
		}
		if s.Overwrites && done {
			r.warn(Problem{Kind: KindOverwritten, Path: f.Path, Message: "another file stood there and is replaced",
				Hint: "oxpatch undo brings the old content back"})
		}
	}
	r.listPaths()
}

func gitFileResult(s *gitapply.Section, reverse, done bool) FileResult {
	name := s.Target
	if name == "" {
		name = s.New
	}
	f := FileResult{
		Path: change.DisplayPath(name), Change: string(s.Op), Status: StatusSkipped, Unchanged: s.Unchanged,
		Added: s.Added, Removed: s.Removed,
	}
	if reverse {
		f.Added, f.Removed = f.Removed, f.Added
		switch s.Op {
		case gitapply.OpAdd:
			f.Change = string(gitapply.OpDelete)
		case gitapply.OpDelete:
			f.Change = string(gitapply.OpAdd)
		}
	}
	if s.Source != "" && s.Source != name {
		f.OldPath = change.DisplayPath(s.Source)
	}
	switch {
	case s.Class == gitapply.ClassConflicted && done:
		f.Status = StatusConflicted
	case s.Class == gitapply.ClassApplied && (done || s.Unchanged):
		f.Status = StatusApplied
	}
	f.Unchanged = f.Unchanged && f.Status == StatusApplied
	match := "exact"
	if s.Merged {
		match = "merge"
	}
	for i, h := range s.Hunks {
		hunk := HunkResult{Index: i + 1, Status: f.Status, Line: h.Placed}
		if f.Status != StatusSkipped {
			hunk.Match = match
		}
		f.Hunks = append(f.Hunks, hunk)
	}
	return f
}

// warnConflicts names the files that hold conflict markers.
func (r *Result) warnConflicts(plan *gitapply.Result) {
	if r.Command == "check" {
		r.conflicts(plan, "the file would have conflicts, marked in it", "--conflict=refuse applies no patch that conflicts")
		return
	}
	r.conflicts(plan, "the file has conflicts, marked in it", "resolve them and git add the file, or take everything back with oxpatch undo")
}

// failDropped names the files whose change a merge driver dropped. For git that is a clean merge.
func (r *Result) failDropped(plan *gitapply.Result) {
	for _, s := range plan.Sections {
		if s.Class == gitapply.ClassSkipped {
			r.fail(Problem{Kind: KindConflict, Path: change.DisplayPath(s.Target), PatchLine: s.Line, Message: s.Reason + ", without the change",
				Hint: "the merge attribute of the path chooses a merge driver (git check-attr merge); --mode text goes by the text alone"})
		}
	}
}

// failConflicts names the files that would hold conflict markers.
func (r *Result) failConflicts(plan *gitapply.Result) {
	r.conflicts(plan, "the patch conflicts with what is in the file", "--conflict=markers writes the conflicts into the file, marked")
}

func (r *Result) conflicts(plan *gitapply.Result, message, hint string) {
	for _, path := range plan.Conflicted {
		r.fail(Problem{Kind: KindConflict, Path: change.DisplayPath(path), Message: message, Hint: hint})
	}
}

// failGit reports why git could not work the patch out.
func (r *Result) failGit(err error) error {
	var refused *gitapply.RefusedError
	if !errors.As(err, &refused) {
		return r.failOperation(err)
	}
	for _, e := range append([]*gitapply.RefusedError{refused}, refused.Others...) {
		r.fail(refusedProblem(e))
	}
	causes := []error{err}
	for _, pair := range gitSentinels {
		if errors.Is(err, pair.below) {
			causes = append(causes, pair.ours)
		}
	}
	return r.refusal(causes...)
}

// explain adds why a diff that git refused cannot be placed by its text either: the nearest lines, or
// all places that fit. Git's own words name neither, and what they hint at helps less.
func (r *Result) explain(p *textPlan, inputs []Input) {
	var probe Result
	probe.report(p, inputs, false)
	explained := map[string]bool{}
	var more []Problem
	for _, q := range probe.Problems {
		if q.Severity == SeverityError {
			explained[q.Path] = true
			more = append(more, q)
		}
	}
	for i := range r.Problems {
		if q := &r.Problems[i]; q.Kind == KindNoMatch && explained[q.Path] {
			q.Hint = ""
		}
	}
	r.Problems = append(r.Problems, more...)
}

func refusedProblem(e *gitapply.RefusedError) Problem {
	p := Problem{Kind: KindGit, Hunk: e.Hunk, PatchLine: e.Line, Message: e.Problem, Hint: e.Hint}
	if e.Path != "" {
		p.Path = change.DisplayPath(e.Path)
	}
	if p.Message == "" {
		p.Message = e.Kind.Error()
	}
	for _, k := range gitKinds {
		if errors.Is(e.Kind, k.err) {
			p.Kind = k.kind
		}
	}
	return p
}

var gitKinds = []struct {
	err  error
	kind Kind
}{
	{gitapply.ErrCorrupt, KindMalformed},
	{gitapply.ErrCombined, KindUnsupported},
	{gitapply.ErrNoApply, KindNoMatch},
	{gitapply.ErrNoBlob, KindNoMatch},
	{gitapply.ErrIndexMismatch, KindIndexMismatch},
	{gitapply.ErrExists, KindExists},
	{gitapply.ErrWhichFile, KindAmbiguous},
	{gitapply.ErrUnsafePath, KindUnsafePath},
	{gitapply.ErrTooLarge, KindTooLarge},
	{gitapply.ErrMergeLost, KindConflict},
}

// gitSentinels pairs errors of git mode with the package's own.
var gitSentinels = []struct{ below, ours error }{
	{gitapply.ErrCorrupt, ErrMalformed},
	{gitapply.ErrNoApply, ErrNoMatch},
	{gitapply.ErrNoBlob, ErrNoMatch},
	{gitapply.ErrWhichFile, ErrAmbiguous},
	{gitapply.ErrUnsafePath, ErrUnsafePath},
	{gitapply.ErrTooLarge, ErrTooLarge},
	{gitapply.ErrLocked, ErrBusy},
	{gitapply.ErrNoGit, ErrNoGit},
	{gitapply.ErrTooOld, ErrNoGit},
	{gitapply.ErrBare, ErrNoGit},
	{gitapply.ErrDubious, ErrNoGit},
	{gitrepo.ErrNone, ErrNoGit},
	{gitrepo.ErrBare, ErrNoGit},
	{gitrepo.ErrBroken, ErrNoGit},
	{gitrepo.ErrOutside, ErrNoGit},
}

// gitProblem describes an error of git mode that is not a refusal of the patch; false where it is
// none.
func gitProblem(err error) (Problem, bool) {
	switch {
	case errors.Is(err, gitapply.ErrLocked):
		return Problem{Kind: KindBusy, Message: trimmed(err), Hint: "wait for the other git command to end; if there is none, remove the lock file"}, true
	case errors.Is(err, gitapply.ErrIndexChanged):
		return Problem{Kind: KindIndexMismatch, Message: trimmed(err), Hint: "another git command changed the index meanwhile; run the patch again"}, true
	case errors.Is(err, gitapply.ErrNoGit):
		return Problem{Kind: KindNoGit, Message: trimmed(err), Hint: "install git, or use --mode text"}, true
	case errors.Is(err, gitapply.ErrTooOld):
		return Problem{Kind: KindNoGit, Message: trimmed(err), Hint: "git mode needs git 2.20 or newer; --mode text needs none"}, true
	case errors.Is(err, gitapply.ErrDubious):
		return Problem{Kind: KindNoGit, Message: trimmed(err), Hint: "git config --global --add safe.directory tells git to trust it; --mode text needs no git"}, true
	case errors.Is(err, gitrepo.ErrNone), errors.Is(err, gitrepo.ErrBare), errors.Is(err, gitapply.ErrBare), errors.Is(err, gitrepo.ErrBroken), errors.Is(err, gitrepo.ErrOutside):
		return Problem{Kind: KindNoGit, Message: fmt.Sprintf("git mode needs a repository with a working tree: %v", err), Hint: "use --mode text, which needs none"}, true
	case errors.Is(err, gitapply.ErrUnserved):
		return Problem{Kind: KindUnsupported, Message: trimmed(err), Hint: "use --mode text, or git apply itself"}, true
	case errors.Is(err, gitapply.ErrConfig):
		return Problem{Kind: KindUsage, Message: trimmed(err), Hint: "OXPATCH_GIT_CFG is a list of section.key=value, with commas between"}, true
	}
	return Problem{}, false
}
