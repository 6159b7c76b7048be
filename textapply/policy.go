package textapply

import "io/fs"

// Policy is the set of rules by which text is matched and spliced. It says nothing about the disk:
// atomicity, where paths may lead and how files are written belong to the engine. The zero value is
// the most careful reading of every rule.
type Policy struct {
	// Name is the word for the policy in results and records.
	Name string
	// FirstMatch takes the first place at or after the cursor, as Codex does, and does not report
	// that there were others. Without it all hunks of a section are placed together.
	FirstMatch bool
	// TakeFirst takes the first of several placements, with a warning, where the patch does not
	// say which is meant; otherwise that is refused.
	TakeFirst bool
	// SkipApplied leaves out hunks that are there already and does the others; otherwise a section
	// of which only some are there is refused.
	SkipApplied bool
	// RequireUTF8 refuses to edit a file that is not UTF-8, as Codex does; otherwise files are
	// edited as bytes.
	RequireUTF8 bool
	// SkipBOM keeps a byte-order mark out of line 1, so that an edit of that line matches and the
	// mark stays.
	SkipBOM bool
	// LoneCR says when a CR that no LF follows ends a line.
	LoneCR LoneCR
	// Ending says which terminator added lines get.
	Ending Ending
	// ForceFinalNewline ends every updated file in a terminator; otherwise whether a file ends in
	// one never changes.
	ForceFinalNewline bool
	// KeepMode gives a moved file the mode of its source and moves a link as a link. Otherwise the
	// destination is written as a file, with its own mode or that of a new file.
	KeepMode bool
	// ThroughLinks says that the destination of a move is written through a final link.
	ThroughLinks bool
	// StopAtFirst ends the plan at the first section that fails and keeps the changes planned
	// before it; otherwise every section is judged, so that all failures are reported together.
	StopAtFirst bool
	// AcceptApplied accepts a section whose result is there already.
	AcceptApplied bool
	// NewExecutable is the mode of a new file that is to be executable: 0777 less the umask.
	NewExecutable fs.FileMode
	// Strict refuses what is otherwise done with a warning: overwriting a file that the patch
	// takes for new, and a place that was chosen among several.
	Strict bool
}

// LoneCR is a rule for carriage returns that stand alone.
type LoneCR uint8

const (
	LoneCRWithoutLF LoneCR = iota // a terminator only in a file that has no LF
	LoneCRAlways                  // always a terminator
)

// Ending is a rule for the terminators of added lines.
type Ending uint8

const (
	EndingOfNeighbour Ending = iota // of the old line before it in the chunk, else of the one after
	EndingOfFirstLine               // the first terminator of the file
)
