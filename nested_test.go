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

// nested is a repository with another one in the folder inner, in both of which f.txt is committed.
type nested struct {
	make func(t *testing.T) *ground
	// noGit: the inner one has no working git directory, so git mode and the store in it are not to be had.
	noGit bool
	// store is the folder of the inner one's store, relative to the outer root.
	store string
}

func nestedKinds() map[string]nested {
	outer := func(t *testing.T) *ground {
		g := newBareGround(t)
		g.write("f.txt", numbered(20, nil))
		g.commit()
		return g
	}
	inner := func(t *testing.T, g *ground) {
		in := &ground{t: t, dir: g.path("inner"), env: g.env}
		require.NoError(t, os.MkdirAll(in.dir, 0o755))
		in.init()
		in.write("f.txt", numbered(20, nil))
		in.commit()
	}
	return map[string]nested{
		"a submodule": {store: ".git/modules/inner/oxpatch/store", make: func(t *testing.T) *ground {
			lib, g := outer(t), outer(t)
			g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "inner")
			g.commit()
			return g
		}},
		"a submodule that keeps its git directory": {store: "inner/.git/oxpatch/store", make: func(t *testing.T) *ground {
			g := outer(t)
			inner(t, g)
			g.git("add", "inner")
			g.git("commit", "-q", "-m", "m")
			return g
		}},
		"an untracked repository": {store: "inner/.git/oxpatch/store", make: func(t *testing.T) *ground {
			g := outer(t)
			inner(t, g)
			return g
		}},
		"a linked working tree": {store: ".git/oxpatch/store", make: func(t *testing.T) *ground {
			g := outer(t)
			g.git("worktree", "add", "-q", "--detach", "inner")
			return g
		}},
		"a git directory behind a link": {store: "real.git/oxpatch/store", make: func(t *testing.T) *ground {
			g := outer(t)
			inner(t, g)
			require.NoError(t, os.Rename(g.path("inner/.git"), g.path("real.git")))
			g.link("../real.git", "inner/.git")
			return g
		}},
		"a repository whose git directory is gone": {noGit: true, store: "../state/oxpatch/store", make: func(t *testing.T) *ground {
			g := outer(t)
			g.write("inner/f.txt", numbered(20, nil))
			g.write("inner/.git", "gitdir: /nowhere/at/all\n")
			return g
		}},
	}
}

// A folder that no repository has is the root of all that is below it, as a folder of several projects.
func TestRepositoriesInAFolderWithoutOne(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	in := &ground{t: t, dir: g.path("inner"), env: g.env}
	require.NoError(t, os.Mkdir(in.dir, 0o755))
	in.init()
	in.write("f.txt", numbered(20, nil))
	in.commit()
	before := everything(t, g.dir)
	res := g.apply(replacement("inner/f.txt", "line 10", "ten"))
	assert.Equal(t, []string{"inner/f.txt"}, res.AppliedPaths)
	assert.Equal(t, filepath.Join(g.env["XDG_STATE_HOME"], "oxpatch", "store"), res.Snapshot.Store)
	in.nothingToUndo()
	g.undo()
	requireImage(t, before, everything(t, g.dir), "undo")
	g.checkpoint("inner/f.txt")
	_, err := g.open().Apply(context.Background(), request(replacement("inner/.git/HEAD", "ref: refs/heads/main", "x")))
	require.ErrorIs(t, err, oxpatch.ErrUnsafePath)
}

