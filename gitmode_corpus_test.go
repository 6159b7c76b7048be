package oxpatch_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// gitText is a text of the corpus: a string, or an object with its bytes in base64.
type gitText string

func (b *gitText) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(b)) == nil {
		return nil
	}
	var coded struct{ Base64 []byte }
	err := json.Unmarshal(data, &coded)
	*b = gitText(coded.Base64)
	return err
}

// gitPath is a path of the corpus, which may be coded.
type gitPath string

func (p *gitPath) UnmarshalText(text []byte) error {
	*p = gitPath(text)
	if coded, ok := strings.CutPrefix(string(text), "base64:"); ok {
		raw, err := base64.StdEncoding.DecodeString(coded)
		*p = gitPath(raw)
		return err
	}
	return nil
}

// gitEntry is a file, or an entry of the index.
type gitEntry struct {
	Mode, OID   string
	Path        gitPath
	Stage       int
	Text        *string
	Base64      []byte
	IntentToAdd bool `json:"intent_to_add"`
}

func (e gitEntry) content() (string, bool) {
	if e.Text != nil {
		return *e.Text, true
	}
	return string(e.Base64), e.Base64 != nil
}

type gitFates struct{ Applied, Skipped, Conflicted []gitPath }

// shown are the lists as a result has them.
func (f gitFates) shown() [3][]string {
	var out [3][]string
	for i, list := range [][]gitPath{f.Applied, f.Skipped, f.Conflicted} {
		out[i] = []string{}
		for _, p := range list {
			out[i] = append(out[i], change.DisplayPath(string(p)))
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
type gitCase struct {
	Name, Git, Mode, Cwd, Head string
	Diff                       gitText
	Before                     map[gitPath]gitEntry
	Index                      map[gitPath][]gitEntry
	Objects, Config            json.RawMessage
	Truth                      gitFates
	Truth3way                  gitFates `json:"truth_3way"`
	After                      map[gitPath]*gitEntry
	IndexChanges               struct{ Added, Removed []gitEntry } `json:"index_changes"`
}

func (c gitCase) base() string { b, _, _ := strings.Cut(c.Name, "."); return b }

func (c gitCase) reverse() bool { return strings.HasPrefix(c.Mode, "reverse") }

func (c gitCase) checks() bool { return strings.HasSuffix(c.Mode, "check") }

// UnmarshalJSON takes an empty list for an empty map, as the file has it.
func (c *gitCase) UnmarshalJSON(data []byte) error {
	type plain gitCase
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for _, name := range []string{"before", "index", "after"} {
		if string(members[name]) == "[]" {
			delete(members, name)
		}
	}
	data, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, (*plain)(c))
}

// gitCorpus returns the runs with --3way that were recorded with a git that does as the installed one.
func gitCorpus(t *testing.T) []gitCase {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	out, err := exec.Command("git", "--version").Output()
	require.NoError(t, err)
	var minor int
	_, err = fmt.Sscanf(string(out), "git version 2.%d", &minor)
	require.NoError(t, err)
	version := "2.20.5"
	for _, v := range []struct {
		from int
		as   string
	}{{32, "2.32.7"}, {35, "2.39.5"}, {45, "2.47.3"}, {54, "2.55.0"}} {
		if minor >= v.from {
			version = v.as
		}
	}
	f, err := os.Open("testdata/gitapply/cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []gitCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c gitCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		if c.Git == version && c.Mode != "direct" && c.Mode != "reject" { // those begin with the same repositories
			all = append(all, c)
		}
	}
	require.NoError(t, lines.Err())
	require.Greater(t, len(all), 80)
	return all
}

// build makes the repository that a case begins with.
func (c gitCase) build(t *testing.T) *ground {
	t.Helper()
	g := newBareGround(t)
	var config map[string]string
	if json.Unmarshal(c.Config, &config) == nil {
		for k, v := range config {
			g.git("config", k, v)
		}
	}
	for name, e := range c.Before {
		c.put(g, string(name), e)
	}
	c.enter(g)
	unmerged := false
	for _, list := range c.Index {
		unmerged = unmerged || slices.ContainsFunc(list, func(e gitEntry) bool { return e.Stage > 0 || e.IntentToAdd })
	}
	if c.Head == "commit" && !unmerged {
		g.git("commit", "-q", "--allow-empty", "-m", "m")
	}
	for name, list := range c.Index {
		if len(list) > 0 && list[0].IntentToAdd {
			g.git("--literal-pathspecs", "add", "-N", "--", string(name))
		}
	}
	_ = exec.Command("git", "-C", g.dir, "update-index", "-q", "--refresh").Run() // fails where files are stale
	switch c.base() {
	case "stale_stat":
		past := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(g.path("f.txt"), past, past))
	case "index_lock_present":
		g.write(".git/index.lock", "")
	case "sparse_absent":
		g.git("update-index", "--skip-worktree", "out/b.txt")
	}
	return g
}

func (c gitCase) put(g *ground, name string, e gitEntry) {
	text, _ := e.content()
	switch e.Mode {
	case "120000":
		g.link(text, name)
	case "160000", "040000":
		require.NoError(g.t, os.MkdirAll(g.path(name), 0o755))
	case "100755":
		g.writeMode(name, text, 0o755)
	default:
		g.write(name, text)
	}
}

