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

// operation is the write-ahead protocol that apply, undo and recovery share: lock, settle what a
// killed process left, record, note as pending, write, publish.
type operation struct {
	e   *Engine
	ctx context.Context
	// release gives the root's lock back; nil while it is not held.
	release func()
	// unresolved maps the paths of operations that could not be settled to their ids.
	unresolved map[string]string
}

func (e *Engine) newOperation(ctx context.Context) *operation {
	return &operation{e: e, ctx: ctx}
}

// begin takes the root's lock and settles interrupted operations.
func (op *operation) begin() error {
	release, err := op.e.site.Lock(op.ctx, op.e.o.lockTimeout)
	if err != nil {
		return err
	}
	op.release = release
	settled, err := op.e.settlePending(op.ctx)
	if err != nil {
		op.end()
		return err
	}
	op.unresolved = settled.paths
	return nil
}

// held reports whether the lock is held.
func (op *operation) held() bool { return op.release != nil }

// end gives the lock back; it may be called again.
func (op *operation) end() {
	if op.release != nil {
		op.release()
		op.release = nil
	}
}

// job is what an operation does to the tree.
type job struct {
	kind          snapshot.Kind
	tree          *worktree.Tree
	files         []worktree.File
	made, removed []worktree.Dir
	meta          snapshot.Meta
	patches       [][]byte
	snapshot      snapshotRule
	index         *indexJob // nil where the index is left alone
	// still are files that are recorded and not written: they are already what they are to be.
	still []worktree.File
	// ahead may have begun with the contents.
	ahead *snapshot.Ahead
}

// perform records the job and writes its files, and the index with them, all or none. The lock is held. The result gets id,
// snapshot and Applied.
func (op *operation) perform(j *job, r *Result) error {
	rec, closeStore, err := op.record(j, r)
	if err != nil {
		return err
	}
	defer closeStore()
	if rec == nil {
		if err := j.carryOut(op, "x"+randomID()); err != nil {
			return err
		}
		r.Applied = true
		return nil
	}
	if err := rec.store.SetPending(rec.Record); err != nil {
		err = errors.Join(err, rec.store.ClearPending(rec.Record))
		closeStore()
		return errors.Join(err, op.discard(rec))
	}
	if err := j.carryOut(op, rec.Meta.ID); err != nil {
		if errors.Is(err, ErrRollback) || errors.Is(err, worktree.ErrKilled) {
			return err // still pending, for recovery
		}
		err = errors.Join(err, rec.store.ClearPending(rec.Record))
		closeStore()
		return errors.Join(err, op.discard(rec))
	}
	r.Applied, r.ID = len(j.files)+len(j.made)+len(j.removed) > 0 || j.index != nil, rec.Meta.ID
	r.Snapshot.Commit, r.Snapshot.Undoable = rec.Commit(), true
	err = rec.store.Publish(rec.Record)
	if err != nil {
		if errors.Is(err, snapshot.ErrKilled) {
			return err
		}
		r.warn(Problem{Kind: KindIO, Message: "the record could not be closed: " + err.Error(),
			Hint: "the next oxpatch command closes it"})
		return nil
	}
	closeStore() // pruning takes the store's lock alone
	return op.maintain(rec.store, rec.Meta.Session, r)
}

// discard frees what the record of an operation takes up that came to nothing, one that was interrupted
// too. Whatever comes of it, only a kill is an error: pruning sees to the rest.
func (op *operation) discard(rec *stored) error {
	err := rec.store.Discard(context.WithoutCancel(op.ctx), rec.Record, op.e.o.now())
	if errors.Is(err, snapshot.ErrKilled) {
		return err
	}
	return nil
}

// stored is a record with the store that it is in.
type stored struct {
	*snapshot.Record
	store *snapshot.Store
}

// record writes the job's record; nil where the rule says that none is needed or none can be had.
func (op *operation) record(j *job, r *Result) (*stored, func(), error) {
	if j.snapshot == snapshotNever {
		r.Snapshot.Reason = "snapshots are switched off for this operation"
		return nil, func() {}, nil
	}
	rec, done, err := op.put(j)
	if err != nil {
		done()
		if j.snapshot == snapshotInRepository && !errors.Is(err, snapshot.ErrKilled) {
			r.Snapshot.Reason = err.Error()
			return nil, func() {}, nil
		}
		return nil, func() {}, err
	}
	r.Snapshot.Store = rec.Place().Dir
	return rec, done, nil
}

func (op *operation) put(j *job) (*stored, func(), error) {
	none := func() {}
	store, err := op.e.openStore(j.recordLimit(op.e.o), j.ahead)
	if err != nil {
		return nil, none, err
	}
	unlock, err := store.Lock(op.ctx, op.e.o.lockTimeout)
	if err != nil {
		return nil, none, err
	}
	now := op.e.o.now()
	meta := j.meta
	meta.ID, meta.Kind, meta.Time, meta.Tool = store.NewID(now), j.kind, now, op.e.o.tool
	meta.DirsMade, meta.DirsRemoved = dirMetas(j.made), dirMetas(j.removed)
	meta.Head = op.e.head()
	rec, err := store.Put(op.ctx, meta, entriesOf(append(slices.Clone(j.files), j.still...)), j.patches)
	if err != nil {
		return nil, unlock, fmt.Errorf("the snapshot could not be written: %w", err)
	}
	return &stored{rec, store}, unlock, nil
}

