package outputparse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/outputparse"
	"github.com/stretchr/testify/assert"
)

// unsettled are the runs whose words and exit code do not tell what became of the files. wrong is
// what is said of them in spite of that.
func unsettled() map[string]struct {
	why     string
	quiet   bool // only without -v
	applied []string
	skipped []string
	other   []string // conflicted by the words, truly changed in part
} {
	type row = struct {
		why     string
		quiet   bool
		applied []string
		skipped []string
		other   []string
	}
	outside := row{why: "below the top git passes over files outside of the folder, says so only with -v, and exits with 0", quiet: true, applied: []string{"f.txt"}}
	return map[string]row{
		"binary_corrupt_hides_the_rest":  {why: "git drops the broken section and all after it and exits with 0; it does not say which they are", applied: []string{"a.txt", "i.bin", "z.txt"}},
		"directory_in_the_way":           {why: "git failed half-way: a file before the failure is written, one after it is lost; the words are those of a run that wrote nothing", skipped: []string{"a.txt", "n", "z.txt"}},
		"multi_hunk_one_conflict.reject": {why: "some hunks are in the file and others are not, which is none of the three classes", other: []string{"f.txt"}},
		"submodule_bump.check":           {why: "without an index git drops a submodule's section without a word and exits with 0", applied: []string{"sub"}},
		"subdir_all_outside.3way":        outside,
		"subdir_all_outside.check":       outside,
		"subdir_all_outside.direct":      outside,
	}
}

func TestRecordedOutputIsSortedExactly(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range corpus(t) {
		for which, stderr := range map[string]oxtest.GitText{"": c.Stderr, " -v": c.StderrV} {
			row, open := unsettled()[c.Name]
			open = open && (!row.quiet || which == "")
			seen[c.Name] = seen[c.Name] || open
			t.Run(c.Name+" "+c.Git+which, func(t *testing.T) {
				t.Parallel()
				got := outputparse.Parse(outputparse.Output{Stdout: c.Stdout, Stderr: stderr, Known: c.Truth.All(), Exit: &c.Exit})
				want := c.Truth
				if open {
					assert.False(t, same(want, got), "the words do settle this one; its row is out of date")
					want = oxtest.GitFates{Applied: row.applied, Skipped: row.skipped, Conflicted: row.other}
				}
				assert.True(t, same(want, got), "want %+v\ngot %+v\n%s", want, got, stderr)
			})
		}
	}
	for name := range unsettled() {
		assert.True(t, seen[name], "%s is not in the corpus", name)
	}
}

func same(want oxtest.GitFates, got outputparse.Result) bool {
	equal := func(a, b []string) bool { return slices.Equal(slices.Sorted(slices.Values(a)), b) }
	return len(want.Other) == 0 && equal(want.Applied, got.Applied) && equal(want.Skipped, got.Skipped) && equal(want.Conflicted, got.Conflicted)
}

// Whatever is known or not, a path stands in one list, and what was never printed is not invented.
func TestEveryPathStandsInOneList(t *testing.T) {
	t.Parallel()
	for _, c := range corpus(t) {
		for _, known := range [][]string{nil, c.Truth.All()} {
			got := outputparse.Parse(outputparse.Output{Stdout: c.Stdout, Stderr: c.StderrV, Known: known})
			all := slices.Concat(got.Applied, got.Skipped, got.Conflicted)
			count := map[string]int{}
			for _, p := range all {
				count[p]++
				assert.Equal(t, 1, count[p], "%s %s: %q", c.Name, c.Git, p)
				assert.True(t, known == nil || slices.Contains(known, p), "%s %s: %q is not in the patch", c.Name, c.Git, p)
			}
			for _, l := range [][]string{got.Applied, got.Skipped, got.Conflicted} {
				assert.True(t, slices.IsSorted(l))
			}
		}
	}
}

// Every line that any of the five gits printed is in the table, or is text of the patch or advice.
func TestEveryRecordedLineIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range corpus(t) {
		if strings.HasPrefix(c.Name, "german") || strings.Contains(c.Name, "newline") {
			continue
		}
		found := outputparse.Read(c.Stderr, nil)
		printed := strings.Split(strings.TrimSuffix(string(c.Stderr), "\n"), "\n")
		for _, f := range found {
			printed = slices.DeleteFunc(printed, func(l string) bool { return l == f.Line })
		}
		for _, line := range printed {
			advice := len(found) > 0 && strings.HasPrefix(found[0].Text, "fatal: Unable to create")
			quoted := strings.HasPrefix(c.Name, "whitespace") || strings.HasSuffix(c.Mode, "reject")
			assert.True(t, line == "" || advice || quoted, "%s %s: %q", c.Name, c.Git, line)
		}
	}
}
