package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
)

// pinGit keeps the git that is run in git mode from reading settings of the user.
func pinGit() {
	for _, name := range []string{"GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"} {
		_ = os.Setenv(name, "1")
	}
	_ = os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	_ = os.Setenv("XDG_CONFIG_HOME", filepath.Join(os.TempDir(), "no-home-for-replay"))
}

// attributes returns the files of a commit that say how git treats others.
func (r repository) attributes(ctx context.Context, commit string) (tree, error) {
	out, err := r.output(ctx, "", "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	files, ids := tree{}, map[string]string{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		if f := strings.Fields(head); len(f) == 3 && f[0] != modeLink && filepath.Base(name) == ".gitattributes" {
			files[name], ids[name] = entry{mode: f[0]}, f[2]
		}
	}
	var wanted []string
	for _, id := range ids {
		wanted = append(wanted, id)
	}
	blobs, err := r.blobs(ctx, wanted)
	for name, e := range files {
		files[name] = entry{e.mode, blobs[ids[name]]}
	}
	return files, err
}

// pair is a repository twice: one for git itself, one for oxpatch.
type pair struct{ direct, ours repository }

// newPair makes both, with the parent commit and, where something has drifted, one on top of it.
func newPair(ctx context.Context, dir string, parent, now tree) (pair, error) {
	p := pair{repository{filepath.Join(dir, "direct")}, repository{filepath.Join(dir, "ours")}}
	if err := os.Mkdir(p.direct.dir, 0o755); err != nil {
		return p, err
	}
	steps := []struct {
		input string
		args  []string
	}{
		{"", []string{"init", "-q", "-b", "main", "--template="}},
		{importText(parent, now), []string{"fast-import", "--quiet"}},
		{"", []string{"reset", "-q", "--hard"}},
	}
	for _, s := range steps {
		if _, err := p.direct.output(ctx, s.input, s.args...); err != nil {
			return p, err
		}
	}
	if err := os.CopyFS(p.ours.dir, os.DirFS(p.direct.dir)); err != nil {
		return p, err
	}
	// The copies are other files than those that the index knows.
	_, err := p.ours.output(ctx, "", "update-index", "-q", "--refresh")
	return p, err
}

// importText writes the commits in the language of git fast-import.
func importText(parent, now tree) string {
	var b strings.Builder
	write := func(n int, files tree, but tree) {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n", 1700000000+n)
		for name, e := range files {
			was, ok := but[name]
			switch {
			case ok && was.mode == e.mode && bytes.Equal(was.data, e.data):
			case e.mode == modeSubmodule:
				fmt.Fprintf(&b, "M %s %s %s\n", e.mode, e.data, importName(name))
			default:
				fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", e.mode, importName(name), len(e.data), e.data)
			}
		}
		b.WriteByte('\n')
	}
	write(0, parent, nil)
	write(1, now, parent)
	return b.String()
}

func importName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// image is a working tree and the lines of its index.
type image struct {
	files tree
	index string // as "ls-files --stage -v -z" prints them
}

func (r repository) image(ctx context.Context) (image, error) {
	files, err := readTree(r.dir)
	if err != nil {
		return image{}, err
	}
	index, err := r.output(ctx, "", "ls-files", "--stage", "-v", "-z")
	return image{files, string(index)}, err
}

