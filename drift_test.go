package oxpatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// disturbances are what can become of in/b.txt while nobody looks.
func disturbances(outside string) map[string]func(g *ground) {
	return map[string]func(g *ground){
		"content":            func(g *ground) { g.write("in/b.txt", "TWO\n") },
		"one byte more":      func(g *ground) { g.write("in/b.txt", g.read("in/b.txt")+"x") },
		"the execute bit":    func(g *ground) { g.writeMode("in/b.txt", g.read("in/b.txt"), 0o755) },
		"deleted":            func(g *ground) { g.remove("in/b.txt") },
		"became a link":      func(g *ground) { g.remove("in/b.txt"); g.link("../free.txt", "in/b.txt") },
		"became a link out":  func(g *ground) { g.remove("in/b.txt"); g.link(filepath.Join(outside, "b.txt"), "in/b.txt") },
		"became a folder":    func(g *ground) { g.remove("in/b.txt"); g.write("in/b.txt/x", "x\n") },
		"folder is gone":     func(g *ground) { g.remove("in") },
		"folder is a file":   func(g *ground) { g.remove("in"); g.write("in", "x\n") },
		"folder is a link":   func(g *ground) { g.remove("in"); g.link(outside, "in") },
		"folder links to it": func(g *ground) { require.NoError(g.t, os.Rename(g.path("in"), g.path("moved"))); g.link("moved", "in") },
	}
}

// outsideFolder holds a file that a careless write through a link would hit.
func outsideFolder(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.txt"), []byte(text), 0o644))
	return dir
}

func driftGround(t *testing.T) *ground {
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.write("in/b.txt", "two\n")
	g.write("free.txt", "two\n")
	return g
}

const driftPatch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: in/b.txt\n@@\n-two\n+2\n*** End Patch\n"

func TestAFileChangedBetweenPlanAndWrite(t *testing.T) {
	t.Parallel()
	for name := range disturbances("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := driftGround(t)
			outside := outsideFolder(t, "two\n")
			var was image
			res, err := g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(driftPatch),
				Gate: func(context.Context, []oxpatch.Change) error {
					disturbances(outside)[name](g)
					was = g.image()
					return nil
				}})
			require.ErrorIs(t, err, oxpatch.ErrDrift)
			assert.True(t, hasProblem(res, oxpatch.KindDrift, "in/b.txt"), "%v", res.Problems)
			assert.False(t, res.OK || res.Applied)
			assert.Empty(t, res.AppliedPaths)
			assert.Equal(t, was, g.image())
			assert.Equal(t, "two\n", readFile(t, filepath.Join(outside, "b.txt")))
			assert.Empty(t, g.log())
		})
	}
}

// Permissions that were taken away while the user was asked must not come back.
func TestPermissionsChangedAtTheGate(t *testing.T) {
	t.Parallel()
	g := driftGround(t)
	_, err := g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(driftPatch),
		Gate: func(context.Context, []oxpatch.Change) error { return os.Chmod(g.path("in/b.txt"), 0o600) }})
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	info, err := os.Stat(g.path("in/b.txt"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.Equal(t, "one\n", g.read("a.txt"))
}

func TestAFileChangedBetweenApplyAndUndo(t *testing.T) {
	t.Parallel()
	for name := range disturbances("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := driftGround(t)
			outside := outsideFolder(t, "2\n")
			g.apply(driftPatch)
			disturbances(outside)[name](g)
			was := g.image()
			for _, check := range []bool{true, false} {
				res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: check})
				require.ErrorIs(t, err, oxpatch.ErrDrift)
				assert.True(t, hasProblem(res, oxpatch.KindDrift, "in/b.txt"), "%v", res.Problems)
				assert.False(t, res.OK || res.Applied)
				assert.Empty(t, res.AppliedPaths)
				assert.Equal(t, []string{"a.txt", "in/b.txt"}, res.SkippedPaths)
				assert.Equal(t, was, g.image())
				assert.Equal(t, "2\n", readFile(t, filepath.Join(outside, "b.txt")))
			}
			assert.Equal(t, []string{"apply done"}, g.log())
		})
	}
}

// The folder of a deleted file may be replaced by a link before the undo brings the file back.
func TestUndoOfADeleteDoesNotWriteThroughALink(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(g *ground, outside string) string{
		"out of the tree": func(_ *ground, outside string) string { return outside },
		"in the tree": func(g *ground, _ string) string {
			require.NoError(g.t, os.Mkdir(g.path("other"), 0o755))
			return "other"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := driftGround(t)
			outside := t.TempDir()
			g.apply(envelope("*** Delete File: in/b.txt", "*** Update File: a.txt", "@@", "-one", "+1"))
			g.link(target(g, outside), "in")
			was := g.image()
			res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
			require.Error(t, err)
			assert.False(t, res.Applied)
			assert.Equal(t, was, g.image())
			assert.Empty(t, imageOf(t, outside))
			g.remove("in")
			g.undo()
			assert.Equal(t, "two\n", g.read("in/b.txt"))
		})
	}
}

func TestDriftNamesEveryPathAndTheLaterOperation(t *testing.T) {
	t.Parallel()
	g := driftGround(t)
	g.apply(driftPatch)
	g.write("a.txt", "changed\n")
	g.remove("in/b.txt")
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
	require.ErrorIs(t, err, oxpatch.ErrDrift)
	assert.True(t, hasProblem(res, oxpatch.KindDrift, "a.txt"))
	assert.True(t, hasProblem(res, oxpatch.KindDrift, "in/b.txt"))
	var refused *oxpatch.RefusedError
	require.True(t, errors.As(err, &refused))
	assert.Len(t, refused.Problems, 2)
	for _, p := range refused.Problems {
		assert.NotEmpty(t, p.Hint)
		assert.Contains(t, p.Message, res.Reverts[0])
	}
	// The user puts things back, and undo works.
	g.write("a.txt", "1\n")
	g.write("in/b.txt", "2\n")
	g.undo()
	assert.Equal(t, "one\n", g.read("a.txt"))
}

func TestAFileChangedAtTheGateOfUndo(t *testing.T) {
	t.Parallel()
	for name := range disturbances("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := driftGround(t)
			outside := outsideFolder(t, "2\n")
			g.apply(driftPatch)
			var was image
			res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Gate: func(context.Context, []oxpatch.Change) error {
				disturbances(outside)[name](g)
				was = g.image()
				return nil
			}})
			require.ErrorIs(t, err, oxpatch.ErrDrift)
			assert.False(t, res.Applied)
			assert.Equal(t, was, g.image())
			assert.Equal(t, "2\n", readFile(t, filepath.Join(outside, "b.txt")))
			assert.Equal(t, []string{"apply done"}, g.log())
		})
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
