package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/openoxide/oxpatch/change"
)

// The questions a caller can ask of an error with [errors.Is].
var (
	// ErrUnsafePath: the path leads, or could lead, where no patch may write.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrForeign: the path leads into another repository. It is an ErrUnsafePath too.
	ErrForeign = fmt.Errorf("%w: another repository", ErrUnsafePath)
	// ErrLinkLoop: the links on the path lead in a circle. It is an ErrUnsafePath too.
	ErrLinkLoop = fmt.Errorf("%w: links in a circle", ErrUnsafePath)
	// ErrDanglingParent: a folder of the path is a link that leads nowhere.
	ErrDanglingParent = fmt.Errorf("%w: link to a missing folder", ErrUnsafePath)
	// ErrDanglingLink: the path is a link to a file in a folder that does not exist.
	ErrDanglingLink = fmt.Errorf("%w: link into a missing folder", ErrUnsafePath)
	// ErrIsDirectory: the path names a folder where a file was meant.
	ErrIsDirectory = errors.New("is a directory")
	// ErrParentIsFile: something that is not a folder stands where the path needs a folder.
	ErrParentIsFile = errors.New("parent is not a directory")
	// ErrNotRegular: a device, FIFO, socket or the like.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: the file is larger than Options.MaxFile.
	ErrTooLarge = errors.New("file too large")
	// ErrDrift: the path is not as it was when it was read.
	ErrDrift = errors.New("changed meanwhile")
	// ErrOwner: a replaced file would lose its owner or group.
	ErrOwner = errors.New("owner cannot be kept")
	// ErrKilled, returned by Options.Effects, makes everything stop at once with nothing rolled
	// back or cleaned up, as if the process had been killed there.
	ErrKilled = errors.New("killed")
)

// PathError is a problem with one path. Err is one of the sentinels above or the error of the
// operating system.
type PathError struct {
	Path    string // as the patch spells it where it was refused, else the resolved key
	Problem string // what it is and what to do, in plain words
	Hint    string // what to do, where Problem leaves it open
	Err     error
}

func (e *PathError) Error() string { return change.DisplayPath(e.Path) + ": " + e.Problem }

func (e *PathError) Unwrap() error { return e.Err }

func refuse(path string, kind error, format string, args ...any) error {
	return &PathError{Path: path, Problem: fmt.Sprintf(format, args...), Err: kind}
}

// failed wraps an error of the operating system. The names inside it are dropped: they are those
// of temporary files or single components, and the path in front says more.
func failed(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	var known *PathError
	if errors.As(err, &known) {
		return err
	}
	return &PathError{Path: path, Problem: doing + ": " + reason(err), Err: err}
}

func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}

// RestoreError lists the paths that could not be brought to the wanted state; all others are
// there. A path whose error is ErrDrift was in neither state and has been left as it is.
type RestoreError struct {
	Left []*PathError
}

func (e *RestoreError) Error() string {
	text := fmt.Sprintf("%d paths are not restored", len(e.Left))
	if len(e.Left) == 1 {
		text = "one path is not restored"
	}
	for _, left := range e.Left {
		text += "; " + left.Error()
	}
	return text
}

// Unwrap gives the problem of every path.
func (e *RestoreError) Unwrap() []error {
	errs := make([]error, len(e.Left))
	for i, left := range e.Left {
		errs[i] = left
	}
	return errs
}

// RollbackError says that a write failed and that putting back what had been done failed as well.
// A failed write whose error is not a RollbackError has been rolled back completely.
type RollbackError struct {
	Cause error // why the write failed
	// Left are the paths that are not as they were before.
	Left []*PathError
}

func (e *RollbackError) Error() string {
	return e.Cause.Error() + "; rolling back: " + (&RestoreError{e.Left}).Error()
}

// Unwrap gives the cause first, then the problem of every path left.
func (e *RollbackError) Unwrap() []error {
	return append([]error{e.Cause}, (&RestoreError{e.Left}).Unwrap()...)
}

// PutStage tells the two ways in which PutInPlace can fail apart.
type PutStage uint8

const (
	PutWrite   PutStage = iota // the file could not be opened or written
	PutParents                 // the folders above it could not be made
)

// PutError is the failure of PutInPlace.
type PutError struct {
	Path  string
	Stage PutStage
	Err   error
}

func (e *PutError) Error() string {
	doing := "cannot be written"
	if e.Stage == PutParents {
		doing = "the folders above it cannot be made"
	}
	return change.DisplayPath(e.Path) + ": " + doing + ": " + reason(e.Err)
}

func (e *PutError) Unwrap() error { return e.Err }
