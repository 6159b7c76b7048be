package linediff_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/linediff"
)

// gitChanges returns the heads of the hunks, without context, that git's default algorithm finds.
func gitChanges(t *testing.T, dir, old, new string) []string {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), []byte(old), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte(new), 0o600))
	cmd := exec.Command("git", "diff", "--no-index", "--diff-algorithm=myers", "--no-indent-heuristic",
		"--no-ext-diff", "--no-color", "--text", "-U0", "old", "new")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir, "LC_ALL=C")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		require.NoError(t, err)
	}
	var heads []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "@@ ") {
			heads = append(heads, strings.Join(strings.Fields(line)[:4], " "))
		}
	}
	return heads
}

func head(c linediff.Change) string {
	span := func(start, end int) string {
		switch end - start {
		case 0:
			return fmt.Sprintf("%d,0", start)
		case 1:
			return fmt.Sprint(end)
		}
		return fmt.Sprintf("%d,%d", start+1, end-start)
	}
	return "@@ -" + span(c.OldStart, c.OldEnd) + " +" + span(c.NewStart, c.NewEnd) + " @@"
}

func requireAsGit(t *testing.T, dir, old, new string) {
	t.Helper()
	var heads []string
	for _, c := range compare(t, old, new) {
		heads = append(heads, head(c))
	}
	require.Equal(t, gitChanges(t, dir, old, new), heads, "from\n%q\nto\n%q", old, new)
}

// Texts of few lines that repeat, where any freedom that a comparison has shows.
func TestSmallTextsCompareAsInGit(t *testing.T) {
	t.Parallel()
	oxtest.NeedProgram(t, "git")
	dir := t.TempDir()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		n, kinds := 3+r.IntN(60), 2+r.IntN(8)
		line := func(int) int { return r.IntN(kinds) }
		old, new := text(r.IntN(n), line), text(r.IntN(n), line)
		if r.IntN(4) == 0 {
			new = strings.TrimSuffix(new, "\n")
		}
		requireAsGit(t, dir, old, new)
	}
}

// Texts as they are: most lines once, some often, edited in many places.
func TestLargeTextsCompareAsInGit(t *testing.T) {
	t.Parallel()
	oxtest.NeedProgram(t, "git")
	dir := t.TempDir()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		line := func(i int) int { return i * r.IntN(3) * r.IntN(2) }
		lines := strings.SplitAfter(text(3000, line), "\n")
		old := strings.Join(lines, "")
		for range r.IntN(80) {
			at := r.IntN(len(lines))
			lines[at] = text(r.IntN(6), func(int) int { return r.IntN(2) * r.IntN(5000) })
			if r.IntN(2) == 0 {
				lines = append(lines[:at:at], lines[min(len(lines), at+r.IntN(6)):]...)
			}
		}
		new := strings.Join(lines, "")
		requireAsGit(t, dir, old, new)
	}
}
