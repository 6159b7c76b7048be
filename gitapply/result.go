package gitapply

import (
	"github.com/openoxide/oxpatch/change"
)

// Repo is the repository to work on. All paths are absolute, links resolved.
type Repo struct {
	Top          string // top level of the working tree; "" in a bare repository
	GitDir       string // git directory of this working tree
	CommonDir    string // git directory shared by all working trees
	ObjectFormat string // "sha1" or "sha256"; "" counts as sha1
}

// Options for Plan and the functions on the index.
type Options struct {
	// Git is the program; "" is the git on PATH.
	Git string
	// Env looks up environment variables; nil is os.Getenv.
	Env func(string) string
	// Folder is what the names of sections without a "diff --git" line count from, as for a git that
	// is started there: relative to the top, with slashes; "" is the top. Other names count from the top.
	Folder string
	// Reverse takes the patch back. What differs from the index is staged first, in the scratch only.
	Reverse bool
	// NoRepair gives the patch to git as it is, or refuses it.
	NoRepair bool
	// NoStage leaves the index as it is: only files change.
	NoStage bool
	// Fetch lets git fetch missing objects of a partial clone.
	Fetch bool
	// Config holds further settings for git, "section.key=value" each; see ParseConfig.
	Config []string
	// MaxFile bounds the patch and each of the files it names, in bytes; 0 is no bound.
	MaxFile int64
}

// Op is what a section does to its file.
type Op string

const (
	OpAdd    Op = "add"
	OpModify Op = "modify"
	OpDelete Op = "delete"
	OpRename Op = "rename"
	OpCopy   Op = "copy"
	OpMode   Op = "mode" // a change of mode and nothing else
)

// Class is the fate of a section or a path.
type Class string

const (
	ClassApplied    Class = "applied"
	ClassSkipped    Class = "skipped"
	ClassConflicted Class = "conflicted"
)

// Section is the part of the patch for one file. Op and names are those of the patch as it stands,
// Target takes Reverse into account.
type Section struct {
	Op       Op
	Old, New string // raw bytes, "" where the patch has /dev/null
	// Target is the path that is written or removed.
	Target string
	// Source is the path that Target's content comes from, where it is another one.
	Source  string
	OldMode uint32 // git's octal modes, 0 where the patch names none
	NewMode uint32
	Hunks   []Hunk
	Binary  bool
	// Plain: there is no "diff --git" line, so that the names count from Options.Folder. Old and New
	// have it in front.
	Plain bool
	// Added and Removed count lines as the patch has them.
	Added, Removed int
	Line           int // 1-based line of the patch where it begins

	Class     Class
	Unchanged bool   // applied, and as the patch wants it before
	Reason    string // why it is not simply applied
	// Merged says that the file was merged three ways, for it was not what the patch was made from.
	Merged bool
	// Overwrites says that something else stood at Target and is replaced.
	Overwrites bool
	// BaseMissing says that the blob the patch was made from is not in the repository.
	BaseMissing bool

	oldID, newID string
	added        []string // the added lines, in the direction of application
	removed      []string
}

// Hunk is one hunk as the patch has it.
type Hunk struct {
	OldStart, OldLines int // 1-based, of the old file
	NewStart, NewLines int
	Line               int // 1-based line of the patch
	// Placed is the 1-based line of the file at which the old lines stood, where git applied the hunk
	// as it is; 0 where the file was merged, or nothing applied.
	Placed int
}

// Repair is something that was mended to read the patch.
type Repair struct {
	Line    int // 1-based line of the patch, 0 for the patch as a whole
	Section int // 1-based, 0 for the patch as a whole
	Message string
}

// Result is what git made of the patch, beside the repository. Nothing of the user's was changed.
type Result struct {
	Sections []Section
	// The paths that the patch names, sorted, each in one list. Both names of a rename count, the
	// source of a copy does not; the old name of a conflicted rename is applied.
	Applied, Skipped, Conflicted []string
	// Changes holds each path that is to change, once, sorted. For a submodule both states are
	// Dir and only Index differs.
	Changes  []change.Change
	Repairs  []Repair
	Warnings []string

	GitVersion     string
	Command        string
	ExitCode       int
	Stdout, Stderr []byte

	repo  Repo
	run   *runner
	o     Options
	blobs map[string][]byte // new blobs that the index lines name, by id
	print indexPrint        // the index file as it was read
	lock  *indexLock
	swept chan error // says when the scratch is gone
}
