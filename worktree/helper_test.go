package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// picture lists everything below dir: kind, permissions and content.
func picture(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%s %v", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", content)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	}))
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// lay makes files below dir. A content "-> x" makes a link to x, a name ending in / a folder, a
// content that begins with "x:" an executable.
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(files[name], "-> "); ok {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(files[name], "x:") {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, []byte(files[name]), mode))
		require.NoError(t, os.Chmod(path, mode))
	}
}

func tempTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	lay(t, dir, files)
	return dir
}

func open(t testing.TB, dir string, o Options) *Tree {
	t.Helper()
	tree, err := Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { tree.Close() })
	return tree
}

func file(content string) change.State {
	return change.State{Kind: change.File, Content: []byte(content)}
}

func link(target string) change.State {
	return change.State{Kind: change.Symlink, Content: []byte(target)}
}

var gone = change.State{}

// want is one path of a plan in a test.
type want struct {
	path    string
	after   change.State
	inPlace bool
	old     string
}

// job is a plan made ready for the writer.
type job struct {
	files         []File
	made, removed []Dir
}

func plan(t testing.TB, tree *Tree, wants ...want) job {
	t.Helper()
	var j job
	var changes []change.Change
	for _, w := range wants {
		before, stamp, err := tree.Read(w.path)
		require.NoError(t, err)
		if before.Kind == change.Dir {
			before, stamp = gone, Stamp{}
		}
		after := w.after
		if after.Kind == change.File && after.Mode == 0 && before.Kind == change.File {
			after.Mode = before.Mode
		}
		c := change.Change{Path: w.path, OldPath: w.old, Before: before, After: after}
		changes = append(changes, c)
		j.files = append(j.files, File{Change: c, Stamp: stamp, InPlace: w.inPlace})
	}
	var err error
	j.made, j.removed, err = tree.Dirs(changes)
	require.NoError(t, err)
	return j
}

func (j job) write(tree *Tree, op string, d Durability) error {
	return tree.NewWriter(op, j.files, j.made, j.removed, d).Write(context.Background())
}
