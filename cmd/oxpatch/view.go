package main

import (
	"encoding/json"
	"fmt"

	"github.com/openoxide/oxpatch"
)

// What goes where: the outcome, one line a file, and a diff go to standard output; problems and
// hints go to standard error. With --json standard output holds one object and nothing else.

func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.streams.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		fmt.Fprintf(a.streams.err, "oxpatch: the result cannot be written: %v\n", err)
		a.code = max(a.code, exitRefused)
	}
}

// printResult is the human view of a result.
func (a *app) printResult(res *oxpatch.Result) {
	for _, p := range res.Problems {
		if p.Severity == oxpatch.SeverityError || !a.quiet {
			a.printProblem(p)
		}
	}
	if !a.quiet && (res.OK || res.Applied) {
		for _, f := range res.Files {
			a.printFile(f)
		}
	}
	if len(res.Diff) > 0 {
		a.write(string(res.Diff))
	}
	if line := closing(res); line != "" && !a.quiet {
		a.write(line + "\n")
	}
}

func (a *app) write(s string) {
	if _, err := fmt.Fprint(a.streams.out, s); err != nil {
		a.code = max(a.code, exitRefused)
	}
}

// printFile is one line: a letter for what happened, the path, the lines added and removed.
func (a *app) printFile(f oxpatch.FileResult) {
	letter := map[string]string{"add": "A", "modify": "M", "delete": "D", "rename": "R", "copy": "C", "mode": "M"}[f.Change]
	switch {
	case f.Status == oxpatch.StatusConflicted:
		letter = "U"
	case f.Status == oxpatch.StatusSkipped:
		letter = "!"
	case f.Unchanged:
		letter = "="
	}
	line := letter + " " + f.Path
	if f.OldPath != "" {
		line = letter + " " + f.OldPath + " -> " + f.Path
	}
	switch {
	case f.Unchanged:
		line += "  (as the patch wants it already)"
	case f.Status == oxpatch.StatusSkipped:
		line += "  (left as it was)"
	case f.Added+f.Removed > 0:
		line += fmt.Sprintf("  +%d -%d", f.Added, f.Removed)
	}
	a.write(line + "\n")
}

// closing says how things stand and what can be done next.
func closing(res *oxpatch.Result) string {
	switch {
	case res.Command == "check" && res.OK:
		return "nothing was changed: this is what would be done"
	case !res.OK && !res.Applied:
		return ""
	case res.Reverts != "" && res.ID != "":
		return fmt.Sprintf("undone: operation %s (this undo is operation %s)", res.Reverts, res.ID)
	case res.Applied && res.Snapshot.Undoable:
		return fmt.Sprintf("operation %s; take it back with: oxpatch undo", res.ID)
	case res.Applied && res.Snapshot.Reason != "":
		return "this cannot be undone: " + res.Snapshot.Reason
	}
	return ""
}

// printProblem prints place, problem and hint, one line each.
func (a *app) printProblem(p oxpatch.Problem) {
	word := ""
	if p.Severity == oxpatch.SeverityWarning {
		word = "warning: "
	}
	fmt.Fprintf(a.streams.err, "oxpatch: %s%s\n", word, p)
	if p.Hint != "" {
		fmt.Fprintf(a.streams.err, "hint: %s\n", p.Hint)
	}
}
