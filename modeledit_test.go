package oxpatch_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// edit is what somebody else does.
func (w *story) edit() {
	edits := []func(){w.editWrite, w.editWrite, w.editWrite, w.editMode, w.editMode, w.editRemove, w.editLink, w.editFolder, w.editNew, w.editOld}
	if w.git {
		edits = append(edits, w.editGit, w.editGit, w.editGit)
	}
	pickOne(w, edits)()
	w.believe()
}

// believe takes what stands there now for given.
func (w *story) believe() {
	w.m.tree = w.disk()
	if w.git {
		w.m.index = w.readIndex()
	}
}

// lately is a file, mostly one that an operation has changed not long ago.
func (w *story) lately() (string, bool) {
	if w.hasOps() && w.chance(70) {
		if path := w.touched(); w.m.tree[path].kind == 'f' {
			return path, true
		}
	}
	return w.some(&drawn{}, 'f', false)
}

// touched is a path of an operation that touched one; "" where the one that was drawn did not.
func (w *story) touched() string {
	if op := w.recent(); len(op.deeds) > 0 {
		return pickOne(w, op.deeds).path
	}
	return ""
}

func (w *story) editWrite() {
	name, ok := w.lately()
	if !ok {
		return
	}
	n := w.m.tree[name]
	switch e, ok := w.drawLineEdit(n); {
	case ok && w.chance(60):
		n.data = e.result()
	case ok && e.ended && w.chance(50):
		n.data += w.line() + "\n"
	case w.chance(50):
		n.data = w.line() + "\n"
	default:
		n.data = ""
	}
	w.say("somebody writes %q into %q", short(n.data), name)
	w.must(os.WriteFile(w.g.path(name), []byte(n.data), 0))
}

func short(s string) string { return s[:min(len(s), 200)] }

func (w *story) editMode() {
	kind := byte('f')
	name, ok := w.lately()
	if w.chance(10) {
		kind = 'd'
		name, ok = w.some(&drawn{}, kind, false)
	}
	if ok {
		mode := pickOne(w, []fs.FileMode{0o644, 0o755, 0o600, 0o640, 0o700, 0o664})
		if kind == 'd' {
			mode = 0o700
		}
		w.say("somebody sets the mode of %q to %o", name, mode)
		w.must(os.Chmod(w.g.path(name), mode))
	}
}

func (w *story) editRemove() {
	kind := byte('f')
	if w.chance(15) {
		kind = 'd'
	}
	if name, ok := w.some(&drawn{}, kind, false); ok {
		w.say("somebody removes %q", name)
		w.must(os.RemoveAll(w.g.path(name)))
	}
}

func (w *story) editLink() {
	if name, ok := w.some(&drawn{}, 'f', false); ok && name != "plain.txt" {
		w.say("somebody makes %q a link", name)
		w.must(os.Remove(w.g.path(name)))
		up := strings.Repeat("../", strings.Count(name, "/"))
		w.must(os.Symlink(pickOne(w, []string{up + "plain.txt", "nowhere"}), w.g.path(name)))
	}
}

// editFolder makes a folder, mostly in the place of a file.
func (w *story) editFolder() {
	name, ok := w.some(&drawn{}, 'f', false)
	if !ok || w.chance(30) {
		if name, ok = w.fresh(&drawn{}); !ok {
			return
		}
	}
	w.say("somebody makes %q a folder", name)
	w.must(os.RemoveAll(w.g.path(name)))
	w.must(os.MkdirAll(w.g.path(name), 0o755))
	if w.chance(40) {
		w.must(os.WriteFile(w.g.path(name+"/theirs.txt"), []byte(w.line()), 0o644))
	}
}

// editNew makes a file, now and then in the place of a folder.
func (w *story) editNew() {
	name, ok := w.fresh(&drawn{})
	if w.chance(15) {
		name, ok = w.some(&drawn{}, 'd', false)
	}
	if ok {
		w.say("somebody makes the file %q", name)
		w.must(os.RemoveAll(w.g.path(name)))
		w.g.write(name, w.line()+"\n")
	}
}

// editOld puts back what once stood at a path.
func (w *story) editOld() {
	if !w.hasOps() {
		return
	}
	op := w.recent()
	if len(op.deeds) == 0 {
		return
	}
	d := pickOne(w, op.deeds)
	n := pickOne(w, []node{d.before, d.after})
	if w.m.tree[d.path].kind == 'd' || n.kind == 'd' || parentOf(d.path) != "" && w.m.tree[parentOf(d.path)].kind != 'd' {
		return
	}
	w.say("somebody makes %q what it was before or after %s: %v", d.path, op.id, n)
	w.must(os.RemoveAll(w.g.path(d.path)))
	switch n.kind {
	case 'f':
		w.g.writeMode(d.path, n.data, n.mode)
	case 'l':
		w.must(os.Symlink(n.data, w.g.path(d.path)))
	}
}

// editGit is what somebody does with git.
func (w *story) editGit() {
	args := pickOne(w, [][]string{
		{"add", "-A"}, {"commit", "-q", "-a", "-m", "more"}, {"commit", "-q", "--allow-empty", "-m", "empty"},
		{"switch", "-q", "-c", fmt.Sprint("b", w.at)}, {"switch", "-q", "main"}, {"reset", "-q"},
		{"rm", "-q", "--cached", "plain.txt"}, {"add", "."}, {"update-index", "-q", "--refresh"},
		{"checkout", "-q", "."}, {"gc", "-q", "--prune=now"},
	})
	out, err := w.gitTry(w.g.dir, args...)
	w.say("git %s: %v %s", strings.Join(args, " "), err, out)
}
