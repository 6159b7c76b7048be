package oxpatch_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// roundTrip applies a patch to a.txt ("one") in the folder of an engine and takes it back.
func roundTrip(t *testing.T, g *ground, e *oxpatch.Engine, dir string) *oxpatch.Result {
	t.Helper()
	before := imageOf(t, dir)
	res, err := e.Apply(context.Background(), request(envelope(
		"*** Update File: a.txt", "@@", "-one", "+1", "*** Add File: sub/new.txt", "+new")))
	require.NoError(t, err)
	require.True(t, res.Snapshot.Undoable)
	require.Equal(t, "1\n", readFile(t, filepath.Join(dir, "a.txt")))
	_, err = g.openAt(dir).Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(t, err)
	require.Equal(t, before, imageOf(t, dir))
	return res
}

func TestRepositoriesOfAllKinds(t *testing.T) {
	t.Parallel()
	one := map[string]string{"a.txt": "one\n"}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, one)
		refs, index := g.git("for-each-ref"), readFile(t, g.path(".git/index"))
		res := roundTrip(t, g, g.open(), g.dir)
		assert.Equal(t, g.path(".git/oxpatch/store"), res.Snapshot.Store)
		assert.Equal(t, index, readFile(t, g.path(".git/index")))
		assert.Equal(t, refs, g.git("for-each-ref"), "no ref of the user's")
		assert.Empty(t, g.git("status", "--porcelain"))
		assert.NotContains(t, g.git("fsck", "--strict", "--full"), "dangling")
		assert.Equal(t, "1\n", g.git("rev-list", "--all", "--count"))
		assert.Contains(t, gitIn(t, res.Snapshot.Store, "--git-dir=.", "cat-file", "-t", res.Snapshot.Commit), "commit")
		g.fsck()
		g.apply(replacement("a.txt", "one", "1"))
		assert.Equal(t, " M a.txt\n", g.git("status", "--porcelain", "--untracked-files=all"))
	})
	t.Run("subfolder", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, map[string]string{"a.txt": "top\n", "deep/er/a.txt": "one\n"})
		before := g.image()
		e := g.openAt(g.path("deep/er"))
		assert.Equal(t, g.dir, e.Root())
		res, err := e.Apply(context.Background(), request(replacement("a.txt", "one", "1")))
		require.NoError(t, err)
		assert.Equal(t, []string{"deep/er/a.txt"}, res.AppliedPaths)
		_, err = g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(replacement("er/a.txt", "1", "2")), Base: "deep"})
		require.NoError(t, err)
		_, err = g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(replacement("a.txt", "2", "3")), Base: g.path("deep/er")})
		require.NoError(t, err)
		_, err = e.Apply(context.Background(), request(replacement("../../a.txt", "top", "3")))
		require.NoError(t, err, "above the folder, but inside the root")
		for range 4 {
			g.undo()
		}
		assert.Equal(t, before, g.image())
		_, err = g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("x", "x")), Base: ".."})
		require.ErrorIs(t, err, oxpatch.ErrUnsafePath)
		_, err = g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("x", "x")), Base: "not/there"})
		if err == nil {
			g.undo()
		}
		assert.Equal(t, before, g.image())
	})
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, one, "--object-format=sha256")
		roundTrip(t, g, g.open(), g.dir)
		g.fsck()
		g.git("fsck", "--strict")
		assert.Empty(t, g.git("status", "--porcelain"))
	})
	t.Run("reftable", func(t *testing.T) {
		t.Parallel()
		// As git 2.45 makes one; this git need not know it.
		g := newRepo(t)
		g.write("a.txt", "one\n")
		g.write(".git/HEAD", "ref: refs/heads/.invalid\n")
		g.write(".git/config", "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\trefstorage = reftable\n")
		require.NoError(t, os.RemoveAll(g.path(".git/refs")))
		g.write(".git/refs/heads", "this repository uses the reftable format\n")
		g.write(".git/reftable/tables.list", "")
		res := roundTrip(t, g, g.open(), g.dir)
		assert.Equal(t, g.path(".git/oxpatch/store"), res.Snapshot.Store)
		g.fsck()
	})
	t.Run("linked working tree", func(t *testing.T) {
		t.Parallel()
		g := newGitRepo(t, one)
		linked := filepath.Join(filepath.Dir(g.dir), "linked")
		g.git("worktree", "add", "-q", linked)
		g.apply(replacement("a.txt", "one", "main"))
		res, err := g.openAt(linked).Apply(context.Background(), request(replacement("a.txt", "one", "linked")))
		require.NoError(t, err)
		assert.Equal(t, g.path(".git/oxpatch/store"), res.Snapshot.Store)
		assert.Equal(t, []string{"apply done"}, g.log(), "each has its own history")
		g.undo()
		assert.Equal(t, "linked\n", readFile(t, filepath.Join(linked, "a.txt")))
		_, err = g.openAt(linked).Undo(context.Background(), oxpatch.UndoRequest{})
		require.NoError(t, err)
		assert.Equal(t, "one\n", readFile(t, filepath.Join(linked, "a.txt")))
		g.fsck()
	})
	t.Run("submodule", func(t *testing.T) {
		t.Parallel()
		inner := newGitRepo(t, one)
		g := newGitRepo(t, map[string]string{"a.txt": "outer\n"})
		g.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "sub")
		before := g.image()
		sub := g.path("sub")
		assert.Equal(t, sub, g.openAt(sub).Root())
		res := roundTrip(t, g, g.openAt(sub), sub)
		assert.Equal(t, g.path(".git/modules/sub/oxpatch/store"), res.Snapshot.Store)
		// From outside it is another repository.
		_, err := g.open().Apply(context.Background(), request(replacement("sub/a.txt", "one", "1")))
		if err == nil {
			g.undo()
		}
		assert.Equal(t, before, g.image())
	})
}

