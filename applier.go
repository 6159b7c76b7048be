package oxpatch

import (
	"context"
	"time"

	"github.com/openoxide/oxpatch/change"
)

// The data of a plan, shared with the packages below.
type (
	// Change is one path of a plan: its state before and after.
	Change = change.Change
	// State is what stands at a path.
	State = change.State
)

// PatchApplier applies one patch to one tree. The Engine and its appliers for a single mode
// satisfy it.
//
// The result is never nil and is true also when there is an error. The error is for what kept the
// work from being done; it matches one of the package's sentinels with errors.Is where a caller
// could act on it.
type PatchApplier interface {
	Apply(ctx context.Context, req Request) (*Result, error)
}

// Request asks for one operation.
type Request struct {
	// Patch is the patch as it was received.
	Patch []byte
	// Inputs, when not empty, are used instead of Patch: several patches that are one operation,
	// planned one after the other and applied together.
	Inputs []Input
	// Format is the dialect; FormatAuto detects it.
	Format Format
	// Mode is how the patch is placed. ModeAuto takes git for unified diffs inside a repository, and
	// places them by content where git refuses them and every place is certain; all else is text.
	Mode Mode
	// Parse says how much may surround the patch.
	Parse Parse
	// Compat selects the rules of matching and writing.
	Compat Compat
	// Reverse takes the patch back, as far as it holds the text for that.
	Reverse bool
	// Check plans and judges, and changes nothing. It takes no lock.
	Check bool
	// Partial applies the sections that can be and leaves out those that fail.
	Partial bool
	// First takes the first of several placements that the patch does not choose between, with a
	// warning.
	First bool
	// SkipApplied leaves out hunks that are there already, where others of their section are not.
	SkipApplied bool
	// NoStage leaves git's index as it is, in git mode.
	NoStage bool
	// NoRepair gives a diff to git as it is, in git mode, instead of mending counts and headers.
	NoRepair bool
	// RefuseConflicts refuses a patch that git could merge only with conflicts, instead of writing
	// them into the files, marked.
	RefuseConflicts bool
	// Fetch lets git fetch objects that a partial clone lacks, in git mode.
	Fetch bool
	// Strict refuses what is otherwise done with a warning: a guessed place, an overwritten file.
	Strict bool
	// Diff asks for a unified diff of the changes in the result.
	Diff bool
	// Base is the folder from which the patch's relative paths count: absolute, or relative to the
	// folder the Engine was opened in. "" is that folder itself.
	Base string
	// Gate is called once, with the changes about to be made, before the first effect; an error
	// aborts with nothing changed. No lock is held while it runs; the files are checked again
	// after it.
	Gate func(ctx context.Context, changes []Change) error
	// Session, Turn and Label are kept in the operation's record.
	Session, Turn, Label string
}

// Input is one patch of several.
type Input struct {
	Name string // where it came from, for messages
	Data []byte
}

// inputs returns the patches of the request.
func (r Request) inputs() []Input {
	if len(r.Inputs) > 0 {
		return r.Inputs
	}
	return []Input{{Data: r.Patch}}
}

// Format names a dialect of patches.
type Format string

const (
	FormatAuto     Format = ""
	FormatEnvelope Format = "envelope" // *** Begin Patch … *** End Patch
	FormatUnified  Format = "udiff"    // --- and +++ lines, @@ hunks; git's and plain ones
)

// Mode names a way of placing a patch.
type Mode string

const (
	ModeAuto Mode = ""
	ModeText Mode = "text" // by content
	ModeGit  Mode = "git"  // with git apply --3way, beside the repository
)

// Parse says how much may surround a patch.
type Parse string

const (
	// ParseLenient reads what can be read: an envelope indented, fenced, amid prose, without its End
	// line; with CompatCodex only what Codex reads, white space and a heredoc around it.
	ParseLenient Parse = ""
	ParseStrict  Parse = "strict" // the patch alone
)

// Compat names a set of rules.
type Compat string

const (
	CompatDefault Compat = ""      // careful: all or nothing, bytes kept, inside the root only
	CompatCodex   Compat = "codex" // as codex-cli 0.171.0
)

// Result says what an operation did. Its JSON form (see MarshalJSON) is a promise to users,
// described by schema/oxpatch-1.schema.json.
type Result struct {
	// Command is the command that ran: apply, check, undo, checkpoint, restore.
	Command string
	// OK is true only if all that was asked was done.
	OK bool
	// Applied is true only if this operation changed the working tree.
	Applied bool
	// Exact is true only if what the result says is known to be what is on disk; with Check, if
	// the forecast is complete.
	Exact bool
	// Mode and Format say how the patch was placed and read; "" where it did not come to that.
	Mode   Mode
	Format Format
	// Root is the folder that paths are relative to, absolute.
	Root     string
	Duration time.Duration
	// ID is the operation's id, "" where nothing was recorded.
	ID string
	// Reverts holds, for an undo or redo, the ids of the operations that are taken back, newest first.
	Reverts []string
	// Restores is, for a restore, the id of the operation whose state was brought back.
	Restores string
	// Tree is, for a checkpoint of a whole tree, what it holds.
	Tree     *TreeResult
	Snapshot Snapshot
	Files    []FileResult
	// The paths of Files by status; a rename lists both names.
	AppliedPaths, SkippedPaths, ConflictedPaths []string
	Problems                                    []Problem
	// Diff is the unified diff of the changes, where it was asked for.
	Diff []byte
	// Git is how git was called, where it was.
	Git *GitRun
	// Changes are the changes that were made, or with Check would be. Not part of the JSON form.
	Changes []Change
	started time.Time
	// codex is what the apply_patch command prints for this run.
	codex codexOutput
}

// Snapshot says where the record that undo needs is.
type Snapshot struct {
	Commit   string // id of the ghost commit in the store; "" where there is none
	Store    string // the store's folder
	Undoable bool
	Reason   string // why it is not undoable
}

// FileStatus is the fate of a file.
type FileStatus string

const (
	StatusApplied    FileStatus = "applied"    // it is as the patch wants it
	StatusSkipped    FileStatus = "skipped"    // the patch named it, and it was left as it was
	StatusConflicted FileStatus = "conflicted" // it holds conflict markers
	StatusFailed     FileStatus = "failed"     // of a hunk only: it is why its file was skipped
)

// FileResult is the fate of one section's file.
type FileResult struct {
	Path    string // relative to the root, in the form of change.DisplayPath
	OldPath string // of a rename or copy
	// Change is add, modify, delete, rename, copy or mode; of a checkpoint, record, or absent where
	// nothing stands.
	Change string
	Status FileStatus
	// Unchanged says that the file was as the patch wants it before.
	Unchanged      bool
	Added, Removed int // lines
	Hunks          []HunkResult
}

// HunkResult is the fate of one hunk.
type HunkResult struct {
	Index  int // 1-based in its section
	Status FileStatus
	Line   int    // 1-based line of its first old line before the change; 0 where it has no place
	Match  string // how its lines matched: exact, trailing-space, indent, punctuation, …
	AlsoAt []int  // further places where it fits
}
