package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/gitrepo"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// In every kind of repository a record can be written and read, and the repository sees nothing of it.
func TestStoreInKindsOfRepositories(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		setup    func(t *testing.T) (dir string)
		worktree string
	}{
		"plain": {func(t *testing.T) string { return newRepo(t) }, "main"},
		"linked worktree": {func(t *testing.T) string {
			repo := newRepo(t)
			git(t, repo, "worktree", "add", "-q", "-b", "x", filepath.Join(filepath.Dir(repo), "v1.2 x"))
			return filepath.Join(filepath.Dir(repo), "v1.2 x")
		}, "wt-v1%2E2-x"},
		"submodule": {func(t *testing.T) string {
			lib, super := newRepo(t), newRepo(t)
			git(t, super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
			git(t, super, "commit", "-q", "-m", "lib")
			return filepath.Join(super, "lib")
		}, "main"},
		"sha256": {func(t *testing.T) string { return newRepo(t, "--object-format=sha256") }, "main"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := c.setup(t), stateEnv(t)
			refs := git(t, dir, "for-each-ref")
			site := locate(t, dir, env)
			assert.Equal(t, dir, site.Root)
			store := open(t, site, Options{})
			assert.Equal(t, filepath.Join(site.Repo.CommonDir, "oxpatch", "store"), store.Place().Dir)
			assert.Equal(t, c.worktree, store.Place().Worktree)
			r := publish(t, store, Meta{}, numbered(3)...)

			got, err := locate(t, dir, env).History().Read(r.Meta.ID)
			require.NoError(t, err)
			requireStates(t, got, numbered(3))
			fsck(t, store.Place().Dir)
			git(t, dir, "fsck", "--strict")
			assert.Equal(t, refs, git(t, dir, "for-each-ref"))
			assert.Empty(t, git(t, dir, "status", "--porcelain"))
			assert.Empty(t, git(t, dir, "clean", "-ndxf"))
			git(t, dir, "gc", "-q", "--prune=now")
			_, err = locate(t, dir, env).History().Read(r.Meta.ID)
			require.NoError(t, err)
		})
	}
}

func TestStoreInAReftableRepository(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	config := "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "config"), []byte(config), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o644))
	site := locate(t, dir, stateEnv(t))
	r := publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
	_, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
	assert.Equal(t, "main", r.Place().Worktree)
}

func TestWorktreesOfARepositoryHaveHistoriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	repo, env := newRepo(t), stateEnv(t)
	linked := filepath.Join(filepath.Dir(repo), "linked")
	git(t, repo, "worktree", "add", "-q", "-b", "x", linked)
	r := publish(t, open(t, locate(t, linked, env), Options{}), Meta{}, numbered(1)...)
	_, err := locate(t, repo, env).History().Read(r.Meta.ID)
	require.ErrorIs(t, err, ErrUnknownOperation)
	_, err = locate(t, linked, env).History().Read(r.Meta.ID)
	require.NoError(t, err)
}

func TestWhereTheHistoryIsFoundAgain(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		repo  bool
		move  func(t *testing.T, dir string) (now string)
		found bool
	}{
		"folder that stayed":       {false, func(t *testing.T, dir string) string { return dir }, true},
		"folder, from a subfolder": {false, func(t *testing.T, dir string) string { return mkdir(t, dir, "a", "b") }, true},
		"folder renamed": {false, func(t *testing.T, dir string) string {
			return rename(t, dir, dir+" renamed")
		}, identify(tempDir(t)).known()},
		"folder moved": {false, func(t *testing.T, dir string) string {
			return rename(t, dir, filepath.Join(tempDir(t), "moved"))
		}, identify(tempDir(t)).known()},
		"parent renamed": {false, func(t *testing.T, dir string) string {
			return filepath.Join(rename(t, filepath.Dir(dir), filepath.Dir(dir)+" renamed"), "repo")
		}, identify(tempDir(t)).known()},
		"folder copied": {false, func(t *testing.T, dir string) string {
			to := filepath.Join(tempDir(t), "copy")
			require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
			return to
		}, false},
		"folder restored in its place": {false, func(t *testing.T, dir string) string {
			rename(t, dir, dir+" old")
			require.NoError(t, os.CopyFS(dir, os.DirFS(dir+" old")))
			require.NoError(t, os.RemoveAll(dir+" old"))
			return dir
		}, true},
		"repository moved": {true, func(t *testing.T, dir string) string {
			return rename(t, dir, filepath.Join(tempDir(t), "moved"))
		}, true},
		"repository copied": {true, func(t *testing.T, dir string) string {
			to := filepath.Join(tempDir(t), "copy")
			require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
			return to
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := stateEnv(t)
			dir := mkdir(t, tempDir(t), "parent", "repo")
			if c.repo {
				dir = newRepo(t)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
			r := publish(t, open(t, locate(t, dir, env), Options{}), Meta{}, numbered(1)...)
			now := c.move(t, dir)
			site := locate(t, now, env)
			_, err := site.History().Read(r.Meta.ID)
			if !c.found {
				require.ErrorIs(t, err, ErrUnknownOperation)
				return
			}
			require.NoError(t, err)
			second := publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
			ops, err := locate(t, now, env).History().Ops()
			require.NoError(t, err)
			require.Len(t, ops, 2)
			assert.Equal(t, second.Meta.ID, ops[0].ID)
		})
	}
}

