package outputparse

// Class says what a message means for the path it is about.
type Class uint8

const (
	Narration  Class = iota // tells what git is doing; decides nothing
	Whole                   // refuses the whole patch and names no path of its own
	Skipped                 // the path is left as it was
	Applied                 // the path is as the patch wants it
	Conflicted              // the path is left with a conflict
)

// String returns the word for the class.
func (c Class) String() string {
	return [...]string{"narration", "whole", "skipped", "applied", "conflicted"}[c]
}

// Message is one row of the table.
type Message struct {
	// Text is the message with its variable parts in angle brackets: <path> is the name of a file,
	// <n> a number, <oid> an object id, <mode> an octal mode, <where> a line number or FILE:LINE,
	// <text> anything up to the end of the line. Upper and lower case are the same.
	Text string
	// Class is the meaning for <path>; where there is no <path>, for the path seen last.
	Class Class
	// Versions are the versions of git that print it: "2.20-2.31", "2.35-", or "" for all.
	Versions string
	// Meaning is the reason in words that fit behind a path; "" for narration.
	Meaning string
	// Certain marks a message that is printed after the fact, not as a forecast.
	Certain bool
	// Follow is how many lines after this one are text of the patch, which anybody can have
	// written: 0 for none, untilFailed for all lines up to the one that says "patch failed".
	Follow int
}

const untilFailed = -1

// Messages returns the table. A line is read by the first row that fits it.
func Messages() []Message {
	var all []Message
	for _, part := range [][]Message{outcomes(), whole(), causes(), binary(), links(), writing(), narration()} {
		all = append(all, part...)
	}
	return all
}

func outcomes() []Message {
	return []Message{
		{Text: "Applied patch to '<path>' cleanly.", Class: Applied, Meaning: "merged without a conflict"},
		{Text: "Applied patch to '<path>' with conflicts.", Class: Conflicted, Meaning: "merged with conflicts"},
		{Text: "Applied patch <path> cleanly.", Class: Applied, Certain: true, Meaning: "written"},
		{Text: "Applied patch <path> with conflicts.", Class: Conflicted, Meaning: "merged with conflicts"},
		{Text: "Applying patch <path> with <n> reject...", Class: Conflicted, Certain: true, Meaning: "one hunk was rejected"},
		{Text: "Applying patch <path> with <n> rejects...", Class: Conflicted, Certain: true, Meaning: "some hunks were rejected"},
		{Text: "U <path>", Class: Conflicted, Certain: true, Meaning: "left unmerged in the index"},
		{Text: "warning: Cannot merge binary files: <path> (ours vs. theirs)", Class: Conflicted, Meaning: "a binary file cannot be merged; it keeps its content"},
		{Text: "warning: Cannot merge binary files: <path>", Class: Conflicted, Meaning: "a binary file cannot be merged; it keeps its content"},
		{Text: "Recorded preimage for '<path>'", Class: Conflicted, Meaning: "the conflict was recorded for rerere"},
		{Text: "Resolved '<path>' using previous resolution.", Class: Conflicted, Meaning: "an earlier resolution was put into the file; the index is unmerged"},
		{Text: "Skipped patch '<path>'.", Class: Skipped, Certain: true, Meaning: "outside the current folder, or excluded"},
		{Text: "Skipped patch <path>.", Class: Skipped, Certain: true, Meaning: "outside the current folder, or excluded"},
	}
}

