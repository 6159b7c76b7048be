package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// crowd is a repository with linked working trees in which many work at once: each adds files of its
// own in both modes, wants a line that only one can have, and takes back what is newest, whoever did it.
type crowd struct {
	t      *testing.T
	trees  []*ground
	before []twin

	mu       sync.Mutex
	applied  []map[string]bool // for each tree the ids of the applies that came back as done
	undone   []map[string]bool // and of the undos
	reverted []map[string]bool // and of what those took back
}

func newCrowd(t *testing.T, linked int) *crowd {
	t.Helper()
	c := &crowd{t: t}
	g := groundIn(t, quick(t))
	g.init()
	g.write("shared.txt", "nobody\n")
	g.commit()
	c.trees = []*ground{g}
	for i := range linked {
		name := fmt.Sprintf("linked%d", i)
		g.git("worktree", "add", "-q", "--detach", "../"+name)
		c.trees = append(c.trees, g.beside(name))
	}
	for _, tree := range c.trees {
		c.before = append(c.before, tree.twin())
		c.applied = append(c.applied, map[string]bool{})
		c.undone = append(c.undone, map[string]bool{})
		c.reverted = append(c.reverted, map[string]bool{})
	}
	return c
}

// distinct makes sure that every id is another, and that ids rise with time. The operations are sorted
// by id, newest first.
func distinct(t *testing.T, ops []oxpatch.Operation) {
	t.Helper()
	ids := map[string]bool{}
	for i, op := range ops {
		assert.False(t, ids[op.ID], "%s twice", op.ID)
		ids[op.ID] = true
		if i > 0 {
			assert.False(t, op.Time.After(ops[i-1].Time), "%s is older than %s by its id", op.ID, ops[i-1].ID)
		}
	}
}

// addedByGit is a diff that adds one file.
func addedByGit(name string) string {
	return fmt.Sprintf("diff --git a/%s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+x\n", name)
}

// work has one worker go through its rounds in one tree.
func (c *crowd) work(tree int, e *oxpatch.Engine, worker string, rounds int) {
	ctx := context.Background()
	for n := range rounds {
		own := fmt.Sprintf("%s/%d", worker, n)
		c.apply(tree, e, request(addition("text/"+own, "x")), true)
		c.apply(tree, e, gitRequest(addedByGit("git/"+own)), true)
		c.apply(tree, e, request(replacement("shared.txt", "nobody", own)), false)
		if n%2 == 1 {
			res, err := e.Undo(ctx, oxpatch.UndoRequest{})
			if assert.NoError(c.t, err) {
				c.note(c.undone[tree], res.ID)
				c.note(c.reverted[tree], res.Reverts...)
			}
		}
	}
}

// apply applies a patch, which must work unless somebody else may have come first.
func (c *crowd) apply(tree int, e *oxpatch.Engine, req oxpatch.Request, must bool) {
	res, err := e.Apply(context.Background(), req)
	switch {
	case err == nil:
		c.note(c.applied[tree], res.ID)
	case must || !errors.Is(err, oxpatch.ErrNoMatch):
		assert.NoError(c.t, err)
	}
}

func (c *crowd) note(known map[string]bool, ids ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	assert.Len(c.t, ids, 1)
	for _, id := range ids {
		assert.NotEmpty(c.t, id)
		assert.False(c.t, known[id], "%s twice", id)
		known[id] = true
	}
}

// check compares each tree with what its log says, and then takes everything back.
func (c *crowd) check() {
	for i, g := range c.trees {
		ops := g.operations()
		assert.Len(c.t, ops, len(c.applied[i])+len(c.undone[i]), "an operation was lost, or is there twice")
		for _, op := range ops {
			switch op.Kind {
			case "apply":
				assert.True(c.t, c.applied[i][op.ID], "nobody did %s", op.ID)
				assert.Equal(c.t, c.reverted[i][op.ID], op.State == "undone", op.ID)
			case "undo":
				assert.True(c.t, c.undone[i][op.ID], "nobody did %s", op.ID)
			default:
				assert.Fail(c.t, "something was killed", "%+v", op)
			}
		}
	}
	c.agrees()
	for i := range c.trees {
		c.allBack(i, len(c.applied[i])-len(c.reverted[i]))
	}
}

