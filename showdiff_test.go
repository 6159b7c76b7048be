package oxpatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// kindsOfContent are contents that a diff has to carry.
func kindsOfContent() []string {
	return []string{
		"", "one line\n", "no newline at the end", "a\r\nb\r\nc\r\n", "a\nb\r\nc\rd\n", "\xef\xbb\xbfwith a mark\n",
		"caf\xe9\n", "\x00\x01binary\xff", "\n\n\n", numbered(40, nil), numbered(40, map[int]string{3: "three", 38: "38"}),
		numbered(40, map[int]string{20: "twenty"}) + "no newline", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", " \n\t\n",
	}
}

// fill makes every name absent, a file or a link, by chance.
func fill(g *ground, r *rand.Rand, names []string) {
	contents := kindsOfContent()
	for _, name := range names {
		_ = os.Remove(g.path(name))
		switch r.IntN(6) {
		case 0:
		case 1:
			require.NoError(g.t, os.MkdirAll(filepath.Dir(g.path(name)), 0o755))
			g.link(fmt.Sprintf("target %d", r.IntN(3)), name)
		case 2:
			g.writeMode(name, contents[r.IntN(len(contents))], 0o755)
		default:
			g.writeMode(name, contents[r.IntN(len(contents))], 0o644)
		}
	}
}

// What show prints as a diff makes the same change elsewhere, with git and with oxpatch, and git takes it
// back too.
func TestShownDiffsApplyElsewhere(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b.txt", "with blank", "t\tab", "d/\"quoted\"", "d/deep/é", "-x", "d/z"}
	rounds := 30
	if testing.Short() {
		rounds = 4
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			g := newGitRepo(t, map[string]string{"base.txt": "base\n"})
			fill(g, r, names)
			after := g.checkpoint(names...)
			fill(g, r, names)
			elsewhere := newGitRepo(t, map[string]string{"base.txt": "base\n"})
			require.NoError(t, os.RemoveAll(elsewhere.dir))
			require.NoError(t, os.CopyFS(elsewhere.dir, os.DirFS(g.dir)))
			relink(t, g.dir, elsewhere.dir, names)
			require.NoError(t, os.RemoveAll(elsewhere.path(".git/oxpatch")))
			before := g.image()
			require.Equal(t, before, elsewhere.image())
			res := g.restore(oxpatch.RestoreRequest{ID: after.ID})
			if res.ID == "" {
				return // by chance nothing changed
			}
			wanted := g.image()
			shown, err := g.open().Show(context.Background(), oxpatch.ShowRequest{Diff: true})
			require.NoError(t, err)
			require.Empty(t, shown.Problems)

			patch := filepath.Join(t.TempDir(), "patch")
			require.NoError(t, os.WriteFile(patch, shown.Diff, 0o644))
			elsewhere.git("apply", "--whitespace=nowarn", patch)
			require.Equal(t, files(wanted), files(elsewhere.image()))
			elsewhere.git("apply", "--whitespace=nowarn", "-R", patch)
			require.Equal(t, files(before), files(elsewhere.image()))
			elsewhere.git("add", "-A")
			_, err = elsewhere.open().Apply(context.Background(), gitRequest(string(shown.Diff)))
			require.NoError(t, err)
			require.Equal(t, files(wanted), files(elsewhere.image()))

			// And what the undo of it shows leads back.
			g.undo()
			shown, err = g.open().Show(context.Background(), oxpatch.ShowRequest{Diff: true})
			require.NoError(t, err)
			_, err = elsewhere.open().Apply(context.Background(), gitRequest(string(shown.Diff)))
			require.NoError(t, err)
			require.Equal(t, files(before), files(elsewhere.image()))
		})
	}
}

// relink makes links as they are: a copy of a file tree may follow them.
func relink(t *testing.T, from, to string, names []string) {
	t.Helper()
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(from, name))
		if err != nil {
			continue
		}
		_ = os.Remove(filepath.Join(to, name))
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		require.NoError(t, os.Symlink(target, filepath.Join(to, name)))
	}
}

// files leaves out folders, which a diff does not carry.
func files(i image) image {
	out := image{}
	for name, what := range i {
		if what[0] != 'd' {
			out[name] = what
		}
	}
	return out
}

// Outside of a repository a diff is placed by its text, and gives a whole file back to the byte.
func TestShownDiffsOfWholeFilesApplyByText(t *testing.T) {
	t.Parallel()
	for i, content := range kindsOfContent() {
		if content == "" || strings.ContainsRune(content, 0) {
			continue // nothing to show, and not text
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			g, elsewhere := newGround(t), newGround(t)
			for _, at := range []*ground{g, elsewhere} {
				at.write("f", content)
				at.write("beside", "x\n")
			}
			shown := func() string {
				s, err := g.open().Show(context.Background(), oxpatch.ShowRequest{Diff: true})
				require.NoError(t, err)
				return string(s.Diff)
			}
			g.apply(envelope("*** Delete File: f"))
			elsewhere.apply(shown())
			assert.NoFileExists(t, elsewhere.path("f"))
			g.undo()
			elsewhere.apply(shown())
			assert.Equal(t, content, elsewhere.read("f"))
			assert.Equal(t, g.image(), elsewhere.image())
		})
	}
}