func causes() []Message {
	return []Message{
		{Text: "error: patch failed: <path>:<n>", Class: Skipped, Meaning: "a hunk does not fit"},
		{Text: "error: <path>: patch does not apply", Class: Skipped, Meaning: "the patch does not apply"},
		{Text: "error: <path>: does not match index", Class: Skipped, Meaning: "the file differs from the index"},
		{Text: "error: <path>: does not exist in index", Class: Skipped, Meaning: "the file is not tracked"},
		{Text: "error: <path>: already exists in index", Class: Skipped, Meaning: "the index has the file already"},
		{Text: "error: <path>: already exists in working directory", Class: Skipped, Meaning: "the file is there already"},
		{Text: "error: <path> already exists in working directory", Class: Skipped, Meaning: "the file is there already"},
		{Text: "error: <path>: No such file or directory", Class: Skipped, Meaning: "the file does not exist"},
		{Text: "error: <path>: Not a directory", Class: Skipped, Meaning: "a part of its path is not a folder"},
		{Text: "error: <path>: Permission denied", Class: Skipped, Meaning: "permission denied"},
		{Text: "error: <path>: wrong type", Class: Skipped, Meaning: "it is a file, link or submodule where the patch has another of them"},
		{Text: "error: new mode (<mode>) of <path> does not match old mode (<mode>)", Class: Skipped, Meaning: "the modes contradict each other"},
		{Text: "error: new mode (<mode>) of <path> does not match old mode (<mode>) of <text>", Class: Skipped, Meaning: "the modes contradict each other"},
		{Text: "error: path <path> has been renamed/deleted", Class: Skipped, Meaning: "an earlier section of the patch removed it"},
		{Text: "error: removal patch leaves file contents", Class: Skipped, Meaning: "the patch removes the file but not all of its lines"},
		{Text: "error: cannot read the current contents of '<path>'", Class: Skipped, Meaning: "what stands there is no clean tracked file"},
		{Text: "error: failed to read <path>", Class: Skipped, Meaning: "it cannot be read"},
		{Text: "error: unable to open or read <path>", Class: Skipped, Meaning: "it cannot be read"},
		{Text: "error: cannot checkout <path>", Class: Skipped, Meaning: "it cannot be checked out from the index"},
		{Text: "Failed to perform three-way merge...", Class: Skipped, Versions: "2.32-", Meaning: "the three-way merge is not possible"},
		{Text: "Failed to fall back on three-way merge...", Class: Skipped, Versions: "2.20-2.31", Meaning: "the three-way merge is not possible"},
		{Text: "error: repository lacks the necessary blob to fall back on 3-way merge.", Class: Skipped, Versions: "2.20-2.31", Meaning: "the repository lacks the blob that the patch was made from"},
		{Text: "error: repository lacks the necessary blob to perform 3-way merge.", Versions: "2.32-", Meaning: "the repository lacks the blob that the patch was made from"},
	}
}

func binary() []Message {
	return []Message{
		{Text: "error: cannot apply binary patch to '<path>' without full index line", Class: Skipped, Meaning: "the binary patch has no full index line"},
		{Text: "error: missing binary patch data for '<path>'", Class: Skipped, Meaning: "the binary patch has no data"},
		{Text: "error: binary patch does not apply to '<path>'", Class: Skipped, Meaning: "the binary patch does not apply"},
		{Text: "error: binary patch to '<path>' creates incorrect result (expecting <oid>, got <oid>)", Class: Skipped, Meaning: "the binary patch gives another result than it promises"},
		{Text: "error: the patch applies to '<path>' (<oid>), which does not match the current contents.", Class: Skipped, Meaning: "the binary patch was made from other content"},
		{Text: "error: the patch applies to an empty '<path>' but it is not empty", Class: Skipped, Meaning: "the binary patch was made from an empty file"},
		{Text: "error: the necessary postimage <oid> for '<path>' cannot be read", Class: Skipped, Meaning: "the blob that the binary patch leads to cannot be read"},
		{Text: "error: cannot reverse-apply a binary patch without the reverse hunk to '<path>'", Class: Skipped, Meaning: "the binary patch holds no way back"},
		{Text: "error: corrupt binary patch at <text>", Class: Whole, Meaning: "a binary section is broken; it and every later section are lost"},
		{Text: "error: unrecognized binary patch at <text>", Class: Whole, Meaning: "a binary section is broken; it and every later section are lost"},
	}
}

func links() []Message {
	return []Message{
		{Text: "error: reading from '<path>' beyond a symbolic link", Class: Skipped, Meaning: "its path leads through a symbolic link"},
		{Text: "error: affected file '<path>' is beyond a symbolic link", Class: Skipped, Meaning: "its path leads through a symbolic link"},
		{Text: "error: unable to read symlink <path>", Class: Skipped, Meaning: "the link cannot be read"},
		{Text: "error: invalid path '<path>'", Class: Skipped, Meaning: "the path is not allowed"},
		{Text: "error: corrupt patch for submodule <path>", Class: Skipped, Meaning: "the submodule section is broken"},
	}
}

func writing() []Message {
	return []Message{
		{Text: "error: unable to write file '<path>' mode <mode>: <text>", Class: Skipped, Certain: true, Meaning: "it cannot be written"},
		{Text: "error: unable to write file '<path>' mode <mode>", Class: Skipped, Certain: true, Meaning: "it cannot be written"},
		{Text: "error: unable to remove <path> from index", Class: Skipped, Certain: true, Meaning: "it cannot be taken out of the index"},
		{Text: "error: unable to add cache entry for <path>", Class: Skipped, Certain: true, Meaning: "it cannot be put into the index"},
		{Text: "error: unable to create backing store for newly created file <path>", Class: Skipped, Certain: true, Meaning: "its blob cannot be stored"},
		{Text: "error: unable to stat newly created file '<path>'", Class: Skipped, Certain: true, Meaning: "it cannot be looked at after writing"},
		{Text: "error: failed to write to '<path>'", Class: Skipped, Certain: true, Meaning: "it cannot be written"},
		{Text: "error: closing file '<path>'", Class: Skipped, Certain: true, Meaning: "it cannot be written"},
	}
}