// agrees compares the files and the index of each tree with what its log says.
func (c *crowd) agrees() {
	c.t.Helper()
	for _, g := range c.trees {
		ops := g.operations()
		distinct(c.t, ops)
		files, staged, shared := image{}, []string{}, "nobody\n"
		for _, op := range ops {
			if op.Kind != "apply" || op.State != "done" {
				continue
			}
			require.Len(c.t, op.Paths, 1)
			name := op.Paths[0].Path
			if name == "shared.txt" {
				require.Equal(c.t, "nobody\n", shared, "two had the line at once")
				shared = g.read(name)
				require.NotEqual(c.t, "nobody\n", shared)
				continue
			}
			files[name] = `-rw-r--r-- "x\n"`
			if strings.HasPrefix(name, "git/") {
				staged = append(staged, name)
			}
		}
		assert.Equal(c.t, shared, g.read("shared.txt"))
		now := g.image()
		for name, what := range now {
			if strings.HasPrefix(what, "d") || name == "shared.txt" {
				delete(now, name)
			}
		}
		requireImage(c.t, files, now, "files")
		slices.Sort(staged)
		assert.Equal(c.t, strings.Join(staged, "\n"), strings.TrimSpace(g.git("diff", "--cached", "--name-only")))
		g.fsck()
	}
	c.trees[0].git("fsck", "--strict")
	assert.Equal(c.t, "1\n", c.trees[0].git("rev-list", "--all", "--count"))
}

// allBack takes back the operations that are left in a tree.
func (c *crowd) allBack(tree, left int) {
	c.t.Helper()
	g := c.trees[tree]
	for range left {
		g.undo()
	}
	g.nothingToUndo()
	requireTwin(c.t, c.before[tree], g.twin(), "all undone")
	g.fsck()
}

// Threads on one engine, threads on engines of their own, and all working trees of a repository at once.
func TestThreadsAndWorktreesAtOnce(t *testing.T) {
	t.Parallel()
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	c := newCrowd(t, 2)
	var wg sync.WaitGroup
	for i, g := range c.trees {
		one := g.open(oxpatch.WithLockTimeout(5 * time.Minute))
		for n := range 3 {
			wg.Go(func() { c.work(i, one, fmt.Sprintf("same%d", n), rounds) })
			own := g.open(oxpatch.WithLockTimeout(5 * time.Minute))
			wg.Go(func() { c.work(i, own, fmt.Sprintf("own%d", n), rounds) })
		}
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(4 * time.Minute):
		require.Fail(t, "they wait for each other")
	}
	c.check()
}

// Who only looks never waits, and never sees an operation half done as a failure.
func TestLookingWhileOthersWrite(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0)
	g := c.trees[0]
	ctx, stop := context.WithCancel(context.Background())
	var looking, writing sync.WaitGroup
	for range 2 {
		e := g.open(oxpatch.WithLockTimeout(-1))
		looking.Go(func() {
			for ctx.Err() == nil {
				_, errs := listed(e, oxpatch.LogRequest{})
				assert.Empty(t, errs)
				_, err := e.Status(context.Background())
				assert.NoError(t, err)
				_, err = e.Undo(context.Background(), oxpatch.UndoRequest{Check: true})
				assert.NotErrorIs(t, err, oxpatch.ErrBusy)
				_, err = e.Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("looked", "x")), Check: true})
				assert.NoError(t, err)
			}
		})
	}
	for n := range 3 {
		e := g.open(oxpatch.WithLockTimeout(5 * time.Minute))
		writing.Go(func() { c.work(0, e, fmt.Sprintf("w%d", n), 4) })
	}
	writing.Wait()
	stop()
	looking.Wait()
	assert.NoFileExists(t, g.path("looked"))
	c.check()
}

// An operation that is given up while it waits leaves nothing behind and holds nothing up.
func TestGivingUpWhileWaiting(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	held, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	holder := g.open(oxpatch.WithSteps(func(string) error {
		once.Do(func() { close(held); <-free })
		return nil
	}))
	finished := make(chan error, 1)
	go func() {
		_, err := holder.Apply(context.Background(), request(addition("a.txt", "a")))
		finished <- err
	}()
	<-held
	var wg sync.WaitGroup
	for n := range 8 {
		e := g.open(oxpatch.WithLockTimeout(time.Minute))
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			_, err := e.Apply(ctx, request(addition(fmt.Sprintf("b%d.txt", n), "b")))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	wg.Wait()
	_, err := g.open(oxpatch.WithLockTimeout(-1)).Undo(context.Background(), oxpatch.UndoRequest{})
	require.ErrorIs(t, err, oxpatch.ErrBusy)
	assert.Contains(t, err.Error(), fmt.Sprint(os.Getpid()))
	close(free)
	require.NoError(t, <-finished)
	assert.Equal(t, []string{"apply done"}, g.log())
	assert.Equal(t, image{"a.txt": `-rw-r--r-- "a\n"`}, g.image())
	g.undo()
	assert.Empty(t, g.image())
}
