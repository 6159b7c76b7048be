package oxpatch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// checkpoint records paths, or the whole tree without any; it must work.
func (g *ground) checkpoint(paths ...string) *oxpatch.Result {
	g.t.Helper()
	res, err := g.open().Checkpoint(context.Background(), oxpatch.CheckpointRequest{Paths: paths, Tree: len(paths) == 0})
	require.NoError(g.t, err)
	require.True(g.t, res.OK && res.Exact && !res.Applied)
	require.NotEmpty(g.t, res.ID)
	return res
}

// restore brings back what an operation recorded; it must work.
func (g *ground) restore(req oxpatch.RestoreRequest) *oxpatch.Result {
	g.t.Helper()
	res, err := g.open().Restore(context.Background(), req)
	require.NoError(g.t, err)
	require.True(g.t, res.OK && res.Exact)
	require.Equal(g.t, res.ID != "", res.Applied)
	return res
}

// warnedOf lists the paths of the warnings of a kind.
func warnedOf(res *oxpatch.Result, kind oxpatch.Kind) []string {
	paths := []string{}
	for _, p := range res.Problems {
		if p.Severity == oxpatch.SeverityWarning && p.Kind == kind {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// settleTimes waits until no file of the tree counts as changed just now.
func settleTimes() { time.Sleep(150 * time.Millisecond) }

// oddTree writes what a tree can hold.
func oddTree(g *ground) {
	g.write("plain.txt", "plain\n")
	g.writeMode("tool.sh", "#!/bin/sh\n", 0o755)
	g.writeMode("secret", "s\n", 0o600)
	g.write("empty", "")
	g.write("binary", "\x00\x01\xff\xfe\n\r")
	g.write("same-1", "same\n")
	g.write("deep/er/same-2", "same\n")
	g.write("name with \"quotes\"\n and a line feed", "odd\n")
	g.write("deep/not utf-8 \xff\xfe", "odd\n")
	g.write("-dash", "odd\n")
	g.link("plain.txt", "link")
	g.link("nowhere at all", "deep/dangling")
	g.link("deep", "folder link")
	require.NoError(g.t, os.Chmod(g.path("deep/er"), 0o750))
}

// spoilTree changes about everything in an oddTree.
func spoilTree(g *ground) {
	g.write("plain.txt", "PLAIN\n")
	require.NoError(g.t, os.Chmod(g.path("tool.sh"), 0o644))
	require.NoError(g.t, os.Chmod(g.path("secret"), 0o644))
	g.write("empty", "no more\n")
	for _, name := range []string{"binary", "deep/er", "link", "folder link", "same-1"} {
		g.remove(name)
	}
	g.write("name with \"quotes\"\n and a line feed", "")
	g.link("elsewhere", "deep/not utf-8 \xff\xfe.new")
	g.write("link/now/a/folder", "x\n")
	g.link("empty", "same-1")
	g.write("deep/er", "a file in the place of a folder\n")
	g.write("new/deep/file", "new\n")
}

func TestCheckpointAndRestoreAreExact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		repo  bool
		paths []string
	}{
		"tree in a repository":   {repo: true},
		"tree without one":       {},
		"the folder in question": {paths: []string{"."}},
		"in a repository, paths": {repo: true, paths: []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			if c.repo {
				g = newGitRepo(t, map[string]string{"plain.txt": "committed\n", "tracked/gone.txt": "gone\n", ".gitignore": "ignored*\n"})
				g.write("ignored/file", "not looked at\n")
				g.remove("tracked")
			}
			oddTree(g)
			before := g.image()
			id := g.checkpoint(c.paths...).ID
			assert.Equal(t, before, g.image(), "a checkpoint writes nothing")
			spoilTree(g)
			spoilt := g.image()

			res, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id})
			require.ErrorIs(t, err, oxpatch.ErrExists, "what is new is not removed unasked, also where it is in the way")
			assert.True(t, hasProblem(res, oxpatch.KindExists, "deep/er"), "%v", res.Problems)
			assert.Equal(t, spoilt, g.image())

			res, err = g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id, DeleteNew: true, Check: true, Diff: true})
			require.NoError(t, err)
			assert.Contains(t, string(res.Diff), "-PLAIN\n+plain\n")
			assert.Equal(t, spoilt, g.image())

			res = g.restore(oxpatch.RestoreRequest{ID: id[:11], DeleteNew: true})
			assert.Equal(t, before, g.image())
			assert.Equal(t, id, res.Restores)
			g.fsck()
			g.undo()
			assert.Equal(t, spoilt, g.image(), "undo takes the restore back")
			assert.Equal(t, []string{"undo done", "restore undone", "checkpoint done"}, g.log())
			g.nothingToUndo()
			g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
			assert.Equal(t, before, g.image())
			res = g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
			assert.Len(t, warnedOf(res, oxpatch.KindAlreadyApplied), 1)
			assert.False(t, res.Applied)
		})
	}
}

func TestCheckpointOfNothingAndOfSomething(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "a\n")
	g.write("deep/b.txt", "b\n")
	res := g.checkpoint("a.txt", "missing/file", "deep", "./a.txt", "build/")
	changes := map[string]string{}
	for _, f := range res.Files {
		changes[f.Path] = f.Change
	}
	assert.Equal(t, map[string]string{"a.txt": "record", "deep/b.txt": "record", "missing/file": "absent", "build": "absent"}, changes)
	op := g.operations()[0]
	assert.Equal(t, "checkpoint", op.Kind)
	assert.Contains(t, op.Paths, oxpatch.OperationPath{Path: "build", Change: "absent"})
	before := g.image()

	g.write("missing/file", "made by a command\n")
	g.write("build/out/x.o", "made by a command\n")
	g.write("other.txt", "outside of the checkpoint\n")
	back := g.restore(oxpatch.RestoreRequest{ID: res.ID})
	assert.Equal(t, []string{"missing/file"}, back.AppliedPaths)
	assert.Equal(t, []string{"build/out/x.o"}, warnedOf(back, oxpatch.KindExists))
	assert.DirExists(t, g.path("missing"), "no operation made the folder")
	back = g.restore(oxpatch.RestoreRequest{ID: res.ID, DeleteNew: true})
	assert.Equal(t, []string{"build/out/x.o"}, back.AppliedPaths)
	g.remove("missing")
	g.remove("build")
	g.remove("other.txt")
	assert.Equal(t, before, g.image())
}

