package worktree

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// Every effect on the disk is one of the functions in this file. Each asks Options.Effects first,
// so that a test can fail, or end the process, at any point.

func (f *folder) path(name string) string { return f.t.join(f.key, name) }

func (f *folder) mkdir(name string, mode fs.FileMode) error {
	if err := f.t.effect(OpMkdir, f.path(name)); err != nil {
		return err
	}
	return f.root.Mkdir(name, mode)
}

// create makes a new file; O_EXCL never follows a link.
func (f *folder) create(name string, mode fs.FileMode) (*os.File, error) {
	if err := f.t.effect(OpCreate, f.path(name)); err != nil {
		return nil, err
	}
	return f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (f *folder) symlink(target, name string) error {
	if err := f.t.effect(OpSymlink, f.path(name)); err != nil {
		return err
	}
	return f.root.Symlink(target, name)
}

func (f *folder) rename(from, to string) error {
	if err := f.t.effect(OpRename, f.path(to)); err != nil {
		return err
	}
	return f.root.Rename(from, to)
}

func (f *folder) remove(name string) error {
	if err := f.t.effect(OpRemove, f.path(name)); err != nil {
		return err
	}
	return f.root.Remove(name)
}

func (f *folder) rmdir(name string) error {
	if err := f.t.effect(OpRmdir, f.path(name)); err != nil {
		return err
	}
	return f.root.Remove(name)
}

func (f *folder) chmod(name string, mode fs.FileMode) error {
	if err := f.t.effect(OpChmod, f.path(name)); err != nil {
		return err
	}
	return f.root.Chmod(name, mode)
}

// sync makes the folder's entries last through a loss of power. Windows has no such call, and some
// file systems refuse it for folders; their entries last as well as they can.
func (f *folder) sync() error {
	if err := f.t.effect(OpSync, f.key); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// writeAll writes all of an empty file. over says that it takes the place of another file, or of what
// was in it.
func (t *Tree) writeAll(file *os.File, key string, content []byte, over bool) error {
	if err := t.effect(OpWrite, key); err != nil {
		return err
	}
	if over {
		return fillOver(file, content)
	}
	_, err := file.Write(content)
	return err
}

func (t *Tree) truncate(file *os.File, key string) error {
	if err := t.effect(OpTruncate, key); err != nil {
		return err
	}
	return file.Truncate(0)
}

func (t *Tree) chmodFile(file *os.File, key string, mode fs.FileMode) error {
	if err := t.effect(OpChmod, key); err != nil {
		return err
	}
	return file.Chmod(mode)
}

func (t *Tree) chownFile(file *os.File, key string, uid, gid int) error {
	if err := t.effect(OpChown, key); err != nil {
		return err
	}
	return file.Chown(uid, gid)
}

func (t *Tree) syncFile(file *os.File, key string) error {
	if err := t.effect(OpSync, key); err != nil {
		return err
	}
	return file.Sync()
}
