package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) logCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List the operations on this tree, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.name = "log"
			if limit < 1 && cmd.Flags().Changed("max-count") {
				return fmt.Errorf("--max-count: %d is less than 1", limit)
			}
			if engine, ok := a.engine(); ok {
				a.log(engine, limit)
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&limit, "max-count", "n", 0, "at most `N` operations")
	return cmd
}

func (a *app) log(engine *oxpatch.Engine, limit int) {
	ops, problems, err := engine.Log(a.ctx, limit)
	if err != nil {
		a.code = exitRefused
		problems = append(problems, oxpatch.Problem{Severity: oxpatch.SeverityError, Kind: oxpatch.KindIO, Message: err.Error()})
	}
	if a.json {
		a.printJSON(logDocument{
			Schema: oxpatch.Schema, Command: "log", OK: err == nil,
			Operations: append([]oxpatch.Operation{}, ops...), Problems: oxpatch.WireProblems(problems),
		})
		return
	}
	for _, op := range ops {
		a.write(visible(logLine(op)) + "\n")
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

// logLine is one operation: id, time, kind, state where it is not plain, and paths.
func logLine(op oxpatch.Operation) string {
	const most = 3
	var paths []string
	for i, p := range op.Paths {
		if i == most {
			paths = append(paths, fmt.Sprintf("and %d more", len(op.Paths)-most))
			break
		}
		paths = append(paths, p.Path)
	}
	what := op.Kind
	if len(op.Reverts) > 0 {
		what += " of " + strings.Join(op.Reverts, ", ")
	}
	if op.State != "done" {
		what += " (" + op.State + ")"
	}
	line := fmt.Sprintf("%s  %s  %s: %s", op.ID, op.Time.Local().Format("2006-01-02 15:04:05"), what, strings.Join(paths, ", "))
	if op.Label != "" {
		line += "  " + op.Label
	}
	return line
}
