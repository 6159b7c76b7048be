package oxpatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// settled says what became of the operations that were begun and not closed.
type settled struct {
	done []string // ids of those that are closed now
	// paths maps the paths of those that had to be left to their ids, why the ids to what kept them
	// from being settled; nil stands for files that somebody else has changed.
	paths map[string]string
	why   map[string]error
}

// settlePending finishes or takes back every operation that was begun and not closed, because its
// process was killed. The root's lock is held. An operation that cannot be settled is left for
// later, and does not keep others from going on.
func (e *Engine) settlePending(ctx context.Context) (*settled, error) {
	records, err := e.site.History().Pending()
	if errors.Is(err, snapshot.ErrNewerFormat) {
		return nil, err
	}
	out := &settled{paths: map[string]string{}, why: map[string]error{}}
	for _, rec := range records {
		done, err := e.settleOne(ctx, rec)
		if stops(err) {
			return nil, err
		}
		if done && err == nil {
			out.done = append(out.done, rec.Meta.ID)
			continue
		}
		out.why[rec.Meta.ID] = err
		for _, p := range rec.Meta.Paths {
			out.paths[p.Path] = rec.Meta.ID
		}
	}
	return out, nil
}

func (e *Engine) settleOne(ctx context.Context, rec *snapshot.Record) (bool, error) {
	s, err := e.openSettlement(rec)
	if err != nil {
		return false, err
	}
	defer s.close()
	return s.settle(ctx)
}

// forecastPending says in the result of a check that operations wait to be settled: the real run does
// that first, and then the files may be others than those that the check saw. A store that the real
// run would refuse is an error here too.
func (e *Engine) forecastPending(res *Result) error {
	records, err := e.site.History().Pending()
	if errors.Is(err, snapshot.ErrNewerFormat) {
		return err
	}
	if len(records) == 0 && err == nil {
		return nil
	}
	res.Exact = false
	p := Problem{Kind: KindPending, Hint: "settle it with oxpatch recover, then check again"}
	for _, rec := range records {
		p.Message = fmt.Sprintf("operation %s was interrupted; it is settled first, which may change what is foretold here", rec.Meta.ID)
		res.warn(p)
	}
	if err != nil {
		res.warn(Problem{Kind: KindIO, Message: "what is to be settled first cannot be read: " + trimmed(err)})
	}
	return nil
}

