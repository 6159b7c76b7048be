package oxpatch_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// roundTrip checks, applies and takes back, and compares on the way. It returns what the run said.
func (g *ground) roundTrip(req oxpatch.Request, after func()) *oxpatch.Result {
	g.t.Helper()
	whole, before := everything(g.t, g.dir), g.twin()
	check := req
	check.Check = true
	foretold, err := g.run(check)
	require.NoError(g.t, err)
	requireImage(g.t, whole, everything(g.t, g.dir), "the check changed something")
	res := g.must(req)
	require.True(g.t, res.Applied)
	require.Equal(g.t, foretold.Files, res.Files)
	if after != nil {
		after()
	}
	g.undo()
	requireTwin(g.t, before, g.twin(), "undo")
	return res
}

func TestGitModeKnowsAllNames(t *testing.T) {
	t.Parallel()
	names := []string{"with space.txt", "semi;colon", "ünïcode.txt", "dir with space/-dash", "[glob]*?.txt", ":(top)magic", "error: patch failed"}
	if runtime.GOOS == "linux" {
		names = append(names, "tab\there", "line\nfeed", `"quoted"`, `back\slash`, "latin\xe9.txt", "a/\xff/\x01ctl")
	}
	g := newBareGround(t)
	for _, n := range names {
		g.write(n, numbered(20, nil))
	}
	g.commit()
	patch := g.made(func() {
		for _, n := range names {
			g.write(n, numbered(20, map[int]string{10: "ten"}))
		}
	})
	res := g.roundTrip(gitRequest(patch), func() {
		for _, n := range names {
			assert.Equal(t, numbered(20, map[int]string{10: "ten"}), g.read(n), n)
		}
		assert.Empty(t, g.git("diff"), "all is staged")
	})
	for _, n := range names {
		assert.Contains(t, res.AppliedPaths, change.DisplayPath(n))
	}
	assert.Len(t, res.AppliedPaths, len(names))
}

func TestGitModeMovesASubmodule(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	lib := g.path("lib")
	require.NoError(t, os.Mkdir(lib, 0o755))
	gitIn(t, lib, "init", "-q", "-b", "main", "--template=")
	gitIn(t, lib, "commit", "-q", "--allow-empty", "-m", "one")
	one := strings.TrimSpace(gitIn(t, lib, "rev-parse", "HEAD"))
	g.write("f.txt", numbered(20, nil))
	g.git("add", "lib", "f.txt")
	g.git("commit", "-q", "-m", "m")
	gitIn(t, lib, "commit", "-q", "--allow-empty", "-m", "two")
	two := strings.TrimSpace(gitIn(t, lib, "rev-parse", "HEAD"))
	patch := g.git("diff")
	gitIn(t, lib, "checkout", "-q", one)
	require.Contains(t, patch, two)

	res := g.roundTrip(gitRequest(patch+unifiedEdit("f.txt", "line 9", "line 11")), func() {
		assert.Contains(t, g.git("ls-files", "-s", "lib"), two)
		assert.Equal(t, one, strings.TrimSpace(gitIn(t, lib, "rev-parse", "HEAD")), "the submodule itself is left alone")
	})
	assert.Equal(t, []string{"f.txt", "lib"}, res.AppliedPaths)
	g.roundTrip(gitRequest(patch), nil) // in which only the index changes

	// Inside of the submodule is another repository.
	g.refused(gitRequest(unifiedEdit("lib/x.txt", "line 9", "line 11")), oxpatch.ErrUnsafePath)
}

func TestGitModeInASparseCheckout(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.write("in/a.txt", numbered(20, nil))
	g.write("out/b.txt", numbered(20, nil))
	g.commit()
	patch := g.made(func() {
		g.write("in/a.txt", numbered(20, map[int]string{10: "ten"}))
		g.write("out/b.txt", numbered(20, map[int]string{10: "ten"}))
	})
	g.git("sparse-checkout", "set", "in")
	require.NoFileExists(t, g.path("out/b.txt"))
	res := g.roundTrip(gitRequest(patch), func() {
		assert.Contains(t, g.git("diff", "--cached", "--name-only"), "out/b.txt")
		assert.Equal(t, numbered(20, map[int]string{10: "ten"}), g.read("in/a.txt"))
	})
	assert.Equal(t, []string{"in/a.txt", "out/b.txt"}, res.AppliedPaths)
}

