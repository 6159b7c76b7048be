package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
)

// command runs a request with options; it is what can be killed.
type command func(opts ...oxpatch.Option) (*oxpatch.Result, error)

var errNo = errors.New("no")

func declining(context.Context, []oxpatch.Change) error { return errNo }

// apply draws a patch that fits and applies it, or one that does not fit, or one that the gate declines.
func (w *story) apply() {
	if w.git && w.chance(60) {
		w.applyGit()
		return
	}
	p := w.drawPatch()
	if len(p.deeds) == 0 {
		w.say("apply a patch for a file that is not there")
		p.misfits = true
		p.sections = []string{"*** Update File: not/there", "@@", "-x", "+y"}
	}
	req := oxpatch.Request{Patch: []byte(envelope(p.sections...)), Session: pickOne(w, []string{"", "s1", "s2"}),
		Turn: pickOne(w, []string{"", "", "t1", "t2"})}
	var opts []oxpatch.Option
	if w.chance(12) {
		opts = append(opts, oxpatch.WithInPlace())
		for i := range p.deeds {
			p.deeds[i].inPlace = true
		}
	}
	w.say("apply (session %q, turn %q, in place %v)\n%s", req.Session, req.Turn, len(opts) > 0, req.Patch)
	f := w.m.apply(&past{session: req.Session, turn: req.Turn, deeds: p.deeds})
	w.request(f, req, opts, p.misfits)
}

func (w *story) request(f forecast, req oxpatch.Request, opts []oxpatch.Option, misfits bool) {
	switch {
	case misfits:
		f = forecast{anyError: true}
	case w.chance(5) && !f.anyError:
		w.say("which is declined")
		req.Gate, f = declining, forecast{err: oxpatch.ErrDeclined}
	}
	w.carryOut(f, func(more ...oxpatch.Option) (*oxpatch.Result, error) {
		return w.engine(append(opts, more...)...).Apply(context.Background(), req)
	})
}

// undo draws an undo.
func (w *story) undo() {
	v := wish{}
	switch n := w.random.IntN(100); {
	case n < 40:
	case n < 55:
		v.count = 1 + w.random.IntN(4)
	case n < 68 && w.hasOps():
		v.to = w.recent()
		v.session = pickOne(w, []string{"", "", "", "s1"})
	case n < 85 && w.hasOps():
		for range 1 + w.random.IntN(3) {
			v.named = append(v.named, w.recent())
		}
	case n < 93:
		v.session = pickOne(w, []string{"s1", "s2"})
		v.count = w.random.IntN(3)
	default:
		v.turn = pickOne(w, []string{"t1", "t2"})
	}
	w.reverse(v)
}

func (w *story) redo() {
	v := wish{redo: true}
	switch n := w.random.IntN(100); {
	case w.m.nextRedo() == nil && n < 55:
		w.undo()
		return
	case n < 60:
	case n < 75:
		v.count = 1 + w.random.IntN(2)
	case w.hasOps():
		for range 1 + w.random.IntN(2) {
			v.named = append(v.named, w.recent())
		}
	}
	w.reverse(v)
}

// mergeable is the newest operation that stands and one of whose files was changed since.
func (m *model) mergeable() *past {
	for _, op := range m.newestFirst() {
		for _, d := range op.deeds {
			now := m.tree[d.path]
			if op.kind != "checkpoint" && m.stands(op, d.path) && d.before.kind == 'f' && d.after.kind == 'f' && now.kind == 'f' && !now.same(d.after) {
				return op
			}
		}
	}
	return nil
}

// hasOps reports whether there is an operation whose id is known.
func (w *story) hasOps() bool { return len(w.m.ops) > 0 && w.m.ops[0].id != "" }

// recent is an operation, mostly of the last few.
func (w *story) recent() *past {
	n := len(w.m.ops)
	op := w.m.ops[n-1-min(w.random.IntN(n), w.random.IntN(n), w.random.IntN(n))]
	if op.id == "" { // that of a recovery which the next command will make
		return w.m.ops[max(n-2, 0)]
	}
	return op
}

