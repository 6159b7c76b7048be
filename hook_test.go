package oxpatch_test

import (
	"errors"
	"sync"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// fault makes one effect fail: the nth of tree and store together, counted from 1.
type fault struct {
	at int
	// synced makes everything sync.
	synced bool
	kill   bool // nothing happens from there on, as after a kill
	// torn, if set, is called with the path that the tree was about to be written at.
	torn func(op worktree.Op, path string)

	mu    sync.Mutex
	count int
	what  string // the effect that failed
	syncs []bool // of every effect so far: whether it was a sync
	dead  bool
}

var errInjected = errors.New("no space left on device")

// points returns the places where a run that was only counted can fail; see point.
func (f *fault) points() []point {
	var list []point
	for i, sync := range f.syncs {
		if sync == f.synced {
			list = append(list, point{at: i + 1, synced: f.synced})
		}
	}
	return list
}

// hit counts an effect. failed says that it fails, first that it is the one which fails by itself.
func (f *fault) hit(what string, sync bool) (failed, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.syncs = append(f.syncs, sync)
	if f.count == f.at {
		f.what, f.dead = what, f.kill
		return true, true
	}
	return f.dead, false
}

// options lets an engine fail so.
func (f *fault) options() []oxpatch.Option {
	durability := oxpatch.DurabilityProcess
	if f.synced {
		durability = oxpatch.DurabilityPower
	}
	return []oxpatch.Option{
		oxpatch.WithDurability(durability),
		oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
			failed, first := f.hit("tree "+string(op)+" "+path, op == worktree.OpSync)
			switch {
			case !failed:
				return nil
			case !f.kill:
				return errInjected
			case first && f.torn != nil:
				f.torn(op, path)
			}
			return worktree.ErrKilled
		}),
		oxpatch.WithStoreEffects(func(e snapshot.Effect, path string) error {
			failed, _ := f.hit("store "+string(e)+" "+path, e == snapshot.EffectSync)
			switch {
			case !failed:
				return nil
			case !f.kill:
				return errInjected
			}
			return snapshot.ErrKilled
		}),
	}
}
