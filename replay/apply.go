package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/textapply"
)

// verdict is what became of a commit or of a hunk.
type verdict int

const (
	right     verdict = iota
	lineEnds          // right but for terminators
	refused           // not done, or not all of it
	held              // of a hunk: refused because of others
	conflicts         // merged, but with conflicts, as by git itself
	guessed           // elsewhere, with a warning
	wrong             // elsewhere, without a word
	verdicts
)

func (v verdict) String() string {
	return [...]string{"right", "line ends", "refused", "held", "conflicts", "guessed", "wrong"}[v]
}

// trial is a patch applied to the files it needs.
type trial struct {
	sections []section
	patch    []byte
	result   *oxpatch.Result
	err      error
	before   tree
	want     tree // all files afterwards
	got      tree
	verdict  verdict
	odd      string // what differs from a direct run of git
}

// try applies the sections as one patch in a fresh folder under temp. An error is one of the
// harness; a refusal is in the trial.
func try(ctx context.Context, sections []section, s setting, temp string) (*trial, error) {
	t := &trial{sections: sections, before: tree{}, want: tree{}}
	var err error
	if t.patch, err = patchText(sections); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(temp, "tree")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t.stage()
	if err := t.before.write(dir); err != nil {
		return nil, err
	}
	engine, err := oxpatch.Open(dir, oxpatch.WithoutSnapshot(), oxpatch.WithEnv(noVariable))
	if err != nil {
		return nil, err
	}
	request := oxpatch.Request{Patch: t.patch, Base: dir, Compat: s.compat}
	if s.mode == modeText {
		request.Mode, request.Format = oxpatch.ModeText, oxpatch.FormatUnified
	}
	t.result, t.err = engine.Apply(ctx, request)
	var refusal *oxpatch.RefusedError
	if t.err != nil && !errors.As(t.err, &refusal) {
		return nil, t.err
	}
	if t.got, err = readTree(dir); err != nil {
		return nil, err
	}
	t.judge(s.mode)
	return t, nil
}

// noVariable is an environment without variables.
func noVariable(string) string { return "" }

// stage notes the files before and those wanted after.
func (t *trial) stage() {
	for _, s := range t.sections {
		f := s.file
		if f.kind != textapply.Delete {
			t.want[f.path] = entry{f.newMode, f.after}
		}
		if f.kind != textapply.Add {
			t.before[f.old] = entry{f.oldMode, f.before}
		}
	}
}

func (t *trial) judge(m mode) {
	switch {
	case t.err != nil:
		t.verdict = refused
	case m == modeText && !t.got.sameModes(t.want):
		t.verdict = wrong
	case sameTree(t.got, t.want, bytes.Equal):
		t.verdict = right
	case sameTree(t.got, t.want, sameLines):
		t.verdict = lineEnds
	case t.warned():
		t.verdict = guessed
	default:
		t.verdict = wrong
	}
}

// warned reports whether a place was said to be guessed.
func (t *trial) warned() bool {
	for _, p := range t.result.Problems {
		if p.Kind == oxpatch.KindGuessed {
			return true
		}
	}
	return false
}

func sameTree(a, b tree, same func(a, b []byte) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for name, e := range a {
		if other, ok := b[name]; !ok || !same(e.data, other.data) {
			return false
		}
	}
	return true
}

// sameLines compares texts whose terminators may differ, that of the last line included.
func sameLines(a, b []byte) bool { return bytes.Equal(unified(a), unified(b)) }

func unified(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte{'\n'})
	b = bytes.ReplaceAll(b, []byte{'\r'}, []byte{'\n'})
	return bytes.TrimSuffix(b, []byte{'\n'})
}

// hunks returns the fate of every hunk of a trial of one section.
func (t *trial) hunks() []verdict {
	out := make([]verdict, len(t.sections[0].Chunks))
	if t.verdict == right || t.verdict == lineEnds {
		return out
	}
	blamed := false
	for i := range out {
		h := t.hunk(i)
		switch {
		case t.verdict != refused:
			if h != nil && t.misplaced(i, h.Line) {
				out[i], blamed = t.verdict, true
			}
		case h != nil && h.Status == oxpatch.StatusFailed:
			out[i], blamed = refused, true
		default:
			out[i] = held
		}
	}
	if !blamed {
		for i := range out {
			out[i] = t.verdict // no hunk in particular
		}
	}
	return out
}

// misplaced reports whether a hunk went to another line than it should, or left other lines there
// than it should, as with the wrong indentation.
func (t *trial) misplaced(i, line int) bool {
	s := t.sections[0]
	if line != s.places[i] {
		return true
	}
	from := line - 1
	for _, c := range s.Chunks[:i] {
		from += len(c.New()) - len(c.Old())
	}
	n := len(s.Chunks[i].New())
	return !slices.Equal(part(t.want[s.file.path].data, from, n), part(t.got[s.file.path].data, from, n))
}

// part returns n lines of a text, or as many as there are behind line from (0-based).
func part(text []byte, from, n int) []string {
	lines := contentLines(text)
	from = min(from, len(lines))
	return lines[from:min(from+n, len(lines))]
}

// hunk returns the result for a hunk of the first section, nil where there is none.
func (t *trial) hunk(i int) *oxpatch.HunkResult {
	if len(t.result.Files) == 0 || i >= len(t.result.Files[0].Hunks) {
		return nil
	}
	return &t.result.Files[0].Hunks[i]
}
