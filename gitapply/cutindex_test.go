package gitapply

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// indexRepo is a repository with an index that is made by hand.
type indexRepo struct {
	t   testing.TB
	dir string
}

func (r *indexRepo) git(stdin, index string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(stdin)
	cmd.Env = append(environment(func(string) string { return "" }, false), "HOME="+r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	}
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	require.NoError(r.t, err, "git %v: %s", args, errOut.String())
	return string(out)
}

func newIndexRepo(t testing.TB, init ...string) *indexRepo {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	r := &indexRepo{t: t, dir: t.TempDir()}
	r.git("", "", append([]string{"init", "-q"}, init...)...)
	return r
}

// listed are the entries as git lists them, of those that keep says yes to by their names.
func (r *indexRepo) listed(index string, keep func(name string) bool) []string {
	r.t.Helper()
	var list []string
	for entry := range strings.SplitSeq(r.git("", index, "ls-files", "-z", "--stage", "-v"), "\x00") {
		if _, name, ok := strings.Cut(entry, "\t"); ok && keep(name) {
			list = append(list, entry)
		}
	}
	return list
}

// within is what reach means, said plainly.
func within(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		dir := strings.TrimSuffix(name, ".gitattributes")
		return name == n || strings.HasPrefix(name, n+"/") || strings.HasPrefix(n, name+"/") ||
			dir != name && (dir == "" || strings.HasSuffix(dir, "/")) && strings.HasPrefix(n, dir)
	})
}

func TestReach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "a-", "a0", "ab", "b", ".gitattributes", "a.gitattributes", "é"})
		path := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
		})
		names := rapid.SliceOfN(path, 1, 5).Draw(t, "names")
		entries := rapid.SliceOf(path).Draw(t, "entries")
		slices.Sort(entries)
		r := reachOf(names)
		for _, e := range entries {
			if got, want := r.takes([]byte(e)), within(e, names); got != want {
				t.Fatalf("%q takes %q: %v, want %v", names, e, got, want)
			}
		}
	})
}

// Git lists of the cut index just what it lists of the whole, in every version and with both hashes.
func TestGitReadsACutIndex(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run("version "+version+" "+format, func(t *testing.T) {
				t.Parallel()
				r := newIndexRepo(t, "--object-format="+format)
				var in strings.Builder
				blob := strings.TrimSpace(r.git("x\n", "", "hash-object", "-w", "--stdin"))
				for _, name := range []string{".gitattributes", "a", "b/.gitattributes", "b/c", "b/c-", "b/d/e/f", "b/d/e/g", "b/d0", "g", "z/" + strings.Repeat("long", 30)} {
					in.WriteString("100644 " + blob + " 0\t" + name + "\n")
				}
				for _, stage := range []string{"1", "2", "3"} {
					in.WriteString("100755 " + blob + " " + stage + "\tb/m\n")
				}
				in.WriteString("160000 " + blob + " 0\tsub\n120000 " + blob + " 0\tlink\n")
				r.git(in.String(), "", "update-index", "--index-info")
				if version == "3" {
					r.git("", "", "update-index", "--skip-worktree", "b/c")
					require.NoError(t, os.WriteFile(filepath.Join(r.dir, "new"), nil, 0o644))
					r.git("", "", "add", "-N", "new")
				} else {
					r.git("", "", "update-index", "--index-version", version)
				}
				index := filepath.Join(r.dir, ".git", "index")
				data, err := os.ReadFile(index)
				require.NoError(t, err)
				require.Equal(t, version[0]-'0', data[7])
				for _, names := range [][]string{{"b/c"}, {"b"}, {"b/d/e/f/under a file", "new", "sub"}, {"nothing"}, {"b/m", "z/x", "a"}} {
					lines, cut, ok := cutIndex(data, len(blob)/2, names)
					require.True(t, ok)
					whole, _ := scanIndex(data, len(blob)/2, names)
					assert.Equal(t, whole, lines)
					file := filepath.Join(t.TempDir(), "index")
					require.NoError(t, os.WriteFile(file, cut, 0o644))
					keep := func(name string) bool { return within(name, names) }
					assert.Equal(t, r.listed(index, keep), r.listed(file, func(string) bool { return true }), "%q", names)
					again, _ := scanIndex(cut, len(blob)/2, names)
					assert.Equal(t, whole, again)
				}
			})
		}
	}
}

func TestAnIndexOutOfOrderIsLeftToGit(t *testing.T) {
	t.Parallel()
	c := indexCut{hashLen: 20, out: make([]byte, 12), version: 2}
	for _, name := range []string{"b", "a"} {
		c.add(make([]byte, 62), 0, []byte(name))
	}
	_, _, ok := cutIndex(c.finish(), 20, []string{"a"})
	assert.False(t, ok)
}

// The whole index comes along where others of its entries can matter.
func TestWhenTheScratchGetsTheWholeIndex(t *testing.T) {
	t.Parallel()
	c := indexCut{hashLen: 20, out: make([]byte, 12), version: 2}
	for _, name := range []string{"a", "b", "c"} {
		c.add(make([]byte, 62), 0, []byte(name))
	}
	whole := c.finish()
	for name, test := range map[string]struct {
		config repoConfig
		names  []string // of the patch, in the end
		cut    bool
	}{
		"nothing in the way":       {repoConfig{}, []string{"a"}, true},
		"a command of the user":    {repoConfig{drivers: map[string]string{"filter.x.clean": "cat"}}, []string{"a"}, false},
		"case does not count":      {repoConfig{ignoreCase: true}, []string{"a"}, false},
		"a name nobody thought of": {repoConfig{}, []string{"b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scratch{dir: t.TempDir()}
			s.index = filepath.Join(s.dir, "index")
			p := &planner{Result: &Result{run: &runner{}, print: indexPrint{exists: true}}, scratch: s, names: []string{"a"}, config: test.config}
			p.index.whole = whole
			require.NoError(t, p.readLines(t.Context(), place{}))
			assert.Len(t, p.lines, 1)
			p.names = test.names
			require.NoError(t, p.giveIndex())
			got, err := os.ReadFile(s.index)
			require.NoError(t, err)
			assert.Equal(t, test.cut, !bytes.Equal(whole, got))
			for _, n := range test.names {
				lines, ok := scanIndex(got, 20, []string{n})
				assert.True(t, ok)
				assert.Len(t, lines, 1)
			}
		})
	}
}
