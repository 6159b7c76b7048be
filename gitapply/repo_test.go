package gitapply_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/stretchr/testify/require"
)

// The tests run with the settings of nobody.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "gitapply-home-")
	if err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "LC_ALL": "C",
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "1700000000 +0000",
		"GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org", "GIT_COMMITTER_DATE": "1700000000 +0000",
	} {
		_ = os.Setenv(k, v)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_CONFIG_COUNT") || name == "GIT_DIR" || name == "GIT_INDEX_FILE" || name == "GIT_WORK_TREE" {
			_ = os.Unsetenv(name)
		}
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// repo is a repository for a test.
type repo struct {
	t   testing.TB
	git string
	top string
	at  gitapply.Repo
}

func newRepo(t testing.TB, git string, args ...string) *repo {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &repo{t: t, git: git, top: filepath.Join(top, "repo")}
	require.NoError(t, os.Mkdir(r.top, 0o755))
	r.run(append([]string{"-c", "init.defaultBranch=main", "init", "-q", "--template="}, args...)...)
	config, err := os.OpenFile(filepath.Join(r.top, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = config.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n") // else a commit leaves a process behind
	require.NoError(t, err)
	require.NoError(t, config.Close())
	r.at = gitapply.Repo{Top: r.top, GitDir: filepath.Join(r.top, ".git"), CommonDir: filepath.Join(r.top, ".git"), ObjectFormat: "sha1"}
	return r
}

func (r *repo) run(args ...string) string { r.t.Helper(); return r.feed("", args...) }

func (r *repo) feed(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(r.git, args...)
	cmd.Dir, cmd.Stdin = r.top, strings.NewReader(stdin)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	require.NoError(r.t, err, "git %q: %s", args, errOut.String())
	return string(out)
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	full := filepath.Join(r.top, filepath.FromSlash(name))
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(r.t, os.WriteFile(full, []byte(text), 0o644))
}

func (r *repo) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.top, filepath.FromSlash(name)))
	require.NoError(r.t, err)
	return string(data)
}

func (r *repo) commit() {
	r.t.Helper()
	r.run("add", "-A")
	r.run("commit", "-q", "--allow-empty", "-m", "m")
}

func (r *repo) plan(patch string, o gitapply.Options) (*gitapply.Result, error) {
	r.t.Helper()
	o.Git = r.git
	return gitapply.Plan(context.Background(), r.at, []byte(patch), o)
}

// lines is the index as text: one line an entry, with the flags that last and without stat data.
func (r *repo) lines() []string {
	r.t.Helper()
	out := r.run("ls-files", "-z", "--stage", "-v", "--debug")
	var all []string
	for out != "" {
		entry, rest, _ := strings.Cut(out, "\x00")
		debug, after, ok := strings.Cut(rest, "flags: ")
		require.True(r.t, ok, "%q", debug)
		flags, tail, _ := strings.Cut(after, "\n")
		var bits uint32
		_, err := fmt.Sscanf(flags, "%x", &bits)
		require.NoError(r.t, err)
		all = append(all, fmt.Sprintf("%s %x", entry[2:], bits&0x60008000))
		out = tail
	}
	return all
}

// build makes the repository of a scenario.
func build(t testing.TB, git string, s oxtest.GitCase) *repo {
	t.Helper()
	r := newRepo(t, git)
	require.NoError(t, s.Build(r.top, r.feed))
	return r
}

// apply does with a plan what a caller does.
func (r *repo) apply(res *gitapply.Result) error {
	r.t.Helper()
	ctx := context.Background()
	if err := res.LockIndex(ctx, 200*time.Millisecond); err != nil {
		return err
	}
	r.writeAll(res.Changes, func(c change.Change) change.State { return c.After })
	if err := res.UpdateIndex(ctx); err != nil {
		return err
	}
	return res.Close()
}

// writeAll is a small writer: what goes first, what comes then.
func (r *repo) writeAll(changes []change.Change, to func(change.Change) change.State) {
	r.t.Helper()
	for _, c := range changes {
		if c.Before.Equal(c.After) {
			continue
		}
		full := filepath.Join(r.top, filepath.FromSlash(c.Path))
		if info, err := os.Lstat(full); err == nil && !info.IsDir() {
			require.NoError(r.t, os.Remove(full))
		}
		for dir := filepath.Dir(full); dir != r.top && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
		if info, err := os.Lstat(full); err == nil && info.IsDir() && to(c).Kind != change.Dir {
			os.Remove(full)
		}
	}
	for _, c := range changes {
		if !c.Before.Equal(c.After) {
			r.writeState(c.Path, to(c))
		}
	}
}

func (r *repo) writeState(name string, st change.State) {
	r.t.Helper()
	full := filepath.Join(r.top, filepath.FromSlash(name))
	if st.Kind != change.Absent {
		require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o755))
	}
	switch st.Kind {
	case change.File:
		mode := st.Mode
		if mode == 0 {
			mode = 0o644
		}
		require.NoError(r.t, os.WriteFile(full, st.Content, 0o600))
		require.NoError(r.t, os.Chmod(full, mode))
	case change.Symlink:
		require.NoError(r.t, os.Symlink(string(st.Content), full))
	case change.Dir:
		require.NoError(r.t, os.MkdirAll(full, 0o755))
	}
}

// undo restores files and index lines from a plan that was applied.
func (r *repo) undo(res *gitapply.Result) {
	r.t.Helper()
	r.writeAll(res.Changes, func(c change.Change) change.State { return c.Before })
	want, expect := map[string][]change.IndexLine{}, map[string][]change.IndexLine{}
	for _, c := range res.Changes {
		if c.Index != nil {
			want[c.Path], expect[c.Path] = c.Index.Before, c.Index.After
		}
	}
	left, err := gitapply.RestoreIndex(context.Background(), r.at, gitapply.Options{Git: r.git}, gitapply.Restore{Want: want, Expect: expect})
	require.NoError(r.t, err)
	require.Empty(r.t, left)
}

// tree lists a folder: every file with mode and bytes, links with their target, folders.
func tree(t testing.TB, root string, skip func(rel string) bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if skip != nil && skip(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			text += " " + target
		}
		all[rel] = text
		return nil
	}))
	return all
}

func (r *repo) files() map[string]string {
	r.t.Helper()
	return tree(r.t, r.top, func(rel string) bool { return rel == ".git" })
}

// requireSame compares two listings and names what differs.
func requireSame(t testing.TB, want, got map[string]string, what string) {
	t.Helper()
	var diff []string
	for k, v := range want {
		if w, ok := got[k]; !ok {
			diff = append(diff, k+" is gone")
		} else if w != v {
			diff = append(diff, fmt.Sprintf("%s: %.120q, not %.120q", k, w, v))
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			diff = append(diff, k+" is new")
		}
	}
	slices.Sort(diff)
	require.Empty(t, diff, what)
}