// A folder that takes the place of one that moved away is another root; each keeps its history.
func TestTwoFoldersThatSwapNames(t *testing.T) {
	t.Parallel()
	base, env := tempDir(t), stateEnv(t)
	if !identify(base).known() {
		oxtest.Lacks(t, "a file system for temporary folders that tells when a folder was born")
	}
	a, b := mkdir(t, base, "a"), mkdir(t, base, "b")
	ofA := publish(t, open(t, locate(t, a, env), Options{}), Meta{}, numbered(1)...)
	ofB := publish(t, open(t, locate(t, b, env), Options{}), Meta{}, numbered(1)...)
	rename(t, a, filepath.Join(base, "c"))
	rename(t, b, a)
	rename(t, filepath.Join(base, "c"), b)
	for dir, id := range map[string]string{a: ofB.Meta.ID, b: ofA.Meta.ID} {
		site := locate(t, dir, env)
		publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
		_, err := locate(t, dir, env).History().Read(id)
		require.NoError(t, err)
		ops, err := site.History().Ops()
		require.NoError(t, err)
		assert.Len(t, ops, 2)
	}
}

func TestPlacesOfTheStore(t *testing.T) {
	t.Parallel()
	home := tempDir(t)
	dir, repo := tempDir(t), newRepo(t)
	cases := map[string]struct {
		dir  string
		env  envMap
		want string
	}{
		"state home":                   {dir, envMap{"XDG_STATE_HOME": "/s", "HOME": home}, "/s/oxpatch/store"},
		"home":                         {dir, envMap{"HOME": home}, home + "/.local/state/oxpatch/store"},
		"relative state home":          {dir, envMap{"XDG_STATE_HOME": "s", "HOME": home}, home + "/.local/state/oxpatch/store"},
		"chosen, without a repository": {dir, envMap{"OXPATCH_STORE": "/o", "HOME": home}, "/o"},
		"chosen, in a repository":      {repo, envMap{"OXPATCH_STORE": "/o", "HOME": home}, "/o"},
		"repository":                   {repo, envMap{"HOME": home}, repo + "/.git/oxpatch/store"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := locate(t, c.dir, c.env)
			assert.Equal(t, c.want, site.Write[0].Dir)
			if c.env["OXPATCH_STORE"] != "" {
				assert.Len(t, site.Write, 1)
			}
			if c.dir == repo {
				assert.Contains(t, site.Read, Place{Dir: repo + "/.git/oxpatch/store", Worktree: "main"})
			}
		})
	}
	t.Run("no HOME in the environment", func(t *testing.T) {
		t.Parallel()
		site := locate(t, dir, envMap{})
		for _, p := range site.Write { // the system may know the user's home, or not
			assert.True(t, strings.HasSuffix(p.Dir, "/.local/state/oxpatch/store"), p.Dir)
		}
	})
	t.Run("a home that is missing is not made", func(t *testing.T) {
		t.Parallel()
		site := locate(t, dir, envMap{"HOME": filepath.Join(home, "missing")})
		_, err := site.Open(Options{})
		require.ErrorIs(t, err, ErrNoStore)
		var none *NoStoreError
		require.ErrorAs(t, err, &none)
		assert.Contains(t, none.Hint(), "OXPATCH_STORE")
		assert.NoDirExists(t, filepath.Join(home, "missing"))
	})
}