// stops reports whether an error ends the whole command, not only the settling of one operation.
func stops(err error) bool {
	for _, e := range []error{
		worktree.ErrKilled, snapshot.ErrKilled, snapshot.ErrNewerFormat, snapshot.ErrBusy,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// settlement is the recovery of one operation.
type settlement struct {
	e     *Engine
	rec   *snapshot.Record
	tree  *worktree.Tree
	store *snapshot.Store
	now   []change.State // what stands at each path of the record
	// unlock gives the store's lock back; nil while it is not held. From a record's Put until it is
	// published nobody else may prune the store.
	unlock func()
	// dropped: the record is no longer needed.
	dropped bool
}

func (s *settlement) close() {
	s.tree.Close()
	if s.unlock != nil {
		s.unlock()
	}
	if s.dropped {
		_ = s.store.Discard(context.Background(), s.rec, s.e.o.now()) // if not now, when the store is pruned
	}
}

// drop ends an operation that came to nothing.
func (s *settlement) drop() error {
	err := s.store.ClearPending(s.rec)
	s.dropped = err == nil
	return err
}

func (e *Engine) openSettlement(rec *snapshot.Record) (*settlement, error) {
	tree, err := e.recordTree(rec)
	if err != nil {
		return nil, err
	}
	s := &settlement{e: e, rec: rec, tree: tree}
	dirs := dirsOfOne(&rec.Meta)
	for _, p := range rec.Meta.Paths {
		st, _, err := dirs.standing(tree, p.Path)
		if err != nil {
			tree.Close()
			return nil, err
		}
		s.now = append(s.now, st)
	}
	s.store, err = e.site.OpenPlace(rec.Place(), snapshot.Options{Durability: e.o.durability, Effects: e.o.storeEffects})
	if err != nil {
		tree.Close()
		return nil, err
	}
	return s, nil
}

// recordTree opens the tree for the paths of a record, which may lie outside the root.
func (e *Engine) recordTree(rec *snapshot.Record) (*worktree.Tree, error) {
	o := worktree.Options{Effects: e.o.treeEffects, InPlace: true}
	for _, p := range rec.Meta.Paths {
		o.Free = o.Free || p.Outside
	}
	return worktree.Open(e.site.Root, o)
}

// settle decides by what stands at the paths: all as after, the operation is finished; otherwise
// everything goes back to before. A path in neither state was torn if it was being written in
// place, and its bytes are saved first; any other was changed by somebody else, and the operation
// is left for the user to decide (false).
func (s *settlement) settle(ctx context.Context) (bool, error) {
	if err := s.dropDeadLock(); err != nil {
		return false, err
	}
	allAfter := true
	var torn []int
	for i, p := range s.rec.Meta.Paths {
		before, after := p.Before.Same(s.now[i]), p.After.Same(s.now[i])
		allAfter = allAfter && after
		if before || after {
			continue
		}
		if !p.InPlace {
			return false, nil
		}
		torn = append(torn, i)
	}
	files, err := filesOf(s.rec)
	if err != nil {
		return false, err
	}
	if allAfter {
		// The index comes last. Files without it are as good as half written.
		if allAfter, err = s.indexIsAfter(ctx); err != nil {
			return false, err
		}
	}
	if allAfter {
		if err := s.restore(files, worktree.After); err != nil {
			return false, err
		}
		return true, s.store.Publish(s.rec)
	}
	return true, s.rollBack(ctx, files, torn)
}

func (s *settlement) restore(files []worktree.File, to worktree.Toward) error {
	m := s.rec.Meta
	return s.tree.Restore(m.ID, onDisk(files), dirsOf(m.DirsMade), dirsOf(m.DirsRemoved), to)
}

// rollBack brings every path to its before. The bytes of the paths listed in save are in neither
// state; they are recorded first, as an operation of its own.
func (s *settlement) rollBack(ctx context.Context, files []worktree.File, save []int) error {
	saved, err := s.save(ctx, snapshot.KindRecover, files, save)
	if err != nil {
		return err
	}
	if err := s.back(ctx, files); err != nil {
		return err
	}
	if saved != nil {
		if err := s.store.Publish(saved); err != nil {
			return err
		}
	}
	return s.drop()
}

// save records what stands at some paths now and what recovery will put there. A recovery that
// nobody asked for is a KindRecover, which is never the newest operation to undo: undo would bring
// back torn files.
func (s *settlement) save(ctx context.Context, kind snapshot.Kind, files []worktree.File, paths []int) (*snapshot.Record, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var entries []snapshot.Entry
	for _, i := range paths {
		p := s.rec.Meta.Paths[i]
		entries = append(entries, snapshot.Entry{
			Change:  change.Change{Path: p.Path, Before: s.now[i], After: files[i].Before},
			InPlace: p.InPlace, Outside: p.Outside,
		})
	}
	return s.put(ctx, snapshot.Meta{Kind: kind}, entries)
}

// put writes a record of what became of the operation.
func (s *settlement) put(ctx context.Context, meta snapshot.Meta, entries []snapshot.Entry) (*snapshot.Record, error) {
	unlock, err := s.store.Lock(ctx, s.e.o.lockTimeout)
	if err != nil {
		return nil, err
	}
	s.unlock = unlock
	now := s.e.o.now()
	meta.ID, meta.Time, meta.Tool, meta.Head = s.store.NewID(now), now, s.e.o.tool, s.e.head()
	meta.Label, meta.Session, meta.Turn = "recovery of "+s.rec.Meta.ID, s.rec.Meta.Session, s.rec.Meta.Turn
	return s.store.Put(ctx, meta, entries, nil)
}
