package main

import (
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/openoxide/oxpatch/textapply"
)

// commit is a commit as a change of text files.
type commit struct {
	id      string
	files   []file
	leftOut map[string]int // how many files, by the reason
}

// file is one file that a commit changes.
type file struct {
	kind      textapply.SectionKind
	old, path string // names before and after; equal unless it is moved
	before    []byte
	after     []byte
	hunks     []hunk
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
// with the files.
func parseCommit(id, text string) (*commit, []rawEntry, error) {
	c := &commit{id: id, leftOut: map[string]int{}}
	raw, patch, _ := strings.Cut(text, "\n\n")
	sections, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return nil, nil, fmt.Errorf("commit %s: %w", id, err)
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
		if reason := e.unfit(); reason != "" {
			c.leftOut[reason]++
		} else {
			c.files = append(c.files, newFile(e, sections[at]))
			entries = append(entries, e)
		}
		at += n
	}
	if at != len(sections) {
		return nil, nil, fmt.Errorf("commit %s: more diffs than changed files", id)
	}
	return c, entries, nil
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

// unfit says by modes and ids alone why a change is none of text, "" if it may be one.
func (e rawEntry) unfit() string {
	for _, mode := range []string{e.oldMode, e.newMode} {
		switch mode {
		case "120000":
			return "link"
		case "160000":
			return "submodule"
		}
	}
	if e.status == 'M' && e.oldID == e.newID {
		return "mode only"
	}
	return ""
}

func newFile(e rawEntry, d *gitdiff.File) file {
	f := file{kind: textapply.Update, old: d.OldName, path: d.NewName}
	switch e.status {
	case 'A':
		f.kind, f.old = textapply.Add, f.path
	case 'D':
		f.kind, f.path = textapply.Delete, f.old
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
