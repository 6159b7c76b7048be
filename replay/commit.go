package main

import (
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/openoxide/oxpatch/textapply"
)

// commit is a commit as a change of files.
type commit struct {
	id    string
	files []file
	// around holds further files of the parent commit, which say how git treats the others.
	around  tree
	leftOut map[string]int // how many files, by the reason
}

// file is one file that a commit changes.
type file struct {
	kind      textapply.SectionKind
	old, path string // names before and after; equal unless it is moved
	// oldMode and newMode are as git writes them: "100644".
	oldMode, newMode string
	before           []byte
	after            []byte
	hunks            []hunk
	raw              string // git's diff of this file
}

// hunk is one hunk of git's diff.
type hunk struct {
	line    int // 1-based line of the file before where the first old line stands
	heading string
	lines   []textapply.Line // without terminators
}

// rawEntry is a line of diff-tree's raw list.
type rawEntry struct {
	oldMode, newMode, oldID, newID string
	status                         byte
}

// parseCommit reads what diff-tree prints for a commit. Contents are still missing; the entries go
// with the files. Left out is what no patch of the mode can hold.
func parseCommit(id, text string, m mode) (*commit, []rawEntry, error) {
	c := &commit{id: id, leftOut: map[string]int{}}
	raw, patch, _ := strings.Cut(text, "\n\n")
	sections, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return nil, nil, fmt.Errorf("commit %s: %w", id, err)
	}
	raws := splitSections(patch)
	if len(raws) != len(sections) {
		return nil, nil, fmt.Errorf("commit %s: %d diffs, of which %d can be read", id, len(raws), len(sections))
	}
	var entries []rawEntry
	at := 0
	for line := range strings.Lines(raw) {
		e, err := parseRaw(line)
		if err != nil {
			return nil, nil, fmt.Errorf("commit %s: %w", id, err)
		}
		n := 1
		if e.status == 'T' {
			n = 2 // a change of type is printed as a deletion and an addition
		}
		if at+n > len(sections) {
			return nil, nil, fmt.Errorf("commit %s: fewer diffs than changed files", id)
		}
		if reason := e.unfit(m); reason != "" {
			c.leftOut[reason]++
		} else {
			c.files = append(c.files, newFile(e, sections[at], strings.Join(raws[at:at+n], "")))
			entries = append(entries, e)
		}
		at += n
	}
	if at != len(sections) {
		return nil, nil, fmt.Errorf("commit %s: more diffs than changed files", id)
	}
	return c, entries, nil
}

// splitSections cuts a patch in front of every "diff --git"; no line of contents can begin so.
func splitSections(patch string) []string {
	const mark = "diff --git "
	var out []string
	start, at := 0, 0
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, mark) && at > start {
			out = append(out, patch[start:at])
			start = at
		}
		at += len(line)
	}
	if at > start {
		out = append(out, patch[start:])
	}
	return out
}

// parseRaw reads ":mode mode id id status<TAB>names"; the names are taken from the diff.
func parseRaw(line string) (rawEntry, error) {
	head, _, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) != 5 || !strings.HasPrefix(f[0], ":") {
		return rawEntry{}, fmt.Errorf("git diff-tree: unexpected line %q", line)
	}
	return rawEntry{oldMode: f[0][1:], newMode: f[1], oldID: f[2], newID: f[3], status: f[4][0]}, nil
}

// unfit says by modes and ids alone why a patch cannot express a change, "" if it may.
func (e rawEntry) unfit(m mode) string {
	if m == modeGit {
		return ""
	}
	for _, mode := range []string{e.oldMode, e.newMode} {
		switch mode {
		case "120000":
			return "link"
		case "160000":
			return "submodule"
		}
	}
	if m == modeEnvelope && e.status == 'M' && e.oldID == e.newID {
		return "mode only"
	}
	return ""
}

func newFile(e rawEntry, d *gitdiff.File, raw string) file {
	f := file{kind: textapply.Update, old: d.OldName, path: d.NewName, oldMode: e.oldMode, newMode: e.newMode, raw: raw}
	switch e.status {
	case 'A':
		f.kind, f.old = textapply.Add, f.path
	case 'D':
		f.kind, f.path = textapply.Delete, f.old
	case 'T':
		f.path = f.old
		return f // the hunks would be those of two sections
	}
	for _, t := range d.TextFragments {
		f.hunks = append(f.hunks, newHunk(t))
	}
	return f
}

func newHunk(t *gitdiff.TextFragment) hunk {
	h := hunk{line: int(t.OldPosition), heading: t.Comment}
	if t.OldLines == 0 {
		h.line++ // git names the line above an addition
	}
	for _, l := range t.Lines {
		op := textapply.Context
		switch l.Op {
		case gitdiff.OpAdd:
			op = textapply.Insert
		case gitdiff.OpDelete:
			op = textapply.Remove
		}
		h.lines = append(h.lines, textapply.Line{Op: op, Text: l.Line})
	}
	return h
}
