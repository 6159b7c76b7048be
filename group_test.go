package oxpatch_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// group begins a group whose operations have to succeed.
func (g *ground) group(turn string) *oxpatch.Group {
	g.t.Helper()
	group, err := g.open().Begin(context.Background(), turn)
	require.NoError(g.t, err)
	return group
}

func (g *ground) applyIn(group *oxpatch.Group, patch string) *oxpatch.Result {
	g.t.Helper()
	res, err := group.Apply(context.Background(), request(patch))
	require.NoError(g.t, err)
	return res
}

func (g *ground) rollback(group *oxpatch.Group) *oxpatch.Result {
	g.t.Helper()
	res, err := group.Rollback(context.Background())
	require.NoError(g.t, err)
	require.True(g.t, res.OK && res.Exact)
	return res
}

func TestGroup(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	_, states := g.chain(2)
	group := g.group("turn 3")
	one := g.applyIn(group, replacement("a.txt", "2", "3"))
	g.apply(addition("beside.txt", "another's"))
	two := g.applyIn(group, envelope("*** Update File: a.txt", "@@", "-3", "+4", "*** Delete File: d0/new.txt"))
	assert.Equal(t, []string{one.ID, two.ID}, group.Operations())
	assert.Equal(t, "turn 3", g.operations()[0].Turn)
	_, err := group.Apply(context.Background(), request(replacement("a.txt", "nonsense", "x")))
	require.ErrorIs(t, err, oxpatch.ErrNoMatch)
	assert.Len(t, group.Operations(), 2, "what was refused is no part of it")

	g.write("a.txt", "mine\n")
	was := g.image()
	_, err = group.Rollback(context.Background())
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	assert.Equal(t, was, g.image())
	g.write("a.txt", "4\n")
	res := g.rollback(group)
	assert.Equal(t, []string{two.ID, one.ID}, res.Reverts)
	assert.Equal(t, states[2].with(image{"beside.txt": `-rw-r--r-- "another's\n"`}), g.image())

	for _, closed := range []func() error{
		group.Commit,
		func() error { _, err := group.Rollback(context.Background()); return err },
		func() error { _, err := group.Apply(context.Background(), request(addition("x", "x"))); return err },
		func() error {
			_, err := group.Checkpoint(context.Background(), oxpatch.CheckpointRequest{Paths: []string{"a.txt"}})
			return err
		},
	} {
		require.ErrorIs(t, closed(), oxpatch.ErrGroupClosed)
	}
	g.redoAs(oxpatch.RedoRequest{})
	assert.Equal(t, "4\n", g.read("a.txt"))
}

func TestGroupThatIsKept(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	group := g.group("t")
	g.applyIn(group, replacement("a.txt", "0", "1"))
	g.applyIn(group, replacement("a.txt", "1", "2"))
	require.NoError(t, group.Commit())
	assert.Equal(t, "2\n", g.read("a.txt"))
	g.undoAs(oxpatch.UndoRequest{Turn: "t"})
	assert.Equal(t, "0\n", g.read("a.txt"))
}

func TestGroupWithNothingLeft(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	res := g.rollback(g.group("t"))
	assert.Empty(t, res.ID)
	assert.False(t, res.Applied)

	g.write("a.txt", "0\n")
	group := g.group("t")
	g.applyIn(group, replacement("a.txt", "0", "1"))
	last := g.applyIn(group, replacement("a.txt", "1", "2"))
	g.undo() // by the user
	res = g.rollback(group)
	assert.NotContains(t, res.Reverts, last.ID)
	assert.Equal(t, "0\n", g.read("a.txt"))
}

// A checkpoint of the group brings back what a command did between the patches.
func TestGroupWithCheckpoints(t *testing.T) {
	t.Parallel()
	command := func(g *ground) {
		g.write("a.txt", "formatted\n")
		g.remove("b.txt")
		require.NoError(g.t, os.Chmod(g.path("run.sh"), 0o755))
		g.write("made/by/command.o", "o\n")
	}
	for name, c := range map[string]struct {
		request  oxpatch.CheckpointRequest
		newFiles image // that nobody recorded, and that stay
	}{
		"paths": {oxpatch.CheckpointRequest{Paths: []string{"a.txt", "b.txt", "run.sh", "made/by/command.o"}}, image{"made": "drwxr-xr-x", "made/by": "drwxr-xr-x"}},
		"tree": {oxpatch.CheckpointRequest{Tree: true}, image{"made": "drwxr-xr-x", "made/by": "drwxr-xr-x",
			"made/by/command.o": `-rw-r--r-- "o\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			g.write("a.txt", "0\n")
			g.write("b.txt", "b\n")
			g.write("c.txt", "c\n")
			g.write("run.sh", "run\n")
			start := g.image()
			group := g.group("t")
			g.applyIn(group, envelope("*** Update File: a.txt", "@@", "-0", "+1", "*** Add File: new/n.txt", "+n"))
			res, err := group.Checkpoint(context.Background(), c.request)
			require.NoError(t, err)
			checkpoint := res.ID
			g.applyIn(group, envelope("*** Update File: a.txt", "@@", "-1", "+2", "*** Update File: c.txt", "@@", "-c", "+C"))
			command(g)
			g.applyIn(group, replacement("a.txt", "formatted", "more"))
			after := g.image()
			res = g.rollback(group)
			assert.NotContains(t, res.Reverts, checkpoint)
			assert.Equal(t, start.with(c.newFiles), g.image())
			assert.Equal(t, "checkpoint done", g.log()[3])
			g.redoAs(oxpatch.RedoRequest{})
			assert.Equal(t, after, g.image())
			g.fsck()
		})
	}
}

func TestGroupOfManyHands(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	start := g.image()
	group := g.group("t")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := group.Apply(context.Background(), request(addition(string(rune('a'+i))+".txt", "x")))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Len(t, group.Operations(), 8)
	g.rollback(group)
	assert.Equal(t, start, g.image())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := g.open().Begin(ctx, "t")
	assert.True(t, errors.Is(err, context.Canceled))
}

// The way that the documentation names after a drift: the operations are taken back by their ids, and then
// there is nothing left to roll back.
func TestRollbackOfWhatIsUndoneAlready(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	group := g.group("")
	g.applyIn(group, replacement("a.txt", "one", "two"))
	g.write("a.txt", "mine\n")
	_, err := group.Rollback(context.Background())
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	g.undoAs(oxpatch.UndoRequest{IDs: group.Operations(), Force: true})
	was, log := g.image(), g.log()
	res := g.rollback(group)
	assert.False(t, res.Applied)
	assert.Empty(t, res.ID)
	assert.Equal(t, was, g.image())
	assert.Equal(t, log, g.log())
	require.ErrorIs(t, group.Commit(), oxpatch.ErrGroupClosed)
}
