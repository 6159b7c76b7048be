//go:build linux || darwin

package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

func TestDirs(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{
		"a": "a", "one/x": "x", "two/x": "x", "two/y": "y", "deep/er/x": "x", "deep/er/y/z": "z", "link": "-> one",
		"void/empty/": "", "void/x": "x", "base/in/x": "x",
	})
	require.NoError(t, os.Chmod(filepath.Join(dir, "deep", "er"), 0o700))
	del := func(path string) change.Change { return change.Change{Path: path, Before: file("x"), After: gone} }
	add := func(path string) change.Change { return change.Change{Path: path, Before: gone, After: file("x")} }
	for name, c := range map[string]struct {
		changes       []change.Change
		base          string
		made, removed []Dir
		err           error
	}{
		"nothing":                      {},
		"folders are made top down":    {changes: []change.Change{add("n/m/x"), add("n/b/y"), add("one/y")}, made: []Dir{{Path: "n"}, {Path: "n/b"}, {Path: "n/m"}}},
		"folder is emptied":            {changes: []change.Change{del("one/x")}, removed: []Dir{{"one", 0o755}}},
		"something stays":              {changes: []change.Change{del("two/x")}},
		"something comes":              {changes: []change.Change{del("one/x"), add("one/y")}},
		"something comes deeper":       {changes: []change.Change{del("one/x"), add("one/n/y")}, made: []Dir{{Path: "one/n"}}},
		"deepest first":                {changes: []change.Change{del("deep/er/x"), del("deep/er/y/z")}, removed: []Dir{{"deep/er/y", 0o755}, {"deep/er", 0o700}, {"deep", 0o755}}},
		"only the lower one":           {changes: []change.Change{del("deep/er/y/z")}, removed: []Dir{{"deep/er/y", 0o755}}},
		"an empty folder in it stays":  {changes: []change.Change{del("void/x")}},
		"base stays":                   {changes: []change.Change{del("base/in/x")}, base: "base/in"},
		"above the base stays":         {changes: []change.Change{del("base/in/x")}, base: "base", removed: []Dir{{"base/in", 0o755}}},
		"update removes nothing":       {changes: []change.Change{{Path: "one/x", Before: file("x"), After: file("y")}}},
		"delete of nothing":            {changes: []change.Change{{Path: "one/none"}}},
		"file makes room for a folder": {changes: []change.Change{del("a"), add("a/x")}, made: []Dir{{Path: "a"}}},
		"link makes room for a folder": {changes: []change.Change{del("link"), add("link/x")}, made: []Dir{{Path: "link"}}},
		"folder makes room for a file": {changes: []change.Change{del("one/x"), add("one")}, removed: []Dir{{"one", 0o755}}},
		"folder does not make room":    {changes: []change.Change{del("two/x"), add("two")}, err: ErrIsDirectory},
		"file does not make room":      {changes: []change.Change{add("a/x")}, err: ErrParentIsFile},
		"base makes no room":           {changes: []change.Change{del("base/in/x"), add("base/in")}, base: "base/in", err: ErrIsDirectory},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := picture(t, dir)
			made, removed, err := open(t, dir, Options{Base: c.base}).Dirs(c.changes)
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.made, made)
			assert.Equal(t, c.removed, removed)
			assert.Equal(t, before, picture(t, dir))
		})
	}
}

func TestRootIsNeverRemoved(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"x/y": "y"})
	tree := open(t, dir, Options{})
	require.NoError(t, plan(t, tree, want{path: "x/y", after: gone}).write(tree, "op", Process))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
