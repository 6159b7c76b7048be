package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
)

// replayed runs the command on the made history and returns the rows of its table by their settings.
func replayed(t *testing.T, args ...string) (map[string]*tally, *report, fmt.Stringer) {
	t.Helper()
	var log bytes.Buffer
	o, err := parseOptions(append([]string{"-repo", makeHistory(t).repository(), "-n", "1000", "-v"}, args...))
	require.NoError(t, err)
	r, err := replay(context.Background(), o, &log)
	require.NoError(t, err)
	rows := map[string]*tally{}
	for _, row := range r.tallies {
		rows[row.setting.String()] = row
	}
	return rows, r, &log
}

func TestGitModeLeavesWhatGitLeaves(t *testing.T) {
	t.Parallel()
	n := "25"
	if testing.Short() {
		n = "12"
	}
	rows, r, log := replayed(t, "-mode", "git", "-context", "3", "-drift", "none,apart,overlap", "-n", n)
	require.Len(t, rows, 3)
	assert.Empty(t, r.leftOut)
	for name, row := range rows {
		assert.Zero(t, row.commits[wrong], "%s:\n%s", name, log)
		assert.Zero(t, row.commits[guessed]+row.commits[lineEnds], name)
	}
	assert.Equal(t, r.taken, rows["git-context3-none"].commits[right], "git's diff fits the parent:\n%s", log)
	assert.GreaterOrEqual(t, rows["git-context3-apart"].commits[right], r.taken*3/4, log)
	overlap := rows["git-context3-overlap"].commits
	assert.NotZero(t, overlap[right], log)
	assert.NotZero(t, overlap[conflicts], log)
}

func TestDiffsPlacedByContent(t *testing.T) {
	t.Parallel()
	rows, r, log := replayed(t, "-mode", "text", "-context", "3,1", "-drift", "none,apart")
	require.Len(t, rows, 4)
	assert.Equal(t, map[string]int{"binary": 1, "link": 2}, r.leftOut, "modes and final newlines are in the diffs")
	for name, row := range rows {
		assert.Zero(t, row.commits[wrong], "%s:\n%s", name, log)
		assert.Zero(t, row.commits[guessed]+row.commits[lineEnds], "%s:\n%s", name, log)
	}
	for name, row := range rows {
		assert.Equal(t, row.commits[refused], row.kinds["ambiguous"], "%s: the files are made to be ambiguous, all else fits:\n%s", name, log)
		if row.setting.context == 3 {
			assert.GreaterOrEqual(t, row.commits[right], r.taken/2, "%s:\n%s", name, log)
		}
	}
}

// made returns a pair of repositories, a patch for them, what is there and what git leaves.
func made(t *testing.T) (p pair, patch []byte, before, want image) {
	t.Helper()
	ctx := context.Background()
	files := tree{
		"a": {modePlain, []byte("one\ntwo\nthree\n")}, "b\"\\\n": {modeExecutable, []byte("x\n")}, "link": {modeLink, []byte("a")},
		"sub/module": {modeSubmodule, []byte("1234567890123456789012345678901234567890")},
	}
	makeHistory(t).repository() // skips where there is no git
	p, err := newPair(ctx, t.TempDir(), files, files)
	require.NoError(t, err)
	before, err = p.ours.image(ctx)
	require.NoError(t, err)
	same, err := p.direct.image(ctx)
	require.NoError(t, err)
	require.Empty(t, before.differences(same))
	patch = []byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	code, err := p.direct.applyDirectly(ctx, string(patch))
	require.NoError(t, err)
	require.Zero(t, code)
	want, err = p.direct.image(ctx)
	require.NoError(t, err)
	return p, patch, before, want
}

// Without context lines git refuses what has to be merged; so does git mode.
func TestGitModeRefusesWhatGitRefuses(t *testing.T) {
	t.Parallel()
	rows, r, log := replayed(t, "-mode", "git", "-context", "0", "-n", "12")
	row := rows["git-context0-none"]
	assert.Zero(t, row.commits[wrong], log)
	assert.GreaterOrEqual(t, row.commits[refused], r.taken/4, log)
}

func TestAPairHoldsTheFiles(t *testing.T) {
	t.Parallel()
	_, _, before, want := made(t)
	assert.Equal(t, tree{"a": {modePlain, []byte("one\ntwo\nthree\n")}, "b\"\\\n": {modeExecutable, []byte("x\n")}, "link": {modeLink, []byte("a")}}, before.files)
	assert.Contains(t, before.index, "H 160000 1234567890123456789012345678901234567890 0\tsub/module\x00")
	assert.Equal(t, "one\n2\nthree\n", string(want.files["a"].data))
}