func TestGitModeInALinkedWorktree(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.write("f.txt", numbered(20, nil))
	g.commit()
	patch := g.made(func() { g.write("f.txt", numbered(20, map[int]string{10: "ten"})) })
	main := g.twin()
	linked := &ground{t: t, dir: filepath.Join(filepath.Dir(g.dir), "linked"), env: g.env}
	g.git("worktree", "add", "-q", linked.dir)
	linked.roundTrip(gitRequest(patch), func() {
		assert.Equal(t, "M  f.txt\n", gitIn(t, linked.dir, "status", "--porcelain"))
		requireTwin(t, main, g.twin(), "the main working tree")
	})
}

func TestGitModeInAFolder(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	for _, n := range []string{"f.txt", "sub/f.txt", "sub/sub/f.txt"} {
		g.write(n, numbered(20, nil))
	}
	g.commit()
	patch := g.made(func() {
		g.write("f.txt", numbered(20, map[int]string{10: "top"}))
		g.write("sub/f.txt", numbered(20, map[int]string{10: "sub"}))
	})
	before := g.twin()
	res, err := g.openAt(g.path("sub")).Apply(context.Background(), gitRequest(patch))
	require.NoError(t, err)
	assert.Equal(t, []string{"f.txt", "sub/f.txt"}, res.AppliedPaths, "nothing is passed over")
	assert.Equal(t, numbered(20, map[int]string{10: "top"}), g.read("f.txt"))
	assert.Equal(t, numbered(20, map[int]string{10: "sub"}), g.read("sub/f.txt"))
	_, err = g.openAt(g.path("sub")).Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(t, err)
	requireTwin(t, before, g.twin(), "undo")
}

func TestGitModeBeforeTheFirstCommit(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	add := "diff --git a/new.txt b/new.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"
	require.NoFileExists(t, g.path(".git/index"))
	g.roundTrip(gitRequest(add), func() { assert.Equal(t, "A  new.txt\n", g.git("status", "--porcelain")) })
	g.write("staged.txt", numbered(20, nil))
	g.git("add", "staged.txt")
	g.roundTrip(gitRequest(add+unifiedEdit("staged.txt", "line 9", "line 11")), nil)
}

func TestGitModeKeepsLineEndingsOfTheWorkingTree(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.write("f.txt", numbered(20, nil))
	g.write("keep.txt", "a\nb\n")
	g.write(".gitattributes", "keep.txt -text\n")
	g.commit()
	patch := g.made(func() {
		g.write("f.txt", numbered(20, map[int]string{10: "ten"}))
		g.write("keep.txt", "a\nB\n")
	})
	g.git("config", "core.autocrlf", "true")
	g.remove("f.txt")
	g.git("checkout", "-q", "--", "f.txt")
	require.Contains(t, g.read("f.txt"), "line 10\r\n")
	g.roundTrip(gitRequest(patch), func() {
		assert.Equal(t, strings.ReplaceAll(numbered(20, map[int]string{10: "ten"}), "\n", "\r\n"), g.read("f.txt"))
		assert.Equal(t, "a\nB\n", g.read("keep.txt"))
		assert.Equal(t, "M  f.txt\nM  keep.txt\n", g.git("status", "--porcelain"))
	})
}

// What git enters is what the patch says, also where line ending conversion or a filter would make
// something else of the file.
func TestGitModeEntersWhatThePatchSays(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+p\r\n+q\r\n"
	for name, build := range map[string]func(g *ground){
		"autocrlf":         func(g *ground) { g.git("config", "core.autocrlf", "true") },
		"autocrlf=input":   func(g *ground) { g.git("config", "core.autocrlf", "input") },
		"a text attribute": func(g *ground) { g.write(".gitattributes", "* text\n") },
		"a filter": func(g *ground) {
			g.git("config", "filter.up.clean", "tr a-z A-Z")
			g.git("config", "filter.up.smudge", "cat")
			g.write(".gitattributes", "n filter=up\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBareGround(t)
			build(g)
			g.write("f.txt", "f\n")
			g.commit()
			g.roundTrip(gitRequest(patch), func() {
				assert.Equal(t, "100755 15238d9838c27d2f9884162abfbc4c1abc21bf69 0\tn\n", g.git("ls-files", "-s", "n"))
				assert.Equal(t, "p\r\nq\r\n", g.git("cat-file", "blob", ":n"))
				assert.Equal(t, "p\r\nq\r\n", g.read("n"))
			})
			assert.Empty(t, g.git("status", "--porcelain"))
		})
	}
}

