package appliertest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// files maps names to contents: text of a plain file, or an oxtest.Entry in its own right.
type files map[string]oxtest.Entry

func text(s string) oxtest.Entry { return oxtest.Entry{Content: oxtest.Content{Base64: []byte(s)}} }

func script(s string) oxtest.Entry {
	e := text(s)
	e.Mode = "100755"
	return e
}

// world is a repository with an applier for it. Beside the files of the test it holds one with
// changes that are not staged, one with staged changes and one that is not tracked.
type world struct {
	suite
	t       testing.TB
	dir     string
	applier oxpatch.PatchApplier
}

func (s suite) world(t testing.TB, before files) *world {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{suite: s, t: t, dir: filepath.Join(base, "tree")}
	w.init()
	w.write(files{"aside/changed": text("1\n"), "aside/staged": text("1\n")})
	w.write(before)
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	w.write(files{"aside/staged": text("2\n")})
	w.git("add", "-A")
	w.write(files{"aside/changed": text("2\n"), "aside/new": text("new\n")})
	w.applier = s.open(t, w.dir)
	return w
}

// init makes a repository in which line ends stay as they are, whatever the user's settings.
func (w *world) init() {
	w.t.Helper()
	require.NoError(w.t, os.Mkdir(w.dir, 0o755))
	w.git("init", "-q", "-b", "main", "--template=")
	config, err := os.OpenFile(w.path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(w.t, err)
	_, err = config.WriteString("[core]\n\tautocrlf = false\n")
	require.NoError(w.t, errors.Join(err, config.Close()))
}

// diff returns git's own diff that makes after of before, made in a repository of its own.
func diff(t testing.TB, before, after files) []byte {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "tree")}
	w.init()
	w.write(before)
	w.git("add", "-A")
	tree := strings.TrimSpace(string(w.git("write-tree")))
	for name := range before {
		require.NoError(t, os.Remove(w.path(name)))
	}
	for name := range before { // where a folder was, a file may come
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			_ = os.Remove(w.path(dir)) // fails as long as something is in it
		}
	}
	w.write(after)
	w.git("add", "-A")
	return w.git("diff", "--cached", "-M", "--full-index", tree)
}

// commit puts files on top of what is committed.
func (w *world) commit(f files) {
	w.t.Helper()
	w.write(f)
	for name := range f {
		w.git("--literal-pathspecs", "add", "--", name)
	}
	w.git("commit", "-q", "--allow-empty", "-m", "more", "--only")
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) write(f files) {
	w.t.Helper()
	require.NoError(w.t, oxtest.Tree(f).Write(w.dir))
}

// git runs git with an environment in which it does the same everywhere.
func (w *world) git(args ...string) []byte {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "HOME=" + w.dir, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(w.t, err, "git %s: %s", strings.Join(args, " "), stderr.String())
	return out
}

// tree returns the working tree.
func (w *world) tree() []string {
	w.t.Helper()
	tree, err := oxtest.ReadTree(w.dir, w.dir, ".git")
	require.NoError(w.t, err)
	return tree.Lines()
}

// index returns the lines of the index, with all that is noted of each path.
func (w *world) index() string { return string(w.git("ls-files", "--stage", "-v", "-z")) }

// gitDir returns the names of everything in the git directory, and the bytes of the index.
func (w *world) gitDir() []string {
	w.t.Helper()
	var names []string
	require.NoError(w.t, filepath.WalkDir(w.path(".git"), func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	index, err := os.ReadFile(w.path(".git/index"))
	require.NoError(w.t, err)
	return append(names, string(index))
}

// apply gives a patch to the applier, and checks what holds for every result.
func (w *world) apply(req oxpatch.Request) (*oxpatch.Result, error) {
	w.t.Helper()
	return w.applyIn(context.Background(), req)
}

func (w *world) applyIn(ctx context.Context, req oxpatch.Request) (*oxpatch.Result, error) {
	w.t.Helper()
	res, err := w.applier.Apply(ctx, req)
	require.NotNil(w.t, res, "the result is never nil; error: %v", err)
	command := "apply"
	if req.Check {
		command = "check"
	}
	assert.Equal(w.t, command, res.Command)
	assert.Equal(w.t, w.dir, res.Root)
	assert.Equal(w.t, err == nil, res.OK, "%v", err)
	for _, paths := range [][]string{res.AppliedPaths, res.SkippedPaths, res.ConflictedPaths} {
		assert.NotNil(w.t, paths)
		assert.True(w.t, slices.IsSorted(paths), "%q", paths)
	}
	if err != nil {
		assert.True(w.t, slices.ContainsFunc(res.Problems, func(p oxpatch.Problem) bool {
			return p.Severity == oxpatch.SeverityError && p.Message != ""
		}), "an error comes with a problem: %v", err)
	}
	doc, jsonErr := json.Marshal(res)
	require.NoError(w.t, jsonErr)
	_, jsonErr = checker().Check(doc)
	require.NoError(w.t, jsonErr)
	return res, err
}

var checker = sync.OnceValue(func() *oxtest.Checker {
	c, err := oxtest.NewChecker()
	if err != nil {
		panic(err)
	}
	return c
})

// check has the applier foretell what it would do, which changes nothing at all.
func (w *world) check(req oxpatch.Request) (*oxpatch.Result, error) {
	w.t.Helper()
	tree, git := w.tree(), w.gitDir()
	req.Check = true
	res, err := w.apply(req)
	assert.False(w.t, res.Applied)
	assert.Empty(w.t, res.ID)
	assert.Equal(w.t, tree, w.tree(), "a check changes no file")
	assert.Equal(w.t, git, w.gitDir(), "nor anything in the repository")
	return res, err
}

// refused gives a patch to the applier that it has to refuse, after a check that foretells it.
func (w *world) refused(ctx context.Context, req oxpatch.Request) (*oxpatch.Result, error) {
	w.t.Helper()
	tree, index := w.tree(), w.index()
	res, err := w.applyIn(ctx, req)
	require.Error(w.t, err)
	assert.False(w.t, res.Applied)
	assert.True(w.t, res.Exact)
	assert.Empty(w.t, res.ID)
	assert.Empty(w.t, res.Changes)
	assert.Empty(w.t, res.AppliedPaths)
	assert.Empty(w.t, res.ConflictedPaths)
	assert.Equal(w.t, tree, w.tree(), "a refusal changes no file")
	assert.Equal(w.t, index, w.index(), "nor the index")
	assert.ErrorIs(w.t, w.undo(w.t, w.dir), oxpatch.ErrNothingToUndo)
	return res, err
}

// undone takes the operation back and requires that everything is as it was.
func (w *world) undone(tree []string, index string) {
	w.t.Helper()
	require.NoError(w.t, w.undo(w.t, w.dir))
	assert.Equal(w.t, tree, w.tree(), "undo brings back all files")
	assert.Equal(w.t, index, w.index(), "and the index")
}
