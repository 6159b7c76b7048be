package oxpatch_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
)

func within(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

// checkpoint foretells a record of what stands at some paths.
func (m *model) checkpoint(session string, paths []string) forecast {
	op := &past{kind: "checkpoint", session: session, folders: map[string]fs.FileMode{}}
	for _, path := range sortedKeys(m.tree) {
		n := m.tree[path]
		if !slices.ContainsFunc(paths, func(p string) bool { return within(path, p) }) {
			continue
		}
		if n.kind == 'd' {
			continue // one without files is not recorded
		}
		op.deeds = append(op.deeds, deed{path: path, before: n, after: n})
		for _, up := range parents(path) {
			op.folders[up] = m.tree[up].mode
		}
	}
	for _, p := range paths {
		switch n := m.tree[p]; {
		case p == "." || n.kind == 'd':
			op.scopes = append(op.scopes, p)
			if p != "." {
				op.folders[p] = n.mode
			}
		case n.kind == 0:
			op.deeds = append(op.deeds, deed{path: p})
		}
	}
	return forecast{op: op, tree: m.tree, index: m.index, idle: true}
}

// restore foretells the way to what an operation recorded or left. Of new files where a checkpoint knows
// all there were, those go that operations made, or all.
func (m *model) restore(at *past, only string, deleteNew bool) forecast {
	chosen := func(path string) bool { return only == "" || within(path, only) }
	op := &past{kind: "restore"}
	exact := at.kind == "checkpoint"
	recorded, look := map[string]bool{}, slices.Clone(at.scopes)
	needed := map[string]bool{}
	for _, d := range at.deeds {
		recorded[d.path] = true
		now, want := m.tree[d.path], d.after
		if !chosen(d.path) {
			continue
		}
		if now.kind == 'd' {
			look = append(look, d.path)
			if now = (node{}); want.kind == 0 {
				continue
			}
		}
		if now.same(want) && (!exact || now.mode == want.mode) {
			continue
		}
		if !exact && now.kind == 'f' && want.kind == 'f' && now.runs() == want.runs() {
			want.mode = now.mode
		}
		op.deeds = append(op.deeds, deed{path: d.path, before: now, after: want})
		for _, up := range parents(d.path) {
			needed[up] = needed[up] || want.kind != 0
		}
	}
	for dir := range at.folders {
		if n := m.tree[dir]; n.kind == 'f' || n.kind == 'l' {
			look = append(look, dir) // it stands in the place of a folder
		}
	}
	for _, path := range sortedKeys(m.tree) {
		n := m.tree[path]
		if n.kind == 'd' || recorded[path] || !chosen(path) && !needed[path] ||
			!slices.ContainsFunc(look, func(dir string) bool { return within(path, dir) }) {
			continue
		}
		if deleteNew || m.leftBy(at, path) {
			op.deeds = append(op.deeds, deed{path: path, before: n})
		}
	}
	if len(op.deeds) == 0 {
		return forecast{}
	}
	return m.land(forecast{op: op}, m.restoreRules(at, op, deleteNew))
}

// leftBy reports whether the last operation after another one that touched a path left something there.
func (m *model) leftBy(at *past, path string) bool {
	left := false
	for _, op := range m.ops[slices.Index(m.ops, at)+1:] {
		if d := op.touches(path); d != nil && op.kind != "checkpoint" {
			left = d.after.kind != 0
		}
	}
	return left
}

// restoreRules: folders go that operations made since, that are in the way, or, if that is asked for, that
// the checkpoint does not know. Those that are made have the mode of the checkpoint, or that at which an
// operation removed them.
func (m *model) restoreRules(at, op *past, deleteNew bool) rules {
	made, modes := map[string]bool{}, map[string]fs.FileMode{}
	for _, later := range slices.Backward(m.ops[slices.Index(m.ops, at)+1:]) {
		for dir := range later.made {
			made[dir] = true
		}
		for dir, mode := range later.removed {
			modes[dir] = mode
		}
	}
	for dir, mode := range at.folders {
		modes[dir] = mode
	}
	may := func(dir string) bool {
		for _, d := range op.deeds {
			if d.after.kind != 0 && within(dir, d.path) {
				return true
			}
		}
		_, known := at.folders[dir]
		return made[dir] || deleteNew && !known && slices.ContainsFunc(at.scopes, func(s string) bool { return within(dir, s) })
	}
	return rules{modes: modes, gone: func(from []string) []string {
		return slices.DeleteFunc(from, func(dir string) bool { return !may(dir) })
	}}
}

// checkpoint draws a checkpoint.
func (w *story) checkpoint() {
	var paths []string
	for range 1 + w.random.IntN(2) {
		path, ok := w.some(&drawn{taken: map[string]bool{}}, pickOne(w, []byte{'f', 'd'}), false)
		switch {
		case w.chance(25):
			path = "."
		case w.chance(20):
			path, ok = w.fresh(&drawn{})
		}
		if ok && !slices.ContainsFunc(paths, func(p string) bool { return within(p, path) || within(path, p) }) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return
	}
	req := oxpatch.CheckpointRequest{Paths: paths, Session: pickOne(w, []string{"", "s1"})}
	w.say("checkpoint %q", paths)
	w.carryOut(w.m.checkpoint(req.Session, paths), func(opts ...oxpatch.Option) (*oxpatch.Result, error) {
		return w.engine(opts...).Checkpoint(context.Background(), req)
	})
}

// restore draws a restore, mostly of the newest checkpoint.
func (w *story) restore() {
	if !w.hasOps() {
		return
	}
	at := w.recent()
	if w.chance(70) {
		for _, op := range w.m.ops {
			if op.kind == "checkpoint" {
				at = op
			}
		}
	}
	req := oxpatch.RestoreRequest{ID: at.id, DeleteNew: w.chance(20)}
	only := ""
	if len(at.deeds) > 0 && w.chance(15) {
		only = pickOne(w, at.deeds).path
		req.Paths = []string{only}
	}
	w.say("restore %s %q, delete new %v", at.id, only, req.DeleteNew)
	f := w.m.restore(at, only, req.DeleteNew)
	if w.chance(5) && f.asks {
		w.say("which is declined")
		req.Gate, f = declining, forecast{err: oxpatch.ErrDeclined}
	}
	w.carryOut(f, func(opts ...oxpatch.Option) (*oxpatch.Result, error) {
		return w.engine(opts...).Restore(context.Background(), req)
	})
}