// The lines of a patch are those of the blob; the file behind a filter may have none of them.
func TestGitModeBehindAFilter(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.git("config", "filter.up.clean", "tr a-z A-Z")
	g.git("config", "filter.up.smudge", "tr A-Z a-z")
	g.write(".gitattributes", "f.txt filter=up\nwide.txt working-tree-encoding=UTF-16LE\n")
	g.write("f.txt", "k\nl\nm\n")
	g.write("wide.txt", "k\x00\n\x00")
	g.commit()
	patch := g.made(func() {
		g.write("f.txt", "k\nq\nm\n")
		g.write("wide.txt", "z\x00\n\x00")
	})
	require.Contains(t, patch, "+Q\n")
	require.Contains(t, patch, "+z\n")
	g.roundTrip(gitRequest(patch), func() {
		assert.Equal(t, "k\nq\nm\n", g.read("f.txt"))
		assert.Equal(t, "z\x00\n\x00", g.read("wide.txt"))
		assert.Equal(t, "K\nQ\nM\n", g.git("cat-file", "blob", ":f.txt"))
		assert.Equal(t, "M  f.txt\nM  wide.txt\n", g.git("status", "--porcelain"))
	})
}

// A merge driver that keeps a file as it is has not done what was asked, whatever git thinks of it.
func TestGitModeTellsWhatADriverDropped(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.write("f.txt", numbered(20, nil))
	g.write("other.txt", numbered(20, nil))
	g.commit()
	patch := g.made(func() { g.write("f.txt", numbered(20, map[int]string{10: "ten"})) })
	g.write("f.txt", numbered(20, map[int]string{10: "zehn"}))
	g.write(".gitattributes", "f.txt merge=keep\n")
	g.commit()
	g.git("config", "merge.keep.driver", "true")
	res := g.refused(gitRequest(patch), oxpatch.ErrConflict)
	assert.True(t, hasProblem(res, oxpatch.KindConflict, "f.txt"), "%v", res.Problems)
	assert.Equal(t, []string{"f.txt"}, res.SkippedPaths)
	g.nothingToUndo()

	both := gitRequest(patch + unifiedEdit("other.txt", "line 9", "line 11"))
	res, err := g.open().Apply(context.Background(), both)
	require.ErrorIs(t, err, oxpatch.ErrConflict)
	assert.True(t, res.Applied)
	assert.False(t, res.OK)
	assert.Equal(t, []string{"other.txt"}, res.AppliedPaths)
	assert.Equal(t, []string{"f.txt"}, res.SkippedPaths)
}

// An empty folder is nothing to git, but it is the user's: the run refuses it, and the check says so.
func TestGitModeRefusesAFolderInTheWay(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+p\n"
	for _, dir := range []string{"n", "n/m"} {
		g := newBareGround(t)
		g.write("f.txt", "f\n")
		g.commit()
		require.NoError(t, os.MkdirAll(filepath.Join(g.dir, filepath.FromSlash(dir)), 0o755))
		res := g.refused(gitRequest(patch), nil)
		assert.True(t, hasProblem(res, oxpatch.KindIsDirectory, "n"))
		assert.Len(t, res.Problems, 1, "%v", res.Problems)
		assert.DirExists(t, filepath.Join(g.dir, filepath.FromSlash(dir)))
	}
}

// Several inputs are one operation: a later one may build on an earlier one, and if one fails none is
// applied.
func TestGitModeTakesSeveralInputsAsOne(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	before := g.twin()
	inputs := func(second string) oxpatch.Request {
		return oxpatch.Request{Mode: oxpatch.ModeGit, Inputs: []oxpatch.Input{
			{Name: "one", Data: []byte(strings.TrimSuffix(patch, "\n"))}, {Name: "two", Data: []byte(second)}}}
	}
	res := g.must(inputs("diff --git a/c.txt b/c.txt\nnew file mode 100644\n--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1 @@\n+c\n"))
	assert.Equal(t, []string{"a.txt", "b.txt", "c.txt"}, res.AppliedPaths)
	assert.Equal(t, []string{"apply done"}, g.log())
	g.undo()
	requireTwin(t, before, g.twin(), "undo")
	res = g.refused(inputs("\n\n"+unifiedEdit("nowhere.txt", "line 9", "line 11")), oxpatch.ErrNoMatch)
	assert.Equal(t, "two", res.Problems[0].Input)
	assert.Equal(t, 3, res.Problems[0].PatchLine, "a line of its input")
	g.refused(inputs(envelope("*** Delete File: a.txt")), nil)
}

