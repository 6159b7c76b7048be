package worktree

import (
	"io/fs"
	"path/filepath"

	"github.com/openoxide/oxpatch/change"
)

// Foresee says, without writing anything, what Write would be refused for want of permission: nil,
// or the error of the first folder or file; made and removed are what Dirs gave. It goes by what the system says may be written, which in a sandbox
// can be more than what can.
func (t *Tree) Foresee(files []File, made, removed []Dir) error {
	looked := map[string]error{}
	for _, dir := range made {
		parent, _ := split(dir.Path)
		if err := t.mayChange(parent, looked); err != nil {
			return failed(dir.Path, "the folder cannot be made", err)
		}
	}
	for _, file := range files {
		if err := t.foresee(file, looked); err != nil {
			return err
		}
	}
	for _, dir := range removed {
		parent, _ := split(dir.Path)
		if err := t.mayChange(parent, looked); err != nil {
			return failed(dir.Path, "the emptied folder cannot be removed", err)
		}
	}
	return nil
}

func (t *Tree) foresee(file File, looked map[string]error) error {
	if file.inPlace() && file.Before.Kind == change.File {
		return failed(file.Path, "cannot be written", mayWrite(t.Abs(file.Path)))
	}
	dir, _ := split(file.Path)
	if err := t.mayChange(dir, looked); err != nil {
		if file.After.Kind == change.Absent {
			return failed(file.Path, "cannot be deleted", err)
		}
		return failed(file.Path, "cannot be written", err)
	}
	if hasOwners && file.Before.Kind == change.File && file.After.Kind == change.File && !mayOwn(file.Stamp) {
		return notOwned(file.Path, file.Stamp.uid, file.Stamp.gid)
	}
	return nil
}

// mayChange says whether names can be made and removed in a folder, or in the nearest one above it
// that is there. looked keeps the answers.
func (t *Tree) mayChange(dir string, looked map[string]error) error {
	err, ok := looked[dir]
	if !ok {
		err = t.askFolder(dir, looked)
		looked[dir] = err
	}
	return err
}

func (t *Tree) askFolder(dir string, looked map[string]error) error {
	if dir != "" {
		info, err := t.lstat(dir)
		if err != nil {
			return err
		}
		if info == nil || !info.IsDir() {
			parent, _ := split(dir)
			return t.mayChange(parent, looked)
		}
	}
	return mayEnterAndWrite(t.Abs(dir))
}

// notOwned is the refusal of a replacement that would change hands.
func notOwned(path string, uid, gid uint32) error {
	return refuse(path, ErrOwner, "it belongs to user %d and group %d, and a new file could not be given to them; "+
		"use --in-place to write into the file itself", uid, gid)
}

// denied makes the error of a question that was answered with no.
func denied(path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "access", Path: filepath.Base(path), Err: err}
}
