package oxpatch_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// An Engine that is kept while the folder changes under it does what a new one would find again, or
// fails with nothing made.
func TestAnEngineThatIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between func(g *ground)
		gone    bool // the root
		undone  bool // the undo by the engine that was kept works
		git     bool // there is a repository afterwards
	}{
		"nothing":                 {between: func(*ground) {}, undone: true, git: true},
		"branch switched":         {between: commands("switch -q -c fresh"), undone: true, git: true},
		"git directory deleted":   {between: func(g *ground) { g.remove(".git") }},
		"git directory made anew": {between: func(g *ground) { g.remove(".git"); g.init() }, git: true},
		"folder renamed":          {between: func(g *ground) { require.NoError(g.t, os.Rename(g.dir, g.dir+" renamed")) }, gone: true},
		"another in its place": {between: func(g *ground) {
			require.NoError(g.t, os.Rename(g.dir, g.dir+" renamed"))
			g.write("a.txt", "1\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBareGround(t)
			g.write("a.txt", "one\n")
			g.commit()
			kept := g.open()
			_, err := kept.Apply(context.Background(), request(replacement("a.txt", "one", "1")))
			require.NoError(t, err)
			c.between(g)
			_, err = kept.Undo(context.Background(), oxpatch.UndoRequest{})
			if c.undone {
				require.NoError(t, err)
				assert.Equal(t, "one\n", g.read("a.txt"))
			} else {
				require.Error(t, err)
			}
			res, err := kept.Apply(context.Background(), request(addition("b.txt", "b")))
			if c.gone {
				require.Error(t, err)
				assert.False(t, res.Applied)
				_, err = os.Lstat(g.dir)
				require.ErrorIs(t, err, os.ErrNotExist, "nothing is made in its place")
				return
			}
			require.NoError(t, err)
			_, err = os.Lstat(g.path(".git"))
			assert.Equal(t, c.git, err == nil, "a git directory appeared or disappeared")
			g.undo() // by a new engine
			assert.NoFileExists(t, g.path("b.txt"))
			assert.Equal(t, res.Snapshot.Store, g.operations()[1].Store)
			g.fsck()
		})
	}
}
