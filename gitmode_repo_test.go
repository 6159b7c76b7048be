package oxpatch_test

import (
	"context"
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
)

// The git that engines start sees the settings of nobody.
func init() {
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "XDG_CONFIG_HOME": os.DevNull, "LC_ALL": "C",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// newBareGround is an empty repository made by git, without hooks and without housekeeping that would
// go on after a commit.
func newBareGround(t testing.TB, initArgs ...string) *ground {
	t.Helper()
	g := newGround(t)
	g.init(initArgs...)
	return g
}

func (g *ground) init(args ...string) {
	g.t.Helper()
	g.git(append([]string{"init", "-q", "-b", "main", "--template="}, args...)...)
	f, err := os.OpenFile(g.path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(g.t, err)
	_, err = f.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	require.NoError(g.t, err)
	require.NoError(g.t, f.Close())
}

func (g *ground) commit() {
	g.t.Helper()
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", "m")
}

// feed runs git with something to read.
func (g *ground) feed(stdin string, args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, gitEnviron(g.dir), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(g.t, err, "git %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// numbered is a text of n lines; the lines in other are replaced.
func numbered(n int, other map[int]string) string {
	var b strings.Builder
	for i := range n {
		if text, ok := other[i+1]; ok {
			b.WriteString(text + "\n")
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// made returns the diff of what change does to what is committed, and takes it back. Objects of the
// new state are not in the repository.
func (g *ground) made(change func(), args ...string) string {
	g.t.Helper()
	change()
	g.git("add", "-A", "-N")
	patch := g.git(append([]string{"diff", "--no-ext-diff", "--binary", "HEAD"}, args...)...)
	g.git("reset", "-q", "--hard")
	g.git("clean", "-q", "-d", "-f")
	require.NotEmpty(g.t, patch)
	return patch
}

// index is the index as text: an entry a line, with the flags that last and without stat data.
func (g *ground) index() []string {
	g.t.Helper()
	lines := indexIn(g.t, g.dir)
	if noted := gitIn(g.t, g.dir, "ls-files", "--resolve-undo"); noted != "" {
		lines = append(lines, "to be undone by checkout -m: "+noted)
	}
	return lines
}

func indexIn(t testing.TB, dir string) []string {
	t.Helper()
	out := gitIn(t, dir, "ls-files", "-z", "--stage", "-v", "--debug")
	var all []string
	for out != "" {
		entry, rest, _ := strings.Cut(out, "\x00")
		_, after, ok := strings.Cut(rest, "flags: ")
		require.True(t, ok, "%q", rest)
		flags, tail, _ := strings.Cut(after, "\n")
		var bits uint32
		_, err := fmt.Sscanf(flags, "%x", &bits)
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%s flags %x", entry, bits&0x60008000))
		out = tail
	}
	return all
}

// everything is a whole folder with git directories, but for the stores of oxpatch and for the times
// of files.
func everything(t testing.TB, dir string) image {
	t.Helper()
	img := image{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "oxpatch" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		img[strings.TrimPrefix(path, dir)] = describe(path, info)
		return nil
	}))
	return img
}

// twin is what a repository holds for a user: files and index.
type twin struct {
	files image
	index []string
}

func (g *ground) twin() twin {
	g.t.Helper()
	return twin{g.image(), g.index()}
}

// requireTwin names what differs.
func requireTwin(t testing.TB, want, got twin, what string) {
	t.Helper()
	requireImage(t, want.files, got.files, what)
	require.Equal(t, want.index, got.index, "%s: the index", what)
}

func requireImage(t testing.TB, want, got image, what string) {
	t.Helper()
	var diff []string
	for _, name := range slices.Sorted(maps.Keys(want.with(got))) {
		if want[name] != got[name] {
			diff = append(diff, fmt.Sprintf("%q: %.150s, not %.150s", name, got[name], want[name]))
		}
	}
	require.Empty(t, diff, what)
}

func gitRequest(patch string) oxpatch.Request {
	return oxpatch.Request{Patch: []byte(patch), Mode: oxpatch.ModeGit}
}

// run applies a request, whatever comes of it.
func (g *ground) run(req oxpatch.Request, opts ...oxpatch.Option) (*oxpatch.Result, error) {
	g.t.Helper()
	return g.open(opts...).Apply(context.Background(), req)
}

// must applies a request that has to work.
func (g *ground) must(req oxpatch.Request, opts ...oxpatch.Option) *oxpatch.Result {
	g.t.Helper()
	res, err := g.run(req, opts...)
	require.NoError(g.t, err)
	require.True(g.t, res.OK)
	return res
}

// refused applies a request that has to be refused, with nothing changed.
func (g *ground) refused(req oxpatch.Request, kind error, opts ...oxpatch.Option) *oxpatch.Result {
	g.t.Helper()
	before := g.twin()
	res, err := g.run(req, opts...)
	require.Error(g.t, err)
	if kind != nil {
		require.ErrorIs(g.t, err, kind)
	}
	assert.False(g.t, res.OK || res.Applied)
	assert.Empty(g.t, res.Changes)
	assert.NotEmpty(g.t, res.Problems)
	requireTwin(g.t, before, g.twin(), "refused")
	return res
}

func warned(res *oxpatch.Result, kind oxpatch.Kind) bool {
	return slices.ContainsFunc(res.Problems, func(p oxpatch.Problem) bool {
		return p.Severity == oxpatch.SeverityWarning && p.Kind == kind
	})
}
