package oxpatch_test

import (
	"crypto/sha1"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/openoxide/oxpatch"
)

// readIndex returns the lines of git's index by path.
func (w *story) readIndex() map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(w.gitOK(w.g.dir, "ls-files", "-z", "--stage"), "\x00"), "\x00") {
		if entry, path, ok := strings.Cut(line, "\t"); ok {
			out[path] += entry
		}
	}
	return out
}

func (w *story) gitOK(dir string, args ...string) string {
	out, err := w.gitTry(dir, args...)
	if err != nil {
		w.fail("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

func (w *story) gitTry(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnviron(filepath.Dir(w.g.dir))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// indexLineOf is the index's line for a file as it stands.
func indexLineOf(n node) string {
	mode := "100644"
	switch {
	case n.kind == 0:
		return ""
	case n.kind == 'l':
		mode = "120000"
	case n.runs():
		mode = "100755"
	}
	return fmt.Sprintf("%s %x 0", mode, sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(n.data), n.data)))
}

// applyGit draws a diff and applies it in git mode: to files as the index has them it fits, to others not.
func (w *story) applyGit() {
	var patch strings.Builder
	p := &drawn{taken: map[string]bool{}}
	draws := []func(*drawn) string{w.diffEdit, w.diffEdit, w.diffEdit, w.diffAdd, w.diffDelete, w.diffMode, w.diffMove}
	for range 1 + w.random.IntN(3) {
		patch.WriteString(pickOne(w, draws)(p))
	}
	if patch.Len() == 0 {
		patch.WriteString(w.diffAdd(p))
	}
	if patch.Len() == 0 {
		w.say("nothing to apply")
		return
	}
	w.say("apply in git mode\n%s", patch.String())
	for i := range p.deeds {
		d := &p.deeds[i]
		d.staged, d.line = true, [2]string{w.m.index[d.path], indexLineOf(d.after)}
		p.misfits = p.misfits || d.line[0] != indexLineOf(d.before)
	}
	f := w.m.apply(&past{deeds: p.deeds})
	w.request(f, oxpatch.Request{Patch: []byte(patch.String()), Mode: oxpatch.ModeGit}, nil, p.misfits)
}

// tracked is a file for a diff: mostly one that is as the index has it.
func (w *story) tracked(p *drawn) (string, bool) {
	var fit []string
	for _, path := range sortedKeys(w.m.tree) {
		n := w.m.tree[path]
		if n.kind == 'f' && !p.taken[path] && path != ".gitignore" && n.data != "" && !strings.Contains(n.data, "\x00") &&
			(w.m.index[path] == indexLineOf(n) || w.chance(3)) {
			fit = append(fit, path)
		}
	}
	if len(fit) == 0 {
		return "", false
	}
	return pickOne(w, fit), true
}

func gitMode(n node) string { return indexLineOf(n)[:6] }

func (w *story) diffEdit(p *drawn) string {
	name, ok := w.tracked(p)
	if !ok {
		return ""
	}
	before := w.m.tree[name]
	e, ok := w.drawLineEdit(before)
	if !ok {
		return ""
	}
	after := before
	after.data = e.result()
	p.does(deed{path: name, before: before, after: after})
	return fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\t\n+++ b/%s\t\n%s", name, name, name, name, e.hunk())
}

// hunk prints an edit as a hunk of a diff.
func (e *lineEdit) hunk() string {
	from, to := max(0, e.at-3), min(len(e.lines), e.end+3)
	var b strings.Builder
	old, now := to-from, to-from-(e.end-e.at)+len(e.new)
	at := func(n int) int {
		if n == 0 {
			return from
		}
		return from + 1
	}
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", at(old), old, at(now), now)
	cr := strings.TrimSuffix(e.eol, "\n")
	put := func(mark, line string, last bool) {
		if last && !e.ended {
			b.WriteString(mark + line + "\n\\ No newline at end of file\n")
			return
		}
		b.WriteString(mark + line + cr + "\n")
	}
	for i := from; i < e.at; i++ {
		put(" ", e.lines[i], i == len(e.lines)-1)
	}
	for i := e.at; i < e.end; i++ {
		put("-", e.lines[i], i == len(e.lines)-1)
	}
	for i, l := range e.new {
		put("+", l, i == len(e.new)-1 && e.end == len(e.lines))
	}
	for i := e.end; i < to; i++ {
		put(" ", e.lines[i], i == len(e.lines)-1)
	}
	return b.String()
}

func (w *story) diffAdd(p *drawn) string {
	name, ok := w.fresh(p)
	if !ok || w.m.index[name] != "" {
		return ""
	}
	after := node{kind: 'f', mode: 0o666 &^ w.m.umask}
	if w.chance(30) {
		after.mode = 0o777 &^ w.m.umask
	}
	e := lineEdit{eol: "\n", ended: true, new: []string{w.line(), w.line()}}
	after.data = e.result()
	p.does(deed{path: name, after: after})
	return fmt.Sprintf("diff --git a/%s b/%s\nnew file mode %s\n--- /dev/null\n+++ b/%s\t\n%s", name, name, gitMode(after), name, e.hunk())
}

func (w *story) diffDelete(p *drawn) string {
	name, ok := w.tracked(p)
	if !ok {
		return ""
	}
	before := w.m.tree[name]
	e, ok := w.drawLineEdit(before)
	if !ok || len(e.lines) > 100 {
		return ""
	}
	e.at, e.end, e.new = 0, len(e.lines), nil
	p.does(deed{path: name, before: before})
	return fmt.Sprintf("diff --git a/%s b/%s\ndeleted file mode %s\n--- a/%s\t\n+++ /dev/null\n%s", name, name, gitMode(before), name, e.hunk())
}

func (w *story) diffMode(p *drawn) string {
	name, ok := w.tracked(p)
	if !ok {
		return ""
	}
	before := w.m.tree[name]
	after := before
	after.mode |= (before.mode & 0o444) >> 2 &^ w.m.umask
	if before.runs() {
		after.mode = before.mode &^ 0o111
	}
	p.does(deed{path: name, before: before, after: after})
	return fmt.Sprintf("diff --git a/%s b/%s\nold mode %s\nnew mode %s\n", name, name, gitMode(before), gitMode(after))
}

func (w *story) diffMove(p *drawn) string {
	from, ok := w.tracked(p)
	if !ok {
		return ""
	}
	p.taken[from] = true
	to, ok := w.fresh(p)
	if !ok || w.m.index[to] != "" || strings.HasPrefix(to, from+"/") {
		delete(p.taken, from)
		return ""
	}
	before := w.m.tree[from]
	after := before
	text := fmt.Sprintf("diff --git a/%s b/%s\nsimilarity index 90%%\nrename from %s\nrename to %s\n", from, to, from, to)
	if e, ok := w.drawLineEdit(before); ok && w.chance(50) {
		after.data = e.result()
		text += fmt.Sprintf("--- a/%s\t\n+++ b/%s\t\n%s", from, to, e.hunk())
	}
	p.does(deed{path: from, before: before})
	p.does(deed{path: to, from: from, after: after})
	return text
}