func TestGitModeWithoutStaging(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	index := g.index()
	req := gitRequest(patch)
	req.NoStage = true
	g.roundTrip(req, func() {
		assert.Equal(t, index, g.index())
		assert.Equal(t, " M a.txt\n M b.txt\n", g.git("status", "--porcelain"))
	})
	// The lock of the index is not needed then.
	g.write(".git/index.lock", "")
	g.must(req, oxpatch.WithLockTimeout(-1))
	_, err := g.tryUndo(oxpatch.WithLockTimeout(-1))
	require.NoError(t, err)
}

func TestGitModeRefusesConflictsWhereAsked(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	g.write("a.txt", numbered(20, map[int]string{10: "ours"}))
	g.commit()
	req := gitRequest(patch)
	req.RefuseConflicts = true
	for _, check := range []bool{true, false} {
		req.Check = check
		res := g.refused(req, oxpatch.ErrConflict)
		assert.True(t, hasProblem(res, oxpatch.KindConflict, "a.txt"))
		assert.Equal(t, []string{"a.txt", "b.txt"}, res.SkippedPaths)
		assert.Empty(t, res.ConflictedPaths)
	}
	g.nothingToUndo()

	// Without that the check foretells what the run does.
	req.RefuseConflicts, req.Check = false, true
	foretold, err := g.run(req)
	require.ErrorIs(t, err, oxpatch.ErrConflict)
	assert.False(t, foretold.Applied)
	req.Check = false
	res, err := g.run(req)
	require.ErrorIs(t, err, oxpatch.ErrConflict)
	assert.True(t, res.Applied && !res.OK)
	assert.Equal(t, foretold.Files, res.Files)
	assert.Equal(t, []string{"b.txt"}, res.AppliedPaths)
	assert.Equal(t, []string{"a.txt"}, res.ConflictedPaths)
	assert.Contains(t, g.read("a.txt"), "<<<<<<< ours\nours\n=======\nten\n>>>>>>> theirs\n")
}

// What is in the files already is no error.
func TestGitModeFindsWhatIsThereAlready(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	g.must(gitRequest(patch))
	g.commit()
	before := g.twin()
	res := g.must(gitRequest(patch))
	assert.False(t, res.Applied)
	assert.True(t, warned(res, oxpatch.KindAlreadyApplied))
	for _, f := range res.Files {
		assert.True(t, f.Unchanged)
	}
	requireTwin(t, before, g.twin(), "nothing was to be done")
}

// The gate sees the final changes once, and what is done meanwhile is found out.
func TestGitModeAsksTheGate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		meanwhile func(g *ground) error
		want      error
	}{
		"agreed":               {meanwhile: func(*ground) error { return nil }},
		"declined":             {meanwhile: func(*ground) error { return fs.ErrPermission }, want: oxpatch.ErrDeclined},
		"a file changed":       {meanwhile: func(g *ground) error { g.write("a.txt", "else\n"); return nil }, want: oxpatch.ErrDrift},
		"the index changed":    {meanwhile: func(g *ground) error { g.git("rm", "-q", "--cached", "b.txt"); return nil }},
		"the index was locked": {meanwhile: func(g *ground) error { g.write(".git/index.lock", ""); return nil }, want: oxpatch.ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, patch := twoFiles(t)
			asked := 0
			var files image
			req := gitRequest(patch)
			req.Gate = func(_ context.Context, changes []oxpatch.Change) error {
				asked++
				require.Len(t, changes, 2)
				require.Equal(t, numbered(20, map[int]string{10: "ten"}), string(changes[1].After.Content))
				err := tt.meanwhile(g)
				files = g.image()
				return err
			}
			res, err := g.run(req, oxpatch.WithLockTimeout(-1))
			assert.Equal(t, 1, asked)
			if name == "agreed" {
				require.NoError(t, err)
				assert.True(t, res.Applied)
				return
			}
			require.Error(t, err)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
			} else {
				assert.True(t, hasProblem(res, oxpatch.KindIndexMismatch, ""), "%v", res.Problems)
			}
			assert.False(t, res.Applied)
			requireImage(t, files, g.image(), "files")
			g.nothingToUndo()
		})
	}
}

