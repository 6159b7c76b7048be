package oxpatch_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// next is what is run first after a kill. It returns what it adds to the tree.
type next struct {
	name string
	run  func(g *ground)
	adds image
}

// nexts are the commands of which any must settle what a kill left.
func nexts() []next {
	return []next{
		{name: "apply", adds: image{"other.txt": `-rw-r--r-- "other\n"`}, run: func(g *ground) {
			g.apply(addition("other.txt", "other"))
			require.NoError(g.t, os.Chmod(g.path("other.txt"), 0o644))
		}},
		{name: "undo", run: func(g *ground) {
			_, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
			if err != nil {
				require.ErrorIs(g.t, err, oxpatch.ErrNothingToUndo)
			}
		}},
		{name: "recover", run: func(g *ground) {
			res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
			require.NoError(g.t, err)
			require.True(g.t, res.OK && res.Exact)
		}},
	}
}

// killed is a fault that kills. A kill in the middle of a write into an existing file leaves half of
// the new content there.
func killed(g *ground, f *fault) *fault {
	f.kill = true
	f.torn = func(op worktree.Op, path string) {
		info, err := os.Lstat(g.path(path))
		if op == worktree.OpWrite && err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			require.NoError(g.t, os.WriteFile(g.path(path), []byte("half of wh"), 0))
		}
	}
	return f
}

func TestAKillAtAnyEffectOfApply(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t, quick(t))
			s.each(t, m.apply, func(i int, g *ground, f *fault) {
				killed(g, f)
				_, err := g.open(append(f.options(), s.opts...)...).Apply(context.Background(), s.req())
				if err == nil {
					require.Contains(t, f.what, "store", "%s: a kill in the tree was taken for success", f.what)
				}
				n := nexts()[i%len(nexts())]
				n.run(g)
				m.settled(t, g, f, n)
				g.fsck()
			})
		})
	}
}

// settled checks tree and history after a killed apply and the next command.
func (m measure) settled(t *testing.T, g *ground, f *fault, n next) {
	t.Helper()
	what := f.what + ", then " + n.name
	now := g.image()
	log := slices.DeleteFunc(g.log(), func(op string) bool { return op == "recover done" })
	switch {
	case equalImages(now, m.before.with(n.adds)):
		if n.name == "undo" {
			require.Subset(t, []string{"undo done", "apply undone"}, log, what)
			return
		}
		want := []string{}
		if n.name == "apply" {
			want = []string{"apply done"}
		}
		require.Equal(t, want, log, what)
	default:
		require.Equal(t, m.after.with(n.adds), now, what)
		require.NotEqual(t, "undo", n.name, what)
		if n.name == "apply" {
			g.undo()
		}
		g.undo()
		require.Equal(t, m.before, g.image(), what)
	}
}

func equalImages(a, b image) bool { return assert.ObjectsAreEqual(a, b) }

func TestAKillAtAnyEffectOfUndo(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t, quick(t))
			s.each(t, m.undo, func(i int, g *ground, f *fault) {
				_, err := g.open(s.opts...).Apply(context.Background(), s.req())
				require.NoError(t, err)
				killed(g, f)
				_, err = g.open(append(f.options(), s.opts...)...).Undo(context.Background(), oxpatch.UndoRequest{})
				if err == nil {
					require.Contains(t, f.what, "store", "%s: a kill in the tree was taken for success", f.what)
				}
				n := nexts()[i%len(nexts())]
				n.run(g)
				now := g.image()
				if equalImages(now, m.after.with(n.adds)) && n.name != "undo" {
					if n.name == "apply" {
						g.undo()
					}
					g.undo()
					now = g.image()
				} else if n.name == "apply" {
					now = now.with(nil)
					require.Equal(t, n.adds["other.txt"], now["other.txt"])
					delete(now, "other.txt")
				}
				require.Equal(t, m.before, now, "%s, then %s", f.what, n.name)
				require.Contains(t, g.log(), "apply undone", f.what)
				g.fsck()
			})
		})
	}
}

