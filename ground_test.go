package oxpatch_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/snapshot"
)

// ground is a folder under test, with the environment that its engines see.
type ground struct {
	t   testing.TB
	dir string
	env map[string]string
}

// newGround is a folder without a repository; records go to a state folder beside it.
func newGround(t testing.TB) *ground {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return groundIn(t, base)
}

// groundIn is newGround in a folder that the caller gives.
func groundIn(t testing.TB, base string) *ground {
	t.Helper()
	g := &ground{t: t, dir: filepath.Join(base, "tree"), env: map[string]string{
		"XDG_STATE_HOME": filepath.Join(base, "state"), "HOME": filepath.Join(base, "home"),
	}}
	require.NoError(t, os.Mkdir(g.dir, 0o755))
	return g
}

// newRepo is a folder that is the top of a git repository without a commit. No git is needed.
func newRepo(t testing.TB) *ground {
	t.Helper()
	g := newGround(t)
	g.asRepo()
	return g
}

func (g *ground) asRepo() {
	g.t.Helper()
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		require.NoError(g.t, os.MkdirAll(filepath.Join(g.dir, ".git", dir), 0o755))
	}
	g.write(".git/HEAD", "ref: refs/heads/main\n")
	g.write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n")
}

// newGitRepo is a repository made by git, with what files holds committed.
func newGitRepo(t testing.TB, files map[string]string, initArgs ...string) *ground {
	t.Helper()
	g := newGround(t)
	g.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	for name, text := range files {
		g.write(name, text)
	}
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", "first")
	return g
}

