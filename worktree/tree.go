package worktree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/openoxide/oxpatch/change"
)

// Options of a Tree. The zero value confines every path to the root.
type Options struct {
	// Base is the folder, relative to the root and slash-separated, from which relative paths of
	// a patch count. It is never removed, even when a patch empties it.
	Base string
	// Free accepts absolute paths and "..", follows links wherever they lead and knows no
	// protected names. Paths are then cleaned by their text before anything is looked up:
	// link/../f ignores where link points, missing/../f works, a trailing slash is dropped.
	Free bool
	// InPlace says that files will be written in place, so that the names of a hard-linked file
	// are one file. Free implies it.
	InPlace bool
	// Foreign, when set, tells of an absolute folder below the root whether another repository
	// begins there. What lies in such a folder is refused. Free does not ask.
	Foreign func(dir string) bool
	// Forbidden are absolute folders in which nothing may be read or written.
	Forbidden []string
	// MaxFile is the size in bytes above which a file is refused; 0 means no bound.
	MaxFile int64
	// Durability is that of Restore; a Writer has its own.
	Durability Durability
	// Effects, when set, is called before each effect on the disk; an error is taken as that
	// effect's failure. See ErrKilled.
	Effects func(op Op, path string) error
}

// Op names one kind of effect on the disk.
type Op string

// The effects, as Options.Effects gets to see them.
const (
	OpMkdir    Op = "mkdir"
	OpCreate   Op = "create"
	OpTruncate Op = "truncate"
	OpWrite    Op = "write"
	OpChown    Op = "chown"
	OpChmod    Op = "chmod"
	OpAttr     Op = "attr"
	OpSync     Op = "sync"
	OpSymlink  Op = "symlink"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpRmdir    Op = "rmdir"
)

// Tree is one root folder, held open. It is safe for concurrent use, except that two Writers
// must not run on it at once.
type Tree struct {
	options Options
	real    string // the root, absolute, without links, native separators
	realKey string // the same, slash-separated
	given   string // the root, absolute, as it was given
	info    fs.FileInfo
	base    string // key of Options.Base

	mu     sync.Mutex
	root   *folder
	open   map[string]*folder
	tick   uint64
	known  map[fileID]string // first key under which a file or folder was reached
	plain  map[string]bool   // folders known not to be the inside of a bare repository
	tops   map[string]string // for a folder the key of the other repository it lies in, "" for none
	closed bool

	forbidden []forbidden
}

type forbidden struct {
	path string // slash-separated, links resolved as far as it exists
	info fs.FileInfo
}

// Open opens the root folder, which must exist. Close must be called in the end.
func Open(root string, o Options) (*Tree, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, failed(root, "the root folder cannot be opened", err)
	}
	handle, err := os.OpenRoot(real)
	if err != nil {
		return nil, failed(root, "the root folder cannot be opened", err)
	}
	info, err := handle.Stat(".")
	if err != nil {
		handle.Close()
		return nil, failed(root, "the root folder cannot be read", err)
	}
	t := &Tree{
		options: o, real: real, realKey: filepath.ToSlash(real), given: given, info: info,
		root: &folder{key: "", root: handle, info: info, refs: 1},
		open: map[string]*folder{}, known: map[fileID]string{}, plain: map[string]bool{}, tops: map[string]string{},
	}
	t.root.t = t
	if id, ok := identify(info, ""); ok {
		t.known[id] = ""
	}
	t.forbid(o.Forbidden)
	t.base = strings.Trim(filepath.ToSlash(filepath.Clean("/"+o.Base)), "/")
	t.options.Base = t.base
	if t.base != "" && !o.Free {
		if err := t.resolveBase(); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// Close gives back the folders held open.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	for _, f := range t.open {
		f.root.Close()
	}
	t.open = nil
	return t.root.root.Close()
}

// Root returns the absolute path of the root without links.
func (t *Tree) Root() string { return t.real }

// Abs returns the absolute native path of a key.
func (t *Tree) Abs(key string) string {
	if isAbs(key) {
		return filepath.FromSlash(key)
	}
	return filepath.Join(t.real, filepath.FromSlash(key))
}

func (t *Tree) resolveBase() error {
	w := walk{t: t, use: Edit, path: t.options.Base, rest: strings.Split(t.base, "/")}
	_, err := w.run()
	if w.folder {
		t.base = w.at
		return nil
	}
	if err == nil { // missing or a file: nothing to protect, and Resolve will say so
		return nil
	}
	return err
}

func (t *Tree) forbid(folders []string) {
	for _, path := range folders {
		abs, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		f := forbidden{path: filepath.ToSlash(realPrefix(abs))}
		f.info, _ = os.Stat(abs)
		t.forbidden = append(t.forbidden, f)
	}
}

// realPrefix resolves the links of as much of the path as exists.
func realPrefix(abs string) string {
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	dir := filepath.Dir(abs)
	if dir == abs {
		return abs
	}
	return filepath.Join(realPrefix(dir), filepath.Base(abs))
}

// effect asks Options.Effects before something is done to the disk.
func (t *Tree) effect(op Op, path string) error {
	if t.options.Effects == nil {
		return nil
	}
	return t.options.Effects(op, path)
}

// join returns the key of name in the folder with key dir.
func (t *Tree) join(dir, name string) string {
	switch {
	case dir == "":
		return name
	case strings.HasSuffix(dir, "/"):
		dir += name
	default:
		dir += "/" + name
	}
	if dir == t.realKey {
		return ""
	}
	return dir
}

// up returns the key of the folder above; ok is false at the root of a confined tree.
func (t *Tree) up(key string) (parent string, ok bool) {
	if key == "" {
		if !t.options.Free {
			return "", false
		}
		key = t.realKey
	}
	parent, _ = split(key)
	if parent == t.realKey {
		parent = ""
	}
	return parent, true
}

// split cuts a key into its folder's key and its last name. The top of a volume has no name.
func split(key string) (dir, name string) {
	at := strings.LastIndexByte(key, '/')
	if at < 0 {
		return "", key
	}
	if top := volume(key); at < len(top) {
		return top, key[len(top):]
	}
	return key[:at], key[at+1:]
}

// volume returns "/" or "C:/" of an absolute key, "" of a relative one.
func volume(key string) string {
	name := filepath.ToSlash(filepath.VolumeName(filepath.FromSlash(key)))
	if len(key) > len(name) && key[len(name)] == '/' {
		return key[:len(name)+1]
	}
	return ""
}

func isAbs(key string) bool { return volume(key) != "" }

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	if path == dir {
		return true
	}
	return strings.HasPrefix(path, dir) && (strings.HasSuffix(dir, "/") || path[len(dir)] == '/')
}

func kindOf(info fs.FileInfo) change.Kind {
	if info == nil {
		return change.Absent
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return change.File
	case mode.IsDir():
		return change.Dir
	case mode&fs.ModeSymlink != 0:
		return change.Symlink
	}
	return change.Other
}
