package gitapply_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trees are made at random from few names, so that folders and files meet.
type random struct{ *rand.Rand }

func (g random) text() string {
	var b strings.Builder
	for i := range 3 + g.IntN(18) {
		fmt.Fprintf(&b, "line %d of %d\n", i, g.IntN(3))
	}
	if g.IntN(12) == 0 {
		b.WriteString("no line feed")
	}
	if g.IntN(15) == 0 {
		b.WriteByte(0)
	}
	return b.String()
}

// mutate changes a few files of a tree on disk.
func (g random) mutate(r *repo, n int) {
	names := []string{"a", "b", "c/d", "c/e", "c/f/g", "h i", "j\tk", "l/m"}
	for range n {
		full := filepath.Join(r.top, names[g.IntN(len(names))])
		info, err := os.Lstat(full)
		switch {
		case err != nil || g.IntN(8) == 0:
			os.RemoveAll(full)
			g.create(full)
		case info.IsDir():
			if g.IntN(4) == 0 {
				os.RemoveAll(full)
			}
		case g.IntN(6) == 0:
			os.Remove(full)
		case g.IntN(6) == 0:
			_ = os.Rename(full, filepath.Join(r.top, fmt.Sprint("moved", g.IntN(4))))
		case g.IntN(6) == 0 && info.Mode().IsRegular():
			_ = os.Chmod(full, info.Mode()^0o111)
		case info.Mode().IsRegular():
			g.edit(full)
		}
	}
}

func (g random) create(full string) {
	if os.MkdirAll(filepath.Dir(full), 0o755) != nil {
		return
	}
	if g.IntN(10) == 0 {
		_ = os.Symlink("target", full)
		return
	}
	_ = os.WriteFile(full, []byte(g.text()), 0o644)
}

func (g random) edit(full string) {
	data, _ := os.ReadFile(full)
	lines := strings.SplitAfter(string(data), "\n")
	i := g.IntN(len(lines))
	switch g.IntN(3) {
	case 0:
		lines[i] = ""
	case 1:
		lines[i] = fmt.Sprintf("changed %d\n", g.IntN(4))
	default:
		lines[i] += fmt.Sprintf("added %d\n", g.IntN(4))
	}
	_ = os.WriteFile(full, []byte(strings.Join(lines, "")), 0o644)
}

// A patch between two random trees, put onto a third: whatever a direct run makes of it, a planned
// one does too, and can be undone.
func TestRandomTreesAsByADirectRun(t *testing.T) {
	t.Parallel()
	rounds := 15
	if testing.Short() {
		rounds = 4
	}
	for version, git := range gits(t) {
		for seed := range rounds {
			for _, reverse := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%t", version, seed, reverse), func(t *testing.T) {
					t.Parallel()
					differ(t, git, uint64(seed), reverse)
				})
			}
		}
	}
}

func differ(t *testing.T, git string, seed uint64, reverse bool) {
	made := func() (*repo, string) {
		g := random{rand.New(rand.NewPCG(seed, 7))}
		r := newRepo(t, git)
		g.mutate(r, 9)
		r.commit()
		r.run("tag", "base")
		patch := ""
		for patch == "" { // changes may cancel out
			g.mutate(r, 4)
			r.run("add", "-A")
			patch = r.run("diff", "--cached", "--binary", "--full-index", "-M", "-C")
		}
		if reverse {
			r.run("commit", "-q", "--allow-empty", "-m", "m")
		} else {
			r.run("reset", "-q", "--hard")
		}
		g.mutate(r, g.IntN(5))
		r.run("add", "-A")
		if g.IntN(3) == 0 {
			g.mutate(r, 1) // not staged
		}
		_ = exec.Command(git, "-C", r.top, "update-index", "-q", "--refresh").Run()
		return r, patch
	}
	direct, patch := made()
	r, again := made()
	require.Equal(t, patch, again)
	files, index, whole := r.files(), r.lines(), tree(t, r.top, nil)
	res, err := r.plan(patch, gitapply.Options{Reverse: reverse})
	requireSame(t, whole, tree(t, r.top, nil), "planning changed something")
	args := []string{"-c", "core.safecrlf=false", "apply", "--3way", "-v", "--whitespace=nowarn", "-"}
	if reverse {
		args = append(args, "-R")
		direct.stage(res)
		files = direct.files()
	}
	cmd := exec.Command(git, args...)
	cmd.Dir, cmd.Stdin = direct.top, strings.NewReader(patch)
	out, _ := cmd.CombinedOutput()
	code := cmd.ProcessState.ExitCode()
	if code > 1 {
		return // git left half of it
	}
	if err != nil {
		after := noFolders(direct.files())
		for name := range after {
			if files[name] == "" {
				delete(after, name) // git checks out what is missing even if it then refuses
			}
		}
		requireSame(t, noFolders(files), after, fmt.Sprintf("refused (%v), but a direct run did it: %s", err, out))
		return
	}
	require.NoError(t, r.apply(res), "%s", res.Stderr)
	want, got := noFolders(direct.files()), noFolders(r.files())
	for _, c := range res.Conflicted {
		if want[c] == "" {
			delete(got, c) // such a link, which is left alone here
		}
	}
	requireSame(t, want, got, "files; git said: "+string(out))
	assert.Equal(t, direct.lines(), r.lines(), "%s", out)
	r.undo(res)
	requireSame(t, noFolders(files), noFolders(r.files()), "files after undo")
	assert.Equal(t, index, r.lines())
}

// stage does by hand what a reverse run needs: what the patch names and what is there is staged.
func (r *repo) stage(res *gitapply.Result) {
	for _, s := range res.Sections {
		for _, name := range []string{s.Old, s.New} {
			if info, err := os.Lstat(filepath.Join(r.top, name)); name != "" && err == nil && !info.IsDir() {
				_ = exec.Command(r.git, "-C", r.top, "--literal-pathspecs", "add", "--", name).Run()
			}
		}
	}
}

// noFolders leaves out folders, since empty ones come and go, and the links into which git writes
// conflict markers.
func noFolders(files map[string]string) map[string]string {
	kept := map[string]string{}
	for name, text := range files {
		if !strings.HasPrefix(text, "d") && (!strings.HasPrefix(text, "L") || !strings.Contains(text, "<<<<<<<")) {
			kept[name] = text
		}
	}
	return kept
}
