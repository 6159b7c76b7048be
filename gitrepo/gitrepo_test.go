package gitrepo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/gitrepo"
)

func noEnv(string) string { return "" }

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func write(t *testing.T, text string, parts ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(parts...), []byte(text), 0o644))
}

func newRepo(t *testing.T, args ...string) string {
	t.Helper()
	dir := mkdir(t, tempDir(t), "repo")
	git(t, dir, append([]string{"init", "-q", "-b", "main"}, args...)...)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

// sameAsGit compares a Repo with what git says in dir.
func sameAsGit(t *testing.T, r *gitrepo.Repo, dir string) {
	t.Helper()
	assert.Equal(t, git(t, dir, "rev-parse", "--show-toplevel"), r.Top)
	assert.Equal(t, git(t, dir, "rev-parse", "--path-format=absolute", "--git-dir"), r.GitDir)
	assert.Equal(t, git(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir"), r.CommonDir)
	ref, oid := r.Head()
	assert.Equal(t, git(t, dir, "rev-parse", "HEAD"), oid)
	assert.Equal(t, git(t, dir, "rev-parse", "--symbolic-full-name", "HEAD"), ref)
}

func TestFindAgreesWithGit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		setup    func(t *testing.T) (dir string)
		worktree string
	}{
		"top level": {setup: func(t *testing.T) string { return newRepo(t) }},
		"subfolder": {setup: func(t *testing.T) string { return mkdir(t, newRepo(t), "a", "b") }},
		"linked worktree": {worktree: "linked", setup: func(t *testing.T) string {
			repo := newRepo(t)
			dir := filepath.Join(filepath.Dir(repo), "linked")
			git(t, repo, "worktree", "add", "-q", "-b", "other", dir)
			return mkdir(t, dir, "sub")
		}},
		"linked worktree with worktreeConfig": {worktree: "linked", setup: func(t *testing.T) string {
			repo := newRepo(t)
			dir := filepath.Join(filepath.Dir(repo), "linked")
			git(t, repo, "config", "extensions.worktreeConfig", "true")
			git(t, repo, "worktree", "add", "-q", "-b", "other", dir)
			git(t, dir, "config", "--worktree", "core.sparseCheckout", "false")
			return dir
		}},
		"linked worktree of a bare repository": {worktree: "linked", setup: func(t *testing.T) string {
			bare, dir := filepath.Join(tempDir(t), "x.git"), filepath.Join(tempDir(t), "linked")
			repo := newRepo(t)
			git(t, repo, "clone", "-q", "--bare", ".", bare)
			git(t, bare, "worktree", "add", "-q", "-b", "other", dir)
			return dir
		}},
		"submodule": {setup: func(t *testing.T) string {
			lib, super := newRepo(t), newRepo(t)
			git(t, super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
			return filepath.Join(super, "lib")
		}},
		"separate git directory": {setup: func(t *testing.T) string {
			base := tempDir(t)
			dir := mkdir(t, base, "tree")
			git(t, dir, "init", "-q", "-b", "main", "--separate-git-dir", filepath.Join(base, "elsewhere"))
			git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
			return dir
		}},
		"folder named .git that is none": {setup: func(t *testing.T) string {
			repo := newRepo(t)
			mkdir(t, repo, "sub", ".git")
			return filepath.Join(repo, "sub")
		}},
		"packed refs": {setup: func(t *testing.T) string {
			repo := newRepo(t)
			git(t, repo, "branch", "main-2")
			git(t, repo, "tag", "-a", "-m", "x", "main")
			git(t, repo, "pack-refs", "--all")
			return repo
		}},
		"configuration that the parser here cannot read": {setup: func(t *testing.T) string {
			repo := newRepo(t)
			f, err := os.OpenFile(filepath.Join(repo, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("[a.b-c]\n\tx = \"\\b\"\n[odd \"sub\\\\x\"] y\n")
			require.NoError(t, err)
			require.NoError(t, f.Close())
			return repo
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := c.setup(t)
			r, err := gitrepo.Find(dir, noEnv)
			require.NoError(t, err)
			sameAsGit(t, r, dir)
			assert.Equal(t, c.worktree, r.WorktreeName)
			if !strings.HasPrefix(name, "configuration") {
				assert.Equal(t, gitrepo.Format{Objects: "sha1", Refs: "files"}, r.Format)
			}
		})
	}
}

func TestFindFollowsLinksInTheWorkingFolder(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	link := filepath.Join(tempDir(t), "link")
	require.NoError(t, os.Symlink(mkdir(t, repo, "sub"), link))
	r, err := gitrepo.Find(link, noEnv)
	require.NoError(t, err)
	assert.Equal(t, repo, r.Top)
}

func TestFindFormats(t *testing.T) {
	t.Parallel()
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		repo := newRepo(t, "--object-format=sha256")
		r, err := gitrepo.Find(repo, noEnv)
		require.NoError(t, err)
		assert.Equal(t, "sha256", r.Format.Objects)
		sameAsGit(t, r, repo)
	})
	t.Run("reftable", func(t *testing.T) {
		t.Parallel()
		repo := newRepo(t)
		write(t, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n", repo, ".git", "config")
		write(t, "ref: refs/heads/.invalid\n", repo, ".git", "HEAD")
		r, err := gitrepo.Find(repo, noEnv)
		require.NoError(t, err)
		assert.Equal(t, "reftable", r.Format.Refs)
		ref, oid := r.Head()
		assert.Empty(t, ref)
		assert.Empty(t, oid)
	})
}

func TestFindErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		setup func(t *testing.T) string
		want  error
	}{
		"no repository": {func(t *testing.T) string { return tempDir(t) }, gitrepo.ErrNone},
		"in .git":       {func(t *testing.T) string { return filepath.Join(newRepo(t), ".git", "refs") }, gitrepo.ErrInsideGitDir},
		"bare": {func(t *testing.T) string {
			dir := mkdir(t, tempDir(t), "x.git")
			git(t, dir, "init", "-q", "--bare")
			return dir
		}, gitrepo.ErrBare},
		"core.bare in a .git folder": {func(t *testing.T) string {
			repo := newRepo(t)
			git(t, repo, "config", "core.bare", "true")
			return repo
		}, gitrepo.ErrBare},
		".git file that leads nowhere": {func(t *testing.T) string {
			dir := tempDir(t)
			write(t, "gitdir: ../nowhere\n", dir, ".git")
			return mkdir(t, dir, "sub")
		}, gitrepo.ErrBroken},
		".git file of another form": {func(t *testing.T) string {
			dir := tempDir(t)
			write(t, "hello\n", dir, ".git")
			return dir
		}, gitrepo.ErrBroken},
		"huge .git file": {func(t *testing.T) string {
			dir := tempDir(t)
			write(t, "gitdir: "+strings.Repeat("x", 1<<20), dir, ".git")
			return dir
		}, gitrepo.ErrBroken},
		"folder that is missing": {func(t *testing.T) string { return filepath.Join(tempDir(t), "no") }, os.ErrNotExist},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := gitrepo.Find(c.setup(t), noEnv)
			assert.Nil(t, r)
			assert.ErrorIs(t, err, c.want)
		})
	}
	t.Run("a broken .git file names the top level", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		write(t, "gitdir: ../nowhere\n", dir, ".git")
		_, err := gitrepo.Find(mkdir(t, dir, "sub"), noEnv)
		var broken *gitrepo.BrokenError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, dir, broken.Top)
	})
}

