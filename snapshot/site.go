package snapshot

import (
	"errors"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"

	"github.com/openoxide/oxpatch/gitrepo"
)

// Place is one root's part of one store.
type Place struct {
	Dir      string // the store's folder, absolute
	Worktree string // the root's name within the store
	// Shared says that the store serves roots that know nothing of one another, so that the root
	// is found through the store's registry.
	Shared bool
}

// Site is where operations on a folder take place: the root that paths are relative to, and the
// places of its records.
type Site struct {
	// Root is absolute, links resolved.
	Root string
	// Repo is the repository whose working tree Root is the top of, or nil.
	Repo *gitrepo.Repo
	// NoRepo says why Repo is nil: gitrepo.ErrNone, ErrBare, ErrOutside or a *gitrepo.BrokenError.
	NoRepo error
	// Write holds the places for new records, best first.
	Write []Place
	// Read holds all places that may hold records, among them those of Write.
	Read []Place

	// lockFolder, in tests, stands for an attempt to lock the root.
	lockFolder func(path string) (*flock.Flock, error)
}

// Locate finds the root and the places for dir, an existing folder. env looks up environment
// variables, as os.Getenv does. Nothing is written.
//
// The root is the top level of the repository's working tree; without one, the nearest folder at
// or above dir that a shared store knows as a root; else dir itself. A folder whose ".git" leads
// nowhere counts as the top level of a tree without a repository.
//
// Errors: gitrepo.ErrInsideGitDir, or one of the file system for dir.
func Locate(dir string, env func(string) string) (*Site, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	site := &Site{Root: abs}
	shared := sharedStores(env)
	repo, err := gitrepo.Find(abs, env)
	var broken *gitrepo.BrokenError
	switch {
	case err == nil:
		site.Repo, site.Root = repo, repo.Top
	case errors.As(err, &broken) && broken.Top != "":
		site.Root = broken.Top
	case errors.Is(err, gitrepo.ErrNone), errors.Is(err, gitrepo.ErrBare), errors.Is(err, gitrepo.ErrOutside),
		errors.Is(err, gitrepo.ErrBroken):
		site.Root = registeredAbove(abs, homeFolder(env), shared)
	default:
		return nil, err
	}
	site.NoRepo = err
	site.places(shared, env("OXPATCH_STORE") != "")
	return site, nil
}

// places fills Write and Read from the stores that exist or may be made.
func (s *Site) places(shared []*registry, chosen bool) {
	var places []Place
	if s.Repo != nil {
		p := Place{Dir: filepath.Join(s.Repo.CommonDir, "oxpatch", "store"), Worktree: worktreeName(s.Repo.WorktreeName)}
		if s.Repo.Borrowed {
			p.Worktree = pathName(s.Root)
		}
		places = append(places, p)
	}
	for i, r := range shared {
		p := Place{Dir: r.dir, Worktree: r.nameFor(s.Root), Shared: true}
		if chosen && i == 0 {
			// What the user chose is the only place for new records; the others stay readable.
			s.Write = []Place{p}
			places = append([]Place{p}, places...)
			continue
		}
		places = append(places, p)
	}
	if s.Write == nil {
		s.Write = places
	}
	s.Read = places
}

// stillRepo returns an error where a place lies in the git directory of a repository that is gone since
// the site was located: whoever looks for operations there would not find them.
func (s *Site) stillRepo(p Place) error {
	if p.Shared || s.Repo == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(s.Repo.GitDir, "HEAD")); err != nil {
		return err
	}
	return nil
}

// worktreeName returns the name of a working tree within the store of its repository.
func worktreeName(linked string) string {
	if linked == "" {
		return "main"
	}
	return "wt-" + refSafe(linked)
}

// refSafe writes every byte that is not a letter, digit, "-" or "_" as %XX, since git has many
// rules for the parts of a ref's name.
func refSafe(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// plainName is the name that refSafe wrote.
func plainName(safe string) string {
	plain, err := url.PathUnescape(safe)
	if err != nil {
		return safe
	}
	return plain
}

// sharedStores returns the registries of the stores outside repositories: the one that the user
// chose first, then the one among the user's state. A relative OXPATCH_STORE is taken from the
// process's working folder, as the shell that set it would.
func sharedStores(env func(string) string) []*registry {
	var list []*registry
	if dir := env("OXPATCH_STORE"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			list = append(list, &registry{dir: abs})
		}
	}
	if base := stateHome(env); base != "" {
		dir := filepath.Join(base, "oxpatch", "store")
		if len(list) == 0 || list[0].dir != dir {
			list = append(list, &registry{dir: dir})
		}
	}
	return list
}

// stateHome returns the folder for the state of programs, or "" if there is no telling. Relative
// values are ignored, as the XDG base directory specification wants it.
func stateHome(env func(string) string) string {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if dir := env("LOCALAPPDATA"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return dir
	}
	home := homeFolder(env)
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state")
}

// homeFolder returns the user's home folder, links resolved, or "" if there is none. One that does not
// exist is not made: accounts of services have names such as /nonexistent.
func homeFolder(env func(string) string) string {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		u, err := user.Current()
		if err != nil || !filepath.IsAbs(u.HomeDir) {
			return ""
		}
		home = u.HomeDir
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}