func TestGitMovesOnBetweenApplyAndUndo(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*ground, image) {
		g := newGitRepo(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
		before := g.image()
		g.apply(envelope("*** Update File: a.txt", "@@", "-one", "+1", "*** Add File: new.txt", "+new", "*** Delete File: b.txt"))
		return g, before
	}
	t.Run("committed", func(t *testing.T) {
		t.Parallel()
		g, before := start(t)
		g.git("add", "-A")
		g.git("commit", "-q", "-m", "patched")
		g.undo()
		assert.Equal(t, before, g.image())
	})
	t.Run("branch switched with the changes", func(t *testing.T) {
		t.Parallel()
		g, before := start(t)
		g.git("switch", "-q", "-c", "other")
		g.undo()
		assert.Equal(t, before, g.image())
		assert.Empty(t, g.git("status", "--porcelain"))
	})
	t.Run("stashed", func(t *testing.T) {
		t.Parallel()
		g, before := start(t)
		g.git("stash", "-q", "-u")
		was := g.image()
		res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
		require.ErrorIs(t, err, oxpatch.ErrDrift)
		for _, path := range []string{"a.txt", "b.txt", "new.txt"} {
			assert.True(t, hasProblem(res, oxpatch.KindDrift, path), path)
		}
		assert.Equal(t, was, g.image())
		g.git("stash", "pop", "-q")
		g.undo()
		assert.Equal(t, before, g.image())
	})
	t.Run("history rewritten and collected", func(t *testing.T) {
		t.Parallel()
		g, before := start(t)
		g.git("add", "-A")
		g.git("commit", "-q", "--amend", "-m", "amended")
		g.git("reflog", "expire", "--expire=now", "--all")
		g.git("gc", "-q", "--prune=now")
		g.undo()
		assert.Equal(t, before, g.image())
	})
}

func TestWithoutARepository(t *testing.T) {
	t.Parallel()
	t.Run("folder renamed", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("a.txt", "one\n")
		before := g.image()
		g.apply(replacement("a.txt", "one", "1"))
		renamed := g.dir + " renamed"
		require.NoError(t, os.Rename(g.dir, renamed))
		g.dir = renamed
		g.undo()
		assert.Equal(t, before, g.image())
	})
	t.Run("from a folder below", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("in/a.txt", "one\n")
		before := g.image()
		g.apply(replacement("in/a.txt", "one", "1"))
		e := g.openAt(g.path("in"))
		assert.Equal(t, g.dir, e.Root(), "the folder above is known")
		_, err := e.Undo(context.Background(), oxpatch.UndoRequest{})
		require.NoError(t, err)
		assert.Equal(t, before, g.image())
	})
	t.Run("a repository is made afterwards", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("a.txt", "one\n")
		before := g.image()
		g.apply(replacement("a.txt", "one", "1"))
		g.git("init", "-q")
		g.apply(replacement("a.txt", "1", "2"))
		g.undo()
		g.undo()
		assert.Equal(t, before, g.image(), "both stores count")
		assert.Len(t, g.log(), 4)
	})
	t.Run("another folder in its place", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("a.txt", "one\n")
		g.apply(replacement("a.txt", "one", "1"))
		g.remove(".")
		g.dir = filepath.Dir(g.dir) + "/tree"
		require.NoError(t, os.MkdirAll(g.dir, 0o755))
		g.write("a.txt", "something else\n")
		was := g.image()
		_, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
		require.Error(t, err)
		assert.Equal(t, was, g.image())
	})
}

func TestWhereTheStoreIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  func(base string) map[string]string
		want string // relative to the folder above the tree
	}{
		"XDG_STATE_HOME": {func(b string) map[string]string { return map[string]string{"XDG_STATE_HOME": b + "/xdg"} }, "xdg/oxpatch/store"},
		"HOME":           {func(b string) map[string]string { return map[string]string{"HOME": b + "/home"} }, "home/.local/state/oxpatch/store"},
		"OXPATCH_STORE": {func(b string) map[string]string {
			return map[string]string{"HOME": b + "/home", "XDG_STATE_HOME": b + "/xdg", "OXPATCH_STORE": b + "/mine"}
		}, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			base := filepath.Dir(g.dir)
			require.NoError(t, os.Mkdir(filepath.Join(base, "home"), 0o755))
			g.env = c.env(base)
			g.write("a.txt", "one\n")
			res := roundTrip(t, g, g.open(), g.dir)
			assert.Equal(t, filepath.Join(base, c.want), res.Snapshot.Store)
			info, err := os.Stat(res.Snapshot.Store)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "what was replaced may be secret")
			g.fsck()
		})
	}
}

// Inside a repository no home is needed; outside of one there is no place without it, and a home that
// does not exist is not made.
func TestNoHome(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.env = nil
	g.write("a.txt", "one\n")
	res := roundTrip(t, g, g.open(), g.dir)
	assert.Equal(t, g.path(".git/oxpatch/store"), res.Snapshot.Store)

	g = newGround(t)
	g.env = map[string]string{"HOME": filepath.Join(filepath.Dir(g.dir), "nowhere"), "XDG_STATE_HOME": "relative"}
	res, err := g.open().Apply(context.Background(), request(addition("a.txt", "a")))
	require.ErrorIs(t, err, oxpatch.ErrNoSnapshot)
	assert.True(t, hasProblem(res, oxpatch.KindNoSnapshot, ""))
	assert.Empty(t, g.image())
	assert.NoDirExists(t, g.env["HOME"])
	_, err = g.open(oxpatch.WithoutSnapshot()).Apply(context.Background(), request(addition("a.txt", "a")))
	require.NoError(t, err)
	assert.Empty(t, g.operations())
	g.nothingToUndo()
}

// unwritable gives a tree whose records can go nowhere: where folders should be there are files, so
// that not even the superuser can make them.
func unwritable(t *testing.T, repo bool) *ground {
	g := newGround(t)
	if repo {
		g.asRepo()
		g.write(".git/oxpatch", "in the way\n")
	}
	blocked := filepath.Join(filepath.Dir(g.dir), "blocked")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	g.env = map[string]string{"XDG_STATE_HOME": filepath.Join(blocked, "state")}
	g.write("a.txt", "one\n")
	return g
}

func TestNoPlaceForRecords(t *testing.T) {
	t.Parallel()
	for name, repo := range map[string]bool{"in a repository": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := unwritable(t, repo)
			before := g.image()
			patch := replacement("a.txt", "one", "1")
			res, err := g.open().Apply(context.Background(), request(patch))
			require.ErrorIs(t, err, oxpatch.ErrNoSnapshot)
			assert.True(t, hasProblem(res, oxpatch.KindNoSnapshot, ""))
			assert.Contains(t, res.Problems[0].Hint, "--no-snapshot")
			assert.False(t, res.OK || res.Applied)
			assert.Equal(t, before, g.image())

			res, err = g.open(oxpatch.WithoutSnapshot()).Apply(context.Background(), request(patch))
			require.NoError(t, err)
			assert.True(t, res.Applied)
			assert.False(t, res.Snapshot.Undoable)
			assert.NotEmpty(t, res.Snapshot.Reason)
			assert.Empty(t, res.ID)
			assert.Equal(t, "1\n", g.read("a.txt"))

			// Codex goes on without a word, but the result says so.
			res, err = g.open().Apply(context.Background(), codexRequest(replacement("a.txt", "1", "2")))
			require.NoError(t, err)
			assert.False(t, res.Snapshot.Undoable)
			assert.Equal(t, "2\n", g.read("a.txt"))
			stdout, stderr := res.CodexOutput()
			assert.Equal(t, "Success. Updated the following files:\nM a.txt\n", stdout)
			assert.Empty(t, stderr)
		})
	}
	t.Run("another place is taken", func(t *testing.T) {
		t.Parallel()
		g := newRepo(t)
		g.write(".git/oxpatch", "in the way\n")
		g.write("a.txt", "one\n")
		res := roundTrip(t, g, g.open(), g.dir)
		assert.Equal(t, filepath.Join(g.env["XDG_STATE_HOME"], "oxpatch/store"), res.Snapshot.Store)
	})
}