// recordLimit is the most that the record of a job may take up; 0 for no limit. What takes an operation
// back is never refused for its size: both sides of it are in the store already.
func (j *job) recordLimit(o options) int64 {
	if j.kind == snapshot.KindApply || j.kind == snapshot.KindCheckpoint {
		return o.maxSnapshot
	}
	return 0
}

// openStore opens the store that new records, of at most so many bytes, go to. ahead may be nil.
func (e *Engine) openStore(maxRecord int64, ahead *snapshot.Ahead) (*snapshot.Store, error) {
	store, err := e.site.Open(snapshot.Options{Durability: e.o.durability, Effects: e.o.storeEffects, MaxRecord: maxRecord, Ahead: ahead})
	return store, noSnapshot(err)
}

// noSnapshot marks the error of a store that is not to be had.
func noSnapshot(err error) error {
	if errors.Is(err, snapshot.ErrNoStore) {
		return errors.Join(ErrNoSnapshot, err)
	}
	return err
}

func (e *Engine) head() *snapshot.Head {
	if e.site.Repo == nil {
		return nil
	}
	ref, oid := e.site.Repo.Head()
	return &snapshot.Head{Ref: ref, OID: oid}
}

// step names a part of carrying out an operation, in the order in which they follow.
type step string

const (
	stepLock  step = "lock the index"
	stepWrite step = "write the files"
	stepIndex step = "change the index"
	stepDone  step = "close the operation"
)

// before is called in front of each step. Tests let it fail.
func (op *operation) before(s step) error {
	if op.e.o.steps == nil {
		return nil
	}
	return op.e.o.steps(s)
}

// carryOut writes files and index. The index is locked before the first file changes, and changed
// after the last; if that fails the files go back.
func (j *job) carryOut(op *operation, id string) error {
	if err := op.before(stepLock); err != nil {
		return err
	}
	if err := j.index.begin(op.ctx); err != nil {
		return err
	}
	if err := j.write(op, id); err != nil {
		return j.giveUp(err)
	}
	err := op.before(stepIndex)
	if err == nil {
		err = j.index.finish(op.ctx)
	}
	switch {
	case err == nil:
		return op.before(stepDone)
	case errors.Is(err, worktree.ErrKilled):
		return err
	}
	err = j.giveUp(err)
	if back := j.tree.Restore(id, onDisk(j.files), j.made, j.removed, worktree.Before); back != nil {
		return errors.Join(ErrRollback, err, back)
	}
	return err
}

// giveUp ends the lock on the index, after err. Who is killed ends nothing.
func (j *job) giveUp(err error) error {
	if errors.Is(err, worktree.ErrKilled) {
		return err
	}
	return errors.Join(err, j.index.abort())
}

// write brings the files to their after.
func (j *job) write(op *operation, id string) error {
	if err := op.before(stepWrite); err != nil {
		return err
	}
	err := j.tree.NewWriter(id, onDisk(j.files), j.made, j.removed, treeDurability(op.e.o.durability)).Write(op.ctx)
	var back *worktree.RollbackError
	if errors.As(err, &back) {
		return errors.Join(ErrRollback, err)
	}
	return err
}

func treeDurability(d Durability) worktree.Durability {
	switch d {
	case DurabilityPower:
		return worktree.Power
	case DurabilityProcess:
		return worktree.Process
	}
	return worktree.Record
}

func entriesOf(files []worktree.File) []snapshot.Entry {
	out := make([]snapshot.Entry, len(files))
	for i, f := range files {
		out[i] = snapshot.Entry{Change: f.Change, InPlace: f.InPlace, Outside: isOutside(f.Path)}
	}
	return out
}

func dirMetas(dirs []worktree.Dir) []snapshot.DirMeta {
	var out []snapshot.DirMeta
	for _, d := range dirs {
		out = append(out, snapshot.DirMeta{Path: d.Path, Mode: d.Mode})
	}
	return out
}

func dirsOf(metas []snapshot.DirMeta) []worktree.Dir {
	var out []worktree.Dir
	for _, d := range metas {
		out = append(out, worktree.Dir{Path: d.Path, Mode: d.Mode})
	}
	return out
}

// filesOf returns the files of a record with their contents.
func filesOf(rec *snapshot.Record) ([]worktree.File, error) {
	files := make([]worktree.File, len(rec.Meta.Paths))
	for i, p := range rec.Meta.Paths {
		before, err := rec.Before(i)
		if err != nil {
			return nil, err
		}
		after, err := rec.After(i)
		if err != nil {
			return nil, err
		}
		files[i] = worktree.File{
			Change:  change.Change{Path: p.Path, OldPath: p.OldPath, Before: before, After: after, Index: p.Index},
			InPlace: p.InPlace,
		}
	}
	return files, nil
}
