package oxpatch_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// shown are the lists as a result has them.
func shown(f oxtest.GitFates) [3][]string {
	var out [3][]string
	for i, list := range [][]string{f.Applied, f.Skipped, f.Conflicted} {
		out[i] = []string{}
		for _, p := range list {
			out[i] = append(out[i], change.DisplayPath(p))
		}
		slices.Sort(out[i])
	}
	return out
}

func fatesOf(res *oxpatch.Result) [3][]string {
	out := [3][]string{}
	for i, list := range [][]string{res.AppliedPaths, res.SkippedPaths, res.ConflictedPaths} {
		out[i] = append([]string{}, list...)
		slices.Sort(out[i])
	}
	return out
}

// gitCase is one recorded run of git.
type gitCase struct{ oxtest.GitCase }

// gitCorpus returns the runs with --3way that were recorded with a git that does as the installed one.
func gitCorpus(t *testing.T) []gitCase {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	out, err := exec.Command("git", "--version").Output()
	require.NoError(t, err)
	version := oxtest.RecordedFor(strings.TrimPrefix(string(out), "git version "))
	cases, err := oxtest.ReadGitCases("testdata")
	require.NoError(t, err)
	var all []gitCase
	for _, c := range cases {
		if c.Git == version && c.Mode != "direct" && c.Mode != "reject" { // those begin with the same repositories
			all = append(all, gitCase{c})
		}
	}
	require.Greater(t, len(all), 80)
	return all
}

// build makes the repository that a case begins with.
func (c gitCase) build(t *testing.T) *ground {
	t.Helper()
	g := newBareGround(t)
	require.NoError(t, c.Build(g.dir, g.feed))
	return g
}

// gitDeviations are the cases in which the engine does more than git by itself, or refuses what git
// leaves half done, and the rule that allows it; nil fates are those of git.
func gitDeviations() map[string]struct {
	rule  string
	fates *oxtest.GitFates
} {
	f := &oxtest.GitFates{Applied: []string{"f.txt"}}
	type row = struct {
		rule  string
		fates *oxtest.GitFates
	}
	return map[string]row{
		"rev_unstaged":                  {"what is to be taken back is staged first, beside the repository", f},
		"stale_stat":                    {"a file that equals its entry is clean, whatever its stat data", f},
		"subdir_all_outside":            {"paths count from the top, and nothing is passed over", f},
		"count_too_big":                 {"counts that do not fit are recounted", f},
		"last_newline_lost":             {"a patch ends in a line feed", f},
		"no_prefix":                     {"missing prefixes are put in where the tree shows that they are", &oxtest.GitFates{Applied: []string{"src/x.txt"}}},
		"crlf_patch_lf_file":            {"a patch that went through CRLF gets the line endings of its files", f},
		"binary_corrupt_hides_the_rest": {"no section is dropped in silence", &oxtest.GitFates{Skipped: []string{"a.txt", "i.bin", "z.txt"}}},
		"directory_in_the_way":          {"no tree is left half written", &oxtest.GitFates{Skipped: []string{"a.txt", "n", "z.txt"}}},
		"codex_style_patch":             {"what has no section names no paths", &oxtest.GitFates{}},
		"empty_patch":                   {"what has no section names no paths", &oxtest.GitFates{}},
		"index_lock_present":            {"the lock is waited for before the first write", &oxtest.GitFates{Skipped: []string{"f.txt"}}},
	}
}

func TestGitCorpusThroughTheEngine(t *testing.T) {
	t.Parallel()
	for _, c := range gitCorpus(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.run(t, c.build(t))
		})
	}
}

func (c gitCase) run(t *testing.T, g *ground) {
	deviation, deviates := gitDeviations()[c.Base()]
	truth := c.Truth
	if c.Checks() {
		truth = c.Truth3way
	}
	if deviates {
		truth = *deviation.fates
	}
	lock := g.path(".git/index.lock")
	_, err := os.Lstat(lock)
	locked := err == nil

	req := gitRequest(string(c.Diff))
	req.Format, req.Reverse, req.Check = oxpatch.FormatUnified, c.Reverse(), true
	apply := func() (*oxpatch.Result, error) {
		return g.openAt(g.path(c.Cwd), oxpatch.WithLockTimeout(-1)).Apply(context.Background(), req)
	}
	whole := everything(t, g.dir)
	foretold, foretoldErr := apply()
	requireImage(t, whole, everything(t, g.dir), "the check changed something")
	before := g.twin()

	req.Check = false
	res, err := apply()
	require.Equal(t, shown(truth), fatesOf(res), "%v", err)
	require.True(t, res.Exact)
	if locked {
		require.ErrorIs(t, err, oxpatch.ErrBusy)
		require.NoError(t, os.Remove(lock))
		requireTwin(t, before, g.twin(), "the index was locked")
		return
	}
	require.Equal(t, foretold.Files, res.Files, "the check foretold other files")
	require.Equal(t, fatesOf(foretold), fatesOf(res))
	require.Equal(t, foretoldErr == nil, err == nil)
	require.Equal(t, foretold.OK, res.OK)

	switch {
	case len(truth.Conflicted) > 0:
		require.ErrorIs(t, err, oxpatch.ErrConflict)
		require.True(t, res.Applied && !res.OK)
	case len(truth.Skipped) > 0, len(truth.Applied) == 0:
		var refused *oxpatch.RefusedError
		require.ErrorAs(t, err, &refused)
		require.False(t, res.Applied || res.OK)
		requireTwin(t, before, g.twin(), "a refusal changed something")
		g.nothingToUndo()
		return
	default:
		require.NoError(t, err)
		require.True(t, res.OK)
	}
	if !c.Checks() && !deviates {
		c.sameAsGit(t, g, before.index)
	}
	if !res.Applied {
		requireTwin(t, before, g.twin(), "nothing was applied")
		return
	}
	g.undo()
	requireTwin(t, before, g.twin(), "after undo")
	g.nothingToUndo()
}

// sameAsGit compares files and index with those that git left.
func (c gitCase) sameAsGit(t *testing.T, g *ground, before []string) {
	t.Helper()
	assert.Empty(t, c.Differences(g.dir))
	plain := func(list, without []string) []string {
		var out []string
		for _, l := range list {
			if !slices.Contains(without, l) {
				out = append(out, l[2:strings.LastIndex(l, " flags ")])
			}
		}
		return out
	}
	recorded := func(list []oxtest.GitEntry) []string {
		var out []string
		for _, e := range list {
			out = append(out, e.String())
		}
		return out
	}
	after := g.index()
	assert.ElementsMatch(t, recorded(c.IndexChanges.Added), plain(after, before), "lines that are new in the index")
	assert.ElementsMatch(t, recorded(c.IndexChanges.Removed), plain(before, after), "lines that are gone from the index")
}