// redirection is a case in which git's answer hangs on the environment or on core.worktree.
type redirection struct {
	dir  string
	vars map[string]string
	top  string
	err  error
}

func redirections(t *testing.T) map[string]redirection {
	repo := newRepo(t)
	tree := mkdir(t, tempDir(t), "tree")
	moved := newRepo(t)
	movedTo := mkdir(t, tempDir(t), "moved to")
	git(t, moved, "config", "core.worktree", movedTo)
	below := mkdir(t, repo, "a", "b")
	nested := mkdir(t, repo, "nested")
	git(t, nested, "init", "-q")
	return map[string]redirection{
		"GIT_DIR alone":                   {tree, map[string]string{"GIT_DIR": filepath.Join(repo, ".git")}, tree, nil},
		"GIT_DIR relative":                {below, map[string]string{"GIT_DIR": "../../.git"}, repo, nil},
		"GIT_DIR of the folder":           {below, map[string]string{"GIT_DIR": filepath.Join(repo, ".git")}, repo, nil},
		"GIT_DIR of an outer one":         {nested, map[string]string{"GIT_DIR": filepath.Join(repo, ".git")}, nested, nil},
		"GIT_WORK_TREE below":             {below, map[string]string{"GIT_DIR": filepath.Join(repo, ".git"), "GIT_WORK_TREE": filepath.Dir(below)}, filepath.Dir(below), nil},
		"GIT_WORK_TREE of the folder":     {below, map[string]string{"GIT_DIR": filepath.Join(repo, ".git"), "GIT_WORK_TREE": repo}, repo, nil},
		"GIT_DIR and GIT_WORK_TREE":       {mkdir(t, tree, "x"), map[string]string{"GIT_DIR": filepath.Join(repo, ".git"), "GIT_WORK_TREE": tree}, tree, nil},
		"GIT_WORK_TREE elsewhere":         {repo, map[string]string{"GIT_DIR": filepath.Join(repo, ".git"), "GIT_WORK_TREE": tree}, "", gitrepo.ErrOutside},
		"GIT_DIR that is none":            {tree, map[string]string{"GIT_DIR": tree}, "", gitrepo.ErrBroken},
		"GIT_CEILING_DIRECTORIES above":   {below, map[string]string{"GIT_CEILING_DIRECTORIES": filepath.Dir(repo)}, repo, nil},
		"GIT_CEILING_DIRECTORIES between": {below, map[string]string{"GIT_CEILING_DIRECTORIES": repo}, "", gitrepo.ErrNone},
		"core.worktree, in the tree":      {movedTo, map[string]string{"GIT_DIR": filepath.Join(moved, ".git")}, movedTo, nil},
		"core.worktree, beside .git":      {moved, nil, "", gitrepo.ErrOutside},
	}
}

