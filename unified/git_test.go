package unified_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/unified"
)

// tree is a folder's files and links by slash-separated path.
type tree map[string]change.State

func file(content string) change.State {
	return change.State{Kind: change.File, Mode: 0o644, Content: []byte(content)}
}

func program(content string) change.State {
	return change.State{Kind: change.File, Mode: 0o755, Content: []byte(content)}
}

func link(target string) change.State {
	return change.State{Kind: change.Symlink, Content: []byte(target)}
}

// with returns the tree that the changes lead to.
func (t tree) with(changes []change.Change) tree {
	out := tree{}
	for name, s := range t {
		out[name] = s
	}
	for _, c := range changes {
		delete(out, c.Path)
		if c.After.Kind == change.File || c.After.Kind == change.Symlink {
			out[c.Path] = c.After
		}
	}
	return out
}

func (t tree) write(tb require.TestingT, dir string) {
	for name, s := range t {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o777))
		if s.Kind == change.Symlink {
			require.NoError(tb, os.Symlink(string(s.Content), path))
			continue
		}
		require.NoError(tb, os.WriteFile(path, s.Content, s.Mode))
	}
}

func readTree(tb require.TestingT, dir string) tree {
	out := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		require.NoError(tb, err)
		out[filepath.ToSlash(name)] = readState(tb, path, d)
		return nil
	})
	require.NoError(tb, err)
	return out
}

func readState(tb require.TestingT, path string, d fs.DirEntry) change.State {
	if d.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		require.NoError(tb, err)
		return link(target)
	}
	content, err := os.ReadFile(path)
	require.NoError(tb, err)
	info, err := d.Info()
	require.NoError(tb, err)
	return change.State{Kind: change.File, Mode: info.Mode().Perm(), Content: content}
}

// requireSame compares trees as git sees them.
func requireSame(tb require.TestingT, want, got tree, diff []byte) {
	for name, w := range want {
		g, ok := got[name]
		require.True(tb, ok, "%q is missing after\n%s", name, diff)
		require.True(tb, w.Equal(g), "%q: want %s %o %q, have %s %o %q after\n%s",
			name, w.Kind, w.Mode, w.Content, g.Kind, g.Mode, g.Content, diff)
	}
	for name := range got {
		_, ok := want[name]
		require.True(tb, ok, "%q was not to be there after\n%s", name, diff)
	}
}

func render(tb require.TestingT, changes []change.Change, o unified.Options) []byte {
	var b bytes.Buffer
	require.NoError(tb, unified.Write(&b, changes, o))
	return b.Bytes()
}

func needGit(tb testing.TB) {
	tb.Helper()
	oxtest.NeedProgram(tb, "git")
	if runtime.GOOS == "windows" {
		oxtest.Lacks(tb, "a file system with execute bits and with the names of these cases")
	}
}

// git runs git in dir with nothing of the user's settings.
func git(tb require.TestingT, dir string, stdin []byte, args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(withoutGit(os.Environ()),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir, "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2001-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, "git %s: %s\n%s", strings.Join(args, " "), out, stdin)
}

func withoutGit(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "GIT_") {
			out = append(out, e)
		}
	}
	return out
}

// roundTrip has git apply the diff of the changes to the tree before them and back again.
func roundTrip(tb require.TestingT, before tree, changes []change.Change, o unified.Options) []byte {
	dir, err := os.MkdirTemp("", "unified-")
	require.NoError(tb, err)
	defer os.RemoveAll(dir)
	// With symbolic links resolved, or the ceiling would not be the parent of the folder.
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(tb, err)
	before.write(tb, dir)
	diff := render(tb, changes, o)
	after := before.with(changes)
	if len(diff) == 0 {
		requireSame(tb, before, after, nil)
		return nil
	}
	args := []string{"apply", "--whitespace=nowarn"}
	if o.Context < 0 {
		args = append(args, "--unidiff-zero")
	}
	git(tb, dir, diff, args...)
	requireSame(tb, after, readTree(tb, dir), diff)
	git(tb, dir, diff, append(args, "-R")...)
	requireSame(tb, before, readTree(tb, dir), diff)
	return diff
}
