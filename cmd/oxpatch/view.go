package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/openoxide/oxpatch"
)

// What goes where: the outcome, one line a file, and a diff go to standard output; problems and
// hints go to standard error. With --json standard output holds one object and nothing else.

func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.streams.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		a.lost(err)
	}
}

// lost says, once, that the output could not be written. The exit code still says whether anything
// was changed.
func (a *app) lost(err error) {
	if a.unwritten {
		return
	}
	a.unwritten = true
	fmt.Fprintf(a.streams.err, "oxpatch: the result cannot be written: %v\n", err)
	if a.changed {
		a.code = max(a.code, exitPartial)
	}
	a.code = max(a.code, exitRefused)
}

// printResult is the human view of a result.
func (a *app) printResult(res *oxpatch.Result) {
	for _, p := range res.Problems {
		if p.Severity == oxpatch.SeverityError || !a.quiet {
			a.printProblem(p)
		}
	}
	if !a.quiet && (res.OK || res.Applied || wouldApply(res)) {
		for _, f := range res.Files {
			if res.Command != "checkpoint" { // it says how many
				a.printFile(f)
			}
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
		a.lost(err)
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
	case f.Unchanged && (a.name == "apply" || a.name == ""):
		line += "  (as the patch wants it already)"
	case f.Unchanged:
		line += "  (it is so already)"
	case f.Status == oxpatch.StatusSkipped:
		line += "  (left as it was)"
	case f.Added+f.Removed > 0:
		line += fmt.Sprintf("  +%d -%d", f.Added, f.Removed)
	}
	a.write(visible(line) + "\n")
}

// closing says how things stand and what can be done next.
func closing(res *oxpatch.Result) string {
	switch {
	case res.Command == "check" && (res.OK || wouldApply(res)):
		return "nothing was changed: this is what would be done"
	case !res.OK && !res.Applied:
		return ""
	case res.Command == "checkpoint":
		return recorded(res)
	case res.Restores != "" && res.ID != "":
		return fmt.Sprintf("restored: the state of operation %s (this restore is operation %s; take it back with: oxpatch undo)", res.Restores, res.ID)
	case len(res.Reverts) > 0 && res.ID != "":
		return reversed(res)
	case res.Applied && res.Snapshot.Undoable:
		return fmt.Sprintf("operation %s; take it back with: oxpatch undo", res.ID)
	case res.Applied && res.Snapshot.Reason != "":
		return "this cannot be undone: " + res.Snapshot.Reason
	}
	return ""
}

// reversed says what was taken back.
func reversed(res *oxpatch.Result) string {
	what := "operation " + res.Reverts[0]
	if len(res.Reverts) > 1 {
		what = "operations " + some(res.Reverts)
	}
	if res.Command == "redo" {
		return fmt.Sprintf("redone: undo %s (this redo is operation %s)", some(res.Reverts), res.ID)
	}
	return fmt.Sprintf("undone: %s (this undo is operation %s)", what, res.ID)
}

// printProblem prints place, problem and hint, one line each.
func (a *app) printProblem(p oxpatch.Problem) {
	word := ""
	if p.Severity == oxpatch.SeverityWarning {
		word = "warning: "
	}
	// An error that joins others has a line for each.
	fmt.Fprintf(a.streams.err, "oxpatch: %s%s\n", word, visible(strings.ReplaceAll(p.String(), "\n", "; ")))
	if p.Nearest != nil {
		a.printNearest(p.Nearest)
	}
	for _, c := range p.Candidates {
		a.printCandidate(c)
	}
	if p.Hint != "" {
		fmt.Fprintf(a.streams.err, "hint: %s\n", visible(p.Hint))
	}
}

// printNearest shows the file at the place where it first differs from the patch: the line of the
// patch, marked -, and that of the file, marked with its number.
func (a *app) printNearest(n *oxpatch.Nearest) {
	d := n.FirstDifference
	for i, line := range n.Excerpt {
		fmt.Fprintf(a.streams.err, "%6d |  %s\n", d.Line-len(n.Excerpt)+i, clip(line))
	}
	if d.AtEnd {
		fmt.Fprintf(a.streams.err, "%6s |  (the file ends here)\n", "")
	} else {
		fmt.Fprintf(a.streams.err, "%6d >  %s\n", d.Line, clip(d.Have))
	}
	fmt.Fprintf(a.streams.err, "%6s |  %s\n", "patch", clip(d.Want))
}

func (a *app) printCandidate(c oxpatch.Candidate) {
	line := fmt.Sprintf("%6d |  %s", c.Line, clip(c.Text))
	if c.Scope != "" {
		line += "   (in: " + clip(c.Scope) + ")"
	}
	fmt.Fprintln(a.streams.err, line)
}

// clip keeps a line of the file from filling the screen; what cannot be shown is shown as �.
func clip(s string) string {
	const most = 120
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r", ""), "\uFFFD")
	if runes := []rune(s); len(runes) > most {
		return visible(string(runes[:most])) + "…"
	}
	return visible(s)
}

// visible replaces what would steer a terminal by an escape that can be read. Paths and lines come
// from a patch, which may be hostile: a carriage return or an escape sequence in a path could hide or
// forge a line of the report, a bidirectional control turn it around. Tabs stay.
func visible(s string) string {
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !steers(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func steers(r rune) bool {
	return r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