func TestFindRedirected(t *testing.T) {
	for name, c := range redirections(t) {
		t.Run("with git: "+name, func(t *testing.T) { checkRedirection(t, c) })
	}
	path := os.Getenv("PATH")
	for name, c := range redirections(t) {
		t.Run("without git: "+name, func(t *testing.T) {
			t.Setenv("PATH", "")
			checkRedirection(t, c)
		})
	}
	require.Equal(t, path, os.Getenv("PATH"))
}

func checkRedirection(t *testing.T, c redirection) {
	t.Helper()
	r, err := gitrepo.Find(c.dir, env(c.vars))
	if c.err != nil {
		require.ErrorIs(t, err, c.err)
		return
	}
	require.NoError(t, err)
	assert.Equal(t, c.top, r.Top)
	assert.Empty(t, r.WorktreeName)
	assert.Equal(t, filepath.Join(c.top, ".git") != r.GitDir, r.Borrowed)
}

func TestSubmoduleThatGitWillNotSpeakOf(t *testing.T) {
	lib, super := newRepo(t), newRepo(t)
	git(t, super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	dir := mkdir(t, super, "lib", "sub")
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", "")
		checkSubmodule(t, super, dir)
	})
	t.Run("another owner", func(t *testing.T) {
		t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
		cmd := exec.Command("git", "rev-parse", "--git-dir")
		cmd.Dir = dir
		require.Error(t, cmd.Run(), "git must refuse, or this tests nothing")
		checkSubmodule(t, super, dir)
	})
}

func checkSubmodule(t *testing.T, super, dir string) {
	t.Helper()
	r, err := gitrepo.Find(dir, noEnv)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(super, "lib"), r.Top)
	assert.Equal(t, filepath.Join(super, ".git", "modules", "lib"), r.CommonDir)
}

func TestHead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		setup func(t *testing.T, repo string)
		ref   string
		oid   bool
	}{
		"branch":   {func(t *testing.T, repo string) {}, "refs/heads/main", true},
		"detached": {func(t *testing.T, repo string) { git(t, repo, "checkout", "-q", "--detach") }, "", true},
		"unborn":   {func(t *testing.T, repo string) { git(t, repo, "checkout", "-q", "--orphan", "new") }, "refs/heads/new", false},
		"symbolic branch": {func(t *testing.T, repo string) {
			git(t, repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
			git(t, repo, "symbolic-ref", "HEAD", "refs/heads/alias")
		}, "refs/heads/main", true},
		"circle": {func(t *testing.T, repo string) {
			write(t, "ref: refs/heads/b\n", repo, ".git", "refs", "heads", "a")
			write(t, "ref: refs/heads/a\n", repo, ".git", "refs", "heads", "b")
			write(t, "ref: refs/heads/a\n", repo, ".git", "HEAD")
		}, "refs/heads/", false},
		"name that leads out of the repository": {func(t *testing.T, repo string) {
			write(t, git(t, repo, "rev-parse", "HEAD"), filepath.Dir(repo), "secret")
			write(t, "ref: refs/../../../secret\n", repo, ".git", "HEAD")
		}, "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := newRepo(t)
			want := git(t, repo, "rev-parse", "HEAD")
			c.setup(t, repo)
			r, err := gitrepo.Find(repo, noEnv)
			require.NoError(t, err)
			ref, oid := r.Head()
			if c.ref == "refs/heads/" {
				assert.True(t, strings.HasPrefix(ref, c.ref))
			} else {
				assert.Equal(t, c.ref, ref)
			}
			if c.oid {
				assert.Equal(t, want, oid)
			} else {
				assert.Empty(t, oid)
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	require.NoError(b, exec.Command("git", "init", "-q", dir).Run())
	sub := filepath.Join(dir, "a", "b", "c")
	require.NoError(b, os.MkdirAll(sub, 0o755))
	for b.Loop() {
		r, err := gitrepo.Find(sub, noEnv)
		require.NoError(b, err)
		r.Head()
	}
}

// Where Find would find a top level, there is one.
func TestIsTop(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "worktree", "add", "-q", "--detach", "linked")
	write(t, "gitdir: /nowhere\n", mkdir(t, repo, "broken"), ".git")
	mkdir(t, repo, "empty", ".git")
	git(t, repo, "init", "-q", "--bare", "bare")
	for dir, want := range map[string]bool{
		"": true, "linked": true, "broken": true, "empty": false, "bare": false, ".git": false, "missing": false,
	} {
		assert.Equal(t, want, gitrepo.IsTop(filepath.Join(repo, dir)), "%q", dir)
	}
}
