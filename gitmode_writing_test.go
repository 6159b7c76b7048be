package oxpatch_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// A file that only the user knows of, at the place where the patch moves one to, is replaced, said, and
// had back; under strict rules it is a refusal.
func TestGitModeReplacesAFileOnlyWithAWord(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.write("old.txt", numbered(20, nil))
	g.commit()
	patch := g.made(func() {
		g.git("mv", "old.txt", "new.txt")
		g.write("new.txt", numbered(20, map[int]string{10: "ten"}))
	}, "-M")
	g.write("new.txt", "mine alone\n")
	strict := gitRequest(patch)
	strict.Strict = true
	for _, check := range []bool{true, false} {
		strict.Check = check
		res := g.refused(strict, oxpatch.ErrExists)
		assert.True(t, hasProblem(res, oxpatch.KindExists, "new.txt"))
		assert.Empty(t, res.AppliedPaths)
	}
	res := g.roundTrip(gitRequest(patch), func() { assert.Equal(t, numbered(20, map[int]string{10: "ten"}), g.read("new.txt")) })
	assert.True(t, warned(res, oxpatch.KindOverwritten))
}

func TestGitModeKeepsToTheWayOfWriting(t *testing.T) {
	t.Parallel()
	for name, inPlace := range map[string]bool{"replacing": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, patch := twoFiles(t)
			other := filepath.Join(filepath.Dir(g.dir), "other name")
			require.NoError(t, os.Link(g.path("a.txt"), other))
			var opts []oxpatch.Option
			if inPlace {
				opts = append(opts, oxpatch.WithInPlace())
			}
			before := g.twin()
			res := g.must(gitRequest(patch), opts...)
			assert.Equal(t, !inPlace, warned(res, oxpatch.KindHardLink), "%v", res.Problems)
			text, err := os.ReadFile(other)
			require.NoError(t, err)
			assert.Equal(t, inPlace, string(text) == g.read("a.txt"), "one file still")
			assert.Empty(t, g.git("diff"))
			g.undo()
			requireTwin(t, before, g.twin(), "undo")
		})
	}
}

// A store that stands in the tree is out of bounds for a patch.
func TestGitModeKeepsOutOfTheStore(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	g.env["OXPATCH_STORE"] = g.path("store")
	g.must(gitRequest(patch))
	g.undo()
	add := "diff --git a/store/refs/x b/store/refs/x\nnew file mode 100644\n--- /dev/null\n+++ b/store/refs/x\n@@ -0,0 +1 @@\n+new\n"
	res := g.refused(gitRequest(add), nil)
	assert.True(t, hasProblem(res, oxpatch.KindUnsafePath, ""), "%v", res.Problems)
	require.NoFileExists(t, g.path("store/refs/x"))
}
