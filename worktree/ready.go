package worktree

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/openoxide/oxpatch/change"
)

// ready decides, right before the effect, whether a file is to be brought to its after. A strict
// run insists on the before; a lenient one also finds the after there and is content.
func (r *run) ready(f *folder, name string, file File) (bool, error) {
	if err := r.inItsPlace(f, file.Path); err != nil {
		return false, err
	}
	info, err := f.root.Lstat(name)
	if isAbsent(err) {
		info, err = nil, nil
	}
	if err != nil {
		return false, failed(file.Path, "cannot be looked at", err)
	}
	if !r.lenient {
		return true, r.unchanged(f, name, file, info)
	}
	there, err := r.is(f, name, info, file.After, true)
	if there || err != nil {
		return false, failed(file.Path, "cannot be read", err)
	}
	was, err := r.is(f, name, info, file.Before, false)
	if err != nil {
		return false, failed(file.Path, "cannot be read", err)
	}
	kind := kindOf(info)
	if kind == change.Dir && file.After.Kind == change.Absent && r.making[file.Path] {
		return false, nil // the operation's own folder is in the place of what had to go
	}
	if was || file.InPlace && (kind == change.File || kind == change.Absent) {
		return true, nil
	}
	if there, _ = r.is(f, name, info, file.After, false); there {
		return false, nil
	}
	return false, refuse(file.Path, ErrDrift, "it is neither as it was before the operation nor as after it, "+
		"and has been left alone")
}

// inItsPlace makes sure, once a folder in either half of a run, that the handle still is the folder
// at that path. The way back of a strict run does without: it takes back what was done through the
// same handles, wherever their folders are now.
func (r *run) inItsPlace(f *folder, path string) error {
	if r.back || r.verified[f.key] {
		return nil
	}
	if !r.t.still(f) {
		r.stale = append(r.stale, f.key)
		return refuse(path, ErrDrift, "its folder was moved or replaced meanwhile; try again")
	}
	r.verified[f.key] = true
	return nil
}

// forgetStale lets the next look at those folders open them anew. Not earlier: temporary files that
// went along with a moved folder are removed through the old handle.
func (r *run) forgetStale() {
	for _, key := range r.stale {
		r.t.forget(key)
	}
}

// unchanged returns ErrDrift unless the file is still as it was read. A stamp that fits is enough,
// unless the file had changed so shortly before that the clock may hide a later change.
func (r *run) unchanged(f *folder, name string, file File, info fs.FileInfo) error {
	if kindOf(info) != file.Before.Kind {
		return refuse(file.Path, ErrDrift, "there was %s when it was read, now there is %s; try again",
			file.Before.Kind.Phrase(), kindOf(info).Phrase())
	}
	if file.Before.Kind == change.File && file.Stamp.same(info) {
		return nil
	}
	same, err := r.is(f, name, info, file.Before, true)
	if err != nil {
		return failed(file.Path, "cannot be read again", err)
	}
	if !same {
		return refuse(file.Path, ErrDrift, "it has changed since it was read; try again")
	}
	return nil
}

// is reports whether the file looked at is in that state. With exact every permission counts,
// where the state has them; without, only what git sees.
func (r *run) is(f *folder, name string, info fs.FileInfo, s change.State, exact bool) (bool, error) {
	if kindOf(info) != s.Kind {
		return false, nil
	}
	switch s.Kind {
	case change.Absent:
		return true, nil
	case change.Symlink:
		target, err := f.root.Readlink(name)
		return err == nil && bytes.Equal([]byte(target), s.Content), err
	case change.File:
		mode := modeOf(info)
		counts := modeBits & 0o100
		if exact {
			counts = modeBits
		}
		if s.Mode != 0 && (mode^s.Mode)&counts != 0 {
			return false, nil
		}
		return f.holdsContent(name, info, s.Content)
	}
	return false, nil
}

// reached reports whether a file is in its after already.
func (r *run) reached(n int) bool {
	file := r.files[n]
	dir, name := split(file.Path)
	f, err := r.t.folder(dir)
	if err != nil {
		return false
	}
	defer f.release()
	info, err := f.root.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	there, err := r.is(f, name, info, file.After, true)
	return there && err == nil
}
