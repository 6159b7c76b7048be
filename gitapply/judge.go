package gitapply

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/outputparse"
)

// judge turns the states after the run into classes and changes.
func (p *planner) judge() error {
	reasons, whole := outputparse.ReasonsOf(p.found)
	for i := range p.Sections {
		p.explain(&p.Sections[i], reasons)
	}
	if !p.wrote() {
		return p.refusal(reasons, whole)
	}
	p.indexSections()
	for _, name := range p.names {
		if err := p.add(name); err != nil {
			return err
		}
	}
	if err := p.classify(); err != nil {
		return err
	}
	p.place()
	p.compareWords()
	return p.inTheWay()
}

// indexSections makes the sections findable by their paths.
func (p *planner) indexSections() {
	p.moved, p.taken = map[string]*Section{}, map[string]bool{}
	for i := range p.Sections {
		s := &p.Sections[i]
		if s.Source != "" && (s.Op == OpRename || s.Op == OpCopy) {
			p.moved[s.Target] = s
		}
		if s.Op == OpRename {
			p.taken[s.Source] = true
		}
		if s.Op == OpDelete && !p.o.Reverse || s.Op == OpAdd && p.o.Reverse {
			p.taken[s.Target] = true
		}
	}
}

// explain notes what git said of a section's paths.
func (p *planner) explain(s *Section, reasons map[string][]outputparse.Reason) {
	for _, n := range []string{s.Old, s.New} {
		for _, r := range reasons[n] {
			if missingBlob(r) {
				s.BaseMissing = true
				continue
			}
			s.Reason = r.Meaning
		}
	}
	base := s.oldID
	if p.o.Reverse {
		base = s.newID
	}
	from := s.Source
	if from == "" {
		from = s.Target
	}
	if l, ok := staged(p.start[from]); ok && base != "" && !s.BaseMissing {
		s.Merged = !strings.HasPrefix(l.OID, base) && strings.Trim(base, "0") != ""
	}
}

func missingBlob(r outputparse.Reason) bool {
	return strings.Contains(r.Text, "lacks the necessary blob")
}

// add makes the change of one path, if there is one.
func (p *planner) add(name string) error {
	after, err := p.after(name)
	if err != nil {
		return err
	}
	c := change.Change{Path: name, Before: p.states[name], After: after}
	if s := p.moved[name]; s != nil && after.Kind != change.Absent {
		c.OldPath = s.Source
	}
	if !p.o.NoStage && !sameLines(p.lines[name], p.end[name]) {
		c.Index = &change.IndexChange{Before: p.lines[name], After: p.end[name]}
		if err := p.keepBlobs(p.end[name]); err != nil {
			return err
		}
	}
	if c.Index != nil || !c.Before.Equal(c.After) {
		p.Changes = append(p.Changes, c)
	}
	return nil
}

// classify gives each section its class, by what became of its target.
func (p *planner) classify() error {
	changes := map[string]change.Change{}
	for _, c := range p.Changes {
		changes[c.Path] = c
	}
	last := map[string]int{}
	for i, s := range p.Sections {
		last[s.Target] = i
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		c, changed := changes[s.Target]
		if unmerged(p.end[s.Target]) {
			s.Class = ClassConflicted
			if s.Reason == "" {
				s.Reason = "merged with conflicts"
			}
			continue
		}
		s.Class, s.Reason = ClassApplied, ""
		s.Unchanged = !changed && (s.Source == "" || s.Op == OpCopy)
		s.Overwrites = p.overwrites(s, changed)
		if last[s.Target] != i || s.Binary || s.Op == OpMode {
			continue
		}
		if err := p.trust(i, s, c, changed); err != nil {
			return err
		}
	}
	return nil
}

// overwrites says whether something else stood at the target of an addition, a rename or a copy.
func (p *planner) overwrites(s *Section, changed bool) bool {
	k := p.states[s.Target].Kind
	creates := s.Source != "" && (s.Op != OpCopy || !p.o.Reverse) || s.Op == OpAdd && !p.o.Reverse || s.Op == OpDelete && p.o.Reverse
	if !creates || !changed || k == change.Absent || k == change.Dir || isGitlink(p.lines[s.Target]) {
		return false
	}
	// The patch itself may take away what is there: a change of type is a deletion and an addition.
	return !p.taken[s.Target]
}

// trust makes sure that the lines a section adds are in its file: a merge driver may have dropped
// them, and called that a clean merge. A file that did not change at all is then skipped.
func (p *planner) trust(i int, s *Section, c change.Change, changed bool) error {
	after := p.states[s.Target]
	if changed {
		after = c.After
	}
	if after.Kind != change.File || isGitlink(p.end[s.Target]) {
		return nil
	}
	missing, found := missingLine(after.Content, s.added)
	if found && changed {
		// Behind a filter or an encoding the file is not what the patch speaks of; its blob is.
		if l, ok := staged(p.end[s.Target]); ok && blobID(p.repo.ObjectFormat, after.Content) != l.OID {
			blob, err := p.run.must(p.ctx, p.scratch.place(), nil, "cat-file", "blob", l.OID)
			if err != nil {
				return err
			}
			missing, found = missingLine(blob, s.added)
		}
	}
	if !found && !changed && len(s.added) == 0 && len(s.removed) > 0 && p.ours(s, after.Content) {
		found = true
	}
	switch {
	case !found:
		return nil
	case !changed:
		s.Class, s.Unchanged, s.Reason = ClassSkipped, false, "the merge kept the file as it was"
		return nil
	}
	return &RefusedError{Kind: ErrMergeLost, Path: s.Target, Section: i + 1, Line: s.Line,
		Problem: fmt.Sprintf("the merge gave no conflict, but the added line %q is not in the result", missing),
		Hint:    "a merge driver of this repository decides over the file"}
}

