package oxpatch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/worktree"
)

// report fills the result's files and problems from a plan. done says that the plan was or, with
// Check, would be carried out; where it is not, every file is skipped.
func (r *Result) report(p *textPlan, inputs []Input, done bool) {
	for _, n := range p.patch.Notes {
		r.warn(Problem{Kind: KindRepaired, PatchLine: n.Line, Message: n.Message})
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		f := fileResult(s, done)
		r.Files = append(r.Files, p.files(s, f)...)
		name := ""
		if len(inputs) > 1 {
			name = inputs[p.from[i]].Name
		}
		for _, w := range s.Warnings {
			if w.Kind == "overwritten" && !done {
				continue
			}
			r.Problems = append(r.Problems, warningProblem(s, f, w, name))
		}
		for _, e := range s.Errs {
			r.Problems = append(r.Problems, sectionProblem(s, f, e, name))
		}
	}
	r.listPaths()
}

// files returns what a section did to files: one, but for the move of a link, which renames the link
// and makes the edits in the file behind it.
func (p *textPlan) files(s *textapply.SectionResult, f FileResult) []FileResult {
	if f.Change != "rename" || s.Status != textapply.Planned {
		return []FileResult{f}
	}
	var link, target *change.Change
	for i := range p.Changes {
		switch c := &p.Changes[i]; {
		case c.Path == s.NewPath && c.After.Kind == change.Symlink && c.OldPath != "":
			link = c
		case c.Path == s.Path && c.After.Kind == change.File:
			target = c
		}
	}
	if link == nil || link.OldPath == s.Path {
		return []FileResult{f}
	}
	f.OldPath = change.DisplayPath(link.OldPath)
	if target == nil || f.Added+f.Removed == 0 {
		return []FileResult{f}
	}
	edited := f
	edited.Path, edited.OldPath, edited.Change = change.DisplayPath(s.Path), "", "modify"
	f.Added, f.Removed, f.Hunks = 0, 0, nil
	return []FileResult{edited, f}
}

// fileResult describes one section.
func fileResult(s *textapply.SectionResult, done bool) FileResult {
	f := FileResult{
		Path: shownPath(s.Path, s.Section.Path), Change: changeWord(s), Status: StatusSkipped,
		Added: s.Added, Removed: s.Removed,
	}
	if s.Section.Kind == textapply.Update && s.Section.MoveTo != "" && (s.NewPath != "" || s.Path == "") {
		f.OldPath, f.Path = f.Path, shownPath(s.NewPath, s.Section.MoveTo)
	}
	switch {
	case s.Status == textapply.Unchanged:
		f.Status, f.Unchanged = StatusApplied, true
	case s.Status == textapply.Planned && done:
		f.Status = StatusApplied
	}
	for i, c := range s.Chunks {
		f.Hunks = append(f.Hunks, hunkResult(i, c, s, f))
	}
	return f
}

// shownPath is the key of a path, or its spelling in the patch where it has none.
func shownPath(key, spelled string) string {
	if key == "" {
		key = spelled
	}
	return change.DisplayPath(key)
}

func changeWord(s *textapply.SectionResult) string {
	switch s.Section.Kind {
	case textapply.Add:
		for _, w := range s.Warnings {
			if w.Kind == "overwritten" {
				return "modify"
			}
		}
		return "add"
	case textapply.Delete:
		return "delete"
	}
	if s.NewPath != "" {
		return "rename"
	}
	return "modify"
}

func hunkResult(i int, c textapply.ChunkResult, s *textapply.SectionResult, f FileResult) HunkResult {
	h := HunkResult{Index: i + 1, Status: f.Status}
	if c.There {
		h.Line, h.Status = c.Line, StatusApplied
	}
	if c.Placed {
		h.Line, h.Match, h.AlsoAt = c.Line, c.Match, c.AlsoAt
	}
	if slices.ContainsFunc(s.Errs, func(e *textapply.Error) bool { return e.Chunk == i+1 }) {
		h.Status = StatusFailed
	}
	return h
}

