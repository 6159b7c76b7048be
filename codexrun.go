package oxpatch

import (
	"errors"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/worktree"
)

// applyCodex carries a patch out as codex-cli 0.171.0 does: section by section, written in place,
// what was done before an error stays. What Codex lacks is added without a word: the files' bytes
// are recorded first where that is possible, so that oxpatch undo takes them back.
func (r *run) applyCodex(patches []*textapply.Patch) error {
	if len(patches[0].Sections) == 0 && len(patches) == 1 {
		r.result.Exact = true
		r.result.codex.stderr = "No files were modified.\n"
		r.result.fail(Problem{Kind: KindNothingToDo, Message: "the patch has no sections"})
		return r.result.refusal()
	}
	recording := r.recordsCodex()
	if recording {
		recording = r.op.begin() == nil
	}
	defer r.op.end()
	if err := r.ctx.Err(); err != nil {
		r.result.codex.stderr = trimmed(err) + "\n"
		return r.result.failOperation(err)
	}
	plan, err := r.plan(patches)
	if err != nil {
		r.result.codex.stderr = trimmed(err) + "\n"
		return r.result.failOperation(err)
	}
	defer r.tree.Close()
	r.result.Changes = plan.Changes
	r.result.Exact = true
	if r.req.Check {
		return r.closeCodex(plan)
	}
	if err := r.gate(plan); err != nil {
		r.result.codex.stderr = trimmed(err) + "\n"
		r.result.report(plan, r.inputs, false)
		return r.result.failOperation(err)
	}
	return r.writeCodex(plan, recording)
}

// recordsCodex reports whether this run takes a snapshot.
func (r *run) recordsCodex() bool {
	return !r.req.Check && r.preset.snapshot != snapshotNever && r.e.site.Repo != nil && r.e.o.env("OXPATCH_SNAPSHOT") != "0"
}

// writeCodex records the plan and takes its steps.
func (r *run) writeCodex(plan *textPlan, recording bool) error {
	var rec *stored
	if recording && len(plan.Changes) > 0 {
		var done func()
		rec, done = r.recordCodex(plan)
		defer done()
	}
	failed := r.takeSteps(plan)
	r.result.Applied = len(r.result.Changes) > 0
	if rec != nil {
		if err := r.publishCodex(plan, rec, failed); errors.Is(err, snapshot.ErrKilled) || errors.Is(err, worktree.ErrKilled) {
			return err
		}
	}
	return r.closeCodex(plan)
}

// recordCodex writes the record and notes it as pending; nil where that is not possible.
func (r *run) recordCodex(plan *textPlan) (*stored, func()) {
	j := job{
		kind: snapshot.KindApply, tree: r.tree, files: r.disk.files(plan.Changes, true),
		meta: r.meta(), patches: r.patchBytes(), snapshot: snapshotInRepository,
	}
	if made, _, err := r.tree.Dirs(plan.Changes); err == nil {
		j.made = made
	}
	rec, done, err := r.op.record(&j, r.result)
	if err != nil || rec == nil {
		return nil, done
	}
	if err := rec.store.SetPending(rec.Record); err != nil {
		_ = rec.store.ClearPending(rec.Record) // the record is then no part of the history
		return nil, done
	}
	return rec, done
}

// takeSteps carries out the plan's steps until one fails; the section of that one and those after
// it are marked. It reports whether one failed.
func (r *run) takeSteps(plan *textPlan) bool {
	for _, s := range plan.Steps {
		var err error
		if s.Delete {
			err = r.tree.Remove(s.Path)
		} else {
			err = r.tree.PutInPlace(s.Path, s.Content)
		}
		if err == nil {
			continue
		}
		section := plan.Sections[s.Section].Section
		r.result.codex.stderr = codexStepMessage(r.base, section, s, err)
		plan.Sections[s.Section].Status = textapply.Failed
		plan.Sections[s.Section].Errs = []*textapply.Error{{Path: section.Path, PatchLine: section.Line, Err: err}}
		for i := s.Section + 1; i < len(plan.Sections); i++ {
			plan.Sections[i] = textapply.SectionResult{Section: plan.Sections[i].Section}
		}
		r.result.Changes = r.actual(plan.Changes)
		return true
	}
	return false
}

