package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// folderBytes is the size of the files in a folder that may change meanwhile.
func folderBytes(dir string) (sum int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// randomLines is text of about n bytes that does not compress well.
func randomLines(r *rand.Rand, n int) []string {
	var lines []string
	for size := 0; size < n; size += 33 {
		lines = append(lines, fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()))
	}
	return lines
}

// Operations without end never fill a disk: after each of them the store is within its limit and a
// little, and at any time there is no more than what a fold writes. What is kept can be undone. (The
// package snapshot has the same test with thousands of operations.)
func TestTheStoreStaysBounded(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	operations, size := 1200, 32<<10
	if testing.Short() {
		operations = 400
	}
	g := newRepo(t)
	dir := g.path(".git/oxpatch/store")
	packs := filepath.Join(dir, "objects", "pack") // the rest is a few hundred bytes an operation
	most := int64(0)
	look := func(e snapshot.Effect, path string) error {
		if e == snapshot.EffectRename && strings.HasSuffix(path, ".idx") {
			most = max(most, folderBytes(packs)) // a pack is whole, and those that it replaces are there
		}
		return nil
	}
	engine := g.open(oxpatch.WithKeepBytes(limit), oxpatch.WithKeepOperations(-1), oxpatch.WithDurability(oxpatch.DurabilityProcess), oxpatch.WithStoreEffects(look))
	r := rand.New(rand.NewPCG(1, 2))
	old := randomLines(r, size)
	g.write("large.txt", strings.Join(old, "\n")+"\n")
	least := 1 << 30
	var before string
	for i := range operations {
		next := randomLines(r, size/4)
		patch := []string{"*** Update File: large.txt", "@@"}
		for _, l := range old[:len(next)] {
			patch = append(patch, "-"+l)
		}
		for _, l := range next {
			patch = append(patch, "+"+l)
		}
		before = strings.Join(old, "\n") + "\n"
		old = append(old[len(next):len(old):len(old)], next...)
		// The new lines stand where the old ones stood.
		old = append(next[:len(next):len(next)], old[:len(old)-len(next)]...)
		res, err := engine.Apply(context.Background(), request(envelope(patch...)))
		require.NoError(t, err)
		require.Empty(t, res.Problems)
		assert.LessOrEqual(t, folderBytes(packs), int64(limit+limit/8))
		if i > 300 && i%50 == 0 {
			refs, err := os.ReadDir(filepath.Join(dir, "refs", "oxpatch", "main", "ops"))
			require.NoError(t, err)
			least = min(least, len(refs))
		}
	}
	t.Logf("at most %d bytes, at least %d operations", most, least)
	assert.LessOrEqual(t, most, int64(limit+limit/8+limit), "limit, a little, and the pack that a fold writes, which is no larger than the store")
	assert.Greater(t, least, 10)
	g.fsck()
	_, err := engine.Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(t, err)
	assert.Equal(t, before, g.read("large.txt"))
}

// What an edit adds to a large file is small, so the file before is what counts. Taking an operation
// back is never refused for its size.
func TestMaxSnapshot(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	lines := randomLines(rand.New(rand.NewPCG(1, 1)), 100_000)
	g.write("large.txt", "first\n"+strings.Join(lines, "\n")+"\n")
	g.write("small.txt", "one\n")
	before := g.image()
	patch := envelope("*** Update File: small.txt", "@@", "-one", "+two", "*** Update File: large.txt", "@@", "-first", "+FIRST")
	for _, check := range []bool{true, false} {
		req := request(patch)
		req.Check = check
		res, err := g.open(oxpatch.WithMaxSnapshot(90_000)).Apply(context.Background(), req)
		require.ErrorIs(t, err, oxpatch.ErrTooLarge)
		require.True(t, hasProblem(res, oxpatch.KindTooLarge, "large.txt"))
		assert.Contains(t, res.Problems[0].Message, "over the limit of 87.9 KiB")
		assert.Contains(t, res.Problems[0].Hint, "--max-snapshot")
		assert.Equal(t, before, g.image())
		assert.Zero(t, folderBytes(g.path(".git/oxpatch/store/objects/pack")))
	}
	g.apply(patch, oxpatch.WithMaxSnapshot(110_000))
	engine := g.open(oxpatch.WithMaxSnapshot(110_000))
	_, err := engine.Undo(context.Background(), oxpatch.UndoRequest{Check: true})
	require.NoError(t, err)
	_, err = engine.Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(t, err)
	assert.Equal(t, before, g.image())
	res := g.apply(patch, oxpatch.WithMaxSnapshot(10), oxpatch.WithoutSnapshot())
	assert.False(t, res.Snapshot.Undoable)
	g.apply(envelope("*** Update File: small.txt", "@@", "-two", "+one"), oxpatch.WithMaxSnapshot(0))
	// Under Codex's rules it is applied all the same, and the result says that it cannot be undone.
	res, err = g.open(oxpatch.WithMaxSnapshot(10)).Apply(context.Background(), codexRequest(envelope("*** Update File: large.txt", "@@", "-FIRST", "+first")))
	require.NoError(t, err)
	assert.False(t, res.Snapshot.Undoable)
	assert.Contains(t, res.Snapshot.Reason, "over the limit")
}

