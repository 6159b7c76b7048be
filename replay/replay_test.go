package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/textapply"
)

func TestMain(m *testing.M) {
	pinGit()
	os.Exit(m.Run())
}

func TestNothingLandsInTheWrongPlace(t *testing.T) {
	t.Parallel()
	repo := makeHistory(t).repository()
	for _, lines := range []string{"0", "1", "2", "3"} {
		t.Run(lines+" lines of context", func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			o, err := parseOptions([]string{"-repo", repo, "-n", "1000", "-context", lines, "-scope", "0,1",
				"-perturb", "none,space,indent,typo", "-compat", "default", "-v"})
			require.NoError(t, err)
			r, err := replay(context.Background(), o, &log)
			require.NoError(t, err)
			require.Len(t, r.tallies, 8)
			for _, row := range r.tallies {
				checkRow(t, r, row, &log)
			}
		})
	}
}

// checkRow requires that all commits are counted and none is wrong, and with three lines of context
// that most are right.
func checkRow(t *testing.T, r *report, row *tally, log fmt.Stringer) {
	t.Helper()
	total := 0
	for _, n := range row.commits {
		total += n
	}
	assert.Equal(t, r.taken, total)
	assert.Zero(t, row.commits[wrong], "%s:\n%s", row.setting, log)
	assert.Zero(t, row.commits[guessed], "%s:\n%s", row.setting, log)
	assert.Zero(t, row.commits[lineEnds], "%s:\n%s", row.setting, log)
	least := 0
	if row.setting.context == 3 {
		least = total * 55 / 100 // the files are made to be ambiguous; of real commits it is over 97 %
	}
	assert.GreaterOrEqual(t, row.commits[right], least, "%s:\n%s", row.setting, log)
}

func TestWhatIsNotTextIsLeftOut(t *testing.T) {
	t.Parallel()
	h := makeHistory(t)
	o, err := parseOptions([]string{"-repo", h.repository(), "-n", "1000", "-compat", "default"})
	require.NoError(t, err)
	r, err := replay(context.Background(), o, new(bytes.Buffer))
	require.NoError(t, err)
	assert.Equal(t, h.n-1-3, r.taken, "all commits but the first and three without text")
	assert.Equal(t, map[string]int{"binary": 1, "link": 2, "mode only": 1, "final newline": 1}, r.leftOut)
}

func TestAWrongPlaceIsSeenAndKept(t *testing.T) {
	t.Parallel()
	keep := t.TempDir()
	var log bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"-repo", makeHistory(t).repository(), "-n", "1000", "-context", "1",
		"-compat", "codex", "-v", "-keep", keep}, &log))
	assert.Contains(t, log.String(), "wrong codex-context1-none ")
	kept, err := filepath.Glob(filepath.Join(keep, "wrong-*"))
	require.NoError(t, err)
	require.NotEmpty(t, kept, log.String())
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(kept[0], "before"))))
	patch, err := os.ReadFile(filepath.Join(kept[0], "patch"))
	require.NoError(t, err)
	engine, err := oxpatch.Open(dir, oxpatch.WithoutSnapshot())
	require.NoError(t, err)
	_, err = engine.Apply(context.Background(), oxpatch.Request{Patch: patch, Compat: oxpatch.CompatCodex})
	require.NoError(t, err)
	assert.Equal(t, treeOf(t, filepath.Join(kept[0], "got")), treeOf(t, dir), "what is kept makes it happen again")
	assert.NotEqual(t, treeOf(t, filepath.Join(kept[0], "want")), treeOf(t, dir))
}

func TestTheRepositoryIsOnlyRead(t *testing.T) {
	t.Parallel()
	repo := makeHistory(t).repository()
	before := listing(t, repo)
	require.NoError(t, run(context.Background(), []string{"-repo", repo, "-n", "5", "-compat", "codex"}, new(bytes.Buffer)))
	assert.Equal(t, before, listing(t, repo))
}

