package gitrepo

import "path/filepath"

// open turns what the walk found into a Repo, or into the error that says why there is none.
func (f found) open(start string, env func(string) string) (*Repo, error) {
	gitDir, common, err := f.resolve()
	if err != nil {
		return nil, err
	}
	s, err := readSettings(gitDir, common)
	switch {
	case err != nil || f.top != "" && s.worktree != "":
		return ask(start, env)
	case f.top == "" && s.bare:
		return nil, ErrBare
	case f.top == "":
		return nil, ErrInsideGitDir
	case s.bare:
		return nil, ErrBare
	}
	return newRepo(f.top, gitDir, common, s.format), nil
}

// resolve returns the git directory and the common directory with links resolved.
func (f found) resolve() (gitDir, common string, err error) {
	broken := func(path string, err error) error {
		return &BrokenError{Path: path, Top: f.top, Reason: err.Error()}
	}
	if gitDir, err = resolve(f.gitDir); err != nil {
		return "", "", broken(f.gitDir, err)
	}
	named, err := commonDir(gitDir)
	if err != nil {
		return "", "", broken(filepath.Join(gitDir, "commondir"), err)
	}
	if common, err = resolve(named); err != nil {
		return "", "", broken(named, err)
	}
	return gitDir, common, nil
}

// placed completes what the environment made of a repository: it gives the top level that the folders
// lead to, where the environment names none, and says whether they lead there at all.
func (r *Repo) placed(start string, env func(string) string) *Repo {
	place, err := walkUp(start, nil)
	if err == nil && place.top != "" {
		var gitDir string
		gitDir, _, err = place.resolve()
		r.Borrowed = err != nil || gitDir != r.GitDir
	} else {
		r.Borrowed = true
	}
	if r.Borrowed {
		return r
	}
	s, err := readSettings(r.GitDir, r.CommonDir)
	if env("GIT_WORK_TREE") == "" && err == nil && s.worktree == "" {
		r.Top = place.top
	}
	r.Borrowed = r.Top != place.top
	return r
}

func newRepo(top, gitDir, common string, format Format) *Repo {
	r := &Repo{Top: top, GitDir: gitDir, CommonDir: common, Format: format}
	if gitDir != common {
		r.WorktreeName = filepath.Base(gitDir)
	}
	return r
}
