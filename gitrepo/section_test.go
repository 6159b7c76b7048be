package gitrepo_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/gitrepo"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// sectionPlace is a repository with a linked working tree, and a home.
func sectionPlace(t *testing.T) (main, linked *gitrepo.Repo, vars map[string]string) {
	t.Helper()
	oxtest.NeedProgram(t, "git")
	base := tempDir(t)
	vars = map[string]string{"HOME": filepath.Join(base, "home"), "GIT_CONFIG_NOSYSTEM": "1"}
	require.NoError(t, os.MkdirAll(filepath.Join(base, "home", ".config", "git"), 0o755))
	top := filepath.Join(base, "repo")
	git(t, base, "init", "-q", "-b", "main", top)
	git(t, top, "commit", "-q", "--allow-empty", "-m", "first")
	git(t, top, "worktree", "add", "-q", "-b", "side", filepath.Join(base, "linked"))
	main, err := gitrepo.Find(top, env(vars))
	require.NoError(t, err)
	linked, err = gitrepo.Find(filepath.Join(base, "linked"), env(vars))
	require.NoError(t, err)
	return main, linked, vars
}

func grow(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestSectionHasAllThatGitReads(t *testing.T) {
	t.Parallel()
	repo, linked, vars := sectionPlace(t)
	get := env(vars)
	none, err := gitrepo.Section(repo.Top, repo, get, "oxpatch")
	require.NoError(t, err)
	assert.Empty(t, none)
	home := vars["HOME"]
	xdg, user := filepath.Join(home, ".config", "git", "config"), filepath.Join(home, ".gitconfig")
	grow(t, xdg, "[oxpatch]\n\tA = xdg\n")
	grow(t, user, "[OXPATCH] b = user # a comment\n\tbare\n")
	grow(t, filepath.Join(repo.CommonDir, "config"), "[oxpatch]\n\tc = \"re\\\"po\\n2\"\n[extensions]\n\tworktreeConfig = true\n[oxpatched]\n\tx = 1\n")
	grow(t, filepath.Join(linked.GitDir, "config.worktree"), "[oxpatch]\n\tc = linked\n")
	want := []gitrepo.Entry{
		{"oxpatch.a", "xdg", xdg}, {"oxpatch.b", "user", user}, {"oxpatch.bare", "", user}, {"oxpatch.c", "re\"po\n2", filepath.Join(repo.CommonDir, "config")},
	}
	got, err := gitrepo.Section(linked.Top, linked, get, "oxpatch")
	require.NoError(t, err)
	assert.Equal(t, append(want, gitrepo.Entry{"oxpatch.c", "linked", filepath.Join(linked.GitDir, "config.worktree")}), got)
	got, err = gitrepo.Section(repo.Top, repo, get, "oxpatch")
	require.NoError(t, err)
	assert.Equal(t, want, got)

	// Outside of repositories; what is included; what the environment says.
	outside := filepath.Dir(home)
	got, err = gitrepo.Section(outside, nil, get, "oxpatch")
	require.NoError(t, err)
	assert.Equal(t, want[:3], got)
	vars["GIT_CONFIG_GLOBAL"] = filepath.Join(home, "other")
	grow(t, filepath.Join(home, "other"), "[Include]\n\tpath = included\n")
	grow(t, filepath.Join(home, "included"), "[oxpatch]\n\td = included\n")
	vars["GIT_CONFIG_COUNT"], vars["GIT_CONFIG_KEY_0"], vars["GIT_CONFIG_VALUE_0"] = "1", "OxPatch.E", "counted"
	got, err = gitrepo.Section(outside, nil, get, "oxpatch")
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, gitrepo.Entry{"oxpatch.d", "included", filepath.Join(home, "included")}, got[0])
	assert.Equal(t, "counted", got[1].Value)
}

// Without a mention of the section git is not started; where it cannot be, the files are read here.
func TestSectionStartsGitOnlyWhereItMust(t *testing.T) {
	if runtime.GOOS == "windows" {
		oxtest.Lacks(t, "programs that are shell scripts")
	}
	repo, _, vars := sectionPlace(t)
	get := env(vars)
	bin := t.TempDir()
	marker := filepath.Join(bin, "started")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho x >>"+marker+"\nexit 3\n"), 0o755))
	t.Setenv("PATH", bin)
	grow(t, filepath.Join(repo.CommonDir, "config"), "[remote \"origin\"]\n\turl = https://github.com/openoxide/oxpatch\n")
	got, err := gitrepo.Section(repo.Top, repo, get, "oxpatch")
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.NoFileExists(t, marker)

	grow(t, filepath.Join(repo.CommonDir, "config"), "[oxpatch]\n\tkeepDays = 3\n")
	_, err = gitrepo.Section(repo.Top, repo, get, "oxpatch")
	require.ErrorContains(t, err, "git config")
	assert.FileExists(t, marker)

	t.Setenv("PATH", t.TempDir())
	got, err = gitrepo.Section(repo.Top, repo, get, "oxpatch")
	require.NoError(t, err)
	assert.Equal(t, []gitrepo.Entry{{"oxpatch.keepdays", "3", filepath.Join(repo.CommonDir, "config")}}, got)
}