func TestWhatDiffersFromGitIsWrong(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		tamper func(want *image)
		code   int
		want   verdict
	}{
		"nothing":          {func(*image) {}, 0, right},
		"bytes":            {func(w *image) { w.files["a"] = entry{modePlain, []byte("one\n2\nthree")} }, 0, wrong},
		"a mode":           {func(w *image) { w.files["a"] = entry{modeExecutable, w.files["a"].data} }, 0, wrong},
		"a file too much":  {func(w *image) { delete(w.files, "link") }, 0, wrong},
		"a file too few":   {func(w *image) { w.files["c"] = entry{modePlain, nil} }, 0, wrong},
		"an index line":    {func(w *image) { w.index = w.index[1:] }, 0, wrong},
		"git refused it":   {func(*image) {}, 1, wrong},
		"git has conflict": {func(w *image) { w.index += "M 100644 1 2\tz\x00" }, 1, wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, patch, before, want := made(t)
			want.files = maps.Clone(want.files)
			c.tamper(&want)
			trial := &trial{patch: patch}
			require.NoError(t, trial.compare(ctx, p.ours, c.code, before, want))
			assert.Equal(t, c.want, trial.verdict, trial.odd)
			assert.Equal(t, c.want == wrong, trial.odd != "")
		})
	}
	t.Run("undo", func(t *testing.T) {
		t.Parallel()
		p, patch, before, want := made(t)
		before.files = tree{}
		trial := &trial{patch: patch}
		require.NoError(t, trial.compare(ctx, p.ours, 0, before, want))
		assert.Equal(t, wrong, trial.verdict)
		assert.Contains(t, trial.odd, "undo left")
	})
}

func TestDriftStaysOutOfTheHunks(t *testing.T) {
	t.Parallel()
	repo := repository{makeHistory(t).repository()}
	ids, err := repo.commits(context.Background())
	require.NoError(t, err)
	commits, err := repo.load(context.Background(), ids, 3, modeGit)
	require.NoError(t, err)
	changed := 0
	for seed := range uint64(20) {
		for _, c := range commits {
			for _, f := range c.files {
				g := f.drifted(driftApart, rand.New(rand.NewPCG(seed, 1)))
				require.Equal(t, len(f.hunks), len(g.hunks))
				if f.editable() {
					require.True(t, g.diffIsComplete(), "%s %s", c.id, f.path)
				}
				if !bytes.Equal(f.before, g.before) {
					changed++
				}
				assert.Equal(t, f, f.drifted(driftNone, nil))
			}
		}
	}
	assert.Greater(t, changed, 300)
}

func TestDriftAddsOnlyWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	here := tree{"a": {}, "b/c": {}}
	for name, want := range map[string]bool{"a/x": false, "b": false, "b/d": true, "ab": true, "x/y/z": true} {
		assert.Equal(t, want, roomFor(here, name), name)
	}
	added := 0
	for seed := range uint64(50) {
		c := commit{files: []file{{kind: textapply.Add, path: "new", newMode: modePlain, after: []byte("x\ny\n")}}}
		parent, now := c.trees(driftOverlap, rand.New(rand.NewPCG(seed, 1)))
		assert.Empty(t, parent)
		added += len(now)
	}
	assert.NotZero(t, added)
	assert.Less(t, added, 50)
}

func TestOptionsOfModes(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"unknown mode":         {"-mode", "x"},
		"drift of envelopes":   {"-drift", "apart"},
		"unknown drift":        {"-mode", "git", "-drift", "x"},
		"overlap in text mode": {"-mode", "text", "-drift", "overlap"},
		"spelling of diffs":    {"-mode", "git", "-perturb", "typo"},
		"scope of diffs":       {"-mode", "text", "-scope", "1"},
		"rules of diffs":       {"-mode", "text", "-compat", "codex"},
		"context":              {"-mode", "text", "-context", "-1"},
	} {
		_, err := parseOptions(args)
		assert.Error(t, err, name)
	}
}

func TestDiffsAreKeptAndTheirTableIsPrinted(t *testing.T) {
	t.Parallel()
	repo, keep := makeHistory(t).repository(), t.TempDir()
	before := listing(t, repo)
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"-mode", "git", "-repo", repo, "-n", "12", "-drift", "overlap", "-keep", keep, "-v"}, &out))
	assert.Contains(t, out.String(), "| context | drift | mode | commits right | conflicts | refused | wrong | hunks right | conflicts | refused | refusals |\n")
	assert.Equal(t, before, listing(t, repo), "the repository is only read")
	kept, err := filepath.Glob(filepath.Join(keep, "conflicts-*"))
	require.NoError(t, err)
	require.NotEmpty(t, kept, out.String())
	for _, name := range []string{"patch", "why", "before", "want", "got"} {
		_, err := os.Stat(filepath.Join(kept[0], name))
		assert.NoError(t, err)
	}
}
