package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Entry is one entry of git's configuration.
type Entry struct {
	Key    string // SECTION.NAME in lower case
	Value  string
	Origin string // the file, or "command line" for one from the environment
}

// Section returns the entries of one section of git's configuration (name is in lower case), as git
// gives them in the folder dir: of the system, the user, the repository and the working tree; later
// ones win. repo is nil outside of repositories.
//
// No git process is started unless one of the files that git reads mentions the section or includes
// others, or the environment sets entries of it. The error is git's, or says why a file cannot be
// read.
func Section(dir string, repo *Repo, env func(string) string, name string) ([]Entry, error) {
	files := configFiles(repo, env)
	asks := fromEnvironment(env, name)
	for _, f := range files {
		data, err := readBounded(f, maxConfig)
		if err != nil {
			continue // git says what is wrong with it, if it is asked at all
		}
		text := bytes.ToLower(data)
		asks = asks || bytes.Contains(text, []byte("["+name)) || bytes.Contains(text, []byte("[include"))
	}
	if !asks {
		return nil, nil
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return withoutGit(files, name)
	}
	return askSection(git, dir, env, name)
}

// fromEnvironment reports whether the environment sets entries of a section, as "git -c" does for the
// commands that git starts.
func fromEnvironment(env func(string) string, name string) bool {
	if strings.Contains(strings.ToLower(env("GIT_CONFIG_PARAMETERS")), name+".") {
		return true
	}
	for i := range counted(env) {
		if strings.HasPrefix(strings.ToLower(env(fmt.Sprintf("GIT_CONFIG_KEY_%d", i))), name+".") {
			return true
		}
	}
	return false
}

// counted is how many entries the environment sets by number.
func counted(env func(string) string) int {
	const most = 1000
	n, err := strconv.Atoi(env("GIT_CONFIG_COUNT"))
	if err != nil {
		return 0
	}
	return max(0, min(n, most))
}

// configFiles returns the files that git reads for a repository, in its order. Where the system's is
// depends on how git was built; all places in use are listed.
func configFiles(repo *Repo, env func(string) string) []string {
	var files []string
	switch {
	case env("GIT_CONFIG_NOSYSTEM") != "" && env("GIT_CONFIG_NOSYSTEM") != "0":
	case env("GIT_CONFIG_SYSTEM") != "":
		files = append(files, env("GIT_CONFIG_SYSTEM"))
	default:
		files = append(files, systemFiles()...)
	}
	home := env("HOME")
	if home == "" {
		home = env("USERPROFILE") // git for Windows takes it for HOME
	}
	if global := env("GIT_CONFIG_GLOBAL"); global != "" {
		files = append(files, global)
	} else {
		xdg := env("XDG_CONFIG_HOME")
		if xdg == "" && home != "" {
			xdg = filepath.Join(home, ".config")
		}
		if xdg != "" {
			files = append(files, filepath.Join(xdg, "git", "config"))
		}
		if home != "" {
			files = append(files, filepath.Join(home, ".gitconfig"))
		}
	}
	if repo != nil {
		files = append(files, filepath.Join(repo.CommonDir, "config"), filepath.Join(repo.GitDir, "config.worktree"))
	}
	return files
}

// systemFiles returns the places of the system's configuration.
func systemFiles() []string {
	files := []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig",
		"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig"}
	git, err := exec.LookPath("git")
	if err != nil {
		return files
	}
	if real, err := filepath.EvalSymlinks(git); err == nil {
		prefix := filepath.Dir(filepath.Dir(real))
		files = append(files, filepath.Join(prefix, "etc", "gitconfig"), filepath.Join(prefix, "mingw64", "etc", "gitconfig"),
			filepath.Join(prefix, "share", "git-core", "gitconfig"))
	}
	return files
}

// askSection asks git for the entries of a section.
func askSection(git, dir string, env func(string) string, name string) ([]Entry, error) {
	cmd := exec.Command(git, "config", "--null", "--show-origin", "--get-regexp", `^`+name+`\.`)
	cmd.Dir = dir
	cmd.Env = configEnv(env)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.Len() == 0 {
		return nil, nil // no such entry
	}
	if err != nil {
		return nil, fmt.Errorf("git config: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return readEntries(dir, out), nil
}

// configEnv is the environment of this process with all that steers git's configuration as env gives it.
func configEnv(env func(string) string) []string {
	list := gitEnv(env)
	names := []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"}
	for i := range counted(env) {
		names = append(names, fmt.Sprintf("GIT_CONFIG_KEY_%d", i), fmt.Sprintf("GIT_CONFIG_VALUE_%d", i))
	}
	for _, n := range names {
		list = withoutVar(list, n)
		if v := env(n); v != "" {
			list = append(list, n+"="+v)
		}
	}
	return append(list, "LC_ALL=C")
}

// readEntries reads the output of "git config --null --show-origin --get-regexp": origin, NUL, key, LF,
// value, NUL. A key without a value has no LF. Files are named as seen from dir.
func readEntries(dir string, out []byte) []Entry {
	var list []Entry
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		origin := strings.TrimSuffix(fields[i], ":")
		if file, ok := strings.CutPrefix(origin, "file:"); ok {
			origin = below(dir, filepath.FromSlash(file))
		}
		list = append(list, Entry{Key: strings.ToLower(key), Value: value, Origin: origin})
	}
	return list
}

// withoutGit reads the files themselves, without those that they include.
func withoutGit(files []string, name string) ([]Entry, error) {
	var list []Entry
	for _, f := range files {
		c, err := readConfig(f)
		if err != nil {
			if errors.Is(err, os.ErrPermission) {
				continue
			}
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		for _, o := range c.Section(name).Options {
			list = append(list, Entry{Key: name + "." + strings.ToLower(o.Key), Value: o.Value, Origin: f})
		}
	}
	return list, nil
}
