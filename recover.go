package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// RecoverRequest says what to do with interrupted operations whose files somebody else has changed
// since. Others are settled without asking.
type RecoverRequest struct {
	// Keep leaves the files as they are now and closes the operation; it can be undone to what
	// was there before it.
	Keep bool
	// Rollback brings the files back to what they were before the operation; what they hold now is
	// recorded first.
	Rollback bool
}

// Recover settles interrupted operations. The result lists the files of those that are left; its
// error is ErrPending if there are any.
func (e *Engine) Recover(ctx context.Context, req RecoverRequest) (*Result, error) {
	res := e.newResult("recover")
	op := e.newOperation(ctx)
	err := e.recoverAll(ctx, op, req, res)
	op.end()
	res.finish(e.o.now())
	return res, err
}

func (e *Engine) recoverAll(ctx context.Context, op *operation, req RecoverRequest, res *Result) error {
	release, err := e.site.Lock(ctx, e.o.lockTimeout)
	if err != nil {
		return res.failOperation(err)
	}
	op.release = release
	settled, err := e.settlePending(ctx)
	if err != nil {
		return res.failOperation(err)
	}
	records, err := e.site.History().Pending()
	if err != nil {
		return res.failOperation(err)
	}
	left := 0
	for _, rec := range records {
		switch {
		case req.Keep, req.Rollback:
			err = e.decide(ctx, rec, req.Rollback)
			settled.done = append(settled.done, rec.Meta.ID)
		default:
			left++
			e.reportPending(rec, settled.why[rec.Meta.ID], res)
		}
		if err != nil {
			return res.failOperation(err)
		}
	}
	res.Exact, res.OK, res.Applied = true, left == 0, len(settled.done) > 0
	if left > 0 {
		return res.refusal(ErrPending)
	}
	return nil
}

// decide closes an operation as the user chose.
func (e *Engine) decide(ctx context.Context, rec *snapshot.Record, rollback bool) error {
	s, err := e.openSettlement(rec)
	if err != nil {
		return err
	}
	defer s.close()
	files, err := filesOf(rec)
	if err != nil {
		return err
	}
	if err := s.dropDeadLock(); err != nil {
		return err
	}
	if rollback {
		return s.forceBack(ctx)
	}
	return s.keep(ctx, files)
}

// keep closes the operation with the files as they are, recorded so that undo leads to what was
// there before it.
func (s *settlement) keep(ctx context.Context, files []worktree.File) error {
	lines, err := s.indexNow(ctx)
	if err != nil {
		return err
	}
	var entries []snapshot.Entry
	for i, f := range files {
		index := f.Index
		if index != nil {
			index = &change.IndexChange{Before: index.Before, After: lines[f.Path]}
		}
		if !f.Before.Equal(s.now[i]) {
			entries = append(entries, snapshot.Entry{
				Change:  change.Change{Path: f.Path, Before: f.Before, After: s.now[i], Index: index},
				InPlace: f.InPlace, Outside: s.rec.Meta.Paths[i].Outside,
			})
		}
	}
	if err := s.tree.DropTemps(s.rec.Meta.ID, files); err != nil {
		return err
	}
	if len(entries) > 0 {
		// It stands for the interrupted operation from now on, also for undo.
		meta := snapshot.Meta{
			Kind: snapshot.KindApply, DirsMade: s.rec.Meta.DirsMade, DirsRemoved: s.rec.Meta.DirsRemoved,
			Mode: s.rec.Meta.Mode, Format: s.rec.Meta.Format, Policy: s.rec.Meta.Policy,
		}
		kept, err := s.put(ctx, meta, entries)
		if err != nil {
			return err
		}
		if err := s.store.Publish(kept); err != nil {
			return err
		}
	}
	return s.drop()
}

// forceBack brings every path back to its before, whatever stands there now.
func (s *settlement) forceBack(ctx context.Context) error {
	files, err := filesOf(s.rec)
	if err != nil {
		return err
	}
	var foreign []int
	for i, p := range s.rec.Meta.Paths {
		if !p.Before.Same(s.now[i]) && !p.After.Same(s.now[i]) {
			foreign = append(foreign, i)
		}
	}
	saved, err := s.save(ctx, snapshot.KindRestore, files, foreign)
	if err != nil {
		return err
	}
	for i := range files {
		if slices.Contains(foreign, i) {
			files[i].After = s.now[i]
		}
	}
	if err := s.back(ctx, files); err != nil {
		return err
	}
	if saved != nil {
		err = s.store.Publish(saved)
	}
	return errors.Join(err, s.drop())
}

// reportPending lists the files of an operation that needs a decision.
func (e *Engine) reportPending(rec *snapshot.Record, why error, res *Result) {
	p := Problem{
		Kind:    KindPending,
		Message: fmt.Sprintf("operation %s was interrupted, and its files have been changed since", rec.Meta.ID),
		Hint:    "oxpatch recover --keep leaves them as they are; oxpatch recover --rollback brings back what was there before the operation",
	}
	if why != nil {
		p.Message = fmt.Sprintf("operation %s was interrupted and cannot be settled: %s", rec.Meta.ID, trimmed(why))
		p.Hint = "remove the cause and run oxpatch recover again"
	}
	res.fail(p)
	for _, p := range rec.Meta.Paths {
		res.Files = append(res.Files, FileResult{Path: change.DisplayPath(p.Path), Change: "modify", Status: StatusSkipped})
	}
	res.listPaths()
}
