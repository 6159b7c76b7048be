package oxpatch_test

import (
	"context"
	"maps"
	"os"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// killed runs a command that is killed at some effect, and foretells what the next command makes of it.
func (w *story) killed(f forecast, run command) {
	inPlace := map[string]bool{}
	for _, d := range f.op.deeds {
		inPlace[d.path] = d.inPlace
	}
	most := w.effects[len(f.op.deeds)]
	if most == 0 {
		most = 30 + 10*len(f.op.deeds)
	}
	k := &fault{at: 1 + w.random.IntN(most+2), kill: true}
	k.torn = func(op worktree.Op, path string) {
		info, err := os.Lstat(w.g.path(path))
		if op == worktree.OpWrite && err == nil && info.Mode().IsRegular() && info.Size() == 0 && inPlace[path] {
			w.must(os.WriteFile(w.g.path(path), []byte("half of wh"), 0))
		}
	}
	opts := k.options()
	if w.git {
		opts = gitFaultOptions(k)
	}
	res, err := run(opts...)
	if !k.dead {
		w.effects[len(f.op.deeds)] = k.count
		w.judge(f, res, err)
		return
	}
	w.say("which is killed at effect %d, %s", k.at, k.what)
	w.owing = true
	ops, errs := listed(w.engine(), oxpatch.LogRequest{})
	if len(errs) > 0 {
		w.fail("the log after a kill: %v", errs)
	}
	switch {
	case len(ops) == len(w.m.ops):
		if err == nil {
			w.fail("a killed run said that all went well")
		}
		w.tally["killed before the record was pending"]++
	case ops[0].State == "unresolved":
		if f.stages() {
			leaveLock(w.g)
		}
		w.interrupted(f, ops[0].ID)
	default:
		w.tally["killed after it was published"]++
		f.op.id = ops[0].ID
		w.m.commit(f)
	}
}

// interrupted foretells the settling of a pending operation: it is finished if all is done, else all goes
// back, and what was torn is recorded.
func (w *story) interrupted(f forecast, id string) {
	done := true
	rescue := &past{kind: "recover", session: f.op.session, turn: f.op.turn}
	for _, d := range f.op.deeds {
		now := w.standing(f.op, d.path)
		done = done && now.same(d.after)
		if !now.same(d.after) && !now.same(d.before) {
			if !d.inPlace {
				w.fail("after the kill %q is %v, which is neither before nor after", d.path, now)
			}
			rescue.deeds = append(rescue.deeds, deed{path: d.path, before: now, after: d.before, inPlace: true})
		}
	}
	if done && w.git && f.stages() {
		done = maps.Equal(w.readIndex(), f.index)
	}
	switch {
	case done:
		w.tally["killed when all was written"]++
		f.op.id = id
		w.m.commit(f)
	case len(rescue.deeds) > 0:
		w.tally["killed in the middle of a file"]++
		w.m.add(rescue)
	default:
		w.tally["killed in the middle of the writing"]++
	}
}

// recover runs the command that settles what is left.
func (w *story) recover() {
	w.say("recover")
	res, err := w.engine().Recover(context.Background(), oxpatch.RecoverRequest{})
	if err != nil || !res.OK {
		w.fail("recover: %v", err)
	}
	w.owing = false
}
