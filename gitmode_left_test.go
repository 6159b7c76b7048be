package oxpatch_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// A line of the index that somebody changed since the apply is no part of the undo: neither a redo nor the
// settling of a killed undo changes it.
func TestAnIndexLineThatWasLeftStays(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(g *ground){
		"another line":  func(g *ground) { g.git("rm", "-q", "--cached", "a.txt") },
		"the old line":  func(g *ground) { g.git("reset", "-q", "a.txt") },
		"both are gone": func(g *ground) { g.git("rm", "-q", "--cached", "a.txt", "b.txt") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, patch := twoFiles(t)
			g.must(gitRequest(patch))
			between(g)
			was := g.twin()
			left := g.lineOf("a.txt")
			res := g.undo()
			assert.Equal(t, left, g.lineOf("a.txt"))
			assert.Equal(t, name != "the old line", warned(res, oxpatch.KindIndexMismatch), "%v", res.Problems)
			g.redoAs(oxpatch.RedoRequest{})
			requireTwin(t, was, g.twin(), "redo")

			for _, at := range []string{"write the files", "change the index"} {
				_, err := g.tryUndo(oxpatch.WithSteps(func(step string) error {
					if step == at {
						return worktree.ErrKilled
					}
					return nil
				}))
				require.ErrorIs(t, err, worktree.ErrKilled)
				_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
				require.NoError(t, err)
				if at == "write the files" {
					requireTwin(t, was, g.twin(), "settled")
				}
				assert.Equal(t, left, g.lineOf("a.txt"), at)
			}
		})
	}
}
