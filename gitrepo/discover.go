package gitrepo

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxSmallFile bounds what is read of files that hold one line: ".git", "commondir", HEAD, a ref.
const maxSmallFile = 64 << 10

// found is a git directory as the walk upwards came upon it.
type found struct {
	top    string // folder that holds the ".git", or "" when the walk ran into the directory itself
	gitDir string
}

// walkUp looks for a ".git" in start and the folders above it. Like git it stops at the border of
// the file system, and below the first of ceilings that it meets.
func walkUp(start string, ceilings []string) (found, error) {
	device, known := deviceOf(start)
	for dir := start; ; {
		place, err := look(dir)
		if err != nil || place.gitDir != "" {
			return place, err
		}
		parent := filepath.Dir(dir)
		if parent == dir || atCeiling(parent, ceilings) {
			return found{}, ErrNone
		}
		if d, ok := deviceOf(parent); known && ok && d != device {
			return found{}, ErrNone
		}
		dir = parent
	}
}

func atCeiling(dir string, ceilings []string) bool {
	for _, c := range ceilings {
		if c == dir {
			return true
		}
	}
	return false
}

// look asks one folder whether it is a working tree or a git directory. A ".git" folder that is
// none is passed over, as git does; a ".git" file that leads nowhere is an error, as in git.
func look(dir string) (found, error) {
	if place, err := lookForDotGit(dir); err != nil || place.gitDir != "" {
		return place, err
	}
	if isGitDir(dir) {
		return found{gitDir: dir}, nil
	}
	return found{}, nil
}

// lookForDotGit is look for working trees alone.
func lookForDotGit(dir string) (found, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err == nil && info.Mode().IsRegular():
		gitDir, err := followGitFile(dotGit)
		return found{top: dir, gitDir: gitDir}, err
	case err == nil && info.IsDir() && isGitDir(dotGit):
		return found{top: dir, gitDir: dotGit}, nil
	case errors.Is(err, fs.ErrPermission):
		return found{}, &BrokenError{Path: dotGit, Top: dir, Reason: "no permission to read it"}
	}
	return found{}, nil
}

// IsTop reports whether a folder is where a repository's working tree begins: the top level that Find
// gives for it where no GIT_ variable is set, be it of a broken repository too. One in which nothing can
// be looked up is none: whoever goes on into it is told so.
func IsTop(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrPermission) {
		return false
	}
	place, err := lookForDotGit(dir)
	return place.top != "" || err != nil
}

// followGitFile returns the git directory that a ".git" file points to.
func followGitFile(path string) (string, error) {
	broken := func(reason string) error {
		return &BrokenError{Path: path, Top: filepath.Dir(path), Reason: reason}
	}
	data, err := readSmall(path)
	if err != nil {
		return "", broken("cannot be read: " + err.Error())
	}
	target, ok := bytes.CutPrefix(data, []byte("gitdir: "))
	// Only line ends are cut off: a folder's name may end in a blank.
	target = bytes.TrimRight(target, "\r\n")
	if !ok || len(target) == 0 {
		return "", broken(`not of the form "gitdir: PATH"`)
	}
	gitDir := filepath.FromSlash(string(target))
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(filepath.Dir(path), gitDir)
	}
	if !isGitDir(gitDir) {
		return "", broken("points to " + gitDir + ", which is not a git directory")
	}
	return gitDir, nil
}

// isGitDir applies git's own test: a HEAD that looks like one, and folders for objects and refs,
// the former perhaps in the common directory.
func isGitDir(dir string) bool {
	if !plausibleHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	common, err := commonDir(dir)
	return err == nil && isFolder(filepath.Join(common, "objects")) && isFolder(filepath.Join(common, "refs"))
}

func plausibleHead(path string) bool {
	// HEAD was once a symbolic link, which may dangle before the first commit.
	if target, err := os.Readlink(path); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	data, err := readSmall(path)
	if err != nil {
		return false
	}
	text := strings.TrimSpace(string(data))
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimSpace(name), "refs/")
	}
	return isOID(text)
}

// commonDir returns the directory that the worktree with this git directory shares with the
// others: the one that its "commondir" file names, or the git directory itself.
func commonDir(gitDir string) (string, error) {
	data, err := readSmall(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	common := filepath.FromSlash(strings.TrimRight(string(data), "\r\n"))
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return common, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readSmall reads a regular file, at most maxSmallFile bytes of it. Opening anything else could
// block (a FIFO) or never end (a device).
func readSmall(path string) ([]byte, error) {
	return readBounded(path, maxSmallFile)
}

// isOID reports whether text is an object id of SHA-1 or SHA-256 in lower-case hex.
func isOID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == ""
}
