package textapply

// Patch is what every text dialect parses into.
type Patch struct {
	// Format names the dialect: "envelope", "editblock" or "udiff".
	Format string
	// Text is the patch without the wrappers that surrounded it (heredoc, blank lines).
	Text string
	// EnvironmentID is the value of the envelope's "*** Environment ID:" line, or "".
	EnvironmentID string
	Sections      []Section
	// Notes say what was mended to read the patch.
	Notes []Note
}

// Note is something about a patch that its reader should know.
type Note struct {
	Line    int // 1-based line of Patch.Text, 0 for the patch as a whole
	Message string
}

// SectionKind says what a section does to its file.
type SectionKind uint8

const (
	Add    SectionKind = iota // write a whole file
	Delete                    // remove a file
	Update                    // edit a file, and perhaps move it
)

// Section is the part of a patch for one file.
type Section struct {
	Kind SectionKind
	// Path is the file's name exactly as the patch spells it.
	Path string
	// MoveTo is the new name of an Update, or "".
	MoveTo string
	// Content holds the lines of an Add, without terminators.
	Content []string
	// Checked marks a Delete that is done only if the file holds exactly Content, as the reverse
	// of an Add is.
	Checked bool
	// NoFinalNewline says that the last line of Content has no terminator.
	NoFinalNewline bool
	// Executable says whether the file's execute bits are to be set or taken.
	Executable Executable
	// Blob is the id, perhaps abbreviated, of the git blob that the patch was made against, or "".
	Blob string
	// Chunks holds the edits of an Update, in patch order.
	Chunks []Chunk
	// Line is the 1-based line of the section's header in Patch.Text.
	Line int
}

// Chunk is one located edit.
type Chunk struct {
	// Scopes are the texts of the "@@ text" lines in front of the chunk, outermost first. A bare
	// "@@" gives none.
	Scopes []string
	Lines  []Line
	// EOF says that the old lines must end the file ("*** End of File").
	EOF bool
	// Hint is the 1-based line of the file where the patch says that the old lines begin, or 0.
	Hint int
	// Final says what becomes of the final newline; not FinalKept only in a chunk with EOF.
	Final FinalNewline
	// Ending is the terminator that the chunk gives its added lines; not KeepEnding only where it changes
	// nothing else.
	Ending LineEnding
	// Unprefixed says that some lines had no prefix and were taken for context. Such a chunk is
	// placed only where it stands exactly and once.
	Unprefixed bool
	// Line is the 1-based line in Patch.Text where the chunk begins: its "@@" line, or its first
	// line where it has none.
	Line int
}

// Executable says what a section does to a file's execute bits.
type Executable uint8

const (
	KeepExecutable Executable = iota
	MakeExecutable            // as git's mode 100755
	MakePlain                 // as git's mode 100644
)

// FinalNewline says what a chunk does to the terminator of the file's last line.
type FinalNewline uint8

const (
	FinalKept    FinalNewline = iota // whether the file ends in one does not change
	FinalRemoved                     // the file ends without one
	FinalAdded                       // the file ends in one
)

// LineEnding says what terminator added lines get.
type LineEnding uint8

const (
	KeepEnding LineEnding = iota // that of the lines around them
	ToLF
	ToCRLF
)

func (e LineEnding) terminator() string { return [...]string{"", "\n", "\r\n"}[e] }

// Op says what a chunk's line does.
type Op uint8

const (
	Context Op = iota // stands before and after
	Remove            // stands before only
	Insert            // stands after only
)

// Line is one line of a chunk, without prefix and terminator.
type Line struct {
	Op   Op
	Text string
}

// ReadLine splits a line of a chunk, as all dialects write it, into its prefix and its text; false if
// it has no prefix. An empty line is one of context, as many editors and models strip the blank that
// would be its prefix.
func ReadLine(line string) (Line, bool) {
	if line == "" {
		return Line{Op: Context}, true
	}
	switch line[0] {
	case ' ':
		return Line{Op: Context, Text: line[1:]}, true
	case '-':
		return Line{Op: Remove, Text: line[1:]}, true
	case '+':
		return Line{Op: Insert, Text: line[1:]}, true
	}
	return Line{}, false
}

// Old returns the lines that must stand in the file: context and removed lines, in order.
func (c Chunk) Old() []string { return c.side(Insert) }

// New returns the lines that stand there afterwards: context and inserted lines, in order.
func (c Chunk) New() []string { return c.side(Remove) }

func (c Chunk) side(without Op) []string {
	var lines []string
	for _, l := range c.Lines {
		if l.Op != without {
			lines = append(lines, l.Text)
		}
	}
	return lines
}