// A file of a nested repository belongs to that one, to its root and to its history.
func TestNestedRepositories(t *testing.T) {
	t.Parallel()
	const edit = "--- a/f.txt\n+++ b/f.txt\n@@ -9,3 +9,3 @@\n line 9\n-line 10\n+ten\n line 11\n"
	for name, kind := range nestedKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := kind.make(t)
			g.link("inner", "via")
			before := everything(t, g.dir)
			refused := func(req oxpatch.Request) {
				t.Helper()
				for _, check := range []bool{true, false} {
					req.Check = check
					res, err := g.open().Apply(context.Background(), req)
					require.ErrorIs(t, err, oxpatch.ErrUnsafePath)
					require.Len(t, res.Problems, 1)
					require.True(t, hasProblem(res, oxpatch.KindUnsafePath, ""), "%v", res.Problems)
					assert.Contains(t, res.Problems[0].Message, "inner, which is a repository of its own")
					assert.Contains(t, res.Problems[0].Hint, "run oxpatch in inner,")
					assert.False(t, res.Applied)
					requireImage(t, before, everything(t, g.dir), "refused")
				}
			}
			refused(request(replacement("inner/f.txt", "line 10", "ten")))
			refused(request(addition("inner/deep/new.txt", "new")))
			refused(request(envelope("*** Delete File: inner/f.txt")))
			refused(request(envelope("*** Update File: f.txt", "*** Move to: inner/g.txt", "@@", "-line 10", "+ten")))
			refused(request(replacement("via/f.txt", "line 10", "ten")))
			refused(oxpatch.Request{Patch: []byte(replacement("f.txt", "line 10", "ten")), Base: "inner"})
			refused(oxpatch.Request{Patch: []byte(replacement(g.path("inner/f.txt"), "line 10", "ten"))})
			refused(request(unifiedEdit("inner/f.txt", "line 9", "line 11")))
			refused(gitRequest(unifiedEdit("inner/f.txt", "line 9", "line 11")))
			for _, path := range []string{"inner", "inner/f.txt", "via/f.txt"} {
				_, err := g.open().Checkpoint(context.Background(), oxpatch.CheckpointRequest{Paths: []string{path}})
				require.ErrorIs(t, err, oxpatch.ErrUnsafePath, path)
			}
			assert.Empty(t, g.log())

			// In it, everything works, and goes to its own history.
			in := &ground{t: t, dir: g.path("inner"), env: g.env}
			assert.Equal(t, in.dir, in.open().Root())
			require.NoError(t, os.Mkdir(in.path("folder"), 0o755))
			assert.Equal(t, in.dir, in.openAt(in.path("folder")).Root(), "from a folder in it")
			require.NoError(t, os.Remove(in.path("folder")))
			was := in.image()
			res := in.apply(replacement("f.txt", "line 10", "ten"))
			assert.Equal(t, g.path(kind.store), res.Snapshot.Store)
			in.undo()
			requireImage(t, was, in.image(), "undo")
			ops := 2
			if !kind.noGit {
				in.roundTrip(gitRequest(edit), func() { assert.Equal(t, "M  f.txt\n", in.git("status", "--porcelain")) })
				ops += 2
			}
			assert.Len(t, in.log(), ops)
			assert.Empty(t, g.log(), "the outer history has nothing of it")
			g.nothingToUndo()
			in.fsck()
			_, err := in.open().Apply(context.Background(), request(replacement("../f.txt", "line 10", "ten")))
			require.ErrorIs(t, err, oxpatch.ErrUnsafePath, "out of it")

			// Codex knows no borders; what it does is in the history of the root that it ran in.
			all := g.image()
			_, err = g.open().Apply(context.Background(), codexRequest(replacement("inner/f.txt", "line 10", "ten")))
			require.NoError(t, err)
			assert.Equal(t, numbered(20, map[int]string{10: "ten"}), in.read("f.txt"))
			assert.Len(t, in.log(), ops)
			if _, err := os.Stat(g.path(".git")); err != nil {
				assert.Empty(t, g.log(), "without a repository Codex is not recorded")
				return
			}
			g.undo()
			requireImage(t, all, g.image(), "Codex undone")
		})
	}
}

// What only looks like a repository is none: git goes into it, and so does a patch.
func TestFoldersThatAreNoRepositories(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(g *ground){
		"an empty .git folder":    func(g *ground) { require.NoError(t, os.Mkdir(g.path("inner/.git"), 0o755)) },
		"a .git folder of others": func(g *ground) { g.write("inner/.git/HEAD", "nothing git knows\n") },
		"a .gitignore":            func(g *ground) { g.write("inner/.gitignore", "x\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBareGround(t)
			g.write("inner/f.txt", numbered(20, nil))
			build(g)
			g.commit()
			edit := "--- a/inner/f.txt\n+++ b/inner/f.txt\n@@ -9,3 +9,3 @@\n line 9\n-line 10\n+ten\n line 11\n"
			g.roundTrip(gitRequest(edit), func() { assert.Equal(t, "M  inner/f.txt\n", g.git("status", "--porcelain")) })
			g.roundTrip(oxpatch.Request{Patch: []byte(edit), Mode: oxpatch.ModeText}, nil)
			assert.Equal(t, g.dir, g.openAt(g.path("inner")).Root())
			for _, req := range []oxpatch.CheckpointRequest{{Tree: true}, {Paths: []string{"inner"}}, {Paths: []string{"inner/f.txt"}}} {
				saved, err := g.open().Checkpoint(context.Background(), req)
				require.NoError(t, err)
				g.write("inner/f.txt", "else\n")
				_, err = g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: saved.ID})
				require.NoError(t, err)
				assert.Equal(t, numbered(20, nil), g.read("inner/f.txt"), "%+v", req)
			}
		})
	}
}

// The inside of a repository that came to be after the operation is still undone from where the
// operation ran; the new root has no history.
func TestUndoInAFolderThatBecameARepository(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]oxpatch.Mode{"text": oxpatch.ModeText, "git": oxpatch.ModeGit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBareGround(t)
			g.write("inner/f.txt", numbered(20, nil))
			g.commit()
			before := g.image()
			g.must(oxpatch.Request{Patch: []byte(unifiedEdit("inner/f.txt", "line 9", "line 11")), Mode: mode})
			in := &ground{t: t, dir: g.path("inner"), env: g.env}
			in.init()
			in.nothingToUndo()
			assert.Equal(t, filepath.Join(g.dir, "inner"), in.open().Root())
			g.undo()
			requireImage(t, before, g.image(), "undo")
		})
	}
}
