package gitapply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// Why a patch is refused. Exactly one of them is the kind of a *RefusedError. After the first four,
// and only after them, a caller may try to place the patch by its content instead; see MayPlace.
var (
	// ErrCorrupt: the patch cannot be read, by git or without guessing.
	ErrCorrupt = errors.New("corrupt patch")
	// ErrNoBlob: a file differs from what the patch was made from, and the blob that a merge would
	// need is not in the repository.
	ErrNoBlob = errors.New("the blob that the patch was made from is missing")
	// ErrNoApply: a section does not fit its file, or its file does not exist.
	ErrNoApply = errors.New("the patch does not apply")
	// ErrIndexMismatch: a file is not tracked, or differs from the index.
	ErrIndexMismatch = errors.New("the file does not match the index")

	// ErrWhichFile: the names in a header may mean either of two files.
	ErrWhichFile = errors.New("the header may mean two files")
	// ErrExists: something stands where the patch adds a file.
	ErrExists = errors.New("the file exists")
	// ErrUnsafePath: a path leads out of the tree, into a git directory or another repository, or
	// through a symbolic link.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrBinary: a binary section is broken, has no data, or does not fit.
	ErrBinary = errors.New("the binary patch cannot be applied")
	// ErrModeOnly: a section that changes nothing but a mode does not apply.
	ErrModeOnly = errors.New("the change of mode does not apply")
	// ErrWrongType: a link, a file or a submodule stands where the patch has another of them.
	ErrWrongType = errors.New("the file is of another type")
	// ErrCombined: the patch is the combined diff of a merge, which no tool can apply.
	ErrCombined = errors.New("a combined diff of a merge cannot be applied")
	// ErrMergeLost: a merge ended without a conflict, but lines that the patch adds are missing.
	ErrMergeLost = errors.New("the merge lost lines of the patch")
	// ErrTooLarge: the patch or a file is over the limit.
	ErrTooLarge = errors.New("too large")
	// ErrGit: git failed in a way that is not known here.
	ErrGit = errors.New("git failed")
)

// Why nothing could be tried, or the index not be changed.
var (
	// ErrNoGit: there is no git.
	ErrNoGit = errors.New("git is not installed")
	// ErrTooOld: this git is older than 2.20.
	ErrTooOld = errors.New("this git is too old")
	// ErrBare: the repository has no working tree.
	ErrBare = errors.New("bare repository, it has no working tree")
	// ErrDubious: the repository belongs to somebody else and git does not trust it.
	ErrDubious = errors.New("the repository belongs to somebody else")
	// ErrConfig: a pair of Options.Config is not of the form section.key=value.
	ErrConfig = errors.New("not of the form section.key=value")
	// ErrLocked: another process holds index.lock.
	ErrLocked = errors.New("the index is locked")
	// ErrIndexChanged: lines of the index are not what they were when the plan was made.
	ErrIndexChanged = errors.New("the index changed")
	// ErrUnserved: the repository uses something that cannot be reproduced beside it.
	ErrUnserved = errors.New("this repository cannot be served")
)

// RefusedError says why a patch was refused, and by what place in it. It unwraps to its Kind.
type RefusedError struct {
	Kind    error
	Path    string // raw bytes; "" where no file is at fault
	Section int    // 1-based, 0 for the patch as a whole
	Hunk    int    // 1-based, 0 for none
	Line    int    // 1-based line of the patch, 0 for none
	Problem string
	Hint    string
	// Others are the further reasons found in the same patch.
	Others []*RefusedError
}

func (e *RefusedError) Error() string {
	var place []string
	if e.Path != "" {
		place = append(place, change.DisplayPath(e.Path))
	} else if e.Section > 0 {
		place = append(place, fmt.Sprintf("section %d", e.Section))
	}
	if e.Hunk > 0 {
		place = append(place, fmt.Sprintf("hunk %d", e.Hunk))
	}
	if e.Line > 0 {
		place = append(place, fmt.Sprintf("line %d of the patch", e.Line))
	}
	problem := e.Problem
	if problem == "" {
		problem = e.Kind.Error()
	}
	return strings.Join(append(place, problem), ": ")
}

func (e *RefusedError) Unwrap() error { return e.Kind }

// MayPlace reports whether an error of Plan leaves room for placing the patch by its content: git
// refused it as corrupt, for want of a blob, as not applying or as not matching the index, and found
// nothing in it that speaks against trying at all.
func MayPlace(err error) bool {
	var refused *RefusedError
	if !errors.As(err, &refused) || !placeable(refused.Kind) {
		return false
	}
	for _, o := range refused.Others {
		if !placeable(o.Kind) {
			return false
		}
	}
	return true
}

func placeable(kind error) bool {
	for _, k := range []error{ErrCorrupt, ErrNoBlob, ErrNoApply, ErrIndexMismatch} {
		if errors.Is(kind, k) {
			return true
		}
	}
	return false
}

// joined makes one error of several: the one that rules out most leads.
func joined(all []*RefusedError) error {
	if len(all) == 0 {
		return nil
	}
	lead := 0
	for i, e := range all {
		if placeable(all[lead].Kind) && !placeable(e.Kind) {
			lead = i
		}
	}
	first := *all[lead]
	for i, e := range all {
		if i != lead {
			first.Others = append(first.Others, e)
		}
	}
	return &first
}
