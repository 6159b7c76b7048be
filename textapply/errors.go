package textapply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// Each sentinel answers one question about a refusal; the errors of a plan are of type *Error and
// match them with errors.Is.
var (
	ErrNoMatch     = errors.New("the expected lines were not found")
	ErrNoContext   = error(noContext{}) // is an ErrNoMatch too
	ErrAmbiguous   = errors.New("the lines fit more than one place")
	ErrOutOfOrder  = errors.New("the hunks are not in the order of the file")
	ErrApplied     = errors.New("the change is in the file already")
	ErrMissing     = errors.New("no such file")
	ErrExists      = errors.New("the file exists already")
	ErrIsDirectory = errors.New("is a directory")
	ErrNotText     = errors.New("not a text file that can be edited")
	ErrUnsupported = errors.New("not possible for this patch")
	ErrMalformed   = errors.New("malformed patch")
)

// hintMissing goes with ErrMissing where a file was to be edited.
const hintMissing = "check the path; to create the file use an Add File section, or --- /dev/null in a diff"

type noContext struct{}

func (noContext) Error() string { return "the scope line was not found" }
func (noContext) Unwrap() error { return ErrNoMatch }

// Error is the refusal of one section, or of one of its chunks.
type Error struct {
	Path  string // as the patch spells it
	Chunk int    // 1-based; 0 where the section as a whole is meant
	// Line is the 1-based line of the file that the problem is about, 0 where none is known.
	Line int
	// PatchLine is the 1-based line of the patch that asks for what cannot be done.
	PatchLine int
	// Err is one of the package's sentinels, or the error of the Tree.
	Err error
	// Detail says more in words, and Hint what to do next; both may be empty.
	Detail, Hint string
	// Want holds the lines that were looked for (one for ErrNoContext), as the patch spells them.
	Want []string
	// Places holds the places where a chunk fits that has no certain one, at most 20.
	Places []Place
	// Nearest is what comes closest to lines that were not found; nil where nothing does.
	Nearest *Nearest
}

// Error returns "path: hunk N: problem".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(change.DisplayPath(e.Path))
	if e.Chunk > 0 {
		fmt.Fprintf(&b, ": hunk %d", e.Chunk)
	}
	b.WriteString(": " + e.Problem())
	return b.String()
}

// Problem returns what is wrong, without the place.
func (e *Error) Problem() string {
	if e.Detail == "" {
		return e.Err.Error()
	}
	return e.Detail
}

func (e *Error) Unwrap() error { return e.Err }
