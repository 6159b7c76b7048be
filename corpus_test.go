//go:build unix

package oxpatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// The corpus was recorded with this umask, and a umask is one for all tests of a process.
func init() { syscall.Umask(0o022) }

// Every case leaves the tree and gives the output that Codex left and gave.
func TestCorpusAsCodex(t *testing.T) {
	t.Parallel()
	someCases(t, func(t *testing.T, c *oxtest.Case) {
		w := newWorld(t, c, "")
		res, err := w.apply(oxpatch.Request{Compat: oxpatch.CompatCodex})
		got := w.outcome(res, err)
		requireOutcome(t, c.Outcome(), got)
		if c.Codex != nil {
			assert.NotEqual(t, *c.Codex, got, "this deviation is none any more: %s", c.Deviates)
		}
		assert.Empty(t, res.ID, "there is no repository, so nothing is to be recorded")
	})
}

// Inside a repository it is the same, but recorded: undo leads back, also from a run that failed
// midway.
func TestCorpusAsCodexThenUndo(t *testing.T) {
	t.Parallel()
	template := emptyRepository(t)
	someCases(t, func(t *testing.T, c *oxtest.Case) {
		w := newWorld(t, c, template)
		before := w.tree()
		res, err := w.apply(oxpatch.Request{Compat: oxpatch.CompatCodex})
		requireOutcome(t, c.Outcome(), w.outcome(res, err))
		if !res.Applied {
			// Codex makes the folders for a file that it then cannot write.
			assert.Equal(t, filesOnly(before), filesOnly(w.tree()), "not applied, and yet the tree changed")
			return
		}
		require.True(t, res.Snapshot.Undoable, "not undoable: %s", res.Snapshot.Reason)
		w.undo()
		assert.Equal(t, before.Lines(), w.tree().Lines(), "after the undo")
	})
}

// By the careful rules a patch is applied as its result says, or nothing happens; check says the
// same beforehand, and undo loses nothing.
func TestCorpusCarefully(t *testing.T) {
	t.Parallel()
	template := emptyRepository(t)
	someCases(t, func(t *testing.T, c *oxtest.Case) {
		w := newWorld(t, c, template)
		before := w.tree()
		forecast, forecastErr := w.apply(oxpatch.Request{Check: true})
		require.Equal(t, before.Lines(), w.tree().Lines(), "after the check")

		res, err := w.apply(oxpatch.Request{})
		assert.Equal(t, forecast.OK, res.OK)
		assert.Equal(t, forecast.Files, res.Files, "the check's files and the run's")
		assert.Equal(t, forecast.Problems, res.Problems, "the check's problems and the run's")
		assert.Equal(t, forecastErr == nil, err == nil)
		assert.Equal(t, err == nil, res.OK)
		if !res.Applied {
			assert.Equal(t, before.Lines(), w.tree().Lines(), "not applied, and yet the tree changed")
			return
		}
		require.NoError(t, err)
		assert.Equal(t, withChanges(before, res.Changes), filesOnly(w.tree()), "the tree and the result's changes")
		w.undo()
		assert.Equal(t, before.Lines(), w.tree().Lines(), "after the undo")
	})
}

// someCases is eachCase; with -short it takes a part of them.
func someCases(t *testing.T, f func(t *testing.T, c *oxtest.Case)) {
	t.Helper()
	n := 0
	eachCase(t, f, func() bool {
		n++
		return !testing.Short() || n%4 == 0
	})
}

// eachCase runs f on every case whose patch comes to be read and that is taken; the others end at the
// command line, where they are tested.
func eachCase(t *testing.T, f func(t *testing.T, c *oxtest.Case), take func() bool) {
	t.Helper()
	cases, err := oxtest.LoadCorpus("testdata")
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, c := range cases {
		if patch := c.Patch.Bytes(); c.Exit == 2 || len(c.ExtraArgs) > 0 || !utf8.Valid(patch) || len(patch) == 0 && c.Via == "stdin" {
			continue
		}
		if !take() {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.NeedPlainNames(t)
			f(t, c)
		})
	}
}

// world is one run of a case.
type world struct {
	t         *testing.T
	c         *oxtest.Case
	root, cwd string
	engine    *oxpatch.Engine
	// git lists what the repository brought with it; it is no part of the case's trees.
	git oxtest.Tree
}

// newWorld makes the case's tree, in a copy of the repository where one is given.
func newWorld(t *testing.T, c *oxtest.Case, repository string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, c: c, root: root, cwd: filepath.Join(root, "cwd")}
	require.NoError(t, os.Mkdir(w.cwd, 0o755))
	require.NoError(t, c.Files.Write(w.cwd))
	if repository != "" {
		require.NoError(t, os.CopyFS(filepath.Join(w.cwd, ".git"), os.DirFS(repository)))
		w.git, err = oxtest.ReadTree(filepath.Join(w.cwd, ".git"), w.cwd)
		require.NoError(t, err)
	}
	w.engine, err = oxpatch.Open(w.cwd, oxpatch.WithDurability(oxpatch.DurabilityProcess), oxpatch.WithEnv(cleanEnvironment(t)))
	require.NoError(t, err)
	return w
}