func TestGitModeSettingsOfTheUser(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	g.write("a.txt", numbered(20, map[int]string{10: "ours"}))
	g.commit()
	g.env["OXPATCH_GIT_CFG"] = "merge.conflictStyle=diff3, core.whitespace=-trailing-space"
	_, err := g.run(gitRequest(patch))
	require.ErrorIs(t, err, oxpatch.ErrConflict)
	assert.Contains(t, g.read("a.txt"), "|||||||", "the setting has its effect")
	g.undo()
	for _, bad := range []string{"nonsense", "nokey=1", "=x", "a.b=c,broken"} {
		g.env["OXPATCH_GIT_CFG"] = bad
		res := g.refused(gitRequest(patch), nil)
		require.True(t, hasProblem(res, oxpatch.KindUsage, ""), "%s: %v", bad, res.Problems)
		pair := bad[strings.LastIndex(bad, ",")+1:]
		assert.Contains(t, res.Problems[0].Message, pair, "the pair is named")
		assert.Contains(t, res.Problems[0].Message, "OXPATCH_GIT_CFG")
		assert.NotEmpty(t, res.Problems[0].Hint)
	}
}

// A partial clone lacks the blob that a merge needs. Nothing is fetched, unless that is allowed.
func TestGitModeFetchesOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	origin := newBareGround(t)
	origin.write("f.txt", numbered(20, nil))
	origin.commit()
	patch := origin.made(func() { origin.write("f.txt", numbered(20, map[int]string{10: "ten"})) }, "--full-index")
	origin.write("f.txt", numbered(20, map[int]string{9: "nine"}))
	origin.commit()
	origin.git("config", "uploadpack.allowFilter", "true")
	origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
	g := &ground{t: t, dir: filepath.Join(filepath.Dir(origin.dir), "clone"), env: origin.env}
	origin.git("clone", "-q", "--filter=blob:none", "--no-local", "file://"+origin.dir, g.dir)
	objects := func() string { return g.git("count-objects", "-v") }
	before := objects()
	res := g.refused(gitRequest(patch), oxpatch.ErrNoMatch)
	assert.Contains(t, res.Problems[0].Hint, "fetch")
	assert.Equal(t, before, objects(), "something was fetched")
	req := gitRequest(patch)
	req.Fetch = true
	out, err := g.run(req)
	require.ErrorIs(t, err, oxpatch.ErrConflict, "with the blob it can be merged: the lines touch")
	assert.Equal(t, []string{"f.txt"}, out.ConflictedPaths)
}

func TestGitModeNeedsAWorkingTree(t *testing.T) {
	t.Parallel()
	edit := unifiedEdit("f.txt", "line 9", "line 11")
	auto, strict := request(edit), gitRequest(edit)
	for name, tt := range map[string]struct {
		make func(t *testing.T) *ground
		auto error // of mode auto, which otherwise places by content
	}{
		"no repository": {make: func(t *testing.T) *ground { return newGround(t) }},
		"bare": {auto: oxpatch.ErrUnsafePath, make: func(t *testing.T) *ground {
			g := newGround(t)
			g.git("init", "-q", "--bare", ".")
			return g
		}},
		"its own folder is gone": {make: func(t *testing.T) *ground {
			g := newGround(t)
			g.write(".git", "gitdir: /nowhere/at/all\n")
			return g
		}},
		"somebody else's": {auto: oxpatch.ErrNoGit, make: func(t *testing.T) *ground {
			oxtest.NeedRoot(t, "give a repository to another user")
			g := newBareGround(t)
			require.NoError(t, filepath.WalkDir(g.dir, func(path string, _ fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				return os.Lchown(path, 65534, 65534)
			}))
			cmd := exec.Command("git", "status")
			cmd.Dir = g.dir
			if cmd.Run() == nil {
				oxtest.Lacks(t, "a git that refuses the repositories of other users (2.35.2 or newer)")
			}
			return g
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := tt.make(t)
			g.write("f.txt", numbered(20, nil))
			before := g.image()
			res, err := g.run(strict)
			require.ErrorIs(t, err, oxpatch.ErrNoGit)
			require.Len(t, res.Problems, 1)
			assert.Equal(t, oxpatch.KindNoGit, res.Problems[0].Kind)
			assert.NotEmpty(t, res.Problems[0].Hint)
			assert.Equal(t, before, g.image())
			res, err = g.run(auto)
			if tt.auto != nil {
				require.ErrorIs(t, err, tt.auto)
				assert.Equal(t, before, g.image())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, oxpatch.ModeText, res.Mode)
			assert.Equal(t, numbered(20, map[int]string{10: "ten"}), g.read("f.txt"))
		})
	}
}