func (w *story) reverse(v wish) {
	switch n := w.random.IntN(100); {
	case w.pure:
	case n < 15:
		v.force = true
	case n < 40:
		v.merge = true
		if op := w.m.mergeable(); op != nil && w.chance(70) {
			v = wish{named: []*past{op}, merge: true}
		}
	}
	v.decline = w.chance(5)
	if targets, all, err := w.m.targets(v); err == nil && w.chance(12) {
		trails := w.m.trails(targets, all, nil)
		paths := sortedKeys(trails)
		path := pickOne(w, paths)
		if up := parents(path); len(up) > 0 && w.chance(30) {
			path = pickOne(w, up)
		}
		v.paths = append(v.paths, path)
		if w.chance(20) {
			v.paths = append(v.paths, pickOne(w, append(paths, "no such path")))
		}
	}
	f := w.m.reverse(v)
	v.decline = v.decline && len(f.unsure) == 0
	w.say("%v", v)
	if v.decline && f.err == nil && !f.anyError && f.asks {
		f = forecast{err: oxpatch.ErrDeclined}
	}
	if !w.owing && w.chance(20) /* a check takes no lock, so it settles nothing */ {
		w.foretold(v, f)
	}
	to := v.to
	w.carryOut(f, func(opts ...oxpatch.Option) (*oxpatch.Result, error) { return v.send(w.engine(opts...), false) })
	if w.pure && to != nil && f.err == nil && !f.anyError && v.session == "" && len(v.paths) == 0 && !w.owing && len(w.m.ops) > 0 &&
		w.m.ops[len(w.m.ops)-1] == f.op {
		if diff := differences(to.tree.withoutModes(), w.m.tree.withoutModes()); diff != "" {
			w.fail("undo --to did not lead back: %s", diff)
		}
	}
}

func (f forecast) stages() bool {
	return f.op != nil && slices.ContainsFunc(f.op.deeds, func(d deed) bool { return d.staged })
}

// send makes the request of a wish.
func (v wish) send(e *oxpatch.Engine, check bool) (*oxpatch.Result, error) {
	var ids []string
	for _, op := range v.named {
		ids = append(ids, op.id)
	}
	var gate func(context.Context, []oxpatch.Change) error
	if v.decline {
		gate = declining
	}
	if v.redo {
		return e.Redo(context.Background(), oxpatch.RedoRequest{IDs: ids, Count: v.count, Paths: v.paths,
			Merge: v.merge, Force: v.force, Check: check, Gate: gate})
	}
	to := ""
	if v.to != nil {
		to = v.to.id
	}
	return e.Undo(context.Background(), oxpatch.UndoRequest{IDs: ids, Count: v.count, To: to, Session: v.session, Turn: v.turn,
		Paths: v.paths, Merge: v.merge, Force: v.force, Check: check, Gate: gate})
}

func (v wish) String() string {
	word := "undo"
	if v.redo {
		word = "redo"
	}
	for _, op := range v.named {
		word += " " + op.id
	}
	if v.to != nil {
		word += " --to " + v.to.id
	}
	return fmt.Sprintf("%s (count %d, session %q, turn %q, paths %q, merge %v, force %v, declined %v)",
		word, v.count, v.session, v.turn, v.paths, v.merge, v.force, v.decline)
}

// foretold makes sure that a check says what the run will.
func (w *story) foretold(v wish, f forecast) {
	res, err := v.send(w.engine(), true)
	if res.Applied {
		w.fail("a check applied something")
	}
	if len(f.unsure) == 0 && (err != nil) != (f.err != nil || f.anyError) {
		w.fail("the check said %v, and the model %v (any: %v)", err, f.err, f.anyError)
	}
	if diff := differences(w.m.tree, w.disk()); diff != "" {
		w.fail("a check changed the tree: %s", diff)
	}
}

// carryOut runs a command and compares it with what was foretold; now and then it is killed.
func (w *story) carryOut(f forecast, run command) {
	if f.op != nil && f.err == nil && !f.anyError && len(f.unsure) == 0 && !w.owing && w.chance(12) {
		w.killed(f, run)
		return
	}
	res, err := run()
	w.owing = false
	w.judge(f, res, err)
}