// cleanEnvironment keeps a run from what the tests were started with, and from the user's own store.
func cleanEnvironment(t testing.TB) func(string) string {
	t.Helper()
	home := t.TempDir()
	return func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}
}

func (w *world) apply(req oxpatch.Request) (*oxpatch.Result, error) {
	w.t.Helper()
	req.Patch = w.c.Input(w.cwd)
	res, err := w.engine.Apply(context.Background(), req)
	w.checkDocument(res, err)
	return res, err
}

func (w *world) undo() {
	w.t.Helper()
	forecast, err := w.engine.Undo(context.Background(), oxpatch.UndoRequest{Check: true})
	require.NoError(w.t, err, "undo with check")
	res, err := w.engine.Undo(context.Background(), oxpatch.UndoRequest{})
	w.checkDocument(res, err)
	require.NoError(w.t, err)
	assert.Equal(w.t, forecast.Files, res.Files, "the check's files and the undo's")
}

// checkDocument compares the JSON form with the schema.
func (w *world) checkDocument(res *oxpatch.Result, err error) {
	w.t.Helper()
	doc, marshalErr := json.Marshal(res)
	require.NoError(w.t, marshalErr)
	_, checkErr := checker().Check(doc)
	require.NoError(w.t, checkErr)
	assert.Equal(w.t, err == nil, res.OK)
}

// checker returns the compiled schema, which all tests share.
var checker = sync.OnceValue(func() *oxtest.Checker {
	c, err := oxtest.NewChecker()
	if err != nil {
		panic(err)
	}
	return c
})

// tree returns what stands there, without the repository and the store in it.
func (w *world) tree() oxtest.Tree {
	w.t.Helper()
	tree, err := oxtest.ReadTree(w.root, w.cwd)
	require.NoError(w.t, err)
	maps.DeleteFunc(tree, func(path string, _ oxtest.Entry) bool {
		_, brought := w.git[path]
		return brought || strings.HasPrefix(path, ".git/oxpatch/")
	})
	return tree
}

// outcome returns what the apply_patch command would print, and what it left.
func (w *world) outcome(res *oxpatch.Result, err error) oxtest.Outcome {
	w.t.Helper()
	out := oxtest.Outcome{After: w.tree()}
	if err != nil {
		out.Exit = 1
	}
	stdout, stderr := res.CodexOutput()
	out.Stdout, out.Stderr = oxtest.Masked(stdout, w.root, w.cwd), oxtest.Masked(stderr, w.root, w.cwd)
	return out
}

func requireOutcome(t *testing.T, want, got oxtest.Outcome) {
	t.Helper()
	assert.Equal(t, want.Exit, got.Exit, "exit code")
	assert.Equal(t, want.Stdout, got.Stdout, "standard output")
	assert.Equal(t, want.Stderr, got.Stderr, "standard error")
	require.Equal(t, want.After.Lines(), got.After.Lines(), "tree")
}

// emptyRepository returns a git directory to copy, which is quicker than a git process for each case.
func emptyRepository(t *testing.T) string {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	dir := t.TempDir()
	cmd := exec.Command("git", "init", "-q", "--template=", dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, ".git")
}

// withChanges returns the lines of a tree's files after some changes.
func withChanges(before oxtest.Tree, changes []oxpatch.Change) []string {
	tree := oxtest.Tree{}
	for path, e := range before {
		tree[path] = e
	}
	for _, c := range changes {
		delete(tree, c.Path)
		switch c.After.Kind {
		case change.File:
			e := oxtest.Entry{Content: oxtest.Content{Base64: c.After.Content}}
			if text := string(c.After.Content); utf8.ValidString(text) {
				e.Content = oxtest.Content{Text: &text}
			}
			if perm := c.After.Mode.Perm(); perm != 0 && perm != 0o644 { // 0: what the umask leaves
				e.Mode = fmt.Sprintf("100%03o", perm)
			}
			tree[c.Path] = e
		case change.Symlink:
			tree[c.Path] = oxtest.Entry{Symlink: string(c.After.Content)}
		}
	}
	return filesOnly(tree)
}

// filesOnly returns the lines of a tree without its empty folders, which no change names.
func filesOnly(t oxtest.Tree) []string {
	var files []string
	for _, line := range t.Lines() {
		if !strings.HasSuffix(line, ": empty folder") {
			files = append(files, line)
		}
	}
	return files
}
