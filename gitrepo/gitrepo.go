// Package gitrepo finds the git repository that a folder belongs to and reads the little that
// oxpatch wants to know about it: its top level, its git directory, the directory shared by its
// worktrees, its formats and its HEAD. It only reads.
//
// It works without a git process, as git itself does: from the folder upwards until a ".git" is
// found. One "git rev-parse" is asked only where the answer hangs on more than the files: when
// GIT_DIR or one of its companions is set, when core.worktree moves the top level (submodules do
// so), or when the configuration cannot be parsed. Where git is not installed, those answers are
// worked out here too.
//
// There is one answer of git's that is not followed. Where GIT_DIR alone is set, as it is in the hooks
// of a linked working tree, git takes the current folder for the top level. Here it is the folder with
// the ".git" that leads to that directory, if there is one at or above the current folder.
//
// Unlike git, it does not look at who owns the repository (safe.directory): nothing found in the
// repository's configuration is ever executed.
package gitrepo

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Errors that Find returns for folders where no working tree was found.
var (
	// ErrNone: neither the folder nor any folder above it has a repository.
	ErrNone = errors.New("not inside a git repository")
	// ErrInsideGitDir: the folder lies within a git directory, not within a working tree.
	ErrInsideGitDir = errors.New("inside a git directory")
	// ErrBare: the repository has no working tree.
	ErrBare = errors.New("bare repository, it has no working tree")
	// ErrOutside: the environment names a working tree that does not hold the folder.
	ErrOutside = errors.New("outside the working tree that the environment names")
	// ErrBroken: a ".git" was found that leads nowhere. It comes as a *BrokenError.
	ErrBroken = errors.New("broken git repository")
)

// BrokenError reports a ".git" file, or a git directory named by the environment, that cannot be
// followed. It is an ErrBroken.
type BrokenError struct {
	// Path is the file or folder that cannot be followed.
	Path string
	// Top is the folder that would be the top level, or "" if that is not known.
	Top string
	// Reason says what is wrong with it.
	Reason string
}

func (e *BrokenError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// Is makes errors.Is(err, ErrBroken) true.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// Repo is a repository with a working tree. All paths are absolute with symbolic links resolved.
type Repo struct {
	// Top is the top level of the working tree.
	Top string
	// GitDir is the git directory of this working tree: ".git", or ".git/worktrees/NAME" for a
	// linked one.
	GitDir string
	// CommonDir is the directory that all working trees of the repository share.
	CommonDir string
	// WorktreeName is "" in the main working tree, else the name below "worktrees/".
	WorktreeName string
	// Format says how the repository stores objects and refs.
	Format Format
	// Borrowed says that the git directory is another one than the folders lead to, and has this top
	// level only because the environment says so.
	Borrowed bool
}

// Format holds the two formats of a repository, in git's own words; both are "" where the
// configuration could not be parsed.
type Format struct {
	Objects string // "sha1" or "sha256"
	Refs    string // "files" or "reftable"
}

// Find returns the repository whose working tree holds dir. env looks up environment variables, as
// os.Getenv does; only the GIT_ variables are asked for.
//
// The error is ErrNone, ErrInsideGitDir, ErrBare, ErrOutside or a *BrokenError, or an error of the
// file system for dir itself. The repository is nil if and only if there is an error.
func Find(dir string, env func(string) string) (*Repo, error) {
	start, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	if redirected(env) {
		repo, err := ask(start, env)
		if err != nil {
			return nil, err
		}
		return repo.placed(start, env), nil
	}
	place, err := walkUp(start, nil)
	if err != nil {
		return nil, err
	}
	return place.open(start, env)
}

// redirected reports whether the environment changes where git looks.
func redirected(env func(string) string) bool {
	for _, name := range redirections() {
		if env(name) != "" {
			return true
		}
	}
	return false
}

func redirections() []string {
	return []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM"}
}

// resolve returns the absolute path of an existing folder, links resolved.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// within reports whether path is dir or lies below it. Both are clean and absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
