package worktree

import (
	"context"
	"errors"

	"github.com/openoxide/oxpatch/change"
)

// Durability says what is synced to the disk.
type Durability uint8

const (
	// Process: nothing is synced; a kill of the process loses nothing, a loss of power may.
	Process Durability = iota
	// Record: as Process here; the caller has synced the bytes elsewhere.
	Record
	// Power: files before they are renamed, and folders in the end.
	Power
)

// File is one path to be written, with its states as planned.
type File struct {
	change.Change
	// Stamp is what Read gave together with Before. Without it the content is compared.
	Stamp Stamp
	// InPlace writes into the existing file: same inode, same links, same owner. It applies
	// between two regular files and to a new one.
	InPlace bool
}

// inPlace reports whether the file can be written in place at all.
func (f File) inPlace() bool {
	return f.InPlace && f.After.Kind == change.File && (f.Before.Kind == change.File || f.Before.Kind == change.Absent)
}

// Writer brings files from before to after, all or none.
type Writer struct {
	run *run
}

// NewWriter makes a writer for the files of one operation, in an order that the caller keeps: the
// temporary file of files[n] is called .oxpatch-<op>-<n>, and Restore finds it by that. made and
// removed are what Dirs answered.
func (t *Tree) NewWriter(op string, files []File, made, removed []Dir, d Durability) *Writer {
	return &Writer{newRun(t, op, files, made, removed, d)}
}

// Write does the work. A canceled ctx is heeded between two files. When an error comes back
// everything has been put back as it was, mode and links too, and no temporary file is left,
// except for two kinds: a *RollbackError names the paths that could not be put back, and with
// ErrKilled nothing was even tried.
//
// Until the first rename only temporary files and new folders are made, so that most failures (no
// space, no permission) come before any file is touched. Files below a path that must itself be
// deleted first are the exception: their room does not exist until then.
func (w *Writer) Write(ctx context.Context) error {
	r := w.run
	defer r.forgetStale()
	err := r.forward(ctx)
	if err == nil || errors.Is(err, ErrKilled) {
		return err
	}
	back := r.undoing()
	if killed := back.dropStaged(); killed != nil {
		return killed
	}
	if killed := back.forward(context.WithoutCancel(ctx)); killed != nil {
		return killed
	}
	if len(back.left) > 0 {
		return &RollbackError{Cause: err, Left: back.left}
	}
	return err
}

// Toward says to which side Restore brings the files.
type Toward uint8

const (
	Before Toward = iota
	After
)

// Restore brings every path of an interrupted operation to its before or its after, whichever of
// the two each is in now, and removes the operation's temporary files. The arguments are those
// that the Writer had, in the same order; stamps are not needed. What is there already is left
// alone, so that Restore may be repeated. A path in neither state is left, and a *RestoreError names
// it with ErrDrift; one that is written in place may have been torn, so it is written all the same:
// save its bytes first. Other paths are restored nevertheless.
func (t *Tree) Restore(op string, files []File, made, removed []Dir, toward Toward) error {
	files = append([]File(nil), files...)
	for n := range files {
		files[n].Stamp = Stamp{}
	}
	r := newRun(t, op, files, made, removed, t.options.Durability)
	if toward == Before {
		r = newRun(t, op, inverse(files), removed, made, t.options.Durability)
	}
	r.lenient = true
	defer r.forgetStale()
	if err := r.dropTemps(); err != nil {
		return err
	}
	if err := r.forward(context.Background()); err != nil {
		return err
	}
	if len(r.left) > 0 {
		return &RestoreError{Left: r.left}
	}
	return nil
}

// DropTemps removes the temporary files of an interrupted operation and leaves all else as it is.
// The arguments are those that the Writer had. The error is a *RestoreError.
func (t *Tree) DropTemps(op string, files []File) error {
	r := newRun(t, op, files, nil, nil, Process)
	r.lenient = true
	defer r.forgetStale()
	if err := r.dropTemps(); err != nil {
		return err
	}
	if len(r.left) > 0 {
		return &RestoreError{Left: r.left}
	}
	return nil
}

// inverse exchanges before and after.
func inverse(files []File) []File {
	back := make([]File, len(files))
	for n, f := range files {
		f.Before, f.After = f.After, f.Before
		back[n] = f
	}
	return back
}
