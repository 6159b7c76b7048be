package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFolders bounds the folders held open besides the root: well below the smallest usual limit
// of open files (256 on macOS), and more than a patch usually touches at a time.
const maxFolders = 64

// folder is an open folder. Names given to root must be single components.
type folder struct {
	t    *Tree
	key  string
	root *os.Root
	info fs.FileInfo
	refs int    // holders; guarded by Tree.mu
	used uint64 // tick of the last use
	dead bool   // no longer in the cache: closed by the last release
}

var errNotFolder = errors.New("not a directory")

// folder returns the folder with that key, to be released after use. No link on the way is
// followed: a component that is not a folder gives errNotFolder, a missing one fs.ErrNotExist.
func (t *Tree) folder(key string) (*folder, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hold(key)
}

func (t *Tree) hold(key string) (*folder, error) {
	if t.closed {
		return nil, fs.ErrClosed
	}
	if key == "" {
		t.root.refs++
		return t.root, nil
	}
	f := t.open[key]
	if f == nil {
		var err error
		if f, err = t.openFolder(key); err != nil {
			return nil, err
		}
		t.evict()
		t.open[key] = f
	}
	t.tick++
	f.used = t.tick
	f.refs++
	return f, nil
}

func (t *Tree) openFolder(key string) (*folder, error) {
	dir, name := split(key)
	if name == "" {
		top, err := os.OpenRoot(filepath.FromSlash(key))
		if err != nil {
			return nil, err
		}
		return t.checked(key, top, nil)
	}
	parent, err := t.hold(dir)
	if err != nil {
		return nil, err
	}
	defer parent.drop()
	info, err := parent.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotFolder
	}
	root, err := parent.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return t.checked(key, root, info)
}

// checked makes sure that the folder opened is the one that was looked at: OpenRoot follows a
// link that took its place in between.
func (t *Tree) checked(key string, root *os.Root, want fs.FileInfo) (*folder, error) {
	info, err := root.Stat(".")
	if err == nil && want != nil && !os.SameFile(info, want) {
		err = errNotFolder
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return &folder{t: t, key: key, root: root, info: info}, nil
}

// release gives the folder back.
func (f *folder) release() {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	f.drop()
}

func (f *folder) drop() {
	f.refs--
	if f.dead && f.refs == 0 {
		f.root.Close()
	}
}

// evict makes room for one more folder, if one is not in use.
func (t *Tree) evict() {
	if len(t.open) < maxFolders {
		return
	}
	var oldest *folder
	for _, f := range t.open {
		if f.refs == 0 && (oldest == nil || f.used < oldest.used) {
			oldest = f
		}
	}
	if oldest != nil {
		oldest.root.Close()
		delete(t.open, oldest.key)
	}
}

// forget drops the handles of a folder that goes, and of all below it: a folder made again under
// the same name is another one.
func (t *Tree) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, f := range t.open {
		if !within(k, key) {
			continue
		}
		delete(t.open, k)
		f.dead = true
		if f.refs == 0 {
			f.root.Close()
		}
	}
	for k := range t.plain {
		if within(k, key) {
			delete(t.plain, k)
		}
	}
	for k := range t.tops {
		if within(k, key) {
			delete(t.tops, k)
		}
	}
}

// still reports whether the key leads to the folder that is held under it.
func (t *Tree) still(f *folder) bool {
	dir, name := split(f.key)
	if name == "" {
		return true
	}
	parent, err := t.folder(dir)
	if err != nil {
		return false
	}
	defer parent.release()
	info, err := parent.root.Lstat(name)
	return err == nil && os.SameFile(info, f.info)
}

// lstat looks at a key without following it. Where nothing stands, or where a component above is
// not a folder, it returns nil without an error.
func (t *Tree) lstat(key string) (fs.FileInfo, error) {
	if key == "" {
		return t.info, nil
	}
	dir, name := split(key)
	f, err := t.folder(dir)
	if err == nil {
		defer f.release()
		var info fs.FileInfo
		if info, err = f.root.Lstat(name); err == nil {
			return info, nil
		}
	}
	if isAbsent(err) {
		return nil, nil
	}
	return nil, err
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder)
}

// names hands the names in the folder to each, which returns false to stop early.
func (f *folder) names(each func(name string) bool) error {
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(256)
		for _, name := range names {
			if !each(name) {
				return nil
			}
		}
		if err != nil || len(names) == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
