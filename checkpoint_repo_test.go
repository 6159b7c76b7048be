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

func TestCheckpointsInRepositoriesOfAllKinds(t *testing.T) {
	t.Parallel()
	round := func(t *testing.T, g *ground, path string) {
		t.Helper()
		before, status := g.image(), g.git("status", "--porcelain")
		id := g.checkpoint().ID
		g.write(path, "spoilt\n")
		g.write("new/file", "new\n")
		g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
		assert.Equal(t, before, g.image())
		assert.Equal(t, status, g.git("status", "--porcelain"))
		g.fsck()
	}
	files := map[string]string{"in/a.txt": "a\n", "out/b.txt": "b\n", "c.txt": "c\n"}
	t.Run("sparse", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, files)
		g.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
		require.NoDirExists(t, g.path("out"))
		round(t, g, "in/a.txt")
		assert.NoDirExists(t, g.path("out"), "what is not checked out is not brought in")
	})
	t.Run("linked worktree", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, files)
		linked := *g
		linked.dir = filepath.Join(filepath.Dir(g.dir), "linked")
		g.git("worktree", "add", "-q", linked.dir)
		round(t, &linked, "c.txt")
		round(t, g, "c.txt")
		require.NoError(t, os.Remove(g.path("c.txt")))
		_, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: linked.operations()[0].ID})
		require.Error(t, err, "that is another root's")
		assert.Len(t, linked.log(), 2)
	})
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		round(t, newGitRepo(t, files, "--object-format=sha256"), "c.txt")
	})
	t.Run("conflicts in the index, removed and intended files", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, files)
		g.git("switch", "-q", "-c", "other")
		g.write("c.txt", "theirs\n")
		g.git("commit", "-qam", "theirs")
		g.git("switch", "-q", "main")
		g.write("c.txt", "ours\n")
		g.git("commit", "-qam", "ours")
		g.git("read-tree", "-m", "main~1", "main", "other")
		require.Contains(t, g.git("ls-files", "-u"), "c.txt")
		g.git("rm", "-q", "--cached", "out/b.txt")
		g.write("later", "later\n")
		g.git("add", "-N", "later")
		round(t, g, "c.txt")
	})
	t.Run("a branch and back", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, files)
		id := g.checkpoint().ID
		before := g.image()
		g.git("switch", "-q", "-c", "other")
		g.git("rm", "-q", "-r", "out")
		g.write("in/a.txt", strings.Repeat("other\n", 100))
		g.git("commit", "-qam", "other")
		g.checkpoint()
		g.git("switch", "-q", "main")
		assert.Zero(t, g.checkpoint().Tree.Stored, "all of it is in the store")
		g.git("switch", "-q", "other")
		g.restore(oxpatch.RestoreRequest{ID: id})
		assert.Equal(t, before, g.image())
	})
	t.Run("submodule", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, files)
		lib := newGitRepo(t, map[string]string{"x.txt": "x\n"})
		g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "lib")
		res := g.checkpoint()
		assert.Equal(t, []string{"lib"}, warnedOf(res, oxpatch.KindUnsupported))
		g.write("lib/x.txt", "theirs to keep\n")
		g.restore(oxpatch.RestoreRequest{ID: res.ID, DeleteNew: true})
		assert.Equal(t, "theirs to keep\n", g.read("lib/x.txt"))
		sub := *g
		sub.dir = g.path("lib")
		round(t, &sub, "x.txt")
	})
	t.Run("store in the tree", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.env["OXPATCH_STORE"] = g.path("my/store")
		g.write("a.txt", "a\n")
		for range 2 {
			res := g.checkpoint()
			assert.Equal(t, 1, res.Tree.Files)
			assert.Empty(t, res.Problems)
		}
	})
}

// New files of a tree go only where what was ignored at the checkpoint is ignored still, whatever part of the
// tree is restored; and what a refusal says is the way out.
func TestRestoreNeverTakesIgnoredFilesForNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(g *ground)
		paths []string
		rules string // that are in the way; "" for none
		gone  []string
	}{
		"changed":              {spoil: func(g *ground) { g.write(".gitignore", "x\n") }, rules: ".gitignore"},
		"removed":              {spoil: func(g *ground) { g.remove(".gitignore") }, rules: ".gitignore"},
		"changed, a part":      {spoil: func(g *ground) { g.write(".gitignore", "x\n") }, paths: []string{"d"}, rules: ".gitignore"},
		"changed below":        {spoil: func(g *ground) { g.write("d/.gitignore", "x\n") }, rules: "d/.gitignore"},
		"changed elsewhere":    {spoil: func(g *ground) { g.write("d/.gitignore", "x\n") }, paths: []string{"new.txt"}, gone: []string{"new.txt"}},
		"only the permissions": {spoil: func(g *ground) { require.NoError(g.t, os.Chmod(g.path(".gitignore"), 0o600)) }, gone: []string{"new.txt"}},
		"new, ignores more":    {spoil: func(g *ground) { g.write("e/.gitignore", "*.tmp\n"); g.write("e/f", "f\n") }, gone: []string{"new.txt", "e/f", "e/.gitignore"}},
		"new, ignores less":    {spoil: func(g *ground) { g.write("d/e/.gitignore", "!*.log\n") }, rules: "d/e/.gitignore"},
		"in the place of its folder": {
			spoil: func(g *ground) { require.NoError(g.t, os.RemoveAll(g.path("d"))); g.link("e", "d") },
			gone:  []string{"new.txt"},
		},
		"a folder in its place": {
			spoil: func(g *ground) { g.remove(".gitignore"); g.write(".gitignore/x", "x\n") }, rules: ".gitignore",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitRepo(t, map[string]string{".gitignore": "*.log\n", "d/.gitignore": "*.o\n", "d/a.txt": "a\n"})
			g.write("top.log", "precious\n")
			g.write("d/e/deep.log", "precious\n")
			g.write("d/out.o", "precious\n")
			id := g.checkpoint().ID
			g.write("new.txt", "new\n")
			c.spoil(g)
			spoilt := g.image()
			req := oxpatch.RestoreRequest{ID: id, Paths: c.paths, DeleteNew: true}
			if c.rules != "" {
				res, err := g.open().Restore(context.Background(), req)
				require.ErrorIs(t, err, oxpatch.ErrDrift)
				require.Len(t, res.Problems, 1)
				assert.Equal(t, c.rules, res.Problems[0].Path)
				assert.Contains(t, res.Problems[0].Hint, "oxpatch restore "+id+" --delete-new -- "+c.rules)
				assert.Equal(t, spoilt, g.image())
				g.restore(oxpatch.RestoreRequest{ID: id, Paths: []string{c.rules}, DeleteNew: true})
			}
			g.restore(req)
			for _, name := range c.gone {
				assert.NoFileExists(t, g.path(name))
			}
			for _, kept := range []string{"top.log", "d/e/deep.log", "d/out.o"} {
				if _, was := spoilt[kept]; was {
					assert.Equal(t, "precious\n", g.read(kept))
				}
			}
		})
	}
}
