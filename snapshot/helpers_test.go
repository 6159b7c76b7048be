package snapshot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// envMap is an environment for Locate.
type envMap map[string]string

func (e envMap) get(name string) string { return e[name] }

// tempDir is t.TempDir with links resolved, as Locate gives paths.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// gitEnv is an environment in which git does the same everywhere.
func gitEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// git runs git in dir and returns what it prints, on both streams.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv(dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// newRepo makes a repository with one commit.
func newRepo(t testing.TB, initArgs ...string) string {
	t.Helper()
	dir := filepath.Join(tempDir(t), "repo")
	require.NoError(t, os.Mkdir(dir, 0o755))
	git(t, dir, append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

// stateEnv has a state folder of its own and no home.
func stateEnv(t testing.TB) envMap {
	t.Helper()
	return envMap{"XDG_STATE_HOME": filepath.Join(tempDir(t), "state")}
}

func locate(t testing.TB, dir string, env envMap) *Site {
	t.Helper()
	site, err := Locate(dir, env.get)
	require.NoError(t, err)
	return site
}

func open(t testing.TB, site *Site, o Options) *Store {
	t.Helper()
	store, err := site.Open(o)
	require.NoError(t, err)
	return store
}

// plainStore is a store without a repository.
func plainStore(t testing.TB, o Options) (*Site, *Store) {
	t.Helper()
	site := locate(t, tempDir(t), stateEnv(t))
	return site, open(t, site, o)
}

func file(text string) change.State {
	return change.State{Kind: change.File, Mode: 0o644, Content: []byte(text)}
}

func modify(path, before, after string) Entry {
	return Entry{Change: change.Change{Path: path, Before: file(before), After: file(after)}}
}

func put(t testing.TB, s *Store, meta Meta, entries ...Entry) *Record {
	t.Helper()
	if meta.ID == "" {
		meta.ID = s.NewID(time.Now())
	}
	if meta.Kind == "" {
		meta.Kind = KindApply
	}
	if meta.Time.IsZero() {
		meta.Time = time.Date(2024, 5, 6, 7, 8, 9, 123e6, time.UTC)
	}
	r, err := s.Put(context.Background(), meta, entries, [][]byte{[]byte("the patch\n")})
	require.NoError(t, err)
	return r
}

// publish puts a record through all of its life.
func publish(t testing.TB, s *Store, meta Meta, entries ...Entry) *Record {
	t.Helper()
	r := put(t, s, meta, entries...)
	require.NoError(t, s.SetPending(r))
	require.NoError(t, s.Publish(r))
	return r
}

// fsck runs git's strictest check on a store.
func fsck(t testing.TB, store string) {
	t.Helper()
	out := git(t, store, "--git-dir="+store, "fsck", "--strict", "--full", "--no-dangling")
	require.NotContains(t, out, "error")
	require.NotContains(t, out, "missing")
	require.NotContains(t, out, "warning")
}

// requireStates checks that a record gives back what was put into it.
func requireStates(t testing.TB, r *Record, entries []Entry) {
	t.Helper()
	require.Len(t, r.Meta.Paths, len(entries))
	for i, e := range entries {
		require.Equal(t, e.Path, r.Meta.Paths[i].Path)
		requireState(t, e.Before, i, r.Before)
		if e.AfterUnknown {
			_, err := r.After(i)
			require.ErrorIs(t, err, ErrUnknownState)
			continue
		}
		requireState(t, e.After, i, r.After)
	}
}

func requireState(t testing.TB, want change.State, i int, read func(int) (change.State, error)) {
	t.Helper()
	got, err := read(i)
	require.NoError(t, err)
	require.Equal(t, want.Kind, got.Kind)
	require.Equal(t, want.Mode, got.Mode)
	require.True(t, string(want.Content) == string(got.Content), "content of entry %d", i)
}

// numbered returns n small files to be changed.
func numbered(n int) []Entry {
	var list []Entry
	for i := range n {
		var text strings.Builder
		for line := range 60 {
			fmt.Fprintf(&text, "file %d has a line %d that says little, %x\n", i, line, i*line*2654435761)
		}
		before := text.String()
		at := strings.Index(before, "line 30")
		edits := []change.Edit{{Start: at, End: at + 4, New: []byte("LINE")}}
		e := modify(fmt.Sprintf("dir%d/file%d.txt", i%50, i), before, string(change.ApplyEdits([]byte(before), edits)))
		e.Edits = edits
		list = append(list, e)
	}
	return list
}
