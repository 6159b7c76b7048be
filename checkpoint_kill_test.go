package oxpatch_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// restoreScene is a checkpoint of about everything, and a restore that reaches every kind of effect.
type restoreScene struct {
	name  string
	paths []string
	opts  []oxpatch.Option
}

func restoreScenes() []restoreScene {
	return []restoreScene{
		{name: "tree"},
		{name: "paths, in place", paths: []string{"."}, opts: []oxpatch.Option{oxpatch.WithInPlace()}},
	}
}

// ground is a tree with the checkpoint taken and spoilt since.
func (s restoreScene) ground(t *testing.T, base string, i int) (g *ground, id string) {
	t.Helper()
	dir := filepath.Join(base, "g"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	require.NoError(t, os.Mkdir(dir, 0o755))
	g = groundIn(t, dir)
	oddTree(g)
	id = g.checkpoint(s.paths...).ID
	spoilTree(g)
	return g, id
}

// measure returns the tree before and after the restore, and the effects on the way.
func (s restoreScene) measure(t *testing.T, base string) (before, after image, points []point) {
	t.Helper()
	for i, synced := range []bool{false, true} {
		g, id := s.ground(t, base, i)
		before = g.image()
		count := &fault{synced: synced}
		res, err := g.open(append(count.options(), s.opts...)...).Restore(context.Background(), oxpatch.RestoreRequest{ID: id, DeleteNew: true})
		require.NoError(t, err)
		require.True(t, res.OK)
		after = g.image()
		points = append(points, count.points()...)
	}
	require.Greater(t, len(points), 50, "the scene has too few effects")
	return before, after, points
}

// each goes through the points with a fresh tree for each.
func (s restoreScene) each(t *testing.T, points []point, do func(i int, g *ground, id string, f *fault)) {
	t.Helper()
	base := quick(t)
	for i := 0; i < len(points); i += step() {
		g, id := s.ground(t, base, i)
		do(i, g, id, points[i].fault())
		require.NoError(t, os.RemoveAll(filepath.Dir(g.dir)))
	}
}

func TestAnErrorAtAnyEffectOfARestore(t *testing.T) {
	t.Parallel()
	for _, s := range restoreScenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			before, after, points := s.measure(t, quick(t))
			s.each(t, points, func(_ int, g *ground, id string, f *fault) {
				res, err := g.open(append(f.options(), s.opts...)...).Restore(context.Background(), oxpatch.RestoreRequest{ID: id, DeleteNew: true})
				if err == nil {
					require.Contains(t, f.what, "store", "%s failed and nobody noticed", f.what)
					require.True(t, res.OK && res.Applied, f.what)
				} else {
					require.ErrorIs(t, err, errInjected, f.what)
					require.False(t, res.OK || res.Applied, f.what)
					require.Equal(t, before, g.image(), f.what)
					require.Equal(t, []string{"checkpoint done"}, g.log(), f.what)
					g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
				}
				require.Equal(t, after, g.image(), f.what)
				g.undo()
				require.Equal(t, before, g.image(), f.what)
				require.Equal(t, []string{"undo done", "restore undone", "checkpoint done"}, g.log(), f.what)
			})
		})
	}
}

func TestAKillAtAnyEffectOfARestore(t *testing.T) {
	t.Parallel()
	for _, s := range restoreScenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			before, after, points := s.measure(t, quick(t))
			s.each(t, points, func(i int, g *ground, id string, f *fault) {
				if killed(g, f); s.name == "tree" {
					f.torn = nil // nothing is written in place
				}
				_, err := g.open(append(f.options(), s.opts...)...).Restore(context.Background(), oxpatch.RestoreRequest{ID: id, DeleteNew: true})
				if err == nil {
					require.Contains(t, f.what, "store", "%s: a kill in the tree was taken for success", f.what)
				}
				n := nexts()[i%len(nexts())]
				n.run(g)
				now, what := g.image(), f.what+", then "+n.name
				if !equalImages(now, before.with(n.adds)) {
					require.Equal(t, after.with(n.adds), now, what)
				}
				g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
				g.remove("other.txt")
				require.Equal(t, after, g.image(), what)
				g.fsck()
			})
		})
	}
}

// A checkpoint that fails or is killed changes no file, and is in the history or is not; whichever it
// is, the next one works, and what is recorded can be had back.
func TestAFaultAtAnyEffectOfACheckpoint(t *testing.T) {
	t.Parallel()
	for _, s := range restoreScenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			req := oxpatch.CheckpointRequest{Paths: s.paths, Tree: len(s.paths) == 0}
			make := func(base string, i int) *ground {
				g, _ := s.ground(t, base, i) // there is an older one to share with
				return g
			}
			var points []point
			base := quick(t)
			for i, synced := range []bool{false, true} {
				g := make(base, i)
				count := &fault{synced: synced}
				_, err := g.open(count.options()...).Checkpoint(context.Background(), req)
				require.NoError(t, err)
				points = append(points, count.points()...)
			}
			require.Greater(t, len(points), 8)
			base = quick(t)
			for i, p := range points {
				for _, kill := range []bool{false, true} {
					g := make(base, 2*i+map[bool]int{true: 1}[kill])
					was := g.image()
					f := p.fault()
					f.kill = kill
					res, err := g.open(f.options()...).Checkpoint(context.Background(), req)
					require.Equal(t, was, g.image(), f.what)
					log := g.log()
					if err == nil {
						require.Len(t, log, 2, f.what)
						require.NotEmpty(t, res.ID, f.what)
					} else if !kill {
						require.Len(t, log, 1, f.what)
						require.Empty(t, res.ID, f.what)
					}
					ids := []string{g.checkpoint(s.paths...).ID}
					if len(log) == 2 {
						ids = append(ids, g.operations()[1].ID)
					}
					g.fsck()
					g.remove("plain.txt")
					g.write("deep/er", "spoilt again\n")
					spoilt := g.image()
					for _, id := range slices.Backward(ids) {
						g.restore(oxpatch.RestoreRequest{ID: id})
						require.Equal(t, was, g.image(), f.what)
						g.undo()
						require.Equal(t, spoilt, g.image(), f.what)
					}
				}
			}
		})
	}
}
