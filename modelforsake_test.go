package oxpatch_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"

	"github.com/openoxide/oxpatch"
)

// forsake kills an apply in the middle and then changes one of its files, so that nobody but the user can
// settle it; then the user does.
func (w *story) forsake() {
	p := w.drawPatch()
	if len(p.deeds) == 0 || p.misfits {
		return
	}
	f := w.m.apply(&past{session: "s1", deeds: p.deeds})
	if f.anyError {
		return
	}
	req := oxpatch.Request{Patch: []byte(envelope(p.sections...)), Session: "s1"}
	w.say("apply\n%s", req.Patch)
	had := len(w.m.ops)
	tree := w.m.tree
	w.killed(f, func(opts ...oxpatch.Option) (*oxpatch.Result, error) {
		return w.engine(opts...).Apply(context.Background(), req)
	})
	ops, _ := listed(w.engine(), oxpatch.LogRequest{Count: 1})
	if len(ops) == 0 || ops[0].State != "unresolved" {
		return
	}
	w.m.ops, w.m.known, w.m.tree = w.m.ops[:had], nil, tree
	d := pickOne(w, p.deeds)
	if info, err := os.Lstat(w.g.path(parentOf(d.path))); err != nil || !info.IsDir() {
		w.settleAfterAll(f, ops[0].ID)
		return
	}
	if info, err := os.Lstat(w.g.path(d.path)); err == nil && info.IsDir() {
		w.settleAfterAll(f, ops[0].ID)
		return
	}
	w.say("somebody writes into %q", d.path)
	w.must(os.RemoveAll(w.g.path(d.path)))
	w.g.write(d.path, w.line()+"\n")
	was := w.disk()
	w.refusePending(d.path, was)
	before := map[string]node{}
	for _, x := range p.deeds {
		before[x.path] = w.standing(f.op, x.path)
	}
	if w.chance(50) {
		w.keep(f, before, was)
	} else {
		w.rollBack(f, before)
	}
	w.owing = false
}

// settleAfterAll settles what can be settled after all.
func (w *story) settleAfterAll(f forecast, id string) {
	w.interrupted(f, id)
	w.recover()
}

func (w *story) standing(op *past, path string) node {
	now, err := readNode(w.g.path(path))
	if err != nil && !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "not a directory") {
		w.must(err)
	}
	if now.kind == 'd' && (hasKey(op.made, path) || hasKey(op.removed, path)) {
		return node{}
	}
	return now
}

// refusePending: the file is out of reach, and nothing changes.
func (w *story) refusePending(path string, was plot) {
	res, err := w.engine().Recover(context.Background(), oxpatch.RecoverRequest{})
	if !errors.Is(err, oxpatch.ErrPending) || res.OK {
		w.fail("recover where the user has to decide: %v", err)
	}
	res, err = w.engine().Apply(context.Background(), request(envelope("*** Delete File: "+path)))
	if !errors.Is(err, oxpatch.ErrPending) || res.Applied {
		w.fail("a patch for a file that an interrupted operation holds: %v", err)
	}
	if diff := differences(was, w.disk()); diff != "" {
		w.fail("an operation that waits for the user: %s", diff)
	}
}

// keep leaves the files as they are; an operation in the place of the interrupted one leads back.
func (w *story) keep(f forecast, now map[string]node, was plot) {
	w.say("recover --keep")
	res, err := w.engine().Recover(context.Background(), oxpatch.RecoverRequest{Keep: true})
	if err != nil || !res.OK {
		w.fail("recover --keep: %v", err)
	}
	kept := &past{kind: "apply", session: "s1", made: f.op.made, removed: f.op.removed}
	for _, d := range f.op.deeds {
		if d.after = now[d.path]; !d.before.same(d.after) {
			d.from = ""
			kept.deeds = append(kept.deeds, d)
		}
	}
	maps.DeleteFunc(was, func(path string, _ node) bool { return strings.Contains(path, ".oxpatch-") })
	w.m.tree = was
	if len(kept.deeds) > 0 {
		w.m.add(kept)
	}
}

// rollBack brings everything back; what the user had written is recorded.
func (w *story) rollBack(f forecast, now map[string]node) {
	w.say("recover --rollback")
	res, err := w.engine().Recover(context.Background(), oxpatch.RecoverRequest{Rollback: true})
	if err != nil || !res.OK {
		w.fail("recover --rollback: %v", err)
	}
	rescue := &past{kind: "restore", session: "s1"}
	for _, d := range f.op.deeds {
		if at := now[d.path]; !at.same(d.before) && !at.same(d.after) {
			rescue.deeds = append(rescue.deeds, deed{path: d.path, before: at, after: d.before, inPlace: d.inPlace})
		}
	}
	if len(rescue.deeds) > 0 {
		w.m.add(rescue)
	}
}
