package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
)

// print names every hunk of the commit that is not right, one a line.
func (f *finding) print(w io.Writer) {
	blamed := false
	for _, t := range f.alone {
		if t.verdict == right {
			continue
		}
		blamed = true
		for _, line := range t.describe() {
			fmt.Fprintf(w, "%s %s %s %s\n", t.verdict, f.setting, f.commit.id[:12], line)
		}
	}
	if !blamed {
		fmt.Fprintf(w, "%s %s %s as a whole: %v%s\n", f.whole.verdict, f.setting, f.commit.id[:12], f.whole.err, f.whole.odd)
	}
}

// describe says of a trial of one section what is not right, a line for each hunk to blame.
func (t *trial) describe() []string {
	path := t.sections[0].Path
	var lines []string
	for i, v := range t.hunks() {
		if v == right || v == held || v == lineEnds {
			continue
		}
		text := fmt.Sprintf("%s hunk %d (belongs at line %d): ", path, i+1, t.sections[0].places[i])
		if problem := t.problemOf(i + 1); v == refused && problem != "" {
			text += problem
		} else if h := t.hunk(i); h != nil {
			text += fmt.Sprintf("at line %d by %s, fits also at %v", h.Line, h.Match, h.AlsoAt)
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("%s: %v", path, t.err))
	}
	return lines
}

// problemOf returns why a hunk was refused, with the places it would fit.
func (t *trial) problemOf(hunk int) string {
	for _, p := range t.result.Problems {
		if p.Severity != oxpatch.SeverityError || p.Hunk != hunk {
			continue
		}
		text := fmt.Sprintf("%s: %s", p.Kind, strings.TrimSpace(p.Message))
		for _, c := range p.Candidates {
			text += fmt.Sprintf("; %d %q", c.Line, c.Text)
			if c.Scope != "" {
				text += fmt.Sprintf(" in %q", c.Scope)
			}
		}
		return text
	}
	return ""
}

// keep writes what is needed to look into a commit that is not right: for each file to blame a
// folder with the patch for it, its content before, as wanted and as it came out.
func (f *finding) keep(dir string) error {
	blamed := slices.DeleteFunc(slices.Clone(f.alone), func(t *trial) bool { return t.verdict == right })
	if len(blamed) == 0 {
		blamed = []*trial{f.whole} // the sections are right alone
	}
	for i, t := range blamed {
		name := fmt.Sprintf("%s-%s-%s-%d", t.verdict, f.setting, f.commit.id[:12], i+1)
		if err := t.keep(filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) keep(dir string) error {
	all := map[string][]byte{"patch": t.patch, "why": []byte(t.why())}
	for folder, files := range map[string]tree{"before/": t.before, "want/": t.want, "got/": t.got} {
		for name, e := range files {
			all[folder+name] = e.data
		}
	}
	for name, content := range all {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) why() string {
	var b bytes.Buffer
	if t.odd != "" {
		fmt.Fprintln(&b, t.odd)
	}
	if len(t.sections) == 1 {
		for _, line := range t.describe() {
			fmt.Fprintln(&b, line)
		}
	}
	for _, p := range t.result.Problems {
		fmt.Fprintf(&b, "%s %s: %s\n", p.Severity, p.Kind, p)
	}
	return b.String()
}