// unmerged returns the names that the index holds more than one side of, sorted.
func (i image) unmerged() []string {
	var names []string
	for line := range strings.SplitSeq(i.index, "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		if f := strings.Fields(head); len(f) == 4 && f[3] != "0" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// displayed returns names in the form of results, sorted.
func displayed(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = change.DisplayPath(name)
	}
	slices.Sort(out)
	return out
}

// differences says what one image has otherwise than another, "" for nothing.
func (i image) differences(other image) string {
	var out []string
	for name, e := range i.files {
		if o, ok := other.files[name]; !ok || o.mode != e.mode || !bytes.Equal(o.data, e.data) {
			out = append(out, fmt.Sprintf("%q", name))
		}
	}
	for name := range other.files {
		if _, ok := i.files[name]; !ok {
			out = append(out, fmt.Sprintf("%q is left", name))
		}
	}
	slices.Sort(out)
	if i.index != other.index {
		out = append(out, fmt.Sprintf("index: want %q, got %q", i.index, other.index))
	}
	return strings.Join(out, ", ")
}

// applyDirectly gives the patch to git itself. Its exit code is no error.
func (r repository) applyDirectly(ctx context.Context, patch string) (code int, err error) {
	_, err = r.output(ctx, patch, "apply", "--3way", "--whitespace=nowarn", "-")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// tryGit applies a commit's diff in git mode, and by git itself in a second copy.
func tryGit(ctx context.Context, c *commit, d drift, rnd *rand.Rand, temp string) (*trial, error) {
	dir, err := os.MkdirTemp(temp, "pair")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	parent, now := c.trees(d, rnd)
	p, err := newPair(ctx, dir, parent, now)
	if err != nil {
		return nil, err
	}
	t := &trial{}
	for _, f := range c.files {
		t.patch = append(t.patch, f.raw...)
	}
	before, err := p.ours.image(ctx)
	if err != nil {
		return nil, err
	}
	code, err := p.direct.applyDirectly(ctx, string(t.patch))
	if err != nil {
		return nil, err
	}
	want, err := p.direct.image(ctx)
	if err != nil {
		return nil, err
	}
	return t, t.compare(ctx, p.ours, code, before, want)
}

// compare applies the patch in git mode and takes it back, and judges both by what git left.
func (t *trial) compare(ctx context.Context, r repository, code int, before, want image) error {
	engine, err := oxpatch.Open(r.dir, oxpatch.WithEnv(noVariable), oxpatch.WithDurability(oxpatch.DurabilityProcess))
	if err != nil {
		return err
	}
	t.result, t.err = engine.Apply(ctx, oxpatch.Request{Patch: t.patch, Mode: oxpatch.ModeGit})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	got, err := r.image(ctx)
	if err != nil {
		return err
	}
	t.before, t.want, t.got = before.files, want.files, got.files
	t.verdict = t.agree(code, want)
	if d := want.differences(got); d != "" {
		t.expect(false, "not as git left it: "+d)
	}
	if err := t.takeBack(ctx, engine, r, before); err != nil {
		return err
	}
	if t.odd != "" {
		t.verdict = wrong
	}
	return nil
}

// agree returns what git did, and notes where the result says something else.
func (t *trial) agree(code int, want image) verdict {
	switch unmerged := want.unmerged(); {
	case code == 0:
		t.expect(t.err == nil && t.result.OK, "git applied it")
		return right
	case code == 1 && len(unmerged) > 0:
		t.expect(errors.Is(t.err, oxpatch.ErrConflict) && t.result.Applied, "git left conflicts")
		t.expect(slices.Equal(slices.Sorted(slices.Values(t.result.ConflictedPaths)), displayed(unmerged)), fmt.Sprintf("git left conflicts in %q", unmerged))
		return conflicts
	}
	t.expect(t.err != nil && !t.result.Applied, fmt.Sprintf("git refused it with exit code %d", code))
	return refused
}

// takeBack undoes what was applied, after which everything has to be as it was.
func (t *trial) takeBack(ctx context.Context, engine *oxpatch.Engine, r repository, before image) error {
	if !t.result.Applied {
		return nil
	}
	_, err := engine.Undo(ctx, oxpatch.UndoRequest{})
	t.expect(err == nil, fmt.Sprintf("undo: %v", err))
	after, err := r.image(ctx)
	if err != nil {
		return err
	}
	if d := before.differences(after); d != "" {
		t.expect(false, "undo left: "+d)
	}
	return nil
}

// expect notes what is not as it should be.
func (t *trial) expect(ok bool, text string) {
	if !ok {
		t.odd += "; " + text
	}
}
