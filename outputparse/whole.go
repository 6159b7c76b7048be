package outputparse

// whole holds the messages that refuse the patch as a whole: each path of it is skipped, and none
// is named as the culprit.
func whole() []Message {
	return []Message{
		{Text: "error: unrecognized input", Class: Whole, Versions: "2.20-2.34", Meaning: "there is no patch in the input"},
		{Text: `error: No valid patches in input (allow with "--allow-empty")`, Class: Whole, Versions: "2.35-", Meaning: "there is no patch in the input"},
		{Text: "error: corrupt patch at <where>", Class: Whole, Meaning: "the patch is corrupt"},
		{Text: "error: patch with only garbage at <where>", Class: Whole, Meaning: "a section has no hunks"},
		{Text: "error: patch fragment without header at <where>: <text>", Class: Whole, Meaning: "a hunk has no file header"},
		{Text: "error: git diff header lacks filename information when removing <text>", Class: Whole, Meaning: "a header has no file name"},
		{Text: "error: git diff header lacks filename information <text>", Class: Whole, Meaning: "a header has no file name"},
		{Text: "error: unable to find filename in patch at <where>", Class: Whole, Meaning: "a header has no file name"},
		{Text: "error: git apply: bad git-diff - <text>", Class: Whole, Meaning: "a header contradicts itself"},
		{Text: "error: invalid mode on <text>", Class: Whole, Meaning: "a mode cannot be read"},
		{Text: "error: invalid mode at <text>", Class: Whole, Versions: "2.54-", Meaning: "a mode cannot be read"},
		{Text: "error: inconsistent header lines <text>", Class: Whole, Meaning: "a header contradicts itself"},
		{Text: "error: new file <text> depends on old contents", Class: Whole, Meaning: "a section adds a file and removes lines from it"},
		{Text: "error: deleted file <text> still has contents", Class: Whole, Meaning: "a section deletes a file and leaves lines in it"},
		{Text: "error: <n> line adds whitespace errors.", Class: Whole, Meaning: "apply.whitespace=error refuses an added line"},
		{Text: "error: <n> lines add whitespace errors.", Class: Whole, Meaning: "apply.whitespace=error refuses added lines"},
		{Text: "error: can't open patch '<text>", Class: Whole, Meaning: "the patch file cannot be opened"},
		{Text: "error: git apply: failed to read<text>", Class: Whole, Versions: "2.20-2.41", Meaning: "the patch cannot be read"},
		{Text: "error: failed to read patch", Class: Whole, Versions: "2.42-", Meaning: "the patch cannot be read"},
		{Text: "error: patch too large", Class: Whole, Versions: "2.39-", Meaning: "the patch is too large for git"},
		{Text: "fatal: Unable to create '<text>.lock': File exists.", Class: Whole, Meaning: "another git process holds the index"},
		{Text: "error: --3way outside a repository", Class: Whole, Versions: "2.20-2.34", Meaning: "there is no repository"},
		{Text: "error: '--3way' outside a repository", Class: Whole, Versions: "2.35-", Meaning: "there is no repository"},
		{Text: "error: --cached and --3way cannot be used together.", Class: Whole, Versions: "2.20-2.31", Meaning: "these options exclude each other"},
		{Text: "error: unknown option <text>", Class: Whole, Meaning: "this git does not know an option"},
		{Text: "error: Unable to write new index file", Class: Whole, Meaning: "the index cannot be written; the files are"},
	}
}

// CheckingPatch is the Text of the message with which git, given -v, begins each section.
const CheckingPatch = "Checking patch <path>..."

const (
	hunkApplied  = "Hunk #<n> applied cleanly."
	hunkRejected = "Rejected hunk #<n>."
)

// narration holds what decides nothing but has to be known, so that it is not taken for something
// else, and so that the text of the patch that follows some lines is passed over.
func narration() []Message {
	return []Message{
		{Text: "fatal: <text>", Class: Whole, Meaning: "git gave up"},
		{Text: CheckingPatch},
		{Text: "Performing three-way merge...", Versions: "2.32-"},
		{Text: "Falling back to three-way merge...", Versions: "2.20-2.31"},
		{Text: "Falling back to direct application...", Versions: "2.32-"},
		{Text: "error: while searching for:", Follow: untilFailed},
		{Text: "Hunk #<n> succeeded at <text>"},
		{Text: hunkApplied},
		{Text: hunkRejected},
		{Text: "Context reduced to <text>"},
		{Text: "warning: <path> has type <mode>, expected <mode>"},
		{Text: "** warning: file <path> becomes empty but is not deleted"},
		{Text: "warning: squelched <n> whitespace error"},
		{Text: "warning: squelched <n> whitespace errors"},
		{Text: "warning: <n> line adds whitespace errors."},
		{Text: "warning: <n> lines add whitespace errors."},
		{Text: "warning: <n> line applied after fixing whitespace errors."},
		{Text: "warning: <n> lines applied after fixing whitespace errors."},
		{Text: "warning: recount: <text>"},
		{Text: "<where>: trailing whitespace.", Follow: 1},
		{Text: "<where>: space before tab in indent.", Follow: 1},
		{Text: "<where>: indent with spaces.", Follow: 1},
		{Text: "<where>: tab in indent.", Follow: 1},
		{Text: "<where>: new blank line at EOF.", Follow: 1},
		{Text: "<where>: incomplete line.", Versions: "2.54-", Follow: 1},
	}
}