// gitEnviron is an environment in which git does the same everywhere.
func gitEnviron(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// git runs git in the folder and returns what it prints.
func (g *ground) git(args ...string) string {
	g.t.Helper()
	return gitIn(g.t, g.dir, args...)
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnviron(dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// open returns an engine for the folder. Nothing is synced unless an option says so: what is
// tested here is what survives a kill.
func (g *ground) open(opts ...oxpatch.Option) *oxpatch.Engine {
	g.t.Helper()
	return g.openAt(g.dir, opts...)
}

func (g *ground) openAt(dir string, opts ...oxpatch.Option) *oxpatch.Engine {
	g.t.Helper()
	opts = append([]oxpatch.Option{
		oxpatch.WithEnv(func(name string) string { return g.env[name] }),
		oxpatch.WithDurability(oxpatch.DurabilityProcess),
	}, opts...)
	e, err := oxpatch.Open(dir, opts...)
	require.NoError(g.t, err)
	return e
}

func (g *ground) path(name string) string { return filepath.Join(g.dir, filepath.FromSlash(name)) }

// write makes a file with mode 0644 whatever the umask, and its folders.
func (g *ground) write(name, text string) { g.writeMode(name, text, 0o644) }

func (g *ground) writeMode(name, text string, mode fs.FileMode) {
	g.t.Helper()
	require.NoError(g.t, os.MkdirAll(filepath.Dir(g.path(name)), 0o755))
	require.NoError(g.t, os.WriteFile(g.path(name), []byte(text), 0o644))
	require.NoError(g.t, os.Chmod(g.path(name), mode))
}

func (g *ground) link(target, name string) {
	g.t.Helper()
	require.NoError(g.t, os.MkdirAll(filepath.Dir(g.path(name)), 0o755))
	if err := os.Symlink(target, g.path(name)); err != nil {
		oxtest.Lacks(g.t, "symbolic links: %v", err)
	}
}

func (g *ground) remove(name string) {
	g.t.Helper()
	require.NoError(g.t, os.RemoveAll(g.path(name)))
}

func (g *ground) read(name string) string {
	g.t.Helper()
	data, err := os.ReadFile(g.path(name))
	require.NoError(g.t, err)
	return string(data)
}

// image is everything below a folder but git directories: for each path its kind, mode and bytes.
type image map[string]string

func (g *ground) image() image {
	g.t.Helper()
	return imageOf(g.t, g.dir)
}

func imageOf(t testing.TB, dir string) image {
	t.Helper()
	img := image{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		img[filepath.ToSlash(rel)] = describe(path, info)
		return nil
	})
	require.NoError(t, err)
	return img
}

func describe(path string, info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "link " + target
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		if len(data) > 200 {
			return fmt.Sprintf("%v %d bytes %x", info.Mode(), len(data), sha256.Sum256(data))
		}
		return fmt.Sprintf("%v %q", info.Mode(), data)
	}
	return info.Mode().String()
}

// with returns the image with further paths.
func (i image) with(more image) image {
	out := maps.Clone(i)
	maps.Copy(out, more)
	return out
}

// envelope puts lines between the markers of a patch.
func envelope(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// addition is a patch that adds one file.
func addition(name string, lines ...string) string {
	return envelope("*** Add File: "+name, "+"+strings.Join(lines, "\n+"))
}

// replacement is a patch that replaces one line of a file.
func replacement(name, old, new string) string {
	return envelope("*** Update File: "+name, "@@", "-"+old, "+"+new)
}

func request(patch string) oxpatch.Request { return oxpatch.Request{Patch: []byte(patch)} }

func codexRequest(patch string) oxpatch.Request {
	return oxpatch.Request{Patch: []byte(patch), Compat: oxpatch.CompatCodex}
}

// apply applies a patch, which must work.
func (g *ground) apply(patch string, opts ...oxpatch.Option) *oxpatch.Result {
	g.t.Helper()
	res, err := g.open(opts...).Apply(context.Background(), request(patch))
	require.NoError(g.t, err)
	require.True(g.t, res.OK)
	return res
}

// undo takes the newest operation back, which must work.
func (g *ground) undo() *oxpatch.Result {
	g.t.Helper()
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(g.t, err)
	require.True(g.t, res.OK)
	return res
}

// nothingToUndo makes sure that no operation is left that is not undone.
func (g *ground) nothingToUndo() {
	g.t.Helper()
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
	require.ErrorIs(g.t, err, oxpatch.ErrNothingToUndo)
	assert.False(g.t, res.Applied)
}

// log returns the operations as "kind state", newest first.
func (g *ground) log() []string {
	g.t.Helper()
	ops := g.operations()
	words := make([]string, len(ops))
	for i, op := range ops {
		words[i] = op.Kind + " " + op.State
	}
	return words
}

func (g *ground) operations() []oxpatch.Operation {
	g.t.Helper()
	ops, errs := listed(g.open(), oxpatch.LogRequest{})
	require.Empty(g.t, errs)
	assert.True(g.t, slices.IsSortedFunc(ops, func(a, b oxpatch.Operation) int { return strings.Compare(b.ID, a.ID) }),
		"the log is not sorted by id, newest first")
	return ops
}

// listed returns what the log has, and the errors among it.
func listed(e *oxpatch.Engine, req oxpatch.LogRequest) (ops []oxpatch.Operation, errs []error) {
	for op, err := range e.Log(context.Background(), req) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ops = append(ops, op)
	}
	return ops, errs
}

// fsck lets git look over every store of the folder.
func (g *ground) fsck() {
	g.t.Helper()
	site, err := snapshot.Locate(g.dir, func(name string) string { return g.env[name] })
	require.NoError(g.t, err)
	for _, p := range site.Read {
		if _, err := os.Stat(filepath.Join(p.Dir, "format")); err == nil {
			out := gitIn(g.t, p.Dir, "--git-dir=.", "fsck", "--strict", "--no-dangling")
			assert.NotContains(g.t, out, "error")
		}
	}
}

// hasProblem reports whether the result has an error of the kind, for the path if one is named.
func hasProblem(res *oxpatch.Result, kind oxpatch.Kind, path string) bool {
	return slices.ContainsFunc(res.Problems, func(p oxpatch.Problem) bool {
		return p.Severity == oxpatch.SeverityError && p.Kind == kind && (path == "" || p.Path == path)
	})
}

// quick is a temporary folder in memory where the system has one: the tests that go through every
// effect make thousands of files.
func quick(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "oxpatch-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return dir
}
