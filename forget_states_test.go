package oxpatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
)

// states maps the operations of the log to how they stand.
func (g *ground) states() map[string]string {
	all := map[string]string{}
	for _, op := range g.operations() {
		all[op.ID] = op.State
	}
	return all
}

func (g *ground) forget(ids ...string) {
	g.t.Helper()
	res, err := g.open().Forget(context.Background(), oxpatch.ForgetRequest{IDs: ids})
	require.NoError(g.t, err)
	require.True(g.t, res.OK)
}

// What is forgotten changes nothing of how the others stand: not what an undo took back whose record is
// gone, nor what a redo brought back.
func TestForgetLeavesTheOthersAsTheyStand(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			g := newRepo(t)
			for _, name := range []string{"a.txt", "b.txt"} {
				g.write(name, "0\n")
			}
			for i := range 14 {
				var err error
				switch r.IntN(5) {
				case 0, 1:
					patch := []string{}
					for _, name := range []string{"a.txt", "b.txt"} {
						patch = append(patch, "*** Update File: "+name, "@@", "-"+g.read(name)[:len(g.read(name))-1], fmt.Sprintf("+%d", i+1))
					}
					g.apply(envelope(patch...))
				case 2:
					_, err = g.open().Undo(context.Background(), oxpatch.UndoRequest{Count: 1 + r.IntN(2)})
				case 3:
					_, err = g.open().Redo(context.Background(), oxpatch.RedoRequest{})
				case 4: // a part
					_, err = g.open().Undo(context.Background(), oxpatch.UndoRequest{Paths: []string{"a.txt"}})
				}
				_ = err // nothing to undo, or a file that is not as it was left: both are well
			}
			for want := g.states(); len(want) > 0; {
				ids := make([]string, 0, len(want))
				for _, op := range g.operations() {
					ids = append(ids, op.ID)
				}
				r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
				ids = ids[:1+r.IntN(min(2, len(ids)))]
				g.forget(ids...)
				for _, id := range ids {
					delete(want, id)
				}
				require.Equal(t, want, g.states(), "without %v", ids)
			}
			assert.NoFileExists(t, g.path(".git/oxpatch/store/worktrees/main/gone"), "with nothing left there is nothing to remember")
			g.fsck()
		})
	}
}

// An undo whose record is gone is still done: the next one takes back what stands below it.
func TestUndoBelowAForgottenUndo(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	ids, _ := g.chain(2)
	undo := g.undo()
	g.forget(undo.ID)
	status := g.status()
	require.NotNil(t, status.Undo)
	assert.Equal(t, ids[0], status.Undo.ID)
	assert.Equal(t, []string{ids[0]}, g.undo().Reverts)

	// A list that cannot be read is named, and made anew by what drops operations next.
	require.FileExists(t, g.path(".git/oxpatch/store/worktrees/main/gone"))
	g.write(".git/oxpatch/store/worktrees/main/gone", "torn")
	failed := 0
	for _, err := range g.open().Log(context.Background(), oxpatch.LogRequest{}) {
		if err != nil {
			failed++
			require.ErrorContains(t, err, "worktrees/main/gone")
		}
	}
	assert.Equal(t, 1, failed)
	_, err := g.open().Prune(context.Background(), oxpatch.PruneRequest{})
	require.NoError(t, err)
	_, err = os.Stat(g.path(".git/oxpatch/store/worktrees/main/gone"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A redo needs the record of the undo.
func TestRedoOfWhatAForgottenUndoTookBack(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	id := g.apply(replacement("a.txt", "0", "1")).ID
	g.forget(g.undo().ID)
	res, err := g.open().Redo(context.Background(), oxpatch.RedoRequest{IDs: []string{id}})
	require.ErrorIs(t, err, oxpatch.ErrNothingToRedo)
	assert.Contains(t, res.Problems[0].Message, "the record of that is gone")
	assert.Contains(t, res.Problems[0].Hint, "oxpatch apply --from "+id)
	assert.Equal(t, "undone", g.operations()[0].State)
}

// Wherever forgetting is killed, how the others stand is the same before and after, and it can be done again.
func TestForgetKilledAnywhere(t *testing.T) {
	t.Parallel()
	for n, done := 0, false; !done; n++ {
		require.Less(t, n, 100)
		g := newRepo(t)
		g.chain(2)
		undo := g.undo()
		want := g.states()
		delete(want, undo.ID)
		left := n
		_, err := g.open(oxpatch.WithStoreEffects(func(snapshot.Effect, string) error {
			if left--; left < 0 {
				return snapshot.ErrKilled
			}
			return nil
		})).Forget(context.Background(), oxpatch.ForgetRequest{IDs: []string{undo.ID}})
		done = err == nil
		now := g.states()
		delete(now, undo.ID)
		require.Equal(t, want, now, "killed at effect %d", n)
		if _, there := g.states()[undo.ID]; there {
			g.forget(undo.ID)
		}
		require.Equal(t, want, g.states())
		g.fsck()
	}
}
