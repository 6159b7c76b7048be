package envelope

import (
	"errors"
	"fmt"
)

// The kinds of ParseError, for errors.Is.
var (
	// ErrBegin: the first line is not the Begin line.
	ErrBegin = errors.New("no Begin line")
	// ErrEnd: the last line is not the End line, or more follows the End line than may.
	ErrEnd = errors.New("no End line at the end")
	// ErrHeader: a section's header was due, and the line is none.
	ErrHeader = errors.New("not a section header")
	// ErrEmptySection: an Update section without chunks.
	ErrEmptySection = errors.New("section without chunks")
	// ErrEmptyChunk: a chunk without lines, at the end of the patch or before "*** End of File".
	ErrEmptyChunk = errors.New("chunk without lines")
	// ErrLine: a line in an Update section that has no prefix and is no marker that may stand
	// there. A chunk without lines in front of a further chunk or section is this error too.
	ErrLine = errors.New("line without prefix in a chunk")
	// ErrMarker: such a line behind a chunk that has lines, where Codex takes it for the beginning
	// of a chunk whose "@@" line is missing.
	ErrMarker = errors.New("chunk without a @@ line")
	// ErrEnvironmentID: the environment's ID is empty or given twice.
	ErrEnvironmentID = errors.New("bad environment ID")
)

// ParseError says why a text is not an envelope. errors.Is tells the kinds apart.
type ParseError struct {
	// Line is the 1-based number of the offending line, counted from the Begin line; for
	// ErrEmptySection that of the section's header. 0 means that the patch as a whole is at fault.
	Line int
	// Message is the problem in Codex's words.
	Message string

	kind error
}

// Error returns the line, without its line feed, that Codex prints.
func (e *ParseError) Error() string {
	if e.Line == 0 {
		return "Invalid patch: " + e.Message
	}
	return fmt.Sprintf("Invalid patch hunk on line %d: %s", e.Line, e.Message)
}

// Unwrap returns the kind of the error, one of the Err… values.
func (e *ParseError) Unwrap() error { return e.kind }

func beginError() error {
	return &ParseError{kind: ErrBegin, Message: "The first line of the patch must be '" + beginMarker + "'"}
}

func endError() error {
	return &ParseError{kind: ErrEnd, Message: "The last line of the patch must be '" + endMarker + "'"}
}

func environmentError(problem string) error {
	return &ParseError{kind: ErrEnvironmentID, Message: "apply_patch environment_id cannot be " + problem}
}

func headerError(line int, text string) error {
	return &ParseError{kind: ErrHeader, Line: line, Message: "'" + text + "' is not a valid hunk header. " +
		"Valid hunk headers: '" + addMarker + "{path}', '" + deleteMarker + "{path}', '" + updateMarker + "{path}'"}
}

func emptySectionError(line int, path string) error {
	return &ParseError{kind: ErrEmptySection, Line: line, Message: "Update file hunk for path '" + path + "' is empty"}
}

func emptyChunkError(line int) error {
	return &ParseError{kind: ErrEmptyChunk, Line: line, Message: "Update hunk does not contain any lines"}
}

func lineError(line int, text string) error {
	return &ParseError{kind: ErrLine, Line: line, Message: "Unexpected line found in update hunk: '" + text +
		"'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"}
}

func markerError(line int, text string) error {
	return &ParseError{kind: ErrMarker, Line: line,
		Message: "Expected update hunk to start with a @@ context marker, got: '" + text + "'"}
}