func TestWhereTheGitDirectoryCannotBeWritten(t *testing.T) {
	t.Parallel()
	repo, env := newRepo(t), stateEnv(t)
	// A file where the folder should be stops root too.
	require.NoError(t, os.WriteFile(filepath.Join(repo, ".git", "oxpatch"), nil, 0o644))
	site := locate(t, repo, env)
	store := open(t, site, Options{})
	assert.True(t, store.Place().Shared)
	require.Len(t, store.Skipped(), 1)
	assert.Equal(t, filepath.Join(repo, ".git", "oxpatch", "store"), store.Skipped()[0].Place.Dir)
	assert.Error(t, store.Skipped()[0].Err)
	r := publish(t, store, Meta{}, numbered(1)...)

	// Writable again: the next record goes to the git directory, the history has both.
	require.NoError(t, os.Remove(filepath.Join(repo, ".git", "oxpatch")))
	site = locate(t, repo, env)
	store = open(t, site, Options{})
	assert.False(t, store.Place().Shared)
	later := publish(t, store, Meta{}, numbered(1)...)
	ops, err := site.History().Ops()
	require.NoError(t, err)
	require.Len(t, ops, 2)
	assert.Equal(t, []string{later.Meta.ID, r.Meta.ID}, []string{ops[0].ID, ops[1].ID})
	for _, o := range ops {
		_, err := o.Read()
		require.NoError(t, err)
	}
}

func TestNoPlaceAtAll(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	require.NoError(t, os.WriteFile(filepath.Join(repo, ".git", "oxpatch"), nil, 0o644))
	blocked := filepath.Join(tempDir(t), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	_, err := locate(t, repo, envMap{"XDG_STATE_HOME": blocked}).Open(Options{})
	var none *NoStoreError
	require.ErrorAs(t, err, &none)
	assert.Len(t, none.Tried, 2)
}

func TestRootOutsideRepositories(t *testing.T) {
	t.Parallel()
	t.Run("broken .git file", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: /nowhere/at/all\n"), 0o644))
		site := locate(t, mkdir(t, dir, "sub"), stateEnv(t))
		assert.Equal(t, dir, site.Root)
		assert.ErrorIs(t, site.NoRepo, gitrepo.ErrBroken)
		publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
	})
	t.Run("inside .git", func(t *testing.T) {
		t.Parallel()
		_, err := Locate(filepath.Join(newRepo(t), ".git", "refs"), stateEnv(t).get)
		assert.ErrorIs(t, err, gitrepo.ErrInsideGitDir)
	})
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		git(t, dir, "init", "-q", "--bare")
		site := locate(t, dir, stateEnv(t))
		assert.Nil(t, site.Repo)
		assert.ErrorIs(t, site.NoRepo, gitrepo.ErrBare)
	})
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		_, err := Locate(filepath.Join(tempDir(t), "missing"), stateEnv(t).get)
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
}

func TestDamagedRegistryEntriesArePassedOver(t *testing.T) {
	t.Parallel()
	dir, env := tempDir(t), stateEnv(t)
	site := locate(t, dir, env)
	r := publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
	other := mkdir(t, site.Write[0].Dir, "worktrees", "root-other")
	require.NoError(t, os.WriteFile(filepath.Join(other, "root"), []byte("{"), 0o600))
	_, err := locate(t, dir, env).History().Read(r.Meta.ID)
	require.NoError(t, err)
}

func mkdir(t testing.TB, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func rename(t *testing.T, from, to string) string {
	t.Helper()
	require.NoError(t, os.Rename(from, to))
	return to
}

// The home folder is a root for itself only, however often something was applied in it.
func TestHomeIsNoRootForWhatLiesBelow(t *testing.T) {
	t.Parallel()
	home := tempDir(t)
	env := envMap{"HOME": home}
	publish(t, open(t, locate(t, home, env), Options{}), Meta{}, numbered(1)...)
	assert.Equal(t, home, locate(t, home, env).Root)
	below := mkdir(t, home, "project")
	assert.Equal(t, below, locate(t, below, env).Root)
	publish(t, open(t, locate(t, below, env), Options{}), Meta{}, numbered(1)...)
	assert.Equal(t, below, locate(t, mkdir(t, below, "deeper"), env).Root)
}
