package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

func TestTheGateIsAskedOnceBeforeTheFirstEffect(t *testing.T) {
	t.Parallel()
	for name, compat := range map[string]oxpatch.Compat{"default": oxpatch.CompatDefault, "codex": oxpatch.CompatCodex} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			g.write("a.txt", "one\n")
			asked, effects := 0, 0
			e := g.open(
				oxpatch.WithTreeEffects(func(worktree.Op, string) error { effects++; return nil }),
				oxpatch.WithStoreEffects(func(snapshot.Effect, string) error { effects++; return nil }))
			res, err := e.Apply(context.Background(), oxpatch.Request{
				Patch: []byte(replacement("a.txt", "one", "1")), Compat: compat,
				Gate: func(_ context.Context, changes []oxpatch.Change) error {
					asked++
					assert.Zero(t, effects)
					if assert.Len(t, changes, 1) {
						assert.Equal(t, "a.txt", changes[0].Path)
						assert.Equal(t, "one\n", string(changes[0].Before.Content))
						assert.Equal(t, "1\n", string(changes[0].After.Content))
					}
					return nil
				}})
			require.NoError(t, err)
			assert.True(t, res.Applied)
			assert.Equal(t, 1, asked)
			assert.Equal(t, "1\n", g.read("a.txt"))
			g.undo()
		})
	}
}

func TestTheGateDeclines(t *testing.T) {
	t.Parallel()
	no := errors.New("the user said no")
	gate := func(context.Context, []oxpatch.Change) error { return no }
	for name, req := range map[string]oxpatch.Request{
		"default": {}, "codex": {Compat: oxpatch.CompatCodex}, "check": {Check: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			g.write("a.txt", "one\n")
			before := g.image()
			req.Patch, req.Gate, req.Diff = []byte(replacement("a.txt", "one", "1")), gate, true
			res, err := g.open().Apply(context.Background(), req)
			require.ErrorIs(t, err, oxpatch.ErrDeclined)
			require.ErrorIs(t, err, no)
			assert.True(t, hasProblem(res, oxpatch.KindDeclined, ""))
			assert.False(t, res.OK || res.Applied)
			assert.True(t, res.Exact)
			assert.Empty(t, res.Changes)
			assert.Empty(t, res.Diff)
			assert.Equal(t, []string{"a.txt"}, res.SkippedPaths)
			assert.Equal(t, before, g.image())
			assert.NoDirExists(t, g.path(".git/oxpatch"), "no record, not even a store")
		})
	}
	t.Run("undo", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.apply(addition("a.txt", "a"))
		res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Gate: gate})
		require.ErrorIs(t, err, oxpatch.ErrDeclined)
		assert.False(t, res.Applied)
		assert.Equal(t, []string{"a.txt"}, res.SkippedPaths)
		assert.Equal(t, "a\n", g.read("a.txt"))
		assert.Equal(t, []string{"apply done"}, g.log())
	})
}

func TestTheGateIsNotAskedForNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	gate := func(context.Context, []oxpatch.Change) error { t.Error("asked"); return nil }
	res, err := g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("a.txt", "one")), Gate: gate})
	require.NoError(t, err)
	assert.False(t, res.Applied, "it was there already")
	_, err = g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(replacement("a.txt", "nowhere", "x")), Gate: gate})
	require.ErrorIs(t, err, oxpatch.ErrNoMatch)
	_, err = g.open().Undo(context.Background(), oxpatch.UndoRequest{Gate: gate})
	require.ErrorIs(t, err, oxpatch.ErrNothingToUndo)
}

// While somebody thinks at the gate, others go on; what they do to the same file counts.
func TestAnotherOperationAtTheGate(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\ntwo\n")
	g.write("b.txt", "one\n")
	inside := func(patch string) func(context.Context, []oxpatch.Change) error {
		return func(context.Context, []oxpatch.Change) error {
			_, err := g.open(oxpatch.WithLockTimeout(-1)).Apply(context.Background(), request(patch))
			return err
		}
	}
	_, err := g.open().Apply(context.Background(), oxpatch.Request{
		Patch: []byte(replacement("a.txt", "one", "1")), Gate: inside(replacement("b.txt", "one", "1"))})
	require.NoError(t, err)
	_, err = g.open().Apply(context.Background(), oxpatch.Request{
		Patch: []byte(replacement("a.txt", "two", "2")), Gate: inside(replacement("a.txt", "1", "first"))})
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	assert.Equal(t, "first\ntwo\n", g.read("a.txt"))
	assert.Equal(t, []string{"apply done", "apply done", "apply done"}, g.log())

	// An operation that comes in at the gate of undo makes another one the newest.
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Gate: inside(addition("c.txt", "c"))})
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	assert.False(t, res.Applied)
	assert.Equal(t, "first\ntwo\n", g.read("a.txt"))
	for range 4 {
		g.undo()
	}
	assert.Equal(t, image{"a.txt": `-rw-r--r-- "one\ntwo\n"`, "b.txt": `-rw-r--r-- "one\n"`}, g.image())
}