func TestTheSameSeedGivesTheSameTable(t *testing.T) {
	t.Parallel()
	repo := makeHistory(t).repository()
	table := func(seed string) string {
		var out bytes.Buffer
		require.NoError(t, run(context.Background(), []string{"-repo", repo, "-n", "9", "-seed", seed, "-perturb", "space", "-compat", "codex", "-v"}, &out))
		return out.String()
	}
	assert.Equal(t, table("3"), table("3"))
	assert.NotEqual(t, table("3"), table("4"))
}

func treeOf(t *testing.T, dir string) tree {
	t.Helper()
	tree, err := readTree(dir)
	require.NoError(t, err)
	return tree
}

// listing names every file below a folder with its size and time.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		all = append(all, fmt.Sprint(name, info.Size(), info.ModTime()))
		return err
	}))
	return all
}

func TestSpelling(t *testing.T) {
	t.Parallel()
	lines := []textapply.Line{{Op: textapply.Context, Text: "\t\tif x {"}, {Op: textapply.Remove, Text: "\t\t\ty(\"a\")"},
		{Op: textapply.Insert, Text: "\t\t\tz('b') "}, {Op: textapply.Context}}
	assert.Equal(t, []textapply.Line{{Op: textapply.Context, Text: "if x {"}, {Op: textapply.Remove, Text: "\ty(\"a\")"},
		{Op: textapply.Insert, Text: "\tz('b') "}, {Op: textapply.Context}}, perturbIndent.spell(lines, nil))
	assert.Equal(t, "a", otherTrailing("a \t", nil))
	assert.Equal(t, "it\u2019s \u2013 \u201dso\u201d", otherPunctuation(`it's - "so"`))
	assert.Equal(t, `it's - "so"`, otherPunctuation("it\u2019s \u2013 \u201cso\u201d"))
	onlyAdds := []textapply.Line{{Op: textapply.Insert, Text: "  x"}, {Op: textapply.Context}}
	assert.Equal(t, onlyAdds, perturbIndent.spell(onlyAdds, nil), "nothing would tell the depth of the added line")
}

func TestScopesOfCutHeadings(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "f \u00fc", scopeOf("f \u00fc\xc3"), "a character cut in two is left out")
	assert.Equal(t, "f", scopeOf("f \xe2\x80"))
	assert.Equal(t, "f \ufffd", scopeOf("f \ufffd"), "this one was there")
	assert.Empty(t, scopeOf("\xff f"))
}

func TestAdditionsAreAnchored(t *testing.T) {
	t.Parallel()
	insert := textapply.Line{Op: textapply.Insert, Text: "x"}
	cases := map[string]struct {
		line, used, want int
		lines            string
	}{
		"behind a line":                  {line: 3, want: 2, lines: " b+x"},
		"at the top":                     {line: 1, want: 1, lines: "+x a"},
		"behind a line that is used":     {line: 3, used: 2, want: 3, lines: "+x c"},
		"at the end":                     {line: 4, want: 3, lines: " c+x"},
		"at the end with all lines used": {line: 4, used: 3, want: 4, lines: "+x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hunk{line: c.line, lines: []textapply.Line{insert}}.anchored([]string{"a", "b", "c"}, c.used)
			var b strings.Builder
			for _, l := range h.lines {
				b.WriteString(string(" -+"[l.Op]) + l.Text)
			}
			assert.Equal(t, c.lines, b.String())
			assert.Equal(t, c.want, h.line)
		})
	}
}

func TestMovesAreOrdered(t *testing.T) {
	t.Parallel()
	files := []file{
		{kind: textapply.Update, old: "a", path: "b"}, {kind: textapply.Update, old: "b", path: "c"},
		{kind: textapply.Delete, old: "c", path: "c"}, {kind: textapply.Add, old: "a", path: "a"},
	}
	sorted, ok := inOrder(files)
	require.True(t, ok)
	var names []string
	for _, f := range sorted {
		names = append(names, f.old+">"+f.path)
	}
	assert.Equal(t, []string{"c>c", "b>c", "a>b", "a>a"}, names)
	_, ok = inOrder([]file{{old: "a", path: "b", kind: textapply.Update}, {old: "b", path: "a", kind: textapply.Update}})
	assert.False(t, ok)
}