func warningProblem(s *textapply.SectionResult, f FileResult, w textapply.Warning, input string) Problem {
	p := Problem{
		Severity: SeverityWarning, Kind: Kind(w.Kind), Input: input, Path: f.Path, Hunk: w.Chunk, Line: w.Line,
		Message: w.Message, Hint: w.Hint,
	}
	if w.Chunk > 0 {
		p.PatchLine = s.Section.Chunks[w.Chunk-1].Line
	}
	p.Candidates = candidatesOf(w.Places)
	return p
}

func sectionProblem(s *textapply.SectionResult, f FileResult, e *textapply.Error, input string) Problem {
	p := Problem{
		Severity: SeverityError, Kind: problemKind(e.Err), Input: input, Path: f.Path, Hunk: e.Chunk, Line: e.Line,
		PatchLine: e.PatchLine, Message: e.Problem(), Hint: e.Hint,
	}
	if e.Path != s.Section.Path || s.Path == "" {
		p.Path = change.DisplayPath(e.Path)
	}
	var pe *worktree.PathError
	if errors.As(e.Err, &pe) {
		p.Message = pe.Problem
		if p.Hint == "" {
			p.Hint = pe.Hint
		}
	}
	switch {
	case errors.Is(e.Err, textapply.ErrNoContext):
		p.Message = fmt.Sprintf("the scope line %q is not in the file, or not behind the hunk before", e.Want[0])
	case p.Kind == KindNoMatch && e.Detail == "" && len(e.Want) > 0:
		p.Message = fmt.Sprintf("the hunk's old lines are not in the file; they begin with %q", shorten(firstText(e.Want)))
	}
	p.Candidates = candidatesOf(e.Places)
	if n := e.Nearest; n != nil {
		p.Nearest = &Nearest{Line: n.Line, Score: n.Score, Excerpt: n.Excerpt,
			FirstDifference: Difference{Line: n.DiffLine, Want: n.Want, Have: n.Have, AtEnd: n.AtEnd}}
	}
	return p
}

func candidatesOf(places []textapply.Place) []Candidate {
	var out []Candidate
	for _, p := range places {
		out = append(out, Candidate(p))
	}
	return out
}

// firstText returns the first line that is not blank.
func firstText(lines []string) string {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return l
		}
	}
	return lines[0]
}

func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// listPaths fills the path arrays: each path once, in the class that weighs most.
func (r *Result) listPaths() {
	weight := map[FileStatus]int{StatusApplied: 1, StatusSkipped: 2, StatusConflicted: 3}
	class := map[string]FileStatus{}
	var order []string
	note := func(path string, s FileStatus) {
		old, ok := class[path]
		if !ok {
			order = append(order, path)
		}
		if weight[s] > weight[old] {
			class[path] = s
		}
	}
	for _, f := range r.Files {
		note(f.Path, f.Status)
		if f.OldPath != "" && f.Change == "rename" {
			old := f.Status
			if old == StatusConflicted {
				old = StatusApplied
			}
			note(f.OldPath, old)
		}
	}
	slices.Sort(order)
	lists := map[FileStatus]*[]string{
		StatusApplied: &r.AppliedPaths, StatusSkipped: &r.SkippedPaths, StatusConflicted: &r.ConflictedPaths,
	}
	for _, l := range lists {
		*l = []string{}
	}
	for _, path := range order {
		l := lists[class[path]]
		*l = append(*l, path)
	}
}

// fail adds an error to the problems of the result.
func (r *Result) fail(p Problem) {
	p.Severity = SeverityError
	r.Problems = append(r.Problems, p)
}

// warn adds a warning to the problems of the result.
func (r *Result) warn(p Problem) {
	p.Severity = SeverityWarning
	r.Problems = append(r.Problems, p)
}

// refusal makes the error of a result from its problems.
func (r *Result) refusal(causes ...error) error {
	e := &RefusedError{causes: causes}
	for _, p := range r.Problems {
		if p.Severity == SeverityError {
			e.Problems = append(e.Problems, p)
		}
	}
	for _, c := range causes {
		if s := sentinelOf(c); s != nil {
			e.causes = append(e.causes, s)
		}
	}
	return e
}