// A store or a record of a later version is refused by name, and nothing is touched.
func TestNewerStores(t *testing.T) {
	t.Parallel()
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("a.txt", "one\n")
		store := g.apply(replacement("a.txt", "one", "1")).Snapshot.Store
		require.NoError(t, os.WriteFile(filepath.Join(store, "format"), []byte("oxpatch store 99\n"), 0o600))
		refusedAsNewer(t, g, store)
	})
	t.Run("store with older operations in another", func(t *testing.T) {
		t.Parallel()
		g := newRepo(t)
		g.write("a.txt", "one\n")
		g.apply(replacement("a.txt", "one", "1"))
		g.env["OXPATCH_STORE"] = filepath.Join(filepath.Dir(g.dir), "mine")
		store := g.apply(replacement("a.txt", "1", "2")).Snapshot.Store
		require.NoError(t, os.WriteFile(filepath.Join(store, "format"), []byte("oxpatch store 99\n"), 0o600))
		refusedAsNewer(t, g, store)
	})
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		g := newGround(t)
		g.write("a.txt", "one\n")
		g.apply(replacement("a.txt", "one", "1"))
		op := g.operations()[0]
		ref := newerRecord(t, op)
		was := g.image()
		for _, check := range []bool{true, false} {
			res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: check})
			require.Error(t, err)
			assert.Contains(t, err.Error(), "version 99")
			assert.False(t, res.Applied)
		}
		assert.Equal(t, was, g.image())
		assert.FileExists(t, ref)
	})
}

func refusedAsNewer(t *testing.T, g *ground, store string) {
	t.Helper()
	was, stored := g.image(), imageOf(t, store)
	calls := map[string]func() (*oxpatch.Result, error){
		"apply": func() (*oxpatch.Result, error) {
			return g.open().Apply(context.Background(), request(addition("b.txt", "b")))
		},
		"apply check": func() (*oxpatch.Result, error) {
			return g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("b.txt", "b")), Check: true})
		},
		"undo": func() (*oxpatch.Result, error) {
			return g.open().Undo(context.Background(), oxpatch.UndoRequest{})
		},
		"undo check": func() (*oxpatch.Result, error) {
			return g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: true})
		},
		"recover": func() (*oxpatch.Result, error) {
			return g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
		},
	}
	for name, call := range calls {
		res, err := call()
		require.Error(t, err, name)
		assert.True(t, hasProblem(res, oxpatch.KindUnsupported, ""), "%s: %v", name, res.Problems)
		assert.Contains(t, err.Error(), "version 99", name)
		assert.False(t, res.Applied, name)
	}
	assert.Equal(t, was, g.image())
	now := imageOf(t, store)
	for path := range maps.Clone(now) {
		if strings.HasSuffix(path, "holder") || strings.HasSuffix(path, "lock") {
			delete(now, path)
			delete(stored, path)
		}
	}
	assert.Equal(t, stored, now, "the store is left alone")
}

// newerRecord puts a record of a later version in the place of an operation's, as git would see it.
func newerRecord(t *testing.T, op oxpatch.Operation) (ref string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(op.Store, "refs"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), op.ID) {
			ref = path
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, ref, "the operation's ref is not found")
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", append([]string{"--git-dir=."}, args...)...)
		cmd.Dir, cmd.Env, cmd.Stdin = op.Store, gitEnviron(op.Store), strings.NewReader(stdin)
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	blob := git(`{"version":99,"id":"`+op.ID+`"}`, "hash-object", "-w", "--stdin")
	tree := git("100644 blob "+blob+"\tmeta\n", "mktree")
	commit := git("", "commit-tree", tree, "-m", "newer")
	require.NoError(t, os.Chmod(ref, 0o600))
	require.NoError(t, os.WriteFile(ref, []byte(commit+"\n"), 0o600))
	return ref
}
