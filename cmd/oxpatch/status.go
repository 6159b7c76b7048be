package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say what the next undo takes back, and what is left to be done",
		Long: `Status says which operation the next undo takes back, which operations were interrupted and are
not settled, in which files operations left conflicts that are not resolved, and where in them, and
where records are kept. It changes nothing and exits with 0 also where something is left to be done.`,
		Args: cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			a.name = "status"
			if engine, ok := a.engine(); ok {
				a.status(engine)
			}
		},
	}
}

func (a *app) status(engine *oxpatch.Engine) {
	st, err := engine.Status(a.ctx)
	problems := st.Problems
	if err != nil {
		a.code = exitRefused
		problems = append(problems, oxpatch.Problem{Severity: oxpatch.SeverityError, Kind: oxpatch.KindIO, Message: err.Error()})
	}
	if a.json {
		doc := statusDocument{Schema: oxpatch.Schema, Command: "status", OK: err == nil, Problems: oxpatch.WireProblems(problems)}
		if err == nil {
			doc.Status = st
		}
		a.printJSON(doc)
		return
	}
	if err == nil {
		a.printStatus(st)
	}
	for _, p := range problems {
		if p.Severity == oxpatch.SeverityError || !a.quiet {
			a.printProblem(p)
		}
	}
}

// statusDocument is the JSON of status.
type statusDocument struct {
	Schema   string            `json:"schema"`
	Command  string            `json:"command"`
	OK       bool              `json:"ok"`
	Status   *oxpatch.Status   `json:"status,omitempty"`
	Problems []oxpatch.Problem `json:"problems"`
}

func (a *app) printStatus(st *oxpatch.Status) {
	if a.quiet {
		return
	}
	lines := []string{"nothing to undo"}
	if st.Undo != nil {
		lines[0] = "next undo: " + logLine(*st.Undo)
	}
	if st.Redo != nil {
		lines = append(lines, "next redo: "+logLine(*st.Redo))
	}
	for _, op := range st.Pending {
		lines = append(lines, "unresolved: "+logLine(op))
	}
	for _, f := range st.Conflicts {
		lines = append(lines, "U "+f.Path+"  "+conflictLines(f))
	}
	for _, s := range st.Stores {
		lines = append(lines, fmt.Sprintf("store: %s (%s, %s)", s.Path, oxpatch.FormatSize(s.Bytes), counted(s.Operations, "operation")))
	}
	for _, line := range lines {
		a.write(visible(line) + "\n")
	}
}

func conflictLines(f oxpatch.ConflictedFile) string {
	var ranges []string
	for _, h := range f.Hunks {
		ranges = append(ranges, fmt.Sprintf("%d-%d", h.Line, h.EndLine))
	}
	if len(ranges) == 0 {
		return "(no conflict is marked in it any more)"
	}
	return "conflicts at lines " + strings.Join(ranges, ", ")
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
