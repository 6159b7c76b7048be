package gitapply_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gits are the versions to test: those named by OXPATCH_TEST_GITS, else the one on PATH.
func gits(t testing.TB) map[string]string {
	t.Helper()
	names := filepath.SplitList(os.Getenv("OXPATCH_TEST_GITS"))
	if len(names) == 0 {
		oxtest.NeedProgram(t, "git")
		path, err := exec.LookPath("git")
		require.NoError(t, err)
		names = []string{path}
	}
	all := map[string]string{}
	for _, n := range names {
		out, err := exec.Command(n, "--version").Output()
		require.NoError(t, err)
		all[strings.Fields(string(out))[2]] = n
	}
	return all
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for version, git := range gits(t) {
		for _, s := range corpus(t, oxtest.RecordedFor(version)) {
			if s.Mode == "direct" || s.Mode == "reject" {
				continue // the same repositories as with --3way
			}
			t.Run(version+"/"+s.Name, func(t *testing.T) {
				t.Parallel()
				conform(t, build(t, git, s), s)
			})
		}
	}
}

func conform(t *testing.T, r *repo, s oxtest.GitCase) {
	d, deviates := deviations()[s.Base()]
	lock := filepath.Join(r.top, ".git", "index.lock")
	files, index := r.files(), r.lines()
	whole := tree(t, r.top, nil)
	res, err := r.plan(string(s.Diff), gitapply.Options{Reverse: s.Reverse()})
	requireSame(t, whole, tree(t, r.top, nil), "planning changed something")

	want := s.Truth
	if s.Checks() {
		want = s.Truth3way
	}
	if deviates && d.want != nil {
		want = *d.want
	}
	got := oxtest.GitFates{Applied: res.Applied, Skipped: res.Skipped, Conflicted: res.Conflicted}
	assert.Equal(t, want, got, "%v\n%s", err, res.Stderr)
	if deviates && d.repair != "" {
		assert.Contains(t, fmt.Sprint(res.Repairs), d.repair)
	}
	if err != nil {
		assert.Empty(t, res.Changes)
		kind := refusals()[s.Base()]
		if deviates {
			kind = d.kind
		}
		require.NotNil(t, kind, "no row for the refusal: %v\n%s", err, res.Stderr)
		assert.ErrorIs(t, err, kind)
		mayPlace := slices.Contains([]error{gitapply.ErrCorrupt, gitapply.ErrNoBlob, gitapply.ErrNoApply, gitapply.ErrIndexMismatch}, kind)
		assert.Equal(t, mayPlace, gitapply.MayPlace(err))
		return
	}
	require.NotContains(t, refusals(), s.Base())
	defer res.Close()
	if _, locked := os.Lstat(lock); locked == nil {
		assert.ErrorIs(t, r.apply(res), gitapply.ErrLocked)
		assert.Equal(t, files, r.files())
		require.NoError(t, os.Remove(lock))
		return
	}
	require.NoError(t, r.apply(res))
	if !s.Checks() {
		if !deviates || d.want == nil {
			r.sameAsRecorded(s, index)
		}
	}
	if deviates && d.after != nil {
		for name, text := range d.after {
			assert.Equal(t, text, r.read(name), name)
		}
	}
	r.undo(res)
	requireSame(t, files, r.files(), "files after undo")
	assert.Equal(t, index, r.lines(), "index after undo")
}

// sameAsRecorded compares files and index with those that a direct run left.
func (r *repo) sameAsRecorded(s oxtest.GitCase, before []string) {
	r.t.Helper()
	assert.Empty(r.t, s.Differences(r.top))
	var added, removed []string
	after := r.lines()
	for _, l := range after {
		if !slices.Contains(before, l) {
			added = append(added, noFlags(l))
		}
	}
	for _, l := range before {
		if !slices.Contains(after, l) {
			removed = append(removed, noFlags(l))
		}
	}
	assert.ElementsMatch(r.t, entries(s.IndexChanges.Added), added)
	assert.ElementsMatch(r.t, entries(s.IndexChanges.Removed), removed)
}

func noFlags(line string) string { return line[:strings.LastIndexByte(line, ' ')] }

func entries(list []oxtest.GitEntry) []string {
	var all []string
	for _, e := range list {
		all = append(all, e.String())
	}
	return all
}