// A same-size edit in the same tick of the clock leaves size and modification time alike.
func TestAnEditThatTheTimesDoNotShow(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	settleTimes()
	first := g.checkpoint()
	assert.Equal(t, 2, first.Tree.Read)
	info, err := os.Stat(g.path("a.txt"))
	require.NoError(t, err)
	g.write("a.txt", "ONE\n")
	require.NoError(t, os.Chtimes(g.path("a.txt"), info.ModTime(), info.ModTime()))
	second := g.checkpoint()
	assert.Equal(t, 1, second.Tree.Read, "the change time shows it")
	// And now at once, so that not even that time need differ.
	for i := range 20 {
		g.write("a.txt", fmt.Sprintf("%03d\n", i))
		id := g.checkpoint().ID
		g.write("a.txt", fmt.Sprintf("%03d\n", 500+i))
		g.restore(oxpatch.RestoreRequest{ID: id})
		require.Equal(t, fmt.Sprintf("%03d\n", i), g.read("a.txt"))
	}
	g.restore(oxpatch.RestoreRequest{ID: first.ID})
	assert.Equal(t, "one\n", g.read("a.txt"))
	g.restore(oxpatch.RestoreRequest{ID: second.ID})
	assert.Equal(t, "ONE\n", g.read("a.txt"))
}

func TestASecondCheckpointCostsWhatChanged(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	const n = 10_000
	dir := quick(t)
	g.dir = filepath.Join(dir, "tree")
	require.NoError(t, os.Mkdir(g.dir, 0o755))
	g.asRepo()
	for i := range n {
		g.write(fmt.Sprintf("d%d/e%d/f%d", i%10, i/10%50, i), fmt.Sprintf("%d\n", i))
	}
	settleTimes()
	first := g.checkpoint()
	assert.Equal(t, n, first.Tree.Files)
	assert.Equal(t, n, first.Tree.Read)
	size := storeSize(t, first.Snapshot.Store)
	second := g.checkpoint()
	// Files whose time happens to be a round one are read again: it could be that of a coarse clock.
	const byChance = n / 20
	assert.LessOrEqual(t, second.Tree.Read, byChance)
	assert.Equal(t, oxpatch.TreeResult{Files: n, Bytes: first.Tree.Bytes, Read: second.Tree.Read}, *second.Tree)
	assert.Less(t, storeSize(t, first.Snapshot.Store)-size, int64(5000), "what did not change is not stored again")
	g.write("d1/e2/f21", "changed\n")
	g.remove("d3/e0/f3")
	third := g.checkpoint()
	assert.GreaterOrEqual(t, third.Tree.Read, 1)
	assert.LessOrEqual(t, third.Tree.Read, 1+byChance)
	assert.Equal(t, n-1, third.Tree.Files)
	assert.Equal(t, int64(8), third.Tree.Stored)
	g.fsck()
	g.restore(oxpatch.RestoreRequest{ID: second.ID})
	assert.Equal(t, "21\n", g.read("d1/e2/f21"))
	assert.Equal(t, "3\n", g.read("d3/e0/f3"))
	assert.Empty(t, g.operations()[1].Paths, "the log does not list the tree")
	assert.Equal(t, &oxpatch.OperationTree{Files: n, Bytes: first.Tree.Bytes}, g.operations()[2].Tree)
}

// storeSize is what a store's packs take.
func storeSize(t *testing.T, store string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(store, "objects"), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	require.NoError(t, err)
	return n
}

// A damaged index of files, and objects that it takes for stored and that are gone, cost time only.
func TestWhatTheScanRemembersIsNotTrusted(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, store string){
		"index damaged": func(t *testing.T, store string) {
			require.NoError(t, os.WriteFile(filepath.Join(store, "worktrees/main/scan-index"), []byte("oxpatch scan 1\nnonsense"), 0o600))
		},
		"objects gone": func(t *testing.T, store string) {
			packs, err := filepath.Glob(filepath.Join(store, "objects/pack/*"))
			require.NoError(t, err)
			require.NotEmpty(t, packs)
			for _, p := range packs {
				require.NoError(t, os.Remove(p))
			}
			require.NoError(t, os.RemoveAll(filepath.Join(store, "refs/oxpatch")))
		},
		"pack without index": func(t *testing.T, store string) {
			packs, err := filepath.Glob(filepath.Join(store, "objects/pack/*.idx"))
			require.NoError(t, err)
			require.NotEmpty(t, packs)
			for _, p := range packs {
				require.NoError(t, os.Remove(p))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			oddTree(g)
			settleTimes()
			spoil(t, g.checkpoint().Snapshot.Store)
			before := g.image()
			id := g.checkpoint().ID
			spoilTree(g)
			g.restore(oxpatch.RestoreRequest{ID: id, DeleteNew: true})
			assert.Equal(t, before, g.image())
			if name != "pack without index" { // git cannot read the older record then
				g.fsck()
			}
		})
	}
}
