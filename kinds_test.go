package oxpatch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// beside is another folder next to the tree, with the same environment.
func (g *ground) beside(name string) *ground {
	return &ground{t: g.t, dir: filepath.Join(filepath.Dir(g.dir), name), env: g.env}
}

// seeded is a repository with two commits, the newer of which holds in/f.txt, in/gone.txt, out/o.txt.
func seeded(t *testing.T, initArgs ...string) *ground {
	t.Helper()
	g := newBareGround(t, initArgs...)
	g.write("in/f.txt", numbered(20, map[int]string{1: "older"}))
	g.commit()
	g.write("in/f.txt", numbered(20, nil))
	g.write("in/gone.txt", "gone\n")
	g.write("out/o.txt", "o\n")
	g.commit()
	return g
}

// initOf makes a repository in a way that this git may not know.
func initOf(t *testing.T, arg string) *ground {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	if exec.Command("git", "init", "-q", arg, t.TempDir()).Run() != nil {
		oxtest.Lacks(t, "a git that knows git init %s", arg)
	}
	return seeded(t, arg)
}

// cloned makes a clone of a seeded repository.
func cloned(t *testing.T, args ...string) *ground {
	t.Helper()
	origin := seeded(t)
	origin.git("config", "uploadpack.allowFilter", "true")
	g := origin.beside("clone")
	origin.git(append(append([]string{"clone", "-q", "-c", "gc.auto=0"}, args...), "file://"+origin.dir, g.dir)...)
	return g
}

// repositoryKinds are the kinds of repositories and working trees that git knows. Each holds what seeded
// makes, but for out/o.txt, which a sparse one leaves out.
func repositoryKinds() map[string]func(t *testing.T) *ground {
	with := func(args ...string) func(t *testing.T) *ground {
		return func(t *testing.T) *ground {
			g := seeded(t)
			g.git(args...)
			return g
		}
	}
	linked := func(args ...string) func(t *testing.T) *ground {
		return func(t *testing.T) *ground {
			g := seeded(t)
			g.git(append(append([]string{"worktree", "add", "-q"}, args...), "../linked")...)
			return g.beside("linked")
		}
	}
	return map[string]func(t *testing.T) *ground{
		"plain":               func(t *testing.T) *ground { return seeded(t) },
		"packed":              with("gc", "-q", "--prune=now"),
		"detached":            with("checkout", "-q", "--detach"),
		"on an unborn branch": with("symbolic-ref", "HEAD", "refs/heads/unborn"),
		"shared with a group": with("config", "core.sharedRepository", "group"),
		"sha256":              func(t *testing.T) *ground { return initOf(t, "--object-format=sha256") },
		"reftable":            func(t *testing.T) *ground { return initOf(t, "--ref-format=reftable") },
		"git directory elsewhere": func(t *testing.T) *ground {
			g := seeded(t)
			g.git("init", "-q", "--separate-git-dir=../elsewhere.git")
			return g
		},
		"linked working tree": linked(),
		"linked working tree, relative": func(t *testing.T) *ground {
			g := seeded(t)
			if out, err := exec.Command("git", "-C", g.dir, "worktree", "add", "-q", "--relative-paths", "../linked").CombinedOutput(); err != nil {
				oxtest.Lacks(t, "a git that knows git worktree add --relative-paths: %s", out)
			}
			return g.beside("linked")
		},
		"linked working tree of a bare repository": func(t *testing.T) *ground {
			g := seeded(t)
			g.git("clone", "-q", "--bare", ".", "../bare.git")
			gitIn(t, filepath.Join(filepath.Dir(g.dir), "bare.git"), "worktree", "add", "-q", "../linked", "main")
			return g.beside("linked")
		},
		"submodule": func(t *testing.T) *ground {
			lib, g := seeded(t), seeded(t)
			g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "sub")
			return g.beside("tree/sub")
		},
		"linked working tree of a submodule": func(t *testing.T) *ground {
			lib, g := seeded(t), seeded(t)
			g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "sub")
			gitIn(t, g.path("sub"), "worktree", "add", "-q", "--detach", "../../linked")
			return g.beside("linked")
		},
		"worktreeConfig": func(t *testing.T) *ground {
			g := seeded(t)
			g.git("config", "core.repositoryFormatVersion", "1")
			g.git("config", "extensions.worktreeConfig", "true")
			g.git("config", "--worktree", "core.abbrev", "12")
			return g
		},
		"sparse, cone":         with("sparse-checkout", "set", "--cone", "in"),
		"sparse, patterns":     with("sparse-checkout", "set", "--no-cone", "/in/"),
		"sparse index":         with("sparse-checkout", "set", "--cone", "--sparse-index", "in"),
		"split index":          with("update-index", "--split-index"),
		"split index, set":     with("-c", "core.splitIndex=true", "status"),
		"index version 4":      with("update-index", "--index-version", "4"),
		"untracked cache":      with("update-index", "--untracked-cache"),
		"index without a hash": with("-c", "index.skipHash=true", "update-index", "--force-write-index"),
		"many files":           with("config", "feature.manyFiles", "true"),
		"partial clone": func(t *testing.T) *ground {
			return cloned(t, "--filter=blob:none", "--no-local")
		},
		"partial clone without trees": func(t *testing.T) *ground {
			return cloned(t, "--filter=tree:0", "--no-local")
		},
		"shallow clone":       func(t *testing.T) *ground { return cloned(t, "--depth=1") },
		"single branch":       func(t *testing.T) *ground { return cloned(t, "--single-branch", "--no-tags") },
		"alternates":          sharing(false),
		"relative alternates": sharing(true),
		"objects of an own format version": func(t *testing.T) *ground {
			g := seeded(t)
			g.git("config", "core.repositoryFormatVersion", "1")
			g.git("config", "extensions.preciousObjects", "true")
			return g
		},
		"an included configuration": func(t *testing.T) *ground {
			g := seeded(t)
			g.write(".git/more", "[core]\n\tpreloadIndex = false\n")
			g.git("config", "include.path", "more")
			return g
		},
		"no repository": func(t *testing.T) *ground {
			g := newGround(t)
			g.write("in/f.txt", numbered(20, nil))
			g.write("in/gone.txt", "gone\n")
			return g
		},
	}
}

