package worktree

import (
	"errors"

	"github.com/openoxide/oxpatch/change"
)

// stage lays the new content of a file beside it under the temporary name. What a lenient run could
// not lay down completely goes at once: it must not be renamed later on.
func (r *run) stage(n int) error {
	file := r.files[n]
	if file.inPlace() || (r.lenient && r.reached(n)) {
		return nil
	}
	err := r.lay(n, file)
	if err != nil && r.lenient && !errors.Is(err, ErrKilled) {
		if e := r.dropTemp(n); errors.Is(e, ErrKilled) {
			return e
		}
	}
	return err
}

func (r *run) lay(n int, file File) error {
	dir, name := split(file.Path)
	f, err := r.t.folder(dir)
	if err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	defer f.release()
	if err := r.inItsPlace(f, file.Path); err != nil {
		return err
	}
	switch file.After.Kind {
	case change.Symlink:
		err := f.symlink(string(file.After.Content), r.temp(n))
		if err == nil {
			r.staged[n] = true
		}
		return failed(file.Path, "the link cannot be made", err)
	case change.File:
		old, err := r.replaced(f, name, file)
		if err != nil {
			return failed(file.Path, "cannot be looked at", err)
		}
		return r.create(f, r.temp(n), file, old, func() { r.staged[n] = true })
	}
	return refuse(file.Path, ErrNotRegular, "a %s cannot be written", file.After.Kind)
}

// put brings one file to its after: the staged content is renamed onto it, or it is written in place.
func (r *run) put(n int) error {
	file := r.files[n]
	if r.lenient && !file.inPlace() && !r.staged[n] {
		return nil // there already, or staging failed and is noted
	}
	dir, name := split(file.Path)
	f, err := r.t.folder(dir)
	if err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	defer f.release()
	do, err := r.ready(f, name, file)
	if err != nil || !do {
		if r.lenient && r.staged[n] {
			if e := r.dropTemp(n); e != nil && err == nil {
				err = e
			}
		}
		return err
	}
	if file.inPlace() {
		return r.writeInPlace(f, name, file, func() { r.done[n] = true })
	}
	if err := f.rename(r.temp(n), name); err != nil {
		if r.lenient && !errors.Is(err, ErrKilled) {
			if e := r.dropTemp(n); errors.Is(e, ErrKilled) {
				return e
			}
		}
		return failed(file.Path, "cannot be replaced", err)
	}
	delete(r.staged, n)
	r.done[n] = true
	return nil
}

// delete removes a file or link.
func (r *run) delete(n int) error {
	file := r.files[n]
	if file.Before.Kind == change.Absent {
		return nil
	}
	dir, name := split(file.Path)
	f, err := r.t.folder(dir)
	if r.lenient && isAbsent(err) {
		return nil
	}
	if err != nil {
		return failed(file.Path, "cannot be deleted", err)
	}
	defer f.release()
	do, err := r.ready(f, name, file)
	if err != nil || !do {
		return err
	}
	if err := f.remove(name); err != nil {
		return failed(file.Path, "cannot be deleted", err)
	}
	r.done[n] = true
	return nil
}