// Without a "diff --git" line the paths count from the folder, as they do for git.
func TestPlainDiffsCountFromTheFolder(t *testing.T) {
	t.Parallel()
	prefixed := unifiedEdit("f.txt", "line 9", "line 11")
	bare := strings.NewReplacer("--- a/", "--- ", "+++ b/", "+++ ").Replace(prefixed)
	added := "--- /dev/null\n+++ b/deep/new.txt\n@@ -0,0 +1 @@\n+new\n"
	ten := numbered(20, map[int]string{10: "ten"})
	for name, tt := range map[string]struct {
		patch  string
		dirty  bool // so that the text decides
		repair bool
		want   map[string]string // relative to the top; everything else stays
		like   string            // what git does with the same patch; "" where it needs a repair first
		refuse bool
		both   bool // there is also a folder a, which could be meant by a/
	}{
		"prefixed":              {patch: prefixed, want: map[string]string{"sub/f.txt": ten}, like: prefixed},
		"without prefixes":      {patch: bare, repair: true, want: map[string]string{"sub/f.txt": ten}},
		"a new file":            {patch: added, want: map[string]string{"sub/deep/new.txt": "new\n"}, like: added},
		"placed by content":     {patch: prefixed, dirty: true, want: map[string]string{"sub/f.txt": strings.Replace(ten, "line 2\n", "dirty\n", 1)}},
		"beside a headed one":   {patch: prefixed + "diff --git a/g.txt b/g.txt\n" + unifiedEdit("g.txt", "line 9", "line 11"), want: map[string]string{"sub/f.txt": ten, "g.txt": ten}},
		"mixed, git gives up":   {patch: prefixed + "diff --git a/g.txt b/g.txt\n" + unifiedEdit("g.txt", "line 9", "line 11"), dirty: true, refuse: true},
		"only there at the top": {patch: unifiedEdit("g.txt", "line 9", "line 11"), refuse: true},
		"two files meant":       {patch: strings.ReplaceAll(prefixed, "b/f.txt", "a/f.txt"), both: true, refuse: true},
		"out of the folder":     {patch: unifiedEdit("../g.txt", "line 9", "line 11"), refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			make := func() *ground {
				g := newBareGround(t)
				for _, n := range []string{"f.txt", "g.txt", "sub/f.txt"} {
					g.write(n, numbered(20, nil))
				}
				if tt.both {
					g.write("sub/a/f.txt", numbered(20, nil))
				}
				g.commit()
				if tt.dirty {
					g.write("sub/f.txt", numbered(20, map[int]string{2: "dirty"}))
				}
				return g
			}
			g := make()
			before := g.twin()
			res, err := g.openAt(g.path("sub")).Apply(t.Context(), request(tt.patch))
			if tt.refuse {
				require.Error(t, err)
				requireTwin(t, before, g.twin(), "refused")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.repair || tt.dirty, warned(res, oxpatch.KindRepaired), "%v", res.Problems)
			for file, text := range tt.want {
				assert.Equal(t, text, g.read(file), file)
			}
			for file, was := range before.files {
				if _, changed := tt.want[file]; !changed {
					assert.Equal(t, was, g.image()[file], file)
				}
			}
			if tt.like != "" {
				other := make()
				direct := exec.Command("git", "apply", "--3way", "-")
				direct.Dir, direct.Env, direct.Stdin = other.path("sub"), gitEnviron(other.dir), strings.NewReader(tt.like)
				out, err := direct.CombinedOutput()
				require.NoError(t, err, string(out))
				requireTwin(t, other.twin(), g.twin(), "as git does")
			}
			g.undo()
			requireTwin(t, before, g.twin(), "undo")
		})
	}
}

// Operations on one repository wait for each other, and each finds the index that the one before left.
func TestGitModeAtOnce(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	names := []string{"a.txt", "b.txt", "c.txt", "d.txt"}
	for _, n := range names {
		g.write(n, numbered(20, nil))
	}
	g.commit()
	before := g.twin()
	done := make(chan error)
	for _, n := range names {
		e := g.open()
		go func() {
			_, err := e.Apply(context.Background(), gitRequest(unifiedEdit(n, "line 9", "line 11")))
			done <- err
		}()
	}
	for range names {
		assert.NoError(t, <-done)
	}
	assert.Equal(t, "M  a.txt\nM  b.txt\nM  c.txt\nM  d.txt\n", g.git("status", "--porcelain"))
	for range names {
		g.undo()
	}
	requireTwin(t, before, g.twin(), "all undone")
}