// ours reports whether the lines that a section only removes are all still there.
func (p *planner) ours(s *Section, content []byte) bool {
	_, gone := missingLine(content, s.removed)
	return !gone
}

// missingLine returns the first of some lines that is not in content; blanks at its end and line
// endings do not count, for filters may change them.
func missingLine(content []byte, lines []string) (string, bool) {
	have := map[string]bool{}
	for _, l := range bytes.Split(content, []byte("\n")) {
		have[strings.TrimRight(string(l), " \t\r")] = true
	}
	for _, l := range lines {
		if !have[strings.TrimRight(l, " \t\r")] {
			return l, true
		}
	}
	return "", false
}

// inTheWay refuses what the writer could not write: a file where a folder with other files in it
// stands. git itself finds that out in the middle of writing.
func (p *planner) inTheWay() error {
	leaves := map[string]bool{}
	for _, c := range p.Changes {
		leaves[c.Path] = c.After.Kind == change.Absent
	}
	for _, c := range p.Changes {
		if c.Before.Equal(c.After) || c.After.Kind == change.Absent || c.After.Kind == change.Dir {
			continue
		}
		if c.Before.Kind == change.Other {
			return p.blocked(c.Path, "something that is no file, link or folder stands there")
		}
		if c.Before.Kind != change.Dir {
			continue
		}
		if other := p.other(c.Path, leaves); other != "" {
			return p.blocked(c.Path, "a folder stands there, with "+change.DisplayPath(other)+" in it")
		}
	}
	return nil
}

// other returns a file below dir that the patch does not take away.
func (p *planner) other(dir string, leaves map[string]bool) string {
	found := ""
	root := filepath.Join(p.repo.Top, filepath.FromSlash(dir))
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.repo.Top, path)
		if name := filepath.ToSlash(rel); err != nil || !d.IsDir() && !leaves[name] {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (p *planner) blocked(name, problem string) error {
	e := &RefusedError{Kind: ErrExists, Path: name, Problem: problem}
	for i, s := range p.Sections {
		if s.Target == name {
			e.Section, e.Line = i+1, s.Line
		}
	}
	return e
}

// compareWords warns where git's words and the states disagree.
func (p *planner) compareWords() {
	exit := p.ExitCode
	words := outputparse.Sort(p.found, p.names, &exit)
	for _, n := range p.names {
		conflicted := unmerged(p.end[n])
		if slices.Contains(words.Conflicted, n) != conflicted {
			p.Warnings = append(p.Warnings, change.DisplayPath(n)+": what git says of it and what it left in the index differ; the index counts")
		}
	}
}

// skipAll marks every section as skipped after an error.
func (p *planner) skipAll(err error) {
	reasons := map[int]string{}
	for _, e := range flat(err) {
		reasons[e.Section] = e.Problem
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		s.Class, s.Unchanged, s.Overwrites = ClassSkipped, false, false
		if reason := reasons[i+1]; reason != "" {
			s.Reason = reason
		} else if s.Reason == "" || s.Reason == "merged with conflicts" {
			s.Reason = "the patch is applied as a whole or not at all"
		}
	}
}

// lists sorts the named paths into the three lists.
func (p *planner) lists() {
	rank := map[string]int{}
	put := func(name string, class Class) {
		r := map[Class]int{ClassApplied: 1, ClassSkipped: 2, ClassConflicted: 3}[class]
		if name != "" {
			rank[name] = max(rank[name], r)
		}
	}
	for _, s := range p.Sections {
		put(s.Target, s.Class)
		if s.Op == OpRename {
			class := s.Class
			if class == ClassConflicted {
				class = ClassApplied // it is gone, as wanted
			}
			put(s.Source, class)
		}
	}
	for name, r := range rank {
		switch r {
		case 1:
			p.Applied = append(p.Applied, name)
		case 2:
			p.Skipped = append(p.Skipped, name)
		case 3:
			p.Conflicted = append(p.Conflicted, name)
		}
	}
	for _, l := range [][]string{p.Applied, p.Skipped, p.Conflicted} {
		slices.Sort(l)
	}
}

// keepBlobs reads the new blobs that index lines name, out of the scratch's objects.
func (p *planner) keepBlobs(lines []change.IndexLine) error {
	for _, l := range lines {
		if l.Mode == modeGitlink || p.blobs[l.OID] != nil {
			continue
		}
		content, err := readLoose(p.scratch.objects, l.OID)
		if os.IsNotExist(err) {
			continue // the repository has it
		}
		if err != nil {
			return err
		}
		if p.blobs == nil {
			p.blobs = map[string][]byte{}
		}
		p.blobs[l.OID] = content
	}
	return nil
}
