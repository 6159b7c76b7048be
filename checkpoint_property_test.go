package oxpatch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch"
)

// randomly changes a tree of few names, so that files, links and folders come to stand in each other's
// place. No folder is left empty.
func randomly(t *rapid.T, g *ground, steps int) {
	name := rapid.SampledFrom([]string{"a", "b", "c x", "d\xff"})
	for range steps {
		parts := rapid.SliceOfN(name, 1, 3).Draw(t, "path")
		path := strings.Join(parts, "/")
		for i := range parts { // what is in the way goes
			up := g.path(strings.Join(parts[:i], "/"))
			if info, err := os.Lstat(up); err == nil && !info.IsDir() {
				g.remove(strings.Join(parts[:i], "/"))
			}
		}
		g.remove(path)
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			for dir := filepath.Dir(g.path(path)); dir != g.dir; dir = filepath.Dir(dir) {
				os.Remove(dir) // one that holds something stays
			}
		case 1:
			g.link(rapid.SampledFrom([]string{"a", "b/a", "no where"}).Draw(t, "target"), path)
		case 2:
			g.writeMode(path, "tool\n", 0o755)
		case 3:
			g.writeMode(path, "", 0o600)
		default:
			g.write(path, fmt.Sprintln(rapid.IntRange(0, 3).Draw(t, "text")))
		}
	}
}

// Whatever a tree held at a checkpoint and whatever became of it, with operations and without, restore
// brings it back to the byte, and undo the other way round.
func TestAnyTreeIsRestored(t *testing.T) {
	t.Parallel()
	base := quick(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		require.NoError(rt, os.Mkdir(dir, 0o755))
		defer os.RemoveAll(dir)
		g := groundIn(t, dir)
		randomly(rt, g, rapid.IntRange(0, 12).Draw(rt, "before"))
		var ids []string
		var images []image
		for range rapid.IntRange(1, 3).Draw(rt, "checkpoints") {
			var paths []string
			if rapid.Bool().Draw(rt, "as paths") {
				paths = []string{"."}
			}
			if len(g.image()) == 0 {
				paths = nil // so that there is something of which to make one
			}
			images = append(images, g.image())
			ids = append(ids, g.checkpoint(paths...).ID)
			randomly(rt, g, rapid.IntRange(0, 6).Draw(rt, "after"))
			if rapid.Bool().Draw(rt, "operation") {
				name := fmt.Sprintf("made%d/x", rapid.IntRange(0, 1).Draw(rt, "made"))
				_, err := g.open().Apply(context.Background(), request(addition(name, "made")))
				require.NoError(rt, err)
				require.NoError(rt, os.Chmod(g.path(name), 0o644))
			}
		}
		i := rapid.IntRange(0, len(ids)-1).Draw(rt, "which")
		spoilt := g.image()
		checked := g.restore(oxpatch.RestoreRequest{ID: ids[i], DeleteNew: true, Check: true})
		require.Equal(rt, spoilt, g.image())
		res := g.restore(oxpatch.RestoreRequest{ID: ids[i], DeleteNew: true})
		require.Equal(rt, images[i], g.image())
		require.Equal(rt, checked.AppliedPaths, res.AppliedPaths)
		if res.Applied {
			g.undo()
			require.Equal(rt, spoilt, g.image())
		}
	})
}
