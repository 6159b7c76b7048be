package merge3_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/merge3"
)

// gitMerge has "git merge-file" merge three texts. It returns the result and the number of conflicts.
func gitMerge(t *testing.T, dir string, base, ours, theirs []byte, style merge3.Style) (content []byte, conflicts int) {
	t.Helper()
	for name, text := range map[string][]byte{"base": base, "ours": ours, "theirs": theirs} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	args := []string{"merge-file", "-p"}
	if style == merge3.StyleDiff3 {
		args = append(args, "--diff3")
	}
	cmd := exec.Command("git", append(args, "ours", "base", "theirs")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir, "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	content, err := cmd.Output()
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) && stderr.Len() == 0 {
		return content, exit.ExitCode()
	}
	require.NoError(t, err, stderr.String())
	return content, 0
}

// tally counts what the cases of a differential test came to, so that none of them is about
// nothing.
type tally struct{ clean, conflicts, ends, agreed int }

// compareWithGit merges and holds the result against git's: byte for byte and conflict for conflict, but
// for the two kinds that the package names, the ends of the markers and, in the diff3 style, sides
// that agree. (Labels take the place of git's names; old markers do not occur here.)
func (n *tally) compareWithGit(t *testing.T, dir string, base, ours, theirs []byte, style merge3.Style) {
	t.Helper()
	o := merge3.Options{Style: style, Labels: merge3.Labels{Ours: "ours", Base: "base", Theirs: "theirs"}}
	got := merge3.Merge(base, ours, theirs, o)
	want, conflicts := gitMerge(t, dir, base, ours, theirs, style)
	if style == merge3.StyleDiff3 && conflicts > len(got.Conflicts) {
		n.agreed++
		o.Style = merge3.StyleMerge
		got = merge3.Merge(base, ours, theirs, o)
		want, conflicts = gitMerge(t, dir, base, ours, theirs, merge3.StyleMerge)
	}
	content := string(got.Content)
	if conflicts > 0 && !crlf(base) && (crlf(ours) || crlf(theirs)) && content != string(want) {
		n.ends++
		content, want = withoutCR(content), []byte(withoutCR(string(want)))
	}
	if conflicts == 0 {
		n.clean++
	} else {
		n.conflicts++
	}
	require.Equal(t, string(want), content, "base %q\nours %q\ntheirs %q", base, ours, theirs)
	require.Equal(t, conflicts, min(len(got.Conflicts), 127), "git counts to 127")
}

func crlf(text []byte) bool { return strings.Contains(string(text), "\r\n") }

func withoutCR(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// generator makes texts and edits of them. Of the kinds of lines some have no letter and no digit.
type generator struct {
	*rand.Rand
	kinds int
	end   string
}

func (g generator) line() string {
	if k := g.IntN(g.kinds); k > 0 {
		return strconv.Itoa(k) + g.end
	}
	return "\t}" + g.end
}

func (g generator) lines(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = g.line()
	}
	return list
}

// edited replaces up to two lines by up to two others in some places.
func (g generator) edited(lines []string, places int) []string {
	lines = slices.Clone(lines)
	for range places {
		from := g.IntN(len(lines) + 1)
		lines = slices.Replace(lines, from, min(len(lines), from+g.IntN(3)), g.lines(g.IntN(3))...)
	}
	return lines
}

// text sometimes lacks the last end of line.
func (g generator) text(lines []string) []byte {
	text := strings.Join(lines, "")
	if g.IntN(6) == 0 {
		text = strings.TrimSuffix(text, g.end)
	}
	return []byte(text)
}

func newGenerator(seed, stream uint64, kinds int) generator {
	g := generator{Rand: rand.New(rand.NewPCG(seed, stream)), end: "\n"}
	g.kinds = 2 + g.IntN(kinds)
	if g.IntN(4) == 0 {
		g.end = "\r\n"
	}
	return g
}

func TestSmallTextsMergeAsInGit(t *testing.T) {
	t.Parallel()
	oxtest.NeedProgram(t, "git")
	dir := t.TempDir()
	var n tally
	for seed := range uint64(800) {
		g := newGenerator(seed, 5, 20)
		base := g.lines(g.IntN(30))
		ours, theirs := g.edited(base, g.IntN(6)), g.edited(base, g.IntN(6))
		n.compareWithGit(t, dir, g.text(base), g.text(ours), g.text(theirs), merge3.Style(seed%2))
	}
	assert.Greater(t, n.clean, 200)
	assert.Greater(t, n.conflicts, 200)
	assert.Less(t, n.ends+n.agreed, 20, "%+v", n)
}

func TestLargeTextsMergeAsInGit(t *testing.T) {
	t.Parallel()
	oxtest.NeedProgram(t, "git")
	dir := t.TempDir()
	var n tally
	for seed := range uint64(40) {
		g := newGenerator(seed, 6, 4000)
		base := g.lines(4000)
		places := 1 + g.IntN(60)
		ours, theirs := g.edited(base, places), g.edited(base, places)
		n.compareWithGit(t, dir, g.text(base), g.text(ours), g.text(theirs), merge3.Style(seed%2))
	}
	assert.Greater(t, n.clean, 5)
	assert.Greater(t, n.conflicts, 5)
	assert.Zero(t, n.ends+n.agreed)
}

// The two kinds of differences do exist.
func TestWhereGitDiffers(t *testing.T) {
	t.Parallel()
	oxtest.NeedProgram(t, "git")
	var n tally
	lines := func(s string) []byte { return []byte(strings.Join(strings.Split(s, ""), "\n") + "\n") }
	n.compareWithGit(t, t.TempDir(), lines("ccbbacacaccbaca"), lines("ccbbbaabab"), lines("cbbbaabab"), merge3.StyleDiff3)
	n.compareWithGit(t, t.TempDir(), nil, []byte("x\r\n"), []byte("y\r\n"), merge3.StyleMerge)
	assert.Equal(t, tally{clean: 1, conflicts: 1, ends: 1, agreed: 1}, n)
}
