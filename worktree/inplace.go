package worktree

import (
	"errors"
	"io/fs"
	"os"

	"github.com/openoxide/oxpatch/change"
)

// PutInPlace writes content to a key the plain way: an existing file is truncated and written,
// keeping inode, mode and links; a new one gets 0666 less the umask. If its folder is missing, the
// folders are made with 0777 less the umask and the write is tried once more. Nothing is rolled
// back. The error is a *PutError that tells which of the two failed.
func (t *Tree) PutInPlace(key string, content []byte) error {
	err := t.putPlain(key, content)
	if errors.Is(err, fs.ErrNotExist) {
		if err := t.makeParents(key); err != nil {
			return &PutError{Path: key, Stage: PutParents, Err: err}
		}
		err = t.putPlain(key, content)
	}
	if err != nil {
		return &PutError{Path: key, Stage: PutWrite, Err: err}
	}
	return nil
}

func (t *Tree) putPlain(key string, content []byte) error {
	dir, name := split(key)
	f, err := t.folder(dir)
	if err != nil {
		return err
	}
	defer f.release()
	out, over, err := t.openPlain(f, name, key)
	if err != nil {
		return err
	}
	err = t.writeAll(out, key, content, over)
	return errors.Join(err, out.Close())
}

// openPlain opens an empty file; over says that it was there already.
func (t *Tree) openPlain(f *folder, name, key string) (out *os.File, over bool, err error) {
	info, err := f.root.Lstat(name)
	if isAbsent(err) {
		out, err = f.create(name, 0o666)
		return out, false, err
	}
	if err != nil {
		return nil, false, err
	}
	switch kind := kindOf(info); kind {
	case change.File:
	case change.Dir:
		return nil, false, refuse(key, ErrIsDirectory, "it is a folder; name a file")
	case change.Symlink:
		return nil, false, refuse(key, ErrDrift, "it has become a link meanwhile; try again")
	default:
		return nil, false, notRegular(key, info)
	}
	if out, _, err = openSame(f, name, os.O_WRONLY, info); err != nil {
		return nil, false, err
	}
	if err := t.truncate(out, key); err != nil {
		out.Close()
		return nil, false, err
	}
	return out, true, nil
}

// makeParents makes the folders above a key that are missing.
func (t *Tree) makeParents(key string) error {
	dirs := above(key)
	for i := len(dirs) - 1; i >= 0; i-- {
		parent, name := split(dirs[i])
		f, err := t.folder(parent)
		if err != nil {
			return err
		}
		if info, e := f.root.Lstat(name); e == nil && info.IsDir() {
			f.release()
			continue
		}
		err = f.mkdir(name, 0o777)
		f.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes the file or link at a key, which is not followed. A folder is refused. The error
// is a *PathError.
func (t *Tree) Remove(key string) error {
	dir, name := split(key)
	f, err := t.folder(dir)
	if err != nil {
		return failed(key, "cannot be deleted", err)
	}
	defer f.release()
	info, err := f.root.Lstat(name)
	if err == nil && info.IsDir() {
		return refuse(key, ErrIsDirectory, "it is a folder; name a file")
	}
	if err == nil {
		err = f.remove(name)
	}
	return failed(key, "cannot be deleted", err)
}

// writeInPlace writes into the file that stands there, or makes it. begun is called before the
// first effect on it: from then on it may be torn.
func (r *run) writeInPlace(f *folder, name string, file File, begun func()) error {
	info, err := f.root.Lstat(name)
	if isAbsent(err) {
		return r.create(f, name, file, old{}, begun)
	}
	if err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	out, info, err := openSame(f, name, os.O_WRONLY, info)
	if err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	begun()
	err = r.overwrite(out, file, info)
	if e := out.Close(); err == nil && e != nil {
		err = failed(file.Path, "cannot be written", e)
	}
	return err
}

func (r *run) overwrite(out *os.File, file File, info fs.FileInfo) error {
	if err := r.t.truncate(out, file.Path); err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	if err := r.t.writeAll(out, file.Path, file.After.Content, true); err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	now := modeOf(info)
	if now&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		now = unknownMode // writing may have cleared them
	}
	if file.After.Mode != 0 && (now^file.After.Mode)&(modeBits|unknownMode) != 0 {
		if err := r.t.chmodFile(out, file.Path, file.After.Mode); err != nil {
			return failed(file.Path, "its mode cannot be set", err)
		}
	}
	if r.power {
		return failed(file.Path, "cannot be synced", r.t.syncFile(out, file.Path))
	}
	return nil
}
