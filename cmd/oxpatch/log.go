package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) logCommand() *cobra.Command {
	var req oxpatch.LogRequest
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List the operations on this tree, newest first",
		Long: `Log prints a line for each operation: its id, when it was, what it was and how it stands
(undone, undone in part, unresolved; nothing where it stands), and its files.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.name = "log"
			if err := errors.Join(atLeastOne(cmd, "max-count", req.Count), notEmpty(cmd, "session", "turn")); err != nil {
				return err
			}
			if engine, ok := a.engine(); ok {
				a.log(engine, req)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&req.Count, "max-count", "n", 0, "at most `N` operations")
	fl.StringVar(&req.Session, "session", "", "only operations of session `NAME`")
	fl.StringVar(&req.Turn, "turn", "", "only operations of turn `NAME`")
	fl.StringArrayVar(&req.Paths, "path", nil, "only operations that touched `PATH`, a file or folder; may be given again")
	return cmd
}

func (a *app) log(engine *oxpatch.Engine, req oxpatch.LogRequest) {
	ops, problems := []oxpatch.Operation{}, []oxpatch.Problem{}
	listed, failed := false, false
	for op, err := range engine.Log(a.ctx, req) {
		if err != nil {
			p := oxpatch.Problem{Severity: oxpatch.SeverityWarning, Kind: oxpatch.KindIO, Message: err.Error()}
			failed = true
			if errors.Is(err, oxpatch.ErrUsage) {
				p, a.code = oxpatch.ProblemOf(err), exitUsage
			}
			problems = append(problems, p)
			continue
		}
		listed = true
		if a.json {
			ops = append(ops, op)
		} else {
			a.write(visible(logLine(op)) + "\n")
		}
	}
	if failed && !listed {
		// Nothing could be read: an empty list would be a lie.
		a.code = max(a.code, exitRefused)
		for i := range problems {
			problems[i].Severity = oxpatch.SeverityError
		}
	}
	if a.json {
		a.printJSON(logDocument{Schema: oxpatch.Schema, Command: "log", OK: a.code == exitOK, Operations: ops, Problems: problems})
		return
	}
	for _, p := range problems {
		a.printProblem(p)
	}
}

// logDocument is the JSON of log: the operations are there also when there are none.
type logDocument struct {
	Schema     string              `json:"schema"`
	Command    string              `json:"command"`
	OK         bool                `json:"ok"`
	Operations []oxpatch.Operation `json:"operations"`
	Problems   []oxpatch.Problem   `json:"problems"`
}

// some lists the first of many.
func some(list []string) string {
	const most = 3
	if len(list) > most {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(list, ", ")
}

// logLine is one operation: id, time, kind, state where it is not plain, and paths.
func logLine(op oxpatch.Operation) string {
	var paths []string
	for _, p := range op.Paths {
		paths = append(paths, p.Path)
	}
	what := op.Kind
	if op.Restores != "" {
		what += " of " + op.Restores
	}
	if op.Tree != nil {
		paths = []string{counted(op.Tree.Files, "file") + " of the tree"}
	}
	if len(op.Reverts) > 0 {
		what += " of " + some(op.Reverts)
	}
	if op.State != "done" {
		what += " (" + op.State + ")"
	}
	line := fmt.Sprintf("%s  %s  %s: %s", op.ID, op.Time.Local().Format("2006-01-02 15:04:05"), what, some(paths))
	if op.Label != "" {
		line += "  " + shortened(op.Label)
	}
	return line
}

// shortened is the beginning of a text, as far as it fits a line with other things on it.
func shortened(text string) string {
	const most = 72
	first, _, cut := strings.Cut(text, "\n")
	if r := []rune(first); len(r) > most {
		first, cut = string(r[:most]), true
	}
	if cut {
		first += "…"
	}
	return first
}
