package oxpatch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// A large operation that comes to nothing again and again leaves nothing behind, and takes nothing with it.
func TestWhatCameToNothingTakesUpNoSpace(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]error{
		"failed": errors.New("no space left on device"), "interrupted": context.Canceled, "killed": worktree.ErrKilled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			lines := randomLines(rand.New(rand.NewPCG(1, 2)), 1<<20)
			g.write("large.txt", "first\n"+strings.Join(lines, "\n")+"\n")
			g.write("small.txt", "one\n")
			small := g.apply(replacement("small.txt", "one", "two"))
			size := storeSize(t, small.Snapshot.Store)
			before := g.image()
			steps := []string{"write the files", "change the index"}
			if errors.Is(fail, worktree.ErrKilled) {
				steps = steps[:1] // once all files are written it is finished, not dropped
			}
			for _, step := range steps {
				for range 3 {
					ctx, cancel := context.WithCancel(context.Background())
					_, err := g.open(oxpatch.WithSteps(func(s string) error {
						if s != step {
							return nil
						}
						if errors.Is(fail, context.Canceled) {
							cancel()
						}
						return fail
					})).Apply(ctx, request(replacement("large.txt", "first", "FIRST")))
					cancel()
					require.ErrorIs(t, err, fail)
					_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{Rollback: true}) // there is something only after a kill
					require.NoError(t, err)
				}
			}
			require.Equal(t, before, g.image())
			assert.Less(t, storeSize(t, small.Snapshot.Store), size+20_000)
			g.undo()
			assert.Equal(t, "one\n", g.read("small.txt"))
			g.fsck()
		})
	}
}
