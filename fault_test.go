package oxpatch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// scene is a tree and a patch that between them reach every kind of effect.
type scene struct {
	name  string
	repo  bool
	req   func() oxpatch.Request
	opts  []oxpatch.Option
	build func(g *ground)
}

func scenes() []scene {
	careful := func() oxpatch.Request { return request(everyEffect()) }
	return []scene{
		{name: "default", req: careful, build: buildEverything},
		{name: "in place", req: careful, build: buildWritable, opts: []oxpatch.Option{oxpatch.WithInPlace()}},
		{name: "codex", repo: true, build: buildForCodex, req: func() oxpatch.Request { return codexRequest(codexEffects()) }},
	}
}

func buildForCodex(g *ground) {
	g.write("untouched.txt", "stays\n")
	g.write("edit.txt", "one\ntwo\nthree\n")
	g.writeMode("tool.sh", "#!/bin/sh\nexit 1\n", 0o755)
	g.write("src.txt", "moved\n")
	g.write("dst.txt", "in the way\n")
	g.write("over.txt", "old\n")
	g.write("twice.txt", "a\nb\n")
	g.write("real/target.txt", "reached\n")
	g.link("real/target.txt", "via")
	g.write("emptied/deep/gone.txt", "gone\n")
	require.NoError(g.t, os.Chmod(g.path("emptied/deep"), 0o750))
}

func codexEffects() string {
	return envelope(
		"*** Update File: edit.txt", "@@", "-two", "+2",
		"*** Update File: tool.sh", "@@", "-exit 1", "+exit 0",
		"*** Update File: twice.txt", "@@", "-a", "+A",
		"*** Update File: twice.txt", "@@", "-b", "+B",
		"*** Update File: src.txt", "*** Move to: dst.txt", "@@", "-moved", "+has moved",
		"*** Add File: over.txt", "+new",
		"*** Update File: via", "@@", "-reached", "+through the link",
		"*** Add File: made/deep/new.txt", "+new",
		"*** Delete File: emptied/deep/gone.txt",
	)
}

// buildEverything adds to the tree for Codex what only the careful rules do.
func buildEverything(g *ground) {
	buildForCodex(g)
	g.writeMode("readonly.txt", "locked\n", 0o444)
	g.write("thing", "a file that becomes a folder\n")
	g.link("real/target.txt", "goes")
}

// buildWritable is buildEverything for one who may not write into a read-only file.
func buildWritable(g *ground) {
	buildEverything(g)
	if os.Geteuid() != 0 {
		require.NoError(g.t, os.Chmod(g.path("readonly.txt"), 0o644))
	}
}

func everyEffect() string {
	return strings.TrimSuffix(codexEffects(), "*** End Patch\n") + strings.TrimPrefix(envelope(
		"*** Update File: readonly.txt", "@@", "-locked", "+changed",
		"*** Delete File: thing",
		"*** Add File: thing/inside.txt", "+inside",
		"*** Delete File: goes",
	), "*** Begin Patch\n")
}

func (s scene) ground(t testing.TB, base string, i int) *ground {
	dir := filepath.Join(base, "g"+string(rune('a'+i%26))+strings.Repeat("x", i/26))
	require.NoError(t, os.Mkdir(dir, 0o755))
	g := groundIn(t, dir)
	if s.repo {
		g.asRepo()
	}
	s.build(g)
	return g
}

// point is one effect of an operation. Syncs are slow, so they are left out of the runs in which
// something else fails.
type point struct {
	at     int
	synced bool
}

func (p point) fault() *fault { return &fault{at: p.at, synced: p.synced} }

// measure is what a scene comes to: the tree before and after, and the effects on the way.
type measure struct {
	before, after image
	apply, undo   []point
}

func (s scene) measure(t testing.TB, base string) measure {
	t.Helper()
	var m measure
	for i, synced := range []bool{false, true} {
		g := s.ground(t, base, i)
		m.before = g.image()
		count := &fault{synced: synced}
		res, err := g.open(append(count.options(), s.opts...)...).Apply(context.Background(), s.req())
		require.NoError(t, err)
		require.True(t, res.OK)
		m.after = g.image()
		require.NotEqual(t, m.before, m.after)
		m.apply = append(m.apply, count.points()...)
		count = &fault{synced: synced}
		_, err = g.open(append(count.options(), s.opts...)...).Undo(context.Background(), oxpatch.UndoRequest{})
		require.NoError(t, err)
		require.Equal(t, m.before, g.image(), "undo is exact")
		m.undo = append(m.undo, count.points()...)
	}
	require.Greater(t, len(m.apply), 50, "the scene has too few effects")
	require.Greater(t, len(m.undo), 30, "the scene has too few effects")
	return m
}

