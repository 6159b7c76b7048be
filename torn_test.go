package oxpatch_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// What recovery saved of a torn file is no step on the way back to an earlier state.
func TestUndoToLeavesTornBytesAlone(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	ids, states := g.chain(2)
	g.undoAs(oxpatch.UndoRequest{Count: 2}) // takes back what is before and after the first
	dead := false
	_, err := g.open(oxpatch.WithInPlace(), oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
		if op == worktree.OpWrite && path == "a.txt" {
			require.NoError(t, os.WriteFile(g.path(path), []byte("to"), 0))
			dead = true
		}
		if dead {
			return worktree.ErrKilled
		}
		return nil
	})).Apply(context.Background(), request(replacement("a.txt", "0", "torn")))
	require.ErrorIs(t, err, worktree.ErrKilled)
	require.Equal(t, "to", g.read("a.txt"))

	g.undoAs(oxpatch.UndoRequest{To: ids[0]})
	assert.Equal(t, states[1], g.image())
	assert.Equal(t, []string{"undo done", "recover done", "undo undone", "apply undone", "apply done"}, g.log())
}
