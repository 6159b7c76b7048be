package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ask has git decide: one "git rev-parse" in dir. Where git is not installed or will not say (it
// refuses repositories of other owners), the same questions are answered from the environment and
// the configuration.
func ask(dir string, env func(string) string) (*Repo, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return decide(dir, env)
	}
	// --show-toplevel comes last: it fails where there is no working tree, after the answers
	// before it were printed. No --path-format: git before 2.31 does not know it.
	cmd := exec.Command(git, "rev-parse", "--is-bare-repository", "--is-inside-git-dir",
		"--is-inside-work-tree", "--git-dir", "--show-toplevel")
	cmd.Dir = dir
	cmd.Env = gitEnv(env)
	out, _ := cmd.Output() // what was printed tells more than the exit status
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) < 4 {
		return decide(dir, env)
	}
	return readAnswer(dir, lines, env)
}

// gitEnv is the environment of this process with the redirections as env gives them.
func gitEnv(env func(string) string) []string {
	list := os.Environ()
	for _, name := range redirections() {
		list = withoutVar(list, name)
		if v := env(name); v != "" {
			list = append(list, name+"="+v)
		}
	}
	return list
}

func withoutVar(list []string, name string) []string {
	var kept []string
	for _, kv := range list {
		if !strings.HasPrefix(kv, name+"=") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// readAnswer reads the lines of the rev-parse that ask starts, four of them or more.
func readAnswer(dir string, lines []string, env func(string) string) (*Repo, error) {
	bare, insideGitDir, inside := lines[0] == "true", lines[1] == "true", lines[2] == "true"
	switch {
	case inside && len(lines) > 5:
		return nil, &BrokenError{Path: dir, Reason: "a line feed in the name of the git directory or the top level"}
	case insideGitDir && !inside:
		return nil, ErrInsideGitDir
	case bare:
		return nil, ErrBare
	case !inside || len(lines) < 5:
		return nil, ErrOutside
	}
	return assemble(dir, lines[4], lines[3], env)
}

// assemble makes the Repo from a top level and a git directory, either perhaps relative to dir.
func assemble(dir, top, gitDir string, env func(string) string) (*Repo, error) {
	top, err := resolve(below(dir, filepath.FromSlash(top)))
	if err != nil {
		return nil, err
	}
	f := found{top: top, gitDir: below(dir, filepath.FromSlash(gitDir))}
	gitDir, common, err := f.resolve()
	if err != nil {
		return nil, err
	}
	if named := env("GIT_COMMON_DIR"); named != "" {
		if common, err = resolve(below(dir, named)); err != nil {
			return nil, &BrokenError{Path: named, Top: top, Reason: err.Error()}
		}
	}
	s, err := readSettings(gitDir, common)
	if err != nil {
		// git accepted the configuration, so the parser here is the one at fault; what is lost
		// is the two formats, which nothing depends on.
		s.format = Format{}
	}
	r := newRepo(top, gitDir, common, s.format)
	if !isWorktreeDir(gitDir, common) {
		r.WorktreeName = ""
	}
	return r, nil
}

// isWorktreeDir tells a linked worktree from a git directory whose common directory was moved
// elsewhere by GIT_COMMON_DIR.
func isWorktreeDir(gitDir, common string) bool {
	return filepath.Dir(gitDir) == filepath.Join(common, "worktrees")
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// decide works out without git what the environment and core.worktree say: GIT_DIR, else a walk
// upwards that heeds the ceilings; GIT_WORK_TREE, else core.worktree, else the folder of the ".git",
// else (with GIT_DIR alone) the current folder.
func decide(dir string, env func(string) string) (*Repo, error) {
	f, err := locate(dir, env)
	if err != nil {
		return nil, err
	}
	gitDir, common, err := f.resolve()
	if err != nil {
		return nil, err
	}
	s, err := readSettings(gitDir, common)
	if err != nil {
		return nil, &BrokenError{Path: filepath.Join(common, "config"), Top: f.top, Reason: err.Error()}
	}
	top, err := f.workTree(dir, gitDir, s, env)
	if err != nil {
		return nil, err
	}
	if !within(top, dir) {
		return nil, ErrOutside
	}
	return assemble(dir, top, gitDir, env)
}

func locate(dir string, env func(string) string) (found, error) {
	named := env("GIT_DIR")
	if named == "" {
		return walkUp(dir, filepath.SplitList(env("GIT_CEILING_DIRECTORIES")))
	}
	gitDir := below(dir, named)
	if info, err := os.Stat(gitDir); err == nil && info.Mode().IsRegular() {
		target, err := followGitFile(gitDir)
		return found{gitDir: target}, err
	}
	if !isGitDir(gitDir) && env("GIT_COMMON_DIR") == "" {
		return found{}, &BrokenError{Path: gitDir, Reason: "GIT_DIR is not a git directory"}
	}
	return found{gitDir: gitDir}, nil
}

// workTree returns the top level, links resolved.
func (f found) workTree(dir, gitDir string, s settings, env func(string) string) (string, error) {
	switch {
	case env("GIT_WORK_TREE") != "":
		return resolve(below(dir, env("GIT_WORK_TREE")))
	case s.worktree != "":
		return resolve(below(gitDir, filepath.FromSlash(s.worktree)))
	case s.bare:
		return "", ErrBare
	case f.top != "":
		return resolve(f.top)
	case env("GIT_DIR") != "":
		return dir, nil
	}
	return "", ErrInsideGitDir
}