// each goes through the points with a fresh tree for each, which is removed again.
func (s scene) each(t *testing.T, points []point, do func(i int, g *ground, f *fault)) {
	t.Helper()
	base := quick(t)
	for i := 0; i < len(points); i += step() {
		g := s.ground(t, base, i)
		do(i, g, points[i].fault())
		require.NoError(t, os.RemoveAll(filepath.Dir(g.dir)))
	}
}

// step is how many effects a test of every nth effect goes on by.
func step() int {
	switch {
	case testing.Short():
		return 7
	case raceDetector:
		return 5 // ten times as slow, and no race hides in one effect alone
	}
	return 1
}

func TestAnErrorAtAnyEffectOfApply(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		if s.repo {
			continue // Codex keeps what it did: below
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t, quick(t))
			before, after := m.before, m.after
			s.each(t, m.apply, func(_ int, g *ground, f *fault) {
				res, err := g.open(append(f.options(), s.opts...)...).Apply(context.Background(), s.req())
				if err == nil {
					// Only the closing of the record may fail without harm; the next command closes it.
					require.True(t, strings.HasPrefix(f.what, "store"), "%s failed and nobody noticed", f.what)
					require.True(t, res.OK && res.Applied, f.what)
					require.Equal(t, after, g.image(), f.what)
					require.NotEmpty(t, res.Problems, "%s failed without a word", f.what)
				} else {
					require.ErrorIs(t, err, errInjected, f.what)
					require.False(t, res.OK || res.Applied, f.what)
					require.True(t, res.Exact, f.what)
					require.Empty(t, res.Changes, f.what)
					require.Empty(t, res.AppliedPaths, f.what)
					require.Equal(t, before, g.image(), f.what)
					require.Empty(t, g.log(), f.what)
					res, err = g.open(s.opts...).Apply(context.Background(), s.req())
					require.NoError(t, err, f.what)
					require.True(t, res.OK, f.what)
					require.Equal(t, after, g.image(), f.what)
				}
				g.undo()
				require.Equal(t, before, g.image(), f.what)
				require.Equal(t, []string{"undo done", "apply undone"}, g.log(), f.what)
				g.nothingToUndo()
			})
		})
	}
}

func TestAnErrorAtAnyEffectOfUndo(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t, quick(t))
			before, after := m.before, m.after
			s.each(t, m.undo, func(_ int, g *ground, f *fault) {
				_, err := g.open(s.opts...).Apply(context.Background(), s.req())
				require.NoError(t, err)
				res, err := g.open(append(f.options(), s.opts...)...).Undo(context.Background(), oxpatch.UndoRequest{})
				if err != nil {
					require.ErrorIs(t, err, errInjected, f.what)
					require.False(t, res.OK || res.Applied, f.what)
					require.Equal(t, after, g.image(), f.what)
					require.Equal(t, []string{"apply done"}, g.log(), f.what)
					g.undo()
				} else {
					// The store of a repository has another place to go to; the tree has not.
					require.True(t, strings.HasPrefix(f.what, "store"), "%s failed and nobody noticed", f.what)
				}
				require.Equal(t, before, g.image(), f.what)
				g.nothingToUndo()
				require.Equal(t, []string{"undo done", "apply undone"}, g.log(), f.what)
			})
		})
	}
}

// Under Codex's rules what was done before an error stays, and the record says what that is: undo
// takes exactly it back.
func TestAnErrorAtAnyEffectUnderCodexRules(t *testing.T) {
	t.Parallel()
	s := scenes()[2]
	m := s.measure(t, quick(t))
	before, after := m.before, m.after
	partial := 0
	s.each(t, m.apply, func(_ int, g *ground, f *fault) {
		res, err := g.open(f.options()...).Apply(context.Background(), s.req())
		now := g.image()
		if strings.HasPrefix(f.what, "store") {
			require.NoError(t, err, "%s: a store that cannot be written does not stop Codex", f.what)
			require.Equal(t, after, now, f.what)
			if res.ID == "" {
				return // nothing was recorded
			}
		} else {
			require.ErrorIs(t, err, errInjected, f.what)
			require.NotEqual(t, after, now, f.what)
		}
		changed := !equalFiles(before, now)
		require.Equal(t, changed, res.Applied, f.what)
		_, stderr := res.CodexOutput()
		require.Equal(t, err != nil, stderr != "", f.what)
		if !changed {
			require.Empty(t, g.log(), f.what)
			return
		}
		partial++
		require.Equal(t, []string{"apply done"}, g.log(), f.what)
		g.undo()
		require.Equal(t, before, g.image(), f.what)
		g.nothingToUndo()
	})
	assert.Greater(t, partial, 0)
}

// equalFiles compares all but folders.
func equalFiles(a, b image) bool {
	count := func(i image) (n int) {
		for _, d := range i {
			if !strings.HasPrefix(d, "d") {
				n++
			}
		}
		return n
	}
	for path, d := range a {
		if !strings.HasPrefix(d, "d") && b[path] != d {
			return false
		}
	}
	return count(a) == count(b)
}