func (w *story) judge(f forecast, res *oxpatch.Result, err error) {
	w.count(f, res, err)
	switch {
	case len(f.unsure) > 0 && f.err == nil && !f.anyError:
		w.judgeMerge(f, res, err)
		return
	case f.err != nil || f.anyError:
		if err == nil || f.err != nil && !errors.Is(err, f.err) {
			w.fail("the error is %v, not %v", err, f.err)
		}
		if res.Applied || res.OK {
			w.fail("refused, and applied %v, ok %v", res.Applied, res.OK)
		}
		if f.blamed != nil {
			w.blamed(f.blamed, f.unsure, res)
		}
		return
	case err != nil:
		w.fail("refused: %v", err)
	case f.op == nil: // there is nothing to do, which is no error
		if res.ID != "" || res.Applied || !res.OK {
			w.fail("nothing was to be done, and it is %q, applied %v, ok %v", res.ID, res.Applied, res.OK)
		}
		return
	}
	w.came(f, res)
}

// count keeps a tally of what was done, so that nobody is content with steps that all are refused.
func (w *story) count(f forecast, res *oxpatch.Result, err error) {
	what := res.Command + " done"
	switch {
	case err == nil && f.stages():
		what += ", with the index"
	case err == nil && f.merged:
		what += ", by a merge"
	case err != nil:
		what = res.Command + " refused"
	}
	w.tally[what]++
}

// came takes over a forecast that came true.
func (w *story) came(f forecast, res *oxpatch.Result) {
	if !res.OK || res.ID == "" || res.Applied == (f.idle && !f.stages()) {
		w.fail("ok %v, id %q, applied %v", res.OK, res.ID, res.Applied)
	}
	f.op.id = res.ID
	w.m.commit(f)
}

// blamed compares the paths that a refusal names: all of must, and beyond those only of may.
func (w *story) blamed(must map[string]bool, may map[string]*trail, res *oxpatch.Result) {
	got := map[string]bool{}
	for _, p := range res.Problems {
		if p.Severity == oxpatch.SeverityError && (p.Kind == oxpatch.KindDrift || p.Kind == oxpatch.KindConflict) {
			got[p.Path] = true
		}
	}
	for path := range must {
		if !got[change.DisplayPath(path)] {
			w.fail("the refusal names %v, not %q", got, path)
		}
		delete(got, change.DisplayPath(path))
	}
	for path := range may {
		delete(got, change.DisplayPath(path))
	}
	if len(got) > 0 {
		w.fail("the refusal names %v too", got)
	}
}

// judgeMerge believes what a merge did whose outcome the model does not know, but not that it lost lines.
func (w *story) judgeMerge(f forecast, res *oxpatch.Result, err error) {
	if err != nil {
		if !errors.Is(err, oxpatch.ErrConflict) && !f.wild || res.Applied {
			w.fail("a merge ended with %v, applied %v", err, res.Applied)
		}
		w.blamed(nil, f.unsure, res)
		return
	}
	for path, t := range f.unsure {
		d := f.op.touches(path)
		if d.after = w.standing(f.op, path); d.after.kind == 'd' { // for something below it
			d.after = node{}
		}
		kept := map[string]bool{}
		for _, x := range t.deeds {
			for _, l := range splitLines(x.after.data) {
				kept[strings.TrimRight(l, "\r\n")] = true
			}
		}
		for _, l := range splitLines(d.before.data) {
			if l = strings.TrimRight(l, "\r\n"); !kept[l] && !strings.Contains(d.after.data, l) {
				w.fail("a clean merge of %q lost %q", path, l)
			}
		}
	}
	if f = w.m.land(forecast{op: f.op}, f.rules); f.anyError {
		w.fail("a merge that cannot be was made")
	}
	w.came(f, res)
}

// look runs what only reads, or refuses what cannot be.
func (w *story) look() {
	w.say("what cannot be")
	res, err := w.engine().Undo(context.Background(), oxpatch.UndoRequest{IDs: []string{"zzzz"}})
	w.owing = false
	if !errors.Is(err, oxpatch.ErrUnknownOperation) || res.Applied {
		w.fail("an unknown operation: %v", err)
	}
	session := pickOne(w, []string{"", "s1", "s2"})
	req := oxpatch.LogRequest{Session: session, Count: w.random.IntN(4)}
	var want []*past
	for _, op := range w.m.newestFirst() {
		if (session == "" || op.session == session) && (req.Count == 0 || len(want) < req.Count) {
			want = append(want, op)
		}
	}
	ops, errs := listed(w.engine(), req)
	if len(errs) > 0 {
		w.fail("the log: %v", errs)
	}
	w.compareLog(ops, want)
}