// sharing makes clones that borrow the objects of their origin.
func sharing(relative bool) func(t *testing.T) *ground {
	return func(t *testing.T) *ground {
		origin := seeded(t)
		origin.git("clone", "-q", "--shared", ".", "../clone")
		g := origin.beside("clone")
		if relative {
			g.write(".git/objects/info/alternates", "../../../tree/.git/objects\n")
		}
		return g
	}
}

// seen is what a repository shows to its user: refs, history, HEAD, configuration, files and index.
func (g *ground) seen() map[string]string {
	g.t.Helper()
	s := map[string]string{}
	for _, args := range []string{
		"for-each-ref", "log --all --format=%H", "status --porcelain --untracked-files=all --ignored", "config --list --local",
		"stash list", "worktree list --porcelain", "reflog",
	} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir, cmd.Env = g.dir, gitEnviron(g.dir)
		out, _ := cmd.CombinedOutput() // the reflog of an unborn branch is an error, the same each time
		s[args] = string(out)
	}
	s["index"] = strings.Join(g.index(), "\n")
	return s
}

// In every kind of repository operations are recorded, undone and listed; the store is whole by git's
// own judgement, and so is the repository, which shows nothing of it.
func TestEngineInKindsOfRepositories(t *testing.T) {
	t.Parallel()
	for name, build := range repositoryKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roundTripInKind(t, build(t), true)
		})
	}
}

// roundTripInKind applies and undoes in both modes where there is a repository.
func roundTripInKind(t *testing.T, g *ground, gitMode bool) {
	t.Helper()
	patch := "diff --git a/in/f.txt b/in/f.txt\n" + unifiedEdit("in/f.txt", "line 9", "line 11") +
		"diff --git a/in/gone.txt b/in/gone.txt\ndeleted file mode 100644\n--- a/in/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" +
		"diff --git a/in/new/n.sh b/in/new/n.sh\nnew file mode 100755\n--- /dev/null\n+++ b/in/new/n.sh\n@@ -0,0 +1 @@\n+n\n"
	_, err := os.Lstat(g.path(".git"))
	repo := err == nil
	var seen map[string]string
	if repo {
		g.git("fsck", "--strict", "--full")
		seen = g.seen()
	}
	files := g.image()
	res := g.must(oxpatch.Request{Patch: []byte(patch), Mode: oxpatch.ModeText})
	require.True(t, res.Snapshot.Undoable)
	assert.Equal(t, numbered(20, map[int]string{10: "ten"}), g.read("in/f.txt"))
	assert.Equal(t, "n\n", g.read("in/new/n.sh"))
	assert.NoFileExists(t, g.path("in/gone.txt"))
	if repo {
		assert.Equal(t, seen["index"], strings.Join(g.index(), "\n"), "text mode leaves the index alone")
		store := strings.TrimSpace(g.git("rev-parse", "--git-common-dir"))
		if !filepath.IsAbs(store) {
			store = g.path(store)
		}
		assert.Equal(t, filepath.Join(store, "oxpatch", "store"), res.Snapshot.Store)
	}
	g.undo()
	requireImage(t, files, g.image(), "text mode undone")
	ops := []string{"undo done", "apply undone"}
	if repo && gitMode {
		g.must(gitRequest(patch))
		assert.Equal(t, numbered(20, map[int]string{10: "ten"}), g.read("in/f.txt"))
		assert.Equal(t, "M\tin/f.txt\nD\tin/gone.txt\nA\tin/new/n.sh\n", g.stagedSince(seen["index"]))
		g.undo()
		requireImage(t, files, g.image(), "git mode undone")
		ops = append(ops, ops...)
	}
	assert.Equal(t, ops, g.log())
	g.nothingToUndo()
	g.fsck()
	if !repo {
		return
	}
	assert.Equal(t, seen, g.seen())
	g.git("fsck", "--strict", "--full")
	assert.Empty(t, g.git("clean", "-ndxff"), "git would clean something away")
	g.git("gc", "-q", "--prune=now")
	assert.Equal(t, ops, g.log(), "after git gc")
}

// stagedSince compares the index with what index returned before, in the words of git diff
// --name-status: on a branch without commits there is nothing else to compare with.
func (g *ground) stagedSince(before string) string {
	g.t.Helper()
	lines := func(all []string) map[string]string {
		m := map[string]string{}
		for _, l := range all {
			if entry, name, ok := strings.Cut(l, "\t"); ok {
				m[strings.Split(name, " flags")[0]] = entry
			}
		}
		return m
	}
	was, is := lines(strings.Split(before, "\n")), lines(g.index())
	var b strings.Builder
	for _, name := range []string{"in/f.txt", "in/gone.txt", "in/new/n.sh"} {
		switch {
		case was[name] == is[name]:
		case was[name] == "":
			b.WriteString("A\t" + name + "\n")
		case is[name] == "":
			b.WriteString("D\t" + name + "\n")
		default:
			b.WriteString("M\t" + name + "\n")
		}
	}
	return b.String()
}