// Under Codex's rules outside a repository nothing is recorded and nothing is locked, before the
// gate and after it.
func TestTheGateLeavesNoLockBehind(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for i := range 3 {
		res, err := g.open(oxpatch.WithLockTimeout(-1)).Apply(context.Background(), oxpatch.Request{
			Patch: []byte(addition(fmt.Sprintf("%d.txt", i), "x")), Compat: oxpatch.CompatCodex,
			Gate: func(context.Context, []oxpatch.Change) error { return nil }})
		require.NoError(t, err)
		assert.True(t, res.Applied)
	}
	_, err := g.open(oxpatch.WithLockTimeout(-1)).Apply(context.Background(), request(addition("y.txt", "y")))
	require.NoError(t, err)
}

// Codex's rules know no drift, but an answer at the gate is for the files that were shown.
func TestAFileChangedAtTheGateUnderCodexRules(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(testing.TB) *ground{"in a repository": newRepo, "without one": newGround} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := make(t)
			g.write("a.txt", "one\n")
			res, err := g.open().Apply(context.Background(), oxpatch.Request{
				Patch: []byte(replacement("a.txt", "one", "1")), Compat: oxpatch.CompatCodex,
				Gate: func(context.Context, []oxpatch.Change) error { g.write("a.txt", "one\nmine\n"); return nil }})
			require.ErrorIs(t, err, oxpatch.ErrDrift)
			assert.True(t, hasProblem(res, oxpatch.KindDrift, "a.txt"))
			assert.False(t, res.Applied)
			assert.Equal(t, "one\nmine\n", g.read("a.txt"))
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	patch := envelope("*** Update File: a.txt", "@@", "-one", "+1", "*** Update File: b.txt", "@@", "-two", "+2")
	for name, compat := range map[string]oxpatch.Compat{"default": oxpatch.CompatDefault, "codex": oxpatch.CompatCodex} {
		t.Run("before/"+name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			g.write("a.txt", "one\n")
			g.write("b.txt", "two\n")
			before := g.image()
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			res, err := g.open().Apply(ctx, oxpatch.Request{Patch: []byte(patch), Compat: compat})
			require.ErrorIs(t, err, context.Canceled)
			assert.True(t, hasProblem(res, oxpatch.KindInterrupted, ""))
			assert.False(t, res.OK || res.Applied)
			assert.Equal(t, before, g.image())
			assert.Empty(t, g.log())
		})
	}
	t.Run("while writing", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("a.txt", "one\n")
		g.write("b.txt", "two\n")
		before := g.image()
		for _, at := range []worktree.Op{worktree.OpCreate, worktree.OpWrite, worktree.OpRename} {
			ctx, cancel := context.WithCancel(context.Background())
			e := g.open(oxpatch.WithTreeEffects(func(op worktree.Op, _ string) error {
				if op == at {
					cancel()
				}
				return nil
			}))
			res, err := e.Apply(ctx, request(patch))
			require.ErrorIs(t, err, context.Canceled, at)
			assert.True(t, hasProblem(res, oxpatch.KindInterrupted, ""))
			assert.False(t, res.Applied)
			assert.Equal(t, before, g.image(), at)
			assert.Empty(t, g.log())
		}
	})
	t.Run("undo", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.apply(addition("a.txt", "a"))
		ctx, cancel := context.WithCancel(context.Background())
		_, err := g.open().Undo(ctx, oxpatch.UndoRequest{Gate: func(context.Context, []oxpatch.Change) error { cancel(); return nil }})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, "a\n", g.read("a.txt"))
		g.undo()
	})
}

// Goroutines with one engine and with several work on one tree: everything is serialised.
func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	const workers, rounds = 8, 4
	g := newGround(t)
	g.write("shared.txt", "nobody\n")
	before := g.image()
	one := g.open()
	var mu sync.Mutex
	var wg sync.WaitGroup
	won := 0
	for i := range workers {
		e := one
		if i%2 == 1 {
			e = g.open()
		}
		wg.Go(func() {
			for n := range rounds {
				_, err := e.Apply(context.Background(), request(addition(fmt.Sprintf("own/%d-%d.txt", i, n), "x")))
				assert.NoError(t, err)
				_, err = e.Apply(context.Background(), request(replacement("shared.txt", "nobody", fmt.Sprintf("%d-%d", i, n))))
				if err == nil {
					mu.Lock()
					won++
					mu.Unlock()
				} else {
					assert.ErrorIs(t, err, oxpatch.ErrNoMatch)
				}
				_, errs := listed(e, oxpatch.LogRequest{Count: 5})
				assert.Empty(t, errs)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1, won)
	ops := g.operations()
	require.Len(t, ops, workers*rounds+1)
	ids := map[string]bool{}
	for _, op := range ops {
		ids[op.ID] = true
	}
	assert.Len(t, ids, len(ops))

	// All undo at once: each operation is taken back by one of them.
	undone := make([]string, len(ops))
	for i := range ops {
		wg.Go(func() {
			res, err := one.Undo(context.Background(), oxpatch.UndoRequest{})
			assert.NoError(t, err)
			undone[i] = res.Reverts[0]
		})
	}
	wg.Wait()
	for _, id := range undone {
		assert.True(t, ids[id], "%s undone twice or unknown", id)
		delete(ids, id)
	}
	assert.Equal(t, before, g.image())
	g.nothingToUndo()
}

func TestAGateThatPanicsLeavesNoLock(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	assert.Panics(t, func() {
		_, _ = g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("a.txt", "a")),
			Gate: func(context.Context, []oxpatch.Change) error { panic("at the gate") }})
	})
	_, err := os.Stat(g.path("a.txt"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	g.apply(addition("a.txt", "a"), oxpatch.WithLockTimeout(-1))
}
