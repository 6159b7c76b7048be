package oxpatch_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// Forget names every record that keeps the content of what was forgotten: a checkpoint of files or of the
// tree, an operation on another working tree, one that is not settled.
func TestForgetNamesWhereverTheContentStays(t *testing.T) {
	t.Parallel()
	const secret = "the word is xyzzy\n"
	reveal := func(g *ground) string {
		g.write("key", secret)
		return g.apply(replacement("key", "the word is xyzzy", "clean")).ID
	}
	for name, keep := range map[string]func(g *ground) (with, root string){
		"nobody": func(*ground) (string, string) { return "", "" },
		"checkpoint of a path": func(g *ground) (string, string) {
			g.write("copy", secret)
			return g.checkpoint("copy").ID, ""
		},
		"checkpoint of the tree": func(g *ground) (string, string) {
			g.write("deep/copy", secret)
			return g.checkpoint().ID, ""
		},
		"another working tree": func(g *ground) (string, string) {
			linked := g.beside("linked")
			g.git("worktree", "add", "-q", linked.dir)
			return reveal(linked), linked.dir
		},
		"not settled": func(g *ground) (string, string) {
			g.write("copy", secret)
			_, err := g.open(oxpatch.WithSteps(func(step string) error {
				if step == "close the operation" {
					return worktree.ErrKilled
				}
				return nil
			})).Apply(context.Background(), request(replacement("copy", "the word is xyzzy", "clean")))
			require.Error(g.t, err)
			return g.operations()[0].ID, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitRepo(t, map[string]string{"a.txt": "a\n"})
			with, root := keep(g)
			id := reveal(g)
			for _, check := range []bool{true, false} {
				res, err := g.open().Forget(context.Background(), oxpatch.ForgetRequest{IDs: []string{id}, Check: check})
				require.NoError(t, err)
				var want []oxpatch.SharedContent
				if with != "" {
					want = []oxpatch.SharedContent{{Operation: id, Path: "key", With: with, Root: root}}
				}
				assert.Equal(t, want, res.Shared)
			}
		})
	}
}
