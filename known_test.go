package oxpatch_test

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// However many files a patch deletes that are not there, each is judged alike, and git is not started
// for each.
func TestDeletingMuchThatIsNotThere(t *testing.T) {
	t.Parallel()
	const n = 2000
	g := newGitRepo(t, nil)
	var sections []string
	for i := range n {
		name := fmt.Sprintf("d/gone%d.txt", i)
		g.write(name, "x\n")
		sections = append(sections, "*** Delete File: "+name)
	}
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "x")
	g.remove("d")
	start := time.Now()
	res, err := g.open().Apply(context.Background(), request(envelope(sections...)))
	require.NoError(t, err)
	assert.Len(t, res.Files, n)
	for _, f := range res.Files {
		assert.True(t, f.Unchanged, f.Path)
	}
	sections = append(sections, "*** Delete File: d", "*** Delete File: d/never.txt")
	res, err = g.open().Apply(context.Background(), request(envelope(sections...)))
	require.ErrorIs(t, err, oxpatch.ErrMissing)
	assert.True(t, hasProblem(res, oxpatch.KindMissingFile, "d"), "a folder of HEAD is no file")
	assert.True(t, hasProblem(res, oxpatch.KindMissingFile, "d/never.txt"))
	assert.Less(t, time.Since(start), 3*time.Second, "a git process for each takes several times as long")
}
