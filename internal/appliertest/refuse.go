package appliertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// goodSection is a section that fits base; it stands in front of one that does not.
const goodSection = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"

func base() files { return files{"a": text("one\ntwo\nthree\n"), "b": text("alpha\nbeta\n")} }

// addition is a section that adds a file.
func addition(name string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+evil\n", name)
}

func (s suite) testRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		patch   string
		want    error    // nil for any
		skipped []string // nil where the patch cannot be read
	}{
		"empty":               {patch: ""},
		"prose":               {patch: "nothing to see here\n"},
		"a header only":       {patch: "diff --git a/a b/a\n--- a/a\n+++ b/a\n"},
		"lines not there":     {patch: goodSection + "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n alpha\n-gamma\n+delta\n", want: oxpatch.ErrNoMatch, skipped: []string{"a", "b"}},
		"not there, in front": {patch: "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n alpha\n-gamma\n+delta\n" + goodSection, want: oxpatch.ErrNoMatch, skipped: []string{"a", "b"}},
		"a missing file":      {patch: goodSection + "--- a/c\n+++ b/c\n@@ -1,2 +1,2 @@\n alpha\n-gamma\n+delta\n", skipped: []string{"a", "c"}},
		"a deletion of other content": {
			patch: goodSection + "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-other\n-text\n", skipped: []string{"a", "b"}},
		"a folder in the way": {patch: goodSection + addition("aside"), skipped: []string{"a", "aside"}},
		"below a file":        {patch: goodSection + addition("b/c"), skipped: []string{"a", "b/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := s.world(t, base())
			req := oxpatch.Request{Patch: []byte(c.patch), Format: oxpatch.FormatUnified}
			forecast, foretold := w.check(req)
			require.Error(t, foretold)
			res, err := w.refused(context.Background(), req)
			if c.want != nil {
				assert.ErrorIs(t, err, c.want)
				assert.ErrorIs(t, foretold, c.want)
			}
			assert.Equal(t, forecast.Files, res.Files, "the check foretells the refusal")
			assert.Equal(t, forecast.Problems, res.Problems)
			if c.skipped != nil {
				assert.Equal(t, c.skipped, res.SkippedPaths)
			}
			for _, f := range res.Files {
				assert.Equal(t, oxpatch.StatusSkipped, f.Status)
			}
		})
	}
}

// A path that leads out of the tree or into a git directory is refused, with all else in the patch.
func (s suite) testUnsafe(t *testing.T) {
	for name, path := range map[string]string{
		"parent":              "../out",
		"parent, roundabout":  "d/../../out",
		"hook":                ".git/hooks/x",
		"upper case":          ".GIT/hooks/x",
		"below a folder":      "d/.git/config",
		"through a link":      "link/out",
		"through two links":   "chain/out",
		"link into git":       "togit/hooks/x",
		"a link out, itself":  "outlink",
		"a link out, nowhere": "nowhere",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(outside, "there"), []byte("one\n"), 0o644))
			w := s.world(t, base())
			for link, target := range map[string]string{
				"link": outside, "chain": "link", "togit": ".git",
				"outlink": filepath.Join(outside, "there"), "nowhere": filepath.Join(outside, "nothing"),
			} {
				if err := os.Symlink(target, w.path(link)); err != nil {
					oxtest.Lacks(t, "symbolic links: %v", err)
				}
			}
			w.git("add", "-A")
			w.git("commit", "-q", "-m", "links")
			edit := fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n@@ -1 +1 @@\n-one\n+evil\n", path)
			for _, patch := range []string{goodSection + addition(path), goodSection + edit} {
				req := oxpatch.Request{Patch: []byte(patch)}
				_, err := w.check(req)
				require.Error(t, err, patch)
				if errors.Is(err, oxpatch.ErrConflict) && (path == "outlink" || path == "nowhere") {
					w.conflictAtLink(req, path)
					continue
				}
				_, err = w.refused(context.Background(), req)
				if path != "outlink" && path != "nowhere" { // that a link is there says as much
					assert.ErrorIs(t, err, oxpatch.ErrUnsafePath, patch)
				}
			}
			assert.NoFileExists(t, w.path(".git/hooks/x"))
			for _, made := range []string{filepath.Join(outside, "out"), filepath.Join(outside, "nothing"), filepath.Join(filepath.Dir(w.dir), "out")} {
				assert.NoFileExists(t, made)
			}
			data, err := os.ReadFile(filepath.Join(outside, "there"))
			require.NoError(t, err)
			assert.Equal(t, "one\n", string(data))
		})
	}
}

// conflictAtLink lets a merge put its conflict in the place of a link that is tracked, as git does. What
// the link leads to is not touched.
func (w *world) conflictAtLink(req oxpatch.Request, path string) {
	w.t.Helper()
	tree, index := w.tree(), w.index()
	res, err := w.apply(req)
	require.ErrorIs(w.t, err, oxpatch.ErrConflict)
	assert.Equal(w.t, []string{path}, res.ConflictedPaths)
	w.undone(tree, index)
}

// Where an edit meets another of the same lines, an applier either refuses it or leaves a conflict
// that the result names and undo takes back.
func (s suite) testOverlap(t *testing.T) {
	before := files{"a": text(numbers(20, nil)), "b": text("x\n")}
	patch := diff(t, before, files{"a": text(numbers(20, map[int]string{10: "theirs"})), "b": text("y\n")})
	for name, req := range map[string]oxpatch.Request{
		"as it comes": {Patch: patch}, "refused": {Patch: patch, RefuseConflicts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := s.world(t, before)
			w.write(files{"a": text(numbers(20, map[int]string{10: "ours"}))})
			w.git("commit", "-q", "-m", "ours", "--", "a")
			tree, index := w.tree(), w.index()
			forecast, foretold := w.check(req)
			require.Error(t, foretold)
			if req.RefuseConflicts || !errors.Is(foretold, oxpatch.ErrConflict) {
				res, _ := w.refused(context.Background(), req)
				assert.Equal(t, []string{"a", "b"}, res.SkippedPaths)
				return
			}
			res, err := w.apply(req)
			require.ErrorIs(t, err, oxpatch.ErrConflict)
			assert.True(t, res.Applied && res.Exact)
			assert.Equal(t, []string{"a"}, res.ConflictedPaths)
			assert.Equal(t, []string{"b"}, res.AppliedPaths)
			assert.Equal(t, forecast.Files, res.Files)
			data, err := os.ReadFile(w.path("a"))
			require.NoError(t, err)
			assert.Contains(t, string(data), "ours\n=======\ntheirs\n")
			w.undone(tree, index)
		})
	}
}
