package appliertest

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// numbers returns lines 1 to n, with some of them replaced.
func numbers(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		line, ok := replaced[i]
		if !ok {
			line = "line " + strings.Repeat("i", i)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// scenario is a change of a tree.
type scenario struct {
	before, after files
	changes       map[string]string // of the result, by path
}

func scenarios() map[string]scenario {
	old, edited := text(numbers(30, nil)), text(numbers(30, map[int]string{4: "vier", 25: "25\n25 a"}))
	return map[string]scenario{
		"an edit": {files{"a": old}, files{"a": edited}, map[string]string{"a": "modify"}},
		"edit, addition, deletion": {
			files{"a": old, "gone": text("x\n"), "same": text("s\n")}, files{"a": edited, "made": text("y\nz\n"), "same": text("s\n")},
			map[string]string{"a": "modify", "gone": "delete", "made": "add"}},
		"a move":             {files{"a": old}, files{"b/c": old}, map[string]string{"b/c": "rename"}},
		"a move with edits":  {files{"a/b": old}, files{"c": edited}, map[string]string{"c": "rename"}},
		"a file is a folder": {files{"a": text("x\n"), "b": old}, files{"a/b": text("y\n"), "b": edited}, map[string]string{"a": "delete", "a/b": "add", "b": "modify"}},
		"folders come and go": {
			files{"a/b/c": text("x\n"), "d": text("y\n")}, files{"e/f/g": text("z\n"), "d": text("y\n")},
			map[string]string{"a/b/c": "delete", "e/f/g": "add"}},
		"empty files":        {files{"a": text(""), "b": text("x\n")}, files{"b": text("x\n"), "c": text("")}, map[string]string{"c": "rename"}},
		"an empty file":      {files{"b": text("x\n")}, files{"b": text("x\n"), "c": text("")}, map[string]string{"c": "add"}},
		"an emptied file":    {files{"a": text("x\n")}, files{"a": text("")}, map[string]string{"a": "modify"}},
		"a filled file":      {files{"a": text("")}, files{"a": text("x\n")}, map[string]string{"a": "modify"}},
		"final newline goes": {files{"a": text("x\ny\n")}, files{"a": text("x\nz")}, map[string]string{"a": "modify"}},
		"final newline comes": {
			files{"a": text("x\ny")}, files{"a": text("x\ny\n")}, map[string]string{"a": "modify"}},
		"no final newline":                  {files{"a": text("x\ny\nz")}, files{"a": text("1\ny\nz"), "b": text("n")}, map[string]string{"a": "modify", "b": "add"}},
		"CRLF":                              {files{"a": text("x\r\ny\r\nz\r\n")}, files{"a": text("x\r\n1\r\n2\r\nz\r\n")}, map[string]string{"a": "modify"}},
		"not UTF-8":                         {files{"a": text("x\ncaf\xe9\nz\n")}, files{"a": text("x\nt\xe9\nz\n")}, map[string]string{"a": "modify"}},
		"byte-order mark added with a file": {files{"b": text("x\n")}, files{"b": text("x\n"), "a": text("\xef\xbb\xbfx\ny\n")}, map[string]string{"a": "add"}},
		"byte-order mark goes with a file":  {files{"b": text("x\n"), "a": text("\xef\xbb\xbfx\ny\n")}, files{"b": text("x\n")}, map[string]string{"a": "delete"}},
		"byte-order mark":                   {files{"a": text("\xef\xbb\xbfx\ny\n")}, files{"a": text("\xef\xbb\xbf1\ny\n")}, map[string]string{"a": "modify"}},
	}
}

// executables are scenarios for systems that have execute bits.
func executables() map[string]scenario {
	return map[string]scenario{
		"an executable is made": {files{"b": text("x\n")}, files{"a": script("#!\n"), "b": text("x\n")}, map[string]string{"a": "add"}},
		"an executable is edited": {
			files{"a": script(numbers(9, nil))}, files{"a": script(numbers(9, map[int]string{5: "five"}))}, map[string]string{"a": "modify"}},
		"execute bits come with an edit": {
			files{"a": text(numbers(9, nil))}, files{"a": script(numbers(9, map[int]string{5: "five"}))}, map[string]string{"a": "modify"}},
	}
}

func (s suite) testScenarios(t *testing.T) {
	all := scenarios()
	if runtime.GOOS != "windows" {
		for name, c := range executables() {
			all[name] = c
		}
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.perform(t, c)
		})
	}
}

// perform checks, applies and takes back a change.
func (s suite) perform(t *testing.T, c scenario) {
	patch := diff(t, c.before, c.after)
	w := s.world(t, c.before)
	tree, index := w.tree(), w.index()
	req := oxpatch.Request{Patch: patch, Diff: true}

	forecast, err := w.check(req)
	require.NoError(t, err, "%s", patch)
	assert.True(t, forecast.Exact)

	res, err := w.apply(req)
	require.NoError(t, err, "%s", patch)
	assert.True(t, res.Applied && res.Exact)
	assert.NotEmpty(t, res.ID)
	assert.True(t, res.Snapshot.Undoable, res.Snapshot.Reason)
	assert.Equal(t, w.wanted(c.after), w.tree())
	c.checkFiles(t, res)
	assert.Equal(t, forecast.Files, res.Files, "the check foretells the files")
	assert.Equal(t, forecast.AppliedPaths, res.AppliedPaths)
	assert.Equal(t, string(forecast.Diff), string(res.Diff))
	w.undone(tree, index)
	assert.ErrorIs(t, w.undo(t, w.dir), oxpatch.ErrNothingToUndo)
}

