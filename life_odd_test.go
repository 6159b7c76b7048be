package oxpatch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// inBothModes runs a test in text and in git mode.
func inBothModes(t *testing.T, run func(t *testing.T, mode oxpatch.Mode)) {
	t.Helper()
	for _, mode := range []oxpatch.Mode{oxpatch.ModeText, oxpatch.ModeGit} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			run(t, mode)
		})
	}
}

// A submodule's history is in its git directory and goes with it.
func TestSubmodulesMove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between func(t *testing.T, g *ground) (in *ground)
		drift   []string
	}{
		"the superproject commits it": {between: func(_ *testing.T, g *ground) *ground {
			in := g.beside("tree/sub")
			in.git("add", "-A")
			in.git("commit", "-q", "-m", "m")
			g.commit()
			in.git("reset", "-q", "--soft", "HEAD~") // so that the index is as before, for the comparison below
			in.git("reset", "-q")
			return in
		}},
		"moved by git": {between: func(_ *testing.T, g *ground) *ground {
			g.git("mv", "sub", "elsewhere")
			return g.beside("tree/elsewhere")
		}},
		"superproject renamed": {between: func(t *testing.T, g *ground) *ground {
			require.NoError(t, os.Rename(g.dir, g.dir+" renamed"))
			return g.beside("tree renamed/sub")
		}},
		"superproject switched": {between: func(_ *testing.T, g *ground) *ground {
			g.git("switch", "-q", "-c", "fresh")
			return g.beside("tree/sub")
		}},
		"taken out and in again": {drift: []string{"in/f.txt"}, between: func(_ *testing.T, g *ground) *ground {
			g.git("submodule", "--quiet", "deinit", "-f", "sub")
			g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			return g.beside("tree/sub")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
				lib, g := seeded(t), seeded(t)
				g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "sub")
				g.commit()
				in := g.beside("tree/sub")
				before := in.image()
				in.must(oxpatch.Request{Patch: []byte(unifiedEdit("in/f.txt", "line 9", "line 11")), Mode: mode})
				in = c.between(t, g)
				if c.drift != nil {
					in.refusedForDrift(c.drift)
					return
				}
				in.undo()
				requireImage(t, before, in.image(), "undone")
				assert.Empty(t, in.git("status", "--porcelain"))
				in.nothingToUndo()
				in.fsck()
				in.git("fsck", "--strict")
			})
		})
	}
	t.Run("taken in by a superproject", func(t *testing.T) {
		t.Parallel()
		inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
			g := seeded(t)
			in := g.beside("tree/sub")
			require.NoError(t, os.Mkdir(in.dir, 0o755))
			in.init()
			in.write("f.txt", numbered(20, nil))
			in.commit()
			before := in.twin()
			store := in.must(oxpatch.Request{Patch: []byte(unifiedEdit("f.txt", "line 9", "line 11")), Mode: mode}).Snapshot.Store
			assert.Equal(t, in.path(".git/oxpatch/store"), store)
			g.git("submodule", "--quiet", "add", "./sub")
			g.git("submodule", "--quiet", "absorbgitdirs")
			in.undo()
			requireTwin(t, before, in.twin(), "undone")
			assert.Equal(t, g.path(".git/modules/sub/oxpatch/store"), in.operations()[0].Store)
			assert.Empty(t, g.log())
			in.fsck()
		})
	})
}

// A submodule that is not checked out is a plain folder of the outer root for text mode; git mode can put
// nothing there into the index.
func TestSubmodulesThatAreNotThere(t *testing.T) {
	t.Parallel()
	lib, origin := seeded(t), seeded(t)
	origin.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "sub")
	origin.commit()
	origin.git("clone", "-q", ".", "../clone")
	g := origin.beside("clone")
	before := g.twin()
	g.must(request(addition("sub/new.txt", "new")))
	g.undo()
	requireTwin(t, before, g.twin(), "undone")
	g.refused(gitRequest(addedByGit("sub/new.txt")), nil)
}

// A folder that was replaced by a link is another one, whatever files the link leads to.
func TestUndoDoesNotFollowLinksThatCameSince(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
		g := seeded(t)
		g.must(oxpatch.Request{Patch: []byte(unifiedEdit("in/f.txt", "line 9", "line 11")), Mode: mode})
		away := filepath.Join(filepath.Dir(g.dir), "away")
		require.NoError(t, os.Rename(g.path("in"), away))
		g.link("../away", "in")
		outside := imageOf(t, away)
		g.refusedForDrift([]string{"in/f.txt"})
		assert.Equal(t, outside, imageOf(t, away))
		require.NoError(t, os.Rename(away, g.path("away"))) // inside of the tree too
		g.remove("in")
		g.link("away", "in")
		g.refusedForDrift([]string{"in/f.txt"})
		g.remove("in")
		require.NoError(t, os.Rename(g.path("away"), g.path("in")))
		g.undo()
		assert.Empty(t, g.git("status", "--porcelain"))
	})
}