// enter makes the index: what stands in the tree, unless the case says otherwise.
func (c gitCase) enter(g *ground) {
	var info strings.Builder
	add := func(name gitPath, e gitEntry) {
		text, has := e.content()
		switch {
		case e.IntentToAdd, e.Mode == "040000":
			return
		case e.Mode == "160000" && has:
			e.OID = text
		case has:
			e.OID = strings.TrimSpace(g.feed(text, "hash-object", "-w", "--stdin"))
		}
		fmt.Fprintf(&info, "%s %s %d\t%s\x00", e.Mode, e.OID, e.Stage, name)
	}
	for name, e := range c.Before {
		if _, other := c.Index[name]; !other {
			add(name, e)
		}
	}
	for name, list := range c.Index {
		for _, e := range list {
			add(name, e)
		}
	}
	g.feed(info.String(), "update-index", "-z", "--index-info")
	var objects []gitEntry
	var texts map[string]gitText
	if json.Unmarshal(c.Objects, &objects) != nil {
		require.NoError(g.t, json.Unmarshal(c.Objects, &texts))
	}
	for _, o := range objects {
		text, _ := o.content()
		g.feed(text, "hash-object", "-w", "--stdin")
	}
	for _, text := range texts {
		g.feed(string(text), "hash-object", "-w", "--stdin")
	}
}

// gitDeviations are the cases in which the engine does more than git by itself, or refuses what git
// leaves half done, and the rule that allows it; nil fates are those of git.
func gitDeviations() map[string]struct {
	rule  string
	fates *gitFates
} {
	f := &gitFates{Applied: []gitPath{"f.txt"}}
	type row = struct {
		rule  string
		fates *gitFates
	}
	return map[string]row{
		"rev_unstaged":                  {"what is to be taken back is staged first, beside the repository", f},
		"stale_stat":                    {"a file that equals its entry is clean, whatever its stat data", f},
		"subdir_all_outside":            {"paths count from the top, and nothing is passed over", f},
		"count_too_big":                 {"counts that do not fit are recounted", f},
		"last_newline_lost":             {"a patch ends in a line feed", f},
		"no_prefix":                     {"missing prefixes are put in where the tree shows that they are", &gitFates{Applied: []gitPath{"src/x.txt"}}},
		"crlf_patch_lf_file":            {"a patch that went through CRLF gets the line endings of its files", f},
		"binary_corrupt_hides_the_rest": {"no section is dropped in silence", &gitFates{Skipped: []gitPath{"a.txt", "i.bin", "z.txt"}}},
		"directory_in_the_way":          {"no tree is left half written", &gitFates{Skipped: []gitPath{"a.txt", "n", "z.txt"}}},
		"codex_style_patch":             {"what has no section names no paths", &gitFates{}},
		"empty_patch":                   {"what has no section names no paths", &gitFates{}},
		"index_lock_present":            {"the lock is waited for before the first write", &gitFates{Skipped: []gitPath{"f.txt"}}},
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
	deviation, deviates := gitDeviations()[c.base()]
	truth := c.Truth
	if c.checks() {
		truth = c.Truth3way
	}
	if deviates {
		truth = *deviation.fates
	}
	lock := g.path(".git/index.lock")
	_, err := os.Lstat(lock)
	locked := err == nil

	req := gitRequest(string(c.Diff))
	req.Format, req.Reverse, req.Check = oxpatch.FormatUnified, c.reverse(), true
	apply := func() (*oxpatch.Result, error) {
		return g.openAt(g.path(c.Cwd), oxpatch.WithLockTimeout(-1)).Apply(context.Background(), req)
	}
	whole := everything(t, g.dir)
	foretold, foretoldErr := apply()
	requireImage(t, whole, everything(t, g.dir), "the check changed something")
	before := g.twin()

	req.Check = false
	res, err := apply()
	require.Equal(t, truth.shown(), fatesOf(res), "%v", err)
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
	if !c.checks() && !deviates {
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
	for name, e := range c.After {
		full := filepath.Join(g.dir, string(name))
		info, err := os.Lstat(full)
		if e == nil {
			assert.Error(t, err, name)
			continue
		}
		require.NoError(t, err, name)
		text, _ := e.content()
		switch e.Mode {
		case "120000":
			target, _ := os.Readlink(full)
			assert.Equal(t, text, target, name)
		case "160000", "040000":
			assert.True(t, info.IsDir(), name)
		default:
			assert.Equal(t, text, g.read(string(name)), name)
			assert.Equal(t, e.Mode == "100755", info.Mode()&0o100 != 0, name)
		}
	}
	plain := func(list, without []string) []string {
		var out []string
		for _, l := range list {
			if !slices.Contains(without, l) {
				out = append(out, l[2:strings.LastIndex(l, " flags ")])
			}
		}
		return out
	}
	recorded := func(list []gitEntry) []string {
		var out []string
		for _, e := range list {
			out = append(out, fmt.Sprintf("%s %s %d\t%s", e.Mode, e.OID, e.Stage, e.Path))
		}
		return out
	}
	after := g.index()
	assert.ElementsMatch(t, recorded(c.IndexChanges.Added), plain(after, before), "lines that are new in the index")
	assert.ElementsMatch(t, recorded(c.IndexChanges.Removed), plain(before, after), "lines that are gone from the index")
}
