package gitapply

import (
	"errors"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/outputparse"
)

// refusal makes the error of a run that wrote nothing. Each section that git found at fault gives
// one reason.
func (p *planner) refusal(reasons map[string][]outputparse.Reason, whole []outputparse.Reason) error {
	var refused []*RefusedError
	for i := range p.Sections {
		s := &p.Sections[i]
		names := []string{s.Target, s.Source}
		if s.Source == "" {
			names = names[:1]
		}
		if e := p.fault(i, s, reasons, names); e != nil {
			refused = append(refused, e)
		}
	}
	for _, r := range whole {
		refused = append(refused, wholeFault(r, string(p.Stderr)))
	}
	if len(refused) == 0 {
		refused = append(refused, &RefusedError{Kind: ErrGit, Problem: firstLine(p.Stderr)})
	}
	return joined(refused)
}

// fault finds the reason that decides for one section: what rules out most, else what came last,
// since git tells the consequence behind the cause.
func (p *planner) fault(i int, s *Section, reasons map[string][]outputparse.Reason, names []string) *RefusedError {
	var found *RefusedError
	for _, n := range names {
		for _, r := range reasons[n] {
			if r.Class != outputparse.Skipped || noise(r) && p.addsClean(s) {
				continue
			}
			kind := p.kindOf(r, s, n)
			if found == nil || placeable(found.Kind) || !placeable(kind) {
				found = &RefusedError{Kind: kind, Path: n, Section: i + 1, Line: s.Line, Problem: r.Meaning, Hint: hint(kind, s)}
				if noise(r) && p.gone(n) {
					found.Problem = "the file does not exist"
				} else if s.Source != "" && p.states[s.Target].Kind != change.Absent {
					found.Problem += ", and " + change.DisplayPath(s.Target) + " exists"
				}
			}
		}
	}
	return found
}

// noise is what git 2.32 to 2.34 prints for every addition with --3way.
func noise(r outputparse.Reason) bool {
	return strings.HasSuffix(r.Text, "does not exist in index") || strings.Contains(r.Text, "cannot read the current contents")
}

func (p *planner) addsClean(s *Section) bool {
	return s.Op == OpAdd && !p.o.Reverse && p.states[s.Target].Kind == change.Absent
}

// gone says that a path is neither in the working tree nor in the index.
func (p *planner) gone(name string) bool {
	return p.states[name].Kind == change.Absent && len(p.lines[name]) == 0
}

// kindOf maps a message about a section to the kind of refusal.
func (p *planner) kindOf(r outputparse.Reason, s *Section, name string) error {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(r.Text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("symbolic link", "invalid path"):
		return ErrUnsafePath
	case has("binary patch", "necessary postimage", "the patch applies to"), s.Binary && has("patch does not apply", "patch failed"):
		return ErrBinary
	case has("wrong type"):
		return ErrWrongType
	case s.Op == OpMode, has("new mode ("):
		return ErrModeOnly
	case has("already exists", "cannot read the current contents"):
		return ErrExists
	case has("does not match index"):
		return ErrIndexMismatch
	case has("does not exist in index"):
		switch {
		case s.Op == OpAdd && !p.o.Reverse && p.states[name].Kind != change.Absent:
			return ErrExists
		case p.gone(name):
			return ErrNoApply
		}
		return ErrIndexMismatch
	case has("No such file", "Not a directory", "renamed/deleted", "removal patch"):
		return ErrNoApply
	case has("patch failed", "patch does not apply", "three-way merge", "3-way merge"):
		if s.BaseMissing {
			return ErrNoBlob
		}
		return ErrNoApply
	}
	return ErrGit
}

func hint(kind error, s *Section) string {
	switch {
	case errors.Is(kind, ErrNoBlob):
		return "in a shallow or partial clone the blob may be had by fetching it"
	case errors.Is(kind, ErrIndexMismatch):
		return "stage or stash the changes in " + change.DisplayPath(s.Target) + " first"
	}
	return ""
}

func wholeFault(r outputparse.Reason, stderr string) *RefusedError {
	kind := ErrGit
	switch {
	case strings.Contains(r.Text, "binary patch"):
		kind = ErrBinary
	case strings.HasPrefix(r.Text, "error: corrupt patch"), strings.Contains(r.Text, "No valid patches"), strings.Contains(r.Text, "unrecognized input"),
		strings.Contains(r.Text, "only garbage"), strings.Contains(r.Text, "without header"), strings.Contains(r.Text, "filename"),
		strings.Contains(r.Text, "bad git-diff"), strings.Contains(r.Text, "inconsistent header"), strings.Contains(r.Text, "depends on old contents"),
		strings.Contains(r.Text, "still has contents"), strings.Contains(r.Text, "invalid mode"):
		kind = ErrCorrupt
	case strings.Contains(stderr, "promisor remote"), strings.Contains(stderr, "lazy fetching disabled"):
		kind = ErrNoBlob
	}
	e := &RefusedError{Kind: kind, Problem: r.Line}
	if errors.Is(kind, ErrNoBlob) {
		e.Hint = "the blob can be fetched from the promisor remote (--fetch)"
	}
	return e
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if line == "" {
		line = "git ended without a word"
	}
	return line
}

// flat lists the refusals in an error.
func flat(err error) []*RefusedError {
	var e *RefusedError
	if !errors.As(err, &e) {
		return nil
	}
	return append([]*RefusedError{e}, e.Others...)
}
