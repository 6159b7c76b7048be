package appliertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

func (s suite) testGate(t *testing.T) {
	w := s.world(t, base())
	tree, index := w.tree(), w.index()
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "mine")
	asked := 0
	req := oxpatch.Request{
		Patch: []byte(goodSection + addition("new")),
		Gate: func(ctx context.Context, changes []oxpatch.Change) error {
			asked++
			assert.Equal(t, "mine", ctx.Value(key{}))
			assert.Equal(t, tree, w.tree(), "it is asked before the first effect")
			assert.Equal(t, index, w.index())
			after := map[string]string{}
			for _, c := range changes {
				after[c.Path] = string(c.After.Content)
			}
			assert.Equal(t, map[string]string{"a": "one\n2\nthree\n", "new": "evil\n"}, after)
			return nil
		},
	}
	res, err := w.applyIn(ctx, req)
	require.NoError(t, err)
	assert.True(t, res.Applied)
	assert.Equal(t, 1, asked)
	w.undone(tree, index)
}

func (s suite) testDecline(t *testing.T) {
	w := s.world(t, base())
	no := errors.New("the user said no")
	asked := 0
	req := oxpatch.Request{Patch: []byte(goodSection + addition("new")),
		Gate: func(context.Context, []oxpatch.Change) error { asked++; return no }}
	_, err := w.check(req)
	require.ErrorIs(t, err, no)
	res, err := w.refused(context.Background(), req)
	require.ErrorIs(t, err, oxpatch.ErrDeclined)
	require.ErrorIs(t, err, no)
	assert.Equal(t, 2, asked, "once by the check, once by the run")
	assert.Equal(t, []string{"a", "new"}, res.SkippedPaths)
}

func (s suite) testNoGate(t *testing.T) {
	w := s.world(t, base())
	gate := func(context.Context, []oxpatch.Change) error { t.Error("asked"); return nil }
	_, _ = w.refused(context.Background(), oxpatch.Request{Gate: gate,
		Patch: []byte("--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n alpha\n-gamma\n+delta\n")})
	there := files{"a": text("one\n2\nthree\n"), "b": text("alpha\nbeta\n")}
	again := s.world(t, base())
	again.commit(there)
	res, err := again.apply(oxpatch.Request{Gate: gate, Patch: diff(t, base(), there)})
	require.NoError(t, err)
	assert.False(t, res.Applied)
}

// A context that is cancelled before the first effect leaves everything as it was.
func (s suite) testCancelled(t *testing.T) {
	patch := []byte(goodSection + addition("new"))
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		w := s.world(t, base())
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := w.refused(ctx, oxpatch.Request{Patch: patch})
		assert.ErrorIs(t, err, context.Canceled)
	})
	t.Run("at the gate", func(t *testing.T) {
		t.Parallel()
		w := s.world(t, base())
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, err := w.refused(ctx, oxpatch.Request{Patch: patch,
			Gate: func(context.Context, []oxpatch.Change) error { cancel(); return nil }})
		assert.ErrorIs(t, err, context.Canceled)
	})
	t.Run("then again", func(t *testing.T) {
		t.Parallel()
		w := s.world(t, base())
		tree, index := w.tree(), w.index()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = w.refused(ctx, oxpatch.Request{Patch: patch})
		_, err := w.apply(oxpatch.Request{Patch: patch})
		require.NoError(t, err, "no lock is left behind")
		w.undone(tree, index)
	})
}

// Operations on one tree wait for each other.
func (s suite) testConcurrent(t *testing.T) {
	const n = 4
	before := files{}
	for i := range n {
		before[fmt.Sprint("f", i)] = text("one\ntwo\n")
	}
	w := s.world(t, before)
	tree, index := w.tree(), w.index()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			patch := fmt.Sprintf("diff --git a/f%[1]d b/f%[1]d\n--- a/f%[1]d\n+++ b/f%[1]d\n@@ -1,2 +1,2 @@\n-one\n+%[1]d\n two\n", i)
			res, err := w.applier.Apply(context.Background(), oxpatch.Request{Patch: []byte(patch)})
			assert.NoError(t, err)
			assert.True(t, res.OK && res.Applied)
			assert.Equal(t, []string{fmt.Sprint("f", i)}, res.AppliedPaths)
		})
	}
	wg.Wait()
	after := files{}
	for i := range n {
		after[fmt.Sprint("f", i)] = text(fmt.Sprintf("%d\ntwo\n", i))
	}
	assert.Equal(t, w.wanted(after), w.tree())
	for range n - 1 {
		require.NoError(t, w.undo(t, w.dir))
	}
	w.undone(tree, index)
}
