package oxpatch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/textapply"
)

// Sentinels for the questions a caller may ask of an error, with errors.Is.
var (
	ErrMalformed   = textapply.ErrMalformed   // the patch cannot be read
	ErrNoMatch     = textapply.ErrNoMatch     // lines of the patch are not in the file
	ErrAmbiguous   = textapply.ErrAmbiguous   // lines of the patch fit several places
	ErrOutOfOrder  = textapply.ErrOutOfOrder  // hunks are not in the order of the file
	ErrApplied     = textapply.ErrApplied     // a hunk is in the file already, others are not
	ErrMissing     = textapply.ErrMissing     // a file that the patch needs is not there
	ErrExists      = textapply.ErrExists      // a file that the patch adds is there
	ErrNotText     = textapply.ErrNotText     // a file cannot be edited as text
	ErrUnsupported = textapply.ErrUnsupported // the patch asks for what cannot be done
	// ErrUnsafePath: a path leads out of the root or into a git directory.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrDrift: a file is not as it was when the operation was planned, or as an operation left it.
	ErrDrift = errors.New("the file changed")
	// ErrBusy: another process works on the tree.
	ErrBusy = errors.New("busy")
	// ErrNoSnapshot: what undo needs cannot be recorded.
	ErrNoSnapshot = errors.New("no snapshot can be taken")
	// ErrNothingToUndo: no operation is left that is not undone.
	ErrNothingToUndo = errors.New("nothing to undo")
	// ErrNothingToRedo: no undo is left that an apply or restore has not followed.
	ErrNothingToRedo = errors.New("nothing to redo")
	// ErrUnknownOperation: no operation has the id, or several have ids that begin so.
	ErrUnknownOperation = errors.New("unknown operation")
	// ErrUsage: a request contradicts itself.
	ErrUsage = errors.New("wrong usage")
	// ErrPending: an interrupted operation has to be settled first.
	ErrPending = errors.New("an interrupted operation is unresolved")
	// ErrDeclined: the gate refused.
	ErrDeclined = errors.New("declined")
	// ErrUnknownFormat: the input is in no dialect that is known.
	ErrUnknownFormat = errors.New("no patch in a known format")
	// ErrTooLarge: a patch or a file is over a limit.
	ErrTooLarge = errors.New("too large")
	// ErrRollback: a write failed and what was done before it could not be put back.
	ErrRollback = errors.New("a failed write could not be rolled back")
)

// Problem is one thing to know about an operation. Errors say why something was not done,
// warnings are for what was done all the same.
type Problem struct {
	Severity Severity
	Kind     Kind
	Input    string // name of the patch, where there are several
	Path     string
	Hunk     int // 1-based, 0 for none
	Line     int // 1-based line of the file, 0 for none
	// PatchLine is the 1-based line of the patch, 0 for none.
	PatchLine int
	Message   string
	Hint      string
	// Nearest is the region of the file that comes closest to lines that are not in it.
	Nearest    *Nearest
	Candidates []Candidate
}

// Nearest is the region of a file that comes closest to lines that are not in it.
type Nearest struct {
	Line  int     // 1-based
	Score float64 // share of the lines that agree, 0 to 1
	// FirstDifference is where the region first differs from what was looked for.
	FirstDifference Difference
	// Excerpt holds the lines of the file in front of the difference, at most two.
	Excerpt []string
}

// Difference is a line that was looked for and the one that is there.
type Difference struct {
	Line int // 1-based line of the file
	Want string
	Have string
	// AtEnd says that the file has no such line.
	AtEnd bool
}

// Candidate is a place where a hunk fits.
type Candidate struct {
	Line  int // 1-based
	Text  string
	Scope string // the lines that open the blocks around it, outermost first, joined by " > "
}

// Severity of a problem.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Kind classifies a problem. The list is closed; schema/oxpatch-1.schema.json holds it too.
type Kind string

const (
	KindMalformed        Kind = "malformed"
	KindUnknownFormat    Kind = "unknown_format"
	KindUnreadInput      Kind = "unread_input"
	KindUsage            Kind = "usage"
	KindNoMatch          Kind = "no_match"
	KindOutOfOrder       Kind = "out_of_order"
	KindAmbiguous        Kind = "ambiguous"
	KindGuessed          Kind = "guessed"
	KindDuplicate        Kind = "duplicate"
	KindAlreadyApplied   Kind = "already_applied"
	KindMissingFile      Kind = "missing_file"
	KindExists           Kind = "exists"
	KindOverwritten      Kind = "overwritten"
	KindIsDirectory      Kind = "is_directory"
	KindNotText          Kind = "not_text"
	KindUnsafePath       Kind = "unsafe_path"
	KindHardLink         Kind = "hard_link"
	KindConflict         Kind = "conflict"
	KindIndexMismatch    Kind = "index_mismatch"
	KindRepaired         Kind = "repaired"
	KindGit              Kind = "git"
	KindNoGit            Kind = "no_git"
	KindIO               Kind = "io"
	KindDrift            Kind = "drift"
	KindBusy             Kind = "busy"
	KindPending          Kind = "pending"
	KindTooLarge         Kind = "too_large"
	KindNothingToDo      Kind = "nothing_to_do"
	KindNoSnapshot       Kind = "no_snapshot"
	KindUnknownOperation Kind = "unknown_operation"
	KindUnsupported      Kind = "unsupported"
	KindDeclined         Kind = "declined"
	KindVerifyFailed     Kind = "verify_failed"
	KindInterrupted      Kind = "interrupted"
)

// String returns "path: hunk N: line N: message", as far as it has them.
func (p Problem) String() string {
	var b strings.Builder
	if p.Input != "" {
		b.WriteString(change.DisplayPath(p.Input) + ": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	if p.Hunk > 0 {
		fmt.Fprintf(&b, "hunk %d: ", p.Hunk)
	}
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "line %d: ", p.Line)
	case p.PatchLine > 0 && p.Hunk == 0:
		fmt.Fprintf(&b, "patch line %d: ", p.PatchLine)
	}
	return b.String() + p.Message
}

// ProblemOf describes an error of the Engine as a problem: what, where, and what to do.
func ProblemOf(err error) Problem {
	var refused *RefusedError
	if errors.As(err, &refused) && len(refused.Problems) > 0 {
		return refused.Problems[0]
	}
	p := operationProblem(err)
	p.Severity = SeverityError
	return p
}

// RefusedError is returned where a patch was refused and nothing was changed for that reason. It
// wraps every cause, so that errors.Is finds any of them.
type RefusedError struct {
	Problems []Problem // the errors among the result's problems
	causes   []error
}

// Error returns the first problem and how many more there are.
func (e *RefusedError) Error() string {
	switch n := len(e.Problems); n {
	case 0:
		return "refused"
	case 1:
		return e.Problems[0].String()
	default:
		return fmt.Sprintf("%s (and %d more)", e.Problems[0], n-1)
	}
}

func (e *RefusedError) Unwrap() []error { return e.causes }
