package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGitDiffGivesWhatIsWanted(t *testing.T) {
	t.Parallel()
	cases := map[string]work{
		"many files":      manyFiles(20, 4, 10),
		"chunks in order": largeFile(plainLines(200, 1), 5, exactly),
		"whole tree kept": manyFiles(20, 4, 10).only(3),
	}
	for name, w := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, _, err := gitdiff.Parse(bytes.NewReader(gitDiff(w.sections)))
			require.NoError(t, err)
			require.Len(t, files, len(w.want))
			for _, f := range files {
				var got bytes.Buffer
				require.NoError(t, gitdiff.Apply(&got, bytes.NewReader(w.files[f.OldName]), f))
				assert.Equal(t, string(w.want[f.NewName]), got.String())
			}
		})
	}
}

func TestOldLinesAreSpelledAsTheRowSays(t *testing.T) {
	t.Parallel()
	plain, typographic := plainLines(100, 1), typographicLines(100, 1)
	cases := map[string]struct {
		lines  []string
		spoken func(string) string
		found  func(string) string // what must be done to a file's line to find it in the patch
	}{
		"exact":       {plain, exactly, exactly},
		"trimmed":     {plain, unindented, strings.TrimSpace},
		"punctuation": {typographic, folded, folded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := largeFile(c.lines, 4, c.spoken)
			old := map[string]bool{}
			for _, l := range strings.Split(string(w.patch), "\n") {
				if strings.HasPrefix(l, " ") || strings.HasPrefix(l, "-") {
					old[l[1:]] = true
				}
			}
			require.Len(t, old, 4*(1+2*contextLines))
			found := map[string]bool{}
			for _, l := range c.lines {
				if old[c.found(l)] {
					found[c.found(l)] = true
				}
				if name != "exact" {
					assert.False(t, old[l], "the patch has the line as it stands in the file: %q", l)
				}
			}
			assert.Equal(t, old, found)
		})
	}
}

func TestEqualLinesFitOnlyAtTheEnd(t *testing.T) {
	t.Parallel()
	w := equalLines(50, 10)
	before := string(w.files["equal.txt"])
	assert.Equal(t, 50, strings.Count(before, "\n"))
	assert.Equal(t, strings.TrimSuffix(before, "the end\n")+"another end\n", string(w.want["equal.txt"]))
	assert.Equal(t, 9, strings.Count(string(w.patch), "\n the same"))
}

func TestFloorWritesWhatThePatchNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, writeTree(dir, map[string][]byte{"a": []byte("1\n2\n")}))
	patch := "*** Begin Patch\n*** Update File: a\n@@\n-1\n+x\n*** Add File: b\n+new\n*** End Patch\n"
	require.NoError(t, floor(strings.NewReader(patch), io.Discard))
	for name, want := range map[string]string{"a": "1\n2\n", "b": "new\n"} {
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestCheckFindsAWrongOutcome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string][]byte{"d/a b": []byte("1\n")}
	list := filepath.Join(t.TempDir(), wantFile)
	require.NoError(t, os.WriteFile(list, hashList(files), 0o666))
	require.ErrorIs(t, check(dir, list), os.ErrNotExist)
	require.NoError(t, writeTree(dir, files))
	require.NoError(t, check(dir, list))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d", "a b"), []byte("2\n"), 0o666))
	require.Error(t, check(dir, list))
}

func TestMedian(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2.0, median([]float64{3, 1, 2}), 0)
	assert.InDelta(t, 2.5, median([]float64{4, 1, 2, 3}), 0)
}
