package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/openoxide/oxpatch/change"
)

// Version is what tells one state of a file from another without reading it. Where the platform has
// no inodes or change times those are 0.
type Version struct {
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
	Dev, Inode   uint64
}

// Sight is what a look at a key tells without reading it.
type Sight struct {
	Kind change.Kind
	Mode fs.FileMode // as in change.State
	// Version is that of a file or link.
	Version Version
	// Fresh says that it changed so shortly before the look that a later change may leave the
	// Version as it is.
	Fresh bool
}

func sightOf(info fs.FileInfo, seen time.Time) Sight {
	s := stampOf(info, seen)
	return Sight{
		Kind: kindOf(info), Mode: s.mode, Fresh: s.fresh,
		Version: Version{Size: s.size, Mtime: s.mtime, Ctime: s.ctime, Dev: s.id.dev, Inode: s.id.ino},
	}
}

// Look tells what stands at a key, which is not followed. That nothing is there, or that a component
// above is no folder, is a state and not an error.
func (t *Tree) Look(key string) (Sight, error) {
	seen := time.Now()
	info, err := t.lstat(key)
	if err != nil {
		return Sight{}, failed(key, "cannot be looked at", err)
	}
	if info == nil {
		return Sight{}, nil
	}
	return sightOf(info, seen), nil
}

// Stream writes the content of the file or link at a key to what begin returns for its size, and
// returns the sight that the content belongs to. Of a file that changes meanwhile it begins anew.
// Anything but a file or link writes nothing. Errors are those of Read.
func (t *Tree) Stream(key string, begin func(size int64) io.Writer) (Sight, error) {
	dir, name := split(key)
	f, err := t.folder(dir)
	if err != nil {
		if isAbsent(err) {
			return Sight{}, nil
		}
		return Sight{}, failed(key, "cannot be looked at", err)
	}
	defer f.release()
	for range readTries {
		s, err := t.streamIn(f, name, key, begin)
		if !errors.Is(err, errMoving) {
			return s, err
		}
	}
	return Sight{}, refuse(key, ErrDrift, "it keeps changing while it is read; wait for the program that writes it and try again")
}

func (t *Tree) streamIn(f *folder, name, key string, begin func(int64) io.Writer) (Sight, error) {
	seen := time.Now()
	info, err := f.root.Lstat(name)
	switch {
	case isAbsent(err):
		return Sight{}, nil
	case err != nil:
		return Sight{}, failed(key, "cannot be looked at", err)
	}
	s := sightOf(info, seen)
	switch s.Kind {
	case change.Symlink:
		target, err := f.root.Readlink(name)
		if err != nil {
			return Sight{}, failed(key, "the link cannot be read", err)
		}
		s.Version.Size = int64(len(target))
		_, err = io.WriteString(begin(s.Version.Size), target)
		return s, err
	case change.File:
		return t.streamFile(f, name, key, info, begin)
	}
	return s, nil
}

func (t *Tree) streamFile(f *folder, name, key string, info fs.FileInfo, begin func(int64) io.Writer) (Sight, error) {
	seen := time.Now()
	file, info, err := openSame(f, name, os.O_RDONLY, info)
	if err != nil {
		return Sight{}, failed(key, "cannot be read", err)
	}
	defer file.Close()
	if max := t.options.MaxFile; max > 0 && info.Size() > max {
		return Sight{}, refuse(key, ErrTooLarge, "it has %d bytes; files over %d bytes are not read", info.Size(), max)
	}
	s := sightOf(info, seen)
	n, err := io.Copy(begin(info.Size()), io.LimitReader(file, info.Size()+1))
	if err != nil {
		return Sight{}, failed(key, "cannot be read", err)
	}
	after, err := file.Stat()
	if err != nil {
		return Sight{}, failed(key, "cannot be read", err)
	}
	if n != info.Size() || sightOf(after, seen).Version != s.Version {
		return Sight{}, errMoving
	}
	return s, nil
}

// Names returns the names in a folder, sorted. One that is not there, or is no folder, has none.
func (t *Tree) Names(key string) ([]string, error) {
	f, err := t.folder(key)
	if isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(key, "the folder cannot be read", err)
	}
	defer f.release()
	var names []string
	err = f.names(func(name string) bool {
		names = append(names, name)
		return true
	})
	slices.Sort(names)
	return names, failed(key, "the folder cannot be read", err)
}

// BarredStore is what Barred says of a folder of Options.Forbidden.
const BarredStore = "the place where the means to undo are kept"

// Barred says why nothing may be recorded or written in the folder at a key, or "": a repository of
// its own, whatever Resolve refuses as a component of a path, and the store. Folders above it are
// not looked at.
func (t *Tree) Barred(key string) string {
	if key == "" {
		return ""
	}
	_, name := split(key)
	if checkName(key, name) != nil {
		return "git's own folder, or a spelling of it"
	}
	for _, f := range t.forbidden {
		if within(t.absKey(key), f.path) {
			return BarredStore
		}
	}
	if t.options.Foreign != nil && t.options.Foreign(t.Abs(key)) {
		return "a repository of its own"
	}
	if t.isBare(key) {
		return "a bare git repository"
	}
	return ""
}

// BarredName says why no file may have that name, or "".
func (t *Tree) BarredName(name string) string {
	if checkName(name, name) != nil {
		return "git's own folder, or a spelling of it"
	}
	return ""
}

// Find resolves a path that may name anything: a file, a link itself, a folder, nothing. The key of
// the root is "". The error is a *PathError as of Resolve, or one with ErrUnsafePath for what lies in
// a repository of its own.
func (t *Tree) Find(path string) (key string, kind change.Kind, err error) {
	w := walk{t: t, use: Entry, path: path}
	if err := w.start(); err != nil {
		return "", change.Absent, err
	}
	loc, err := w.run()
	switch {
	case err == nil:
		key, kind = loc.Path, loc.Kind
	case w.folder && errors.Is(err, ErrIsDirectory):
		key, kind = w.at, change.Dir
		if w.gone != "" {
			kind = change.Absent
		}
	case errors.Is(err, ErrIsDirectory) && loc.Kind == change.Absent && loc.Path != "":
		key = loc.Path // a folder that is not there
	default:
		return "", change.Absent, err
	}
	dirs := above(key)
	if kind == change.Dir && key != "" {
		dirs = append(dirs, key)
	}
	for _, dir := range dirs {
		if why := t.Barred(dir); why != "" {
			return "", change.Absent, refuse(path, ErrUnsafePath, "%s is %s; work there from inside of it", change.DisplayPath(dir), why)
		}
	}
	return key, kind, nil
}

// Within reports whether key is dir or lies below it; every key lies below the root, "".
func Within(key, dir string) bool { return dir == "" || key == dir || strings.HasPrefix(key, dir+"/") }

// Above returns the folders above a key, the nearest first, without the root.
func Above(key string) []string { return above(key) }