// A linked working tree that takes the place and name of a removed one finds that one's history.
// Contents decide: what is not there is not taken back.
func TestAWorkingTreeInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
		g := seeded(t)
		g.git("worktree", "add", "-q", "--detach", "../linked")
		in := g.beside("linked")
		edit := oxpatch.Request{Patch: []byte(unifiedEdit("in/f.txt", "line 9", "line 11")), Mode: mode}
		in.must(edit)
		g.git("worktree", "remove", "--force", "../linked")
		g.git("worktree", "add", "-q", "--detach", "../linked")
		before := in.twin()
		in.refusedForDrift([]string{"in/f.txt"})
		in.must(edit)
		in.undo()
		requireTwin(t, before, in.twin(), "its own operation is undone")
		in.refusedForDrift([]string{"in/f.txt"})
	})
}

// The file system above and below: a repository that is made above the root takes over; what was
// recorded before is found again when it is gone.
func TestARepositoryMadeAbove(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	in := g.beside("tree/project")
	in.write("a.txt", "one\n")
	before := in.image()
	in.apply(replacement("a.txt", "one", "1"))
	g.init()
	after := in.image()
	assert.Equal(t, g.dir, in.open().Root())
	in.nothingToUndo()
	requireImage(t, after, in.image(), "nothing is touched")
	in.env["GIT_CEILING_DIRECTORIES"] = g.dir
	assert.Equal(t, in.dir, in.open().Root())
	in.undo()
	requireImage(t, before, in.image(), "below a ceiling")
	in.apply(replacement("a.txt", "one", "1"))
	delete(in.env, "GIT_CEILING_DIRECTORIES")
	g.remove(".git")
	in.undo()
	requireImage(t, before, in.image(), "without the repository above")
}

// Both a working tree's own store and one outside are read, whichever the environment names at the time.
func TestTheStoreChangesBetween(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
		g := seeded(t)
		before := g.twin()
		mine := filepath.Join(filepath.Dir(g.dir), "mine")
		first := g.must(oxpatch.Request{Patch: []byte(unifiedEdit("in/f.txt", "line 9", "line 11")), Mode: mode})
		g.env["OXPATCH_STORE"] = mine
		second := g.must(oxpatch.Request{Patch: []byte(addedByGit("new.txt")), Mode: mode})
		assert.Equal(t, mine, second.Snapshot.Store)
		assert.NotEqual(t, mine, first.Snapshot.Store)
		g.undo()
		g.undo()
		requireTwin(t, before, g.twin(), "both undone")
		g.nothingToUndo()
		g.fsck()
		delete(g.env, "OXPATCH_STORE")
		res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
		require.ErrorIs(t, err, oxpatch.ErrDrift, "the undo of the first is recorded where nobody looks now; contents decide")
		assert.False(t, res.Applied)
		requireTwin(t, before, g.twin(), "nothing is taken back twice")
	})
}

// In a hook GIT_DIR is set, for a linked working tree to a folder elsewhere, and the current folder may
// be any. It is the same root and the same history as without.
func TestInAHook(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
		for name, lead := range map[string]func(g *ground) (*ground, string){
			"main":   func(g *ground) (*ground, string) { return g, g.path(".git") },
			"linked": linkedFor,
			"submodule": func(g *ground) (*ground, string) {
				g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", seeded(t).dir, "sub")
				return g.beside("tree/sub"), g.path(".git/modules/sub")
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g, gitDir := lead(seeded(t))
				g.write("f.txt", numbered(20, nil)) // another of the same name and content
				g.git("add", "f.txt")
				before := g.twin()
				g.env["GIT_DIR"], g.env["GIT_INDEX_FILE"] = gitDir, filepath.Join(gitDir, "index")
				hook := g.openAt(g.path("in"))
				assert.Equal(t, g.dir, hook.Root())
				res, err := hook.Apply(context.Background(), oxpatch.Request{Patch: []byte(unifiedEdit("f.txt", "line 9", "line 11")), Mode: mode})
				require.NoError(t, err)
				assert.Equal(t, []string{"in/f.txt"}, res.AppliedPaths)
				delete(g.env, "GIT_DIR")
				delete(g.env, "GIT_INDEX_FILE")
				g.undo()
				requireTwin(t, before, g.twin(), "undone without")
				assert.Len(t, g.log(), 2)
			})
		}
	})
}

func linkedFor(g *ground) (*ground, string) {
	g.git("worktree", "add", "-q", "--detach", "../linked")
	return g.beside("linked"), g.path(".git/worktrees/linked")
}

// A folder that the environment lends a git directory has a history of its own: its files have nothing to
// do with those of the same names in the repository's working tree.
func TestLentGitDirectories(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, mode oxpatch.Mode) {
		g := seeded(t)
		other := g.beside("other")
		require.NoError(t, os.CopyFS(other.dir, os.DirFS(g.dir)))
		other.remove(".git")
		other.env = map[string]string{"GIT_DIR": g.path(".git"), "GIT_WORK_TREE": other.dir}
		before, beforeOther := g.twin(), other.image()
		edit := oxpatch.Request{Patch: []byte(unifiedEdit("in/f.txt", "line 9", "line 11")), Mode: mode}
		res := other.must(edit)
		assert.Equal(t, g.path(".git/oxpatch/store"), res.Snapshot.Store)
		assert.Equal(t, other.dir, other.open().Root())
		g.write("in/f.txt", numbered(20, map[int]string{10: "ten"})) // as the operation left it there
		g.nothingToUndo()
		assert.Len(t, other.log(), 1)
		other.undo()
		requireImage(t, beforeOther, other.image(), "undone")
		g.git("checkout", "-q", "--", "in/f.txt")
		requireTwin(t, before, g.twin(), "the working tree of the repository")
	})
}