func codexStepMessage(base string, section *textapply.Section, s textapply.Step, err error) string {
	path := codexPath(base, section.Path)
	switch {
	case s.Source:
		return "Failed to remove original " + path + "\n"
	case s.Delete:
		return "Failed to delete file " + path + "\n"
	case section.MoveTo != "":
		path = codexPath(base, section.MoveTo)
	}
	return codexWriteMessage(path, err)
}

// actual returns what a run that failed midway really changed.
func (r *run) actual(planned []change.Change) []change.Change {
	var out []change.Change
	for _, c := range planned {
		now, _, err := r.tree.Read(c.Path)
		if err != nil || now.Equal(c.Before) {
			continue
		}
		if !now.Equal(c.After) {
			c.Edits = nil
		}
		c.After = now
		out = append(out, c)
	}
	return out
}

// publishCodex closes the record. After a failure the record says what was planned; another is
// written that says what was done.
func (r *run) publishCodex(plan *textPlan, rec *stored, failed bool) error {
	if failed {
		if len(r.result.Changes) == 0 {
			return rec.store.ClearPending(rec.Record)
		}
		meta := rec.Meta
		meta.ID, meta.DirsMade = rec.store.NewID(r.e.o.now()), r.standing(meta.DirsMade)
		done, err := rec.store.Put(r.ctx, meta, entriesOf(r.disk.files(r.result.Changes, true)), r.patchBytes())
		if err != nil {
			return r.keepPlanned(rec, err)
		}
		// Both are pending for a moment, so that a kill finds at least one: either everything goes
		// back to before, or what was done is closed.
		if err := errors.Join(rec.store.SetPending(done), rec.store.ClearPending(rec.Record)); err != nil {
			return err
		}
		rec.Record = done
	}
	if err := rec.store.Publish(rec.Record); err != nil {
		return err
	}
	r.result.ID = rec.Meta.ID
	r.result.Snapshot = Snapshot{Commit: rec.Commit(), Store: rec.Place().Dir, Undoable: true}
	return nil
}

// standing returns those of the folders that are there: a run that failed did not come to all.
func (r *run) standing(dirs []snapshot.DirMeta) []snapshot.DirMeta {
	var there []snapshot.DirMeta
	for _, d := range dirs {
		if now, _, err := r.tree.Read(d.Path); err == nil && now.Kind == change.Dir {
			there = append(there, d)
		}
	}
	return there
}

// keepPlanned closes the record of what was planned, where none of what was done can be had. It must
// not stay pending: the next command would take back what Codex's rules keep. Undo will find the
// files that were not reached as drifted, and no bytes are lost.
func (r *run) keepPlanned(rec *stored, cause error) error {
	if errors.Is(cause, snapshot.ErrKilled) {
		return cause
	}
	r.result.Snapshot.Reason = "what was done could not be recorded, only what was planned: " + cause.Error()
	return errors.Join(cause, rec.store.Publish(rec.Record))
}

// closeCodex fills the result and what Codex prints.
func (r *run) closeCodex(plan *textPlan) error {
	r.result.report(plan, r.inputs, true)
	errs := plan.Errors()
	if len(errs) == 0 {
		r.result.OK = true
		r.result.codex.stdout = codexSummary(plan.patch.Sections)
		return nil
	}
	if r.result.codex.stderr == "" {
		for i := range plan.Sections {
			if s := &plan.Sections[i]; s.Status == textapply.Failed {
				r.result.codex.stderr = codexPlanMessage(r.base, s.Section, s.Errs[0])
				break
			}
		}
	}
	return r.result.refusal(causes(errs)...)
}

// codexMalformed keeps the parser's own words for a patch that cannot be read.
func (r *run) codexMalformed(err error) {
	var m *malformedError
	if errors.As(err, &m) && m.cause != nil {
		r.result.codex.stderr = m.cause.Error() + "\n"
		return
	}
	r.result.codex.stderr = err.Error() + "\n"
}
