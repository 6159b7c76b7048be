package oxpatch_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

func TestDeletingWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(g *ground)
		known   bool
	}{
		"unknown": {prepare: func(*ground) {}},
		"in HEAD": {known: true, prepare: func(g *ground) {
			g.write("gone.txt", "x\n")
			g.git("add", "-A")
			g.git("commit", "-q", "-m", "x")
			g.remove("gone.txt")
		}},
		"deleted by an operation": {known: true, prepare: func(g *ground) {
			g.write("gone.txt", "x\n")
			g.apply(envelope("*** Delete File: gone.txt"))
		}},
		"added by an operation that was undone": {known: true, prepare: func(g *ground) {
			g.apply(addition("gone.txt", "x"))
			g.undo()
		}},
		"a folder of HEAD": {prepare: func(g *ground) {
			g.write("gone.txt/x", "x\n")
			g.git("add", "-A")
			g.git("commit", "-q", "-m", "x")
			g.remove("gone.txt")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitRepo(t, nil)
			c.prepare(g)
			before := g.image()
			res, err := g.open().Apply(context.Background(), request(envelope("*** Delete File: gone.txt")))
			assert.False(t, res.Applied)
			assert.Equal(t, before, g.image())
			if !c.known {
				require.ErrorIs(t, err, oxpatch.ErrMissing)
				assert.True(t, hasProblem(res, oxpatch.KindMissingFile, "gone.txt"))
				return
			}
			require.NoError(t, err)
			require.True(t, res.OK)
			require.Len(t, res.Files, 1)
			assert.True(t, res.Files[0].Unchanged)
			require.Len(t, res.Problems, 1)
			assert.Equal(t, oxpatch.KindAlreadyApplied, res.Problems[0].Kind)
			assert.Equal(t, oxpatch.SeverityWarning, res.Problems[0].Severity)
		})
	}
}