// A recovery can be killed too.
func TestAKillAtAnyEffectOfTheRecovery(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t, quick(t))
			var begin int
			interrupted := func(g *ground) {
				_, err := g.open(append(killed(g, &fault{at: begin}).options(), s.opts...)...).Apply(context.Background(), s.req())
				require.Error(t, err)
			}
			// The middle of the writing: some files are written, some are not.
			var g *ground
			between := false
			for i := len(m.apply) / 2; !between && i < len(m.apply) && !m.apply[i].synced; i++ {
				begin = m.apply[i].at
				g = s.ground(t, quick(t), 0)
				interrupted(g)
				now := g.image()
				between = !equalImages(now, m.before) && !equalImages(now, m.after)
			}
			require.True(t, between, "no kill leaves the tree between before and after")
			count := &fault{}
			_, err := g.open(count.options()...).Recover(context.Background(), oxpatch.RecoverRequest{})
			require.NoError(t, err)
			require.NotEmpty(t, count.points())
			s.each(t, count.points(), func(i int, g *ground, f *fault) {
				interrupted(g)
				killed(g, f)
				_, err := g.open(f.options()...).Recover(context.Background(), oxpatch.RecoverRequest{})
				require.Error(t, err, f.what)
				nexts()[2].run(g)
				require.Equal(t, m.before, g.image(), f.what)
				g.nothingToUndo()
			})
		})
	}
}

// A file that was torn in the middle of a write in place is put back, and the torn bytes are kept:
// they could be somebody else's.
func TestTornBytesAreSaved(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	before := g.image()
	f := &fault{kill: true}
	f.torn = func(_ worktree.Op, path string) {
		require.NoError(t, os.WriteFile(g.path(path), []byte("b has been to"), 0))
	}
	hook := func(op worktree.Op, path string) error {
		if op == worktree.OpWrite && path == "b.txt" {
			f.torn(op, path)
			f.dead = true
		}
		if f.dead {
			return worktree.ErrKilled
		}
		return nil
	}
	e := g.open(oxpatch.WithInPlace(), oxpatch.WithTreeEffects(hook))
	_, err := e.Apply(context.Background(), request(envelope(
		"*** Update File: a.txt", "@@", "-one", "+1",
		"*** Update File: b.txt", "@@", "-two", "+2")))
	require.ErrorIs(t, err, worktree.ErrKilled)
	require.Equal(t, "b has been to", g.read("b.txt"))

	ops := g.operations()
	require.Len(t, ops, 1)
	assert.Equal(t, "unresolved", ops[0].State)

	g.nothingToUndo() // settles it, and does not bring the torn bytes back
	assert.Equal(t, before, g.image())
	assert.Equal(t, []string{"recover done"}, g.log())

	site, err := snapshot.Locate(g.dir, func(name string) string { return g.env[name] })
	require.NoError(t, err)
	rec, err := site.History().Read(g.operations()[0].ID)
	require.NoError(t, err)
	require.Len(t, rec.Meta.Paths, 1)
	assert.Equal(t, "b.txt", rec.Meta.Paths[0].Path)
	torn, err := rec.Before(0)
	require.NoError(t, err)
	assert.Equal(t, "b has been to", string(torn.Content))
	g.fsck()
}

// Under Codex's rules a run that fails midway writes a second record, of what was done. A kill on the
// way leads to before, or to what was done with a record that takes exactly that back.
func TestAKillWhileAFailureIsRecorded(t *testing.T) {
	t.Parallel()
	s := scenes()[2]
	// failing is the scene's run with a step that fails; what comes after it is for the fault.
	failing := func(g *ground, f *fault) {
		failed := false
		count := f.options()
		e := g.open(append(count, oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
			if !failed && op == worktree.OpTruncate && path == "over.txt" {
				failed = true
				return errInjected
			}
			return nil
		}), oxpatch.WithStoreEffects(func(e snapshot.Effect, path string) error {
			if hit, _ := f.hit("store "+string(e)+" "+path, false); failed && hit {
				f.dead = true
				return snapshot.ErrKilled
			}
			return nil
		}))...)
		_, err := e.Apply(context.Background(), s.req())
		require.Error(g.t, err)
	}
	base := quick(t)
	g := s.ground(t, base, 0)
	before := g.image()
	count := &fault{}
	failing(g, count)
	after := g.image()
	require.False(t, equalFiles(before, after))
	kept := 0
	s.each(t, count.points(), func(_ int, g *ground, f *fault) {
		f.kill = true
		failing(g, f)
		nexts()[2].run(g)
		now := g.image()
		log := g.log()
		if equalImages(before, now) {
			require.Empty(t, log, f.what)
			return
		}
		kept++
		require.Equal(t, after, now, f.what)
		require.Equal(t, []string{"apply done"}, log, f.what)
		g.undo()
		require.Equal(t, before, g.image(), f.what)
	})
	if !testing.Short() { // which tries only some of the points
		require.Greater(t, kept, 0)
	}
}
