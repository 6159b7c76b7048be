package outputparse

import (
	"maps"
	"slices"
	"strings"
)

// Output is what is known of one run of "git apply".
type Output struct {
	Stdout, Stderr []byte
	// Known are the names in the patch, both names of a rename; nil if they are not known.
	Known []string
	// Exit is git's exit code; nil if it is not known. It is used only together with Known.
	Exit *int
}

// Result sorts the paths. Each stands in exactly one list, and each list is sorted by bytes.
type Result struct {
	Applied, Skipped, Conflicted []string
	// Whole are the messages that refuse the whole patch.
	Whole []Finding
}

// Parse sorts the paths that the output names. Where several messages speak of one path, conflicted
// wins over applied and applied over skipped.
//
// With Known and Exit every known path is sorted: git writes everything or nothing. It wrote if it
// ended with 0, or with 1 after it had listed unmerged paths or rejects; then what no message
// speaks of was applied, else everything was skipped.
func Parse(o Output) Result {
	return Sort(append(Read(o.Stdout, o.Known), Read(o.Stderr, o.Known)...), o.Known, o.Exit)
}

// Sort is Parse for messages that were read already.
func Sort(found []Finding, known []string, exit *int) Result {
	classes := map[string]Class{}
	for _, f := range found {
		for _, p := range f.Paths {
			classes[p] = max(classes[p], f.Class)
		}
	}
	if exit != nil && known != nil {
		classes = settle(known, *exit, found)
	}
	res := Result{}
	for _, p := range slices.Sorted(maps.Keys(classes)) {
		switch classes[p] {
		case Applied:
			res.Applied = append(res.Applied, p)
		case Skipped:
			res.Skipped = append(res.Skipped, p)
		case Conflicted:
			res.Conflicted = append(res.Conflicted, p)
		}
	}
	for _, f := range found {
		if f.Class == Whole {
			res.Whole = append(res.Whole, f)
		}
	}
	return res
}

// settle sorts all known paths with the help of the exit code. Only messages printed after the fact
// count, since the others may be forecasts of what then did not happen.
func settle(known []string, exit int, found []Finding) map[string]Class {
	classes := map[string]Class{}
	wrote := exit == 0
	for i, f := range found {
		if !f.Certain {
			continue
		}
		wrote = wrote || exit == 1 && f.Class == Conflicted
		class := f.Class
		if rejects(f) && !someHunkFitted(found[i+1:]) {
			class = Skipped
		}
		for _, p := range f.Paths {
			classes[p] = max(classes[p], class)
		}
	}
	for _, p := range known {
		if !wrote {
			classes[p] = Skipped
		} else if classes[p] == Narration {
			classes[p] = Applied
		}
	}
	return classes
}

// rejects reports whether a message says that hunks of a file were rejected.
func rejects(f Finding) bool { return strings.HasPrefix(f.Text, "Applying patch <path> with") }

// someHunkFitted reads what follows such a message: a line for each hunk.
func someHunkFitted(found []Finding) bool {
	for _, f := range found {
		switch f.Text {
		case hunkApplied:
			return true
		case hunkRejected:
		default:
			return false
		}
	}
	return false
}

// Reason is why a path, or the whole patch, is not simply applied.
type Reason struct {
	Class   Class
	Meaning string // in words that fit behind a path
	Line    string // what git printed
	Text    string // the row of the table, which identifies the message
}

// Reasons returns, for each path, what the output says against it: skips, conflicts, and missing
// blobs, in the order in which they were printed. whole holds what is said of the patch as a whole.
func Reasons(output []byte, known []string) (paths map[string][]Reason, whole []Reason) {
	return ReasonsOf(Read(output, known))
}

// ReasonsOf is Reasons for messages that were read already.
func ReasonsOf(found []Finding) (paths map[string][]Reason, whole []Reason) {
	paths = map[string][]Reason{}
	for _, f := range found {
		r := Reason{Class: f.Class, Meaning: f.Meaning, Line: f.Line, Text: f.Text}
		if f.Class == Whole {
			whole = append(whole, r)
			continue
		}
		if f.Meaning == "" || f.Class == Applied {
			continue
		}
		for _, p := range f.Paths {
			paths[p] = append(paths[p], r)
		}
	}
	return paths, whole
}
