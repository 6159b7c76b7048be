package worktree

import (
	"fmt"

	"github.com/openoxide/oxpatch/change"
)

// temp is the name under which the new content of file n stands beside it. Recovery finds it by
// that name alone, so it must not change.
func (r *run) temp(n int) string { return fmt.Sprintf(".oxpatch-%s-%d", r.op, n) }

// dropTemps removes the temporary files that the operation may have left.
func (r *run) dropTemps() error {
	for n, f := range r.files {
		if f.After.Kind == change.Absent && f.Before.Kind == change.Absent {
			continue
		}
		if err := r.note(f.Path, r.dropTemp(n)); err != nil {
			return err
		}
	}
	return nil
}

// dropStaged removes those that a failed strict run had made.
func (r *run) dropStaged() error {
	for n := range r.files {
		if !r.staged[n] {
			continue
		}
		if err := r.note(r.files[n].Path, r.dropTemp(n)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) dropTemp(n int) error {
	delete(r.staged, n)
	dir, _ := split(r.files[n].Path)
	f, err := r.t.folder(dir)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return failed(r.files[n].Path, "its temporary file cannot be looked at", err)
	}
	defer f.release()
	info, err := f.root.Lstat(r.temp(n))
	if isAbsent(err) {
		return nil
	}
	if err == nil {
		if kind := kindOf(info); kind != change.File && kind != change.Symlink {
			return nil
		}
		err = f.remove(r.temp(n))
	}
	return failed(r.files[n].Path, "its temporary file "+r.temp(n)+" cannot be removed", err)
}
