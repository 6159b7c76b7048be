package oxpatch

import (
	"context"
	"errors"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// settlePending finishes or takes back every operation that was begun and not closed, because its
// process was killed. The root's lock is held. It returns the paths of operations that it had to
// leave, with their ids, and the ids that it settled.
func (e *Engine) settlePending(ctx context.Context) (unresolved map[string]string, settled []string, err error) {
	records, err := e.site.History().Pending()
	if errors.Is(err, snapshot.ErrNewerFormat) {
		return nil, nil, err
	}
	unresolved = map[string]string{}
	for _, rec := range records {
		s, err := e.openSettlement(rec)
		if err != nil {
			return nil, nil, err
		}
		done, err := s.settle(ctx)
		s.tree.Close()
		if err != nil {
			return nil, nil, err
		}
		if done {
			settled = append(settled, rec.Meta.ID)
			continue
		}
		for _, p := range rec.Meta.Paths {
			unresolved[p.Path] = rec.Meta.ID
		}
	}
	return unresolved, settled, nil
}

// settlement is the recovery of one operation.
type settlement struct {
	e     *Engine
	rec   *snapshot.Record
	tree  *worktree.Tree
	store *snapshot.Store
	now   []change.State // what stands at each path of the record
}

func (e *Engine) openSettlement(rec *snapshot.Record) (*settlement, error) {
	tree, err := e.recordTree(rec)
	if err != nil {
		return nil, err
	}
	s := &settlement{e: e, rec: rec, tree: tree}
	for _, p := range rec.Meta.Paths {
		st, _, err := tree.Read(p.Path)
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
		return false, nil //nolint:nilerr // what cannot be read cannot be restored; the operation stays unsettled
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
	return s.tree.Restore(m.ID, files, dirsOf(m.DirsMade), dirsOf(m.DirsRemoved), to)
}

// rollBack brings every path to its before. The bytes of the paths listed in save are in neither
// state; they are recorded first, as an operation of its own.
func (s *settlement) rollBack(ctx context.Context, files []worktree.File, save []int) error {
	saved, err := s.save(ctx, files, save)
	if err != nil {
		return err
	}
	if err := s.restore(files, worktree.Before); err != nil {
		return err
	}
	if saved != nil {
		if err := s.store.Publish(saved); err != nil {
			return err
		}
	}
	return s.store.ClearPending(s.rec)
}

// save records what stands at some paths now and what recovery will put there.
func (s *settlement) save(ctx context.Context, files []worktree.File, paths []int) (*snapshot.Record, error) {
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
	return s.put(ctx, entries)
}

func (s *settlement) put(ctx context.Context, entries []snapshot.Entry) (*snapshot.Record, error) {
	unlock, err := s.store.Lock(ctx, s.e.o.lockTimeout)
	if err != nil {
		return nil, err
	}
	defer unlock()
	now := s.e.o.now()
	meta := snapshot.Meta{
		ID: s.store.NewID(now), Kind: snapshot.KindRecover, Time: now, Tool: s.e.o.tool,
		Label: "recovery of " + s.rec.Meta.ID, Session: s.rec.Meta.Session, Turn: s.rec.Meta.Turn, Head: s.e.head(),
	}
	return s.store.Put(ctx, meta, entries, nil)
}
