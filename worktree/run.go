package worktree

import (
	"context"
	"errors"
	"sort"

	"github.com/openoxide/oxpatch/change"
)

// run is one way of a list of files from before to after. A strict run stops at the first problem;
// a lenient one notes it and goes on, and takes what is there already as done.
type run struct {
	t       *Tree
	op      string
	files   []File
	order   order
	power   bool
	lenient bool
	left    []*PathError
	making  map[string]bool   // the folders to be made
	source  map[string]string // of a moved file's new path: where it comes from

	// What a strict run has done, for the way back.
	staged  map[int]bool
	done    map[int]bool
	made    []Dir
	removed []Dir

	back     bool            // this is the way back
	verified map[string]bool // folders found to be still in their place
	stale    []string        // folders found to be no longer there
}

func newRun(t *Tree, op string, files []File, made, removed []Dir, d Durability) *run {
	r := &run{
		t: t, op: op, files: files, power: d == Power,
		staged: map[int]bool{}, done: map[int]bool{}, verified: map[string]bool{}, making: map[string]bool{},
	}
	r.setOrder(orderOf(files, made, removed))
	r.source = moves(files)
	return r
}

// moves returns, for each new file that another path of the list moves to, that other path, in
// either direction: of an inverse list the OldPath is at the far end.
func moves(files []File) map[string]string {
	byPath := make(map[string]File, len(files))
	for _, f := range files {
		byPath[f.Path] = f
	}
	source := map[string]string{}
	for _, f := range files {
		g, ok := byPath[f.OldPath]
		if !ok {
			continue
		}
		if f.Before.Kind == change.Absent && g.After.Kind == change.Absent {
			source[f.Path] = g.Path
		}
		if f.After.Kind == change.Absent && g.Before.Kind == change.Absent {
			source[g.Path] = f.Path
		}
	}
	return source
}

func (r *run) setOrder(o order) {
	r.order = o
	for _, list := range [][]Dir{o.made, o.lateMade} {
		for _, dir := range list {
			r.making[dir.Path] = true
		}
	}
}

// undoing returns the run that leads back from what this one has done. Files that were not reached
// stay in the list, so that the numbers of the temporary files fit, but nothing is to be done there.
func (r *run) undoing() *run {
	back := newRun(r.t, r.op, inverse(r.files), nil, nil, Process)
	back.power, back.lenient, back.back, back.staged = r.power, true, true, r.staged
	var touched []File
	for n := range r.done {
		touched = append(touched, back.files[n])
	}
	o := orderOf(touched, r.removed, r.made)
	index := map[string]int{}
	for n, f := range back.files {
		index[f.Path] = n
	}
	for _, list := range [][]int{o.puts, o.first, o.latePuts, o.deletes} {
		for i, n := range list {
			list[i] = index[touched[n].Path]
		}
		sort.Ints(list)
	}
	back.setOrder(o)
	back.source = moves(touched)
	return back
}

// forward goes the whole way. A lenient run returns no error but ErrKilled.
func (r *run) forward(ctx context.Context) error {
	o := r.order
	steps := []func() error{
		func() error { return r.makeDirs(o.made) },
		func() error { return r.each(ctx, o.puts, r.stage) },
		func() error { return r.each(ctx, o.first, r.delete) },
		func() error { return r.removeDirs(o.firstDirs, true) },
		func() error { return r.makeDirs(o.lateMade) },
		func() error { return r.each(ctx, o.latePuts, r.stage) },
		func() error { clear(r.verified); return nil },
		func() error { return r.each(ctx, o.puts, r.put) },
		func() error { return r.each(ctx, o.latePuts, r.put) },
		func() error { return r.each(ctx, o.deletes, r.delete) },
		func() error { return r.removeDirs(o.removed, false) },
		func() error { return r.finishDirs() },
		func() error { return r.syncDirs() },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) each(ctx context.Context, list []int, do func(n int) error) error {
	for _, n := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.note(r.files[n].Path, do(n)); err != nil {
			return err
		}
	}
	return nil
}

// note decides whether a problem ends the run.
func (r *run) note(path string, err error) error {
	if err == nil || !r.lenient || errors.Is(err, ErrKilled) {
		return err
	}
	var problem *PathError
	if !errors.As(err, &problem) {
		problem = &PathError{Path: path, Problem: reason(err), Err: err}
	}
	for _, known := range r.left {
		if known.Path == problem.Path {
			return nil
		}
	}
	r.left = append(r.left, problem)
	return nil
}

// syncDirs makes the names last: every folder in which an entry came or went.
func (r *run) syncDirs() error {
	if !r.power {
		return nil
	}
	touched := map[string]bool{}
	for n := range r.done {
		dir, _ := split(r.files[n].Path)
		touched[dir] = true
	}
	for _, dir := range append(append([]Dir(nil), r.made...), r.removed...) {
		parent, _ := split(dir.Path)
		touched[parent] = true
	}
	for key := range touched {
		f, err := r.t.folder(key)
		if isAbsent(err) {
			continue
		}
		if err == nil {
			err = f.sync()
			f.release()
		}
		if err = r.note(key, failed(key, "the folder cannot be synced", err)); err != nil {
			return err
		}
	}
	return nil
}
