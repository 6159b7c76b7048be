package worktree

import (
	"errors"
	"io/fs"
)

func (r *run) makeDirs(dirs []Dir) error {
	for _, dir := range dirs {
		if err := r.note(dir.Path, r.makeDir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// makeDir makes one folder. One that is to have a mode of its own can be written to by its owner
// until the end; see finishDirs.
func (r *run) makeDir(dir Dir) error {
	parent, name := split(dir.Path)
	f, err := r.t.folder(parent)
	if err != nil {
		return failed(dir.Path, "the folder cannot be made", err)
	}
	defer f.release()
	mode := fs.FileMode(0o777)
	if dir.Mode != 0 {
		mode = dir.Mode&0o777 | 0o700
	}
	err = f.mkdir(name, mode)
	if errors.Is(err, fs.ErrExist) {
		if info, e := f.root.Lstat(name); e == nil && info.IsDir() {
			if r.lenient { // its mode may not have been set before the kill
				r.made = append(r.made, dir)
			}
			return nil
		}
	}
	if err != nil {
		return failed(dir.Path, "the folder cannot be made", err)
	}
	r.made = append(r.made, dir)
	return nil
}

// finishDirs gives the folders made their own mode, the deepest first: it may forbid writing.
func (r *run) finishDirs() error {
	for _, dir := range sorted(r.made, true) {
		if dir.Mode == 0 {
			continue
		}
		if err := r.note(dir.Path, r.finishDir(dir)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) finishDir(dir Dir) error {
	parent, name := split(dir.Path)
	f, err := r.t.folder(parent)
	if err != nil {
		return failed(dir.Path, "the folder's mode cannot be set", err)
	}
	defer f.release()
	info, err := f.root.Lstat(name)
	if err == nil && info.IsDir() && (modeOf(info)^dir.Mode)&modeBits != 0 {
		err = f.chmod(name, dir.Mode)
	}
	return failed(dir.Path, "the folder's mode cannot be set", err)
}

// removeDirs removes folders that the run has emptied. One into which something was put meanwhile
// stays, unless a file is to stand in its place.
func (r *run) removeDirs(dirs []Dir, needed bool) error {
	for _, dir := range dirs {
		err := r.removeDir(dir)
		if err != nil && !needed && !errors.Is(err, ErrKilled) && r.inUse(dir.Path) {
			continue
		}
		if err = r.note(dir.Path, err); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) removeDir(dir Dir) error {
	parent, name := split(dir.Path)
	f, err := r.t.folder(parent)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return failed(dir.Path, "the emptied folder cannot be removed", err)
	}
	defer f.release()
	info, err := f.root.Lstat(name)
	if isAbsent(err) || err == nil && !info.IsDir() {
		return nil
	}
	r.t.forget(dir.Path)
	if err := f.rmdir(name); err != nil {
		return failed(dir.Path, "the emptied folder cannot be removed", err)
	}
	r.removed = append(r.removed, dir)
	return nil
}

// inUse reports whether there is something in the folder.
func (r *run) inUse(key string) bool {
	f, err := r.t.folder(key)
	if err != nil {
		return false
	}
	defer f.release()
	some := false
	_ = f.names(func(string) bool { some = true; return false })
	return some
}