// A file in the place of a folder that the same patch empties: done, or refused as a whole. git puts the
// file in front of what the folder held.
func (s suite) testFolder(t *testing.T) {
	old, edited := text(numbers(30, nil)), text(numbers(30, map[int]string{4: "vier"}))
	c := scenario{files{"a/b": text("x\n"), "b": old}, files{"a": text("y\n"), "b": edited},
		map[string]string{"a/b": "delete", "a": "add", "b": "modify"}}
	w := s.world(t, c.before)
	req := oxpatch.Request{Patch: diff(t, c.before, c.after)}
	if _, err := w.check(req); err != nil {
		_, _ = w.refused(context.Background(), req)
		return
	}
	s.perform(t, c)
}

// checkFiles compares what the result says with what was to be done.
func (c scenario) checkFiles(t *testing.T, res *oxpatch.Result) {
	t.Helper()
	changes := map[string]string{}
	for _, f := range res.Files {
		changes[f.Path] = f.Change
		assert.Equal(t, oxpatch.StatusApplied, f.Status, f.Path)
		assert.False(t, f.Unchanged, f.Path)
		for i, h := range f.Hunks {
			assert.Equal(t, i+1, h.Index)
			assert.Equal(t, oxpatch.StatusApplied, h.Status)
		}
	}
	assert.Equal(t, c.changes, changes)
	assert.Equal(t, c.touched(), res.AppliedPaths)
	assert.Empty(t, res.SkippedPaths)
	assert.Empty(t, res.ConflictedPaths)
	var planned []string
	for _, ch := range res.Changes {
		planned = append(planned, change.DisplayPath(ch.Path))
	}
	slices.Sort(planned)
	assert.Equal(t, res.AppliedPaths, planned, "the changes are those of the paths")
}

// touched returns the names that differ between before and after, as results show them, sorted.
func (c scenario) touched() []string {
	var out []string
	for _, f := range []files{c.before, c.after} {
		for name := range f {
			if !same(c.before, c.after, name) {
				out = append(out, change.DisplayPath(name))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func same(a, b files, name string) bool {
	x, okX := a[name]
	y, okY := b[name]
	return okX == okY && x.Mode == y.Mode && string(x.Bytes()) == string(y.Bytes())
}

// wanted returns the working tree with these files beside those that stand aside.
func (w *world) wanted(after files) []string {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, oxtest.Tree(after).Write(dir))
	require.NoError(w.t, os.CopyFS(dir+"/aside", os.DirFS(w.path("aside"))))
	tree, err := oxtest.ReadTree(dir, dir)
	require.NoError(w.t, err)
	return tree.Lines()
}

func (s suite) testNames(t *testing.T) {
	names := []string{"with space", "a=b;c", "ünïcödé", "-dash", "--", "#hash", "[glob]", "patch does not apply", "end ", "Applied patch to", "diff --git a"}
	if runtime.GOOS != "windows" {
		names = append(names, "*", ":(top)x", "tab\there", `quote"`, `back\slash`, `\"both`, `ends\`, "line\nfeed", "'single'", "a:1", "cr\rcr", "\x01")
	}
	if runtime.GOOS == "linux" {
		names = append(names, "latin\xe9")
	}
	old, edited := text(numbers(9, nil)), text(numbers(9, map[int]string{5: "five"}))
	other, otherEdited := text(numbers(12, map[int]string{1: "1", 2: "2"})), text(numbers(12, map[int]string{1: "1", 2: "2", 8: "eight"}))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to, gone, made := "d/"+name+"/from", "e/"+name, "gone/"+name, "made/"+name
			s.perform(t, scenario{
				files{name: old, from: other, gone: text("x\n")},
				files{name: edited, to: otherEdited, made: text("y\n")},
				map[string]string{
					change.DisplayPath(name): "modify", change.DisplayPath(to): "rename",
					change.DisplayPath(gone): "delete", change.DisplayPath(made): "add",
				}})
		})
	}
}

// What is as the patch wants it counts as applied and unchanged; nothing is done, and there is
// nothing to take back.
func (s suite) testUnchanged(t *testing.T) {
	for name, c := range map[string]scenario{
		"an edit":     {before: files{"a": text(numbers(9, nil))}, after: files{"a": text(numbers(9, map[int]string{5: "five"}))}},
		"an addition": {before: files{"a": text("x\n")}, after: files{"a": text("x\n"), "b": text("y\n")}},
		"both": {before: files{"a": text(numbers(9, nil))},
			after: files{"a": text(numbers(9, map[int]string{2: "two", 5: "five"})), "b": text("y\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := s.world(t, c.before)
			w.commit(c.after)
			tree, index := w.tree(), w.index()
			req := oxpatch.Request{Patch: diff(t, c.before, c.after)}
			forecast, err := w.check(req)
			require.NoError(t, err)
			res, err := w.apply(req)
			require.NoError(t, err)
			assert.False(t, res.Applied)
			assert.True(t, res.Exact)
			assert.Empty(t, res.Changes)
			assert.Equal(t, c.touched(), res.AppliedPaths)
			assert.Empty(t, res.SkippedPaths)
			assert.Equal(t, forecast.Files, res.Files)
			for _, f := range res.Files {
				assert.Equal(t, oxpatch.StatusApplied, f.Status)
				assert.True(t, f.Unchanged)
			}
			assert.Equal(t, tree, w.tree())
			assert.Equal(t, index, w.index())
			assert.ErrorIs(t, w.undo(t, w.dir), oxpatch.ErrNothingToUndo)
		})
	}
}