// Old operations go by themselves; the result of the one that pays for it says nothing of it.
func TestOperationsPruneByThemselves(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := oxpatch.WithClock(func() time.Time { now = now.Add(time.Minute); return now })
	g.write("a.txt", "one\n")
	for range 20 {
		for _, p := range []string{replacement("a.txt", "one", "two"), replacement("a.txt", "two", "one")} {
			res := g.apply(p, clock, oxpatch.WithKeepOperations(16), oxpatch.WithDurability(oxpatch.DurabilityProcess))
			assert.Empty(t, res.Problems)
		}
		assert.LessOrEqual(t, len(g.operations()), 18)
	}
	assert.GreaterOrEqual(t, len(g.operations()), 16)
	now = now.Add(40 * 24 * time.Hour)
	g.apply(replacement("a.txt", "one", "two"), clock)
	assert.Len(t, g.operations(), 10)
	g.fsck()
}

// A store that another process uses is not pruned, and a damaged one is told of.
func TestPruneProblems(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "one\n")
	first := g.apply(replacement("a.txt", "one", "two"))
	g.apply(replacement("a.txt", "two", "three"))
	engine := g.open(oxpatch.WithLockTimeout(-1))
	site, err := snapshot.Locate(g.dir, func(string) string { return "" })
	require.NoError(t, err)
	store, err := site.Open(snapshot.Options{})
	require.NoError(t, err)
	release, err := store.Lock(context.Background(), 0)
	require.NoError(t, err)
	for _, do := range []func() (*oxpatch.PruneResult, error){
		func() (*oxpatch.PruneResult, error) {
			return engine.Prune(context.Background(), oxpatch.PruneRequest{})
		},
		func() (*oxpatch.PruneResult, error) {
			return engine.Forget(context.Background(), oxpatch.ForgetRequest{All: true})
		},
	} {
		res, err := do()
		require.ErrorIs(t, err, oxpatch.ErrBusy)
		require.Len(t, res.Problems, 1)
		assert.Equal(t, oxpatch.KindBusy, res.Problems[0].Kind)
		assert.False(t, res.OK)
	}
	release()
	packs, err := filepath.Glob(g.path(".git/oxpatch/store/objects/pack/*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 2)
	ops, err := site.History().Ops()
	require.NoError(t, err)
	rec, err := ops[1].Read()
	require.NoError(t, err)
	require.NotNil(t, rec)
	for _, p := range packs {
		require.NoError(t, os.Remove(p))
	}
	res, err := engine.Prune(context.Background(), oxpatch.PruneRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, res.Problems)
	assert.Contains(t, res.Problems[0].Message, "operation "+first.ID+" cannot be read")
	assert.Contains(t, res.Problems[0].Hint, "oxpatch forget "+first.ID)
	res, err = engine.Forget(context.Background(), oxpatch.ForgetRequest{All: true})
	require.NoError(t, err)
	assert.Len(t, res.Stores[0].Operations, 2)
	assert.Empty(t, g.operations())
	g.fsck()
}

// An operation that waits to be settled cannot be forgotten.
func TestForgetRefusesWhatIsPending(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "one\n")
	_, err := g.open(oxpatch.WithSteps(func(step string) error {
		if step == "close the operation" {
			return worktree.ErrKilled
		}
		return nil
	})).Apply(context.Background(), request(replacement("a.txt", "one", "two")))
	require.Error(t, err)
	pending := g.operations()
	require.Len(t, pending, 1)
	require.Equal(t, "unresolved", pending[0].State)
	res, err := g.open().Forget(context.Background(), oxpatch.ForgetRequest{IDs: []string{pending[0].ID}})
	require.ErrorIs(t, err, oxpatch.ErrPending)
	assert.Equal(t, oxpatch.KindPending, res.Problems[0].Kind)
}

// What could not be dropped is not among what was: the result is true when there is an error, too.
func TestForgetThatFailsNamesWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		effects int // that are let through
		gone    int
	}{"nothing": {0, 0}, "a part": {1, 1}, "all": {2, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			ids, _ := g.chain(3)
			removed := 0
			broken := errors.New("read-only file system")
			res, err := g.open(oxpatch.WithStoreEffects(func(e snapshot.Effect, path string) error {
				if e != snapshot.EffectRemove {
					return nil
				}
				if removed++; removed > c.effects {
					return broken
				}
				return nil
			})).Forget(context.Background(), oxpatch.ForgetRequest{IDs: ids[:2]})
			require.ErrorIs(t, err, broken)
			assert.False(t, res.OK)
			left := []string{}
			for _, op := range g.operations() {
				left = append(left, op.ID)
			}
			assert.Len(t, left, 3-c.gone)
			require.Len(t, res.Stores, 1)
			assert.ElementsMatch(t, ids, append(left, res.Stores[0].Operations...))
		})
	}
}
