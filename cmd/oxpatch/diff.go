package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) diffCommand() *cobra.Command {
	var req oxpatch.DiffRequest
	cmd := &cobra.Command{
		Use:   "diff [ID[..ID]] [-- PATH…]",
		Short: "Show what operations changed, taken together",
		Long: `Diff compares the files that operations touched, as a unified diff:

  oxpatch diff               from before the newest operation that is not undone to now
  oxpatch diff ID            from what operation ID left to now
  oxpatch diff ID..ID        from what the one left to what the other left
  oxpatch diff ..ID          from before the oldest operation to what this one left
  oxpatch diff --turn NAME   what the operations of a turn changed together (--session too)

Where something else changed a file in between, that is in the diff too, and it is said.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.name = "diff"
			var ids []string
			ids, req.Paths = idsAndPaths(cmd, args)
			if err := rangeOf(ids, &req); err != nil {
				return err
			}
			if (req.Session != "" || req.Turn != "") && len(ids) > 0 {
				return errors.New("either operations or --session and --turn, not both")
			}
			if err := notEmpty(cmd, "session", "turn"); err != nil {
				return err
			}
			if engine, ok := a.engine(); ok {
				a.diff(engine, req)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&req.Session, "session", "", "what session `NAME` changed")
	cmd.Flags().StringVar(&req.Turn, "turn", "", "what turn `NAME` changed")
	return cmd
}

// rangeOf reads "ID", "ID..ID", "ID.." and "..ID".
func rangeOf(ids []string, req *oxpatch.DiffRequest) error {
	switch {
	case len(ids) > 1:
		return fmt.Errorf("one operation or range, not %d; files come after --", len(ids))
	case len(ids) == 0:
		return nil
	}
	from, to, ranged := strings.Cut(ids[0], "..")
	if from == "" && to == "" || strings.Contains(to, "..") {
		return fmt.Errorf("%q is neither an operation nor a range of two", ids[0])
	}
	req.From = from
	if ranged {
		req.To = to
	}
	return nil
}

func (a *app) diff(engine *oxpatch.Engine, req oxpatch.DiffRequest) {
	d, err := engine.Diff(a.ctx, req)
	problems := d.Problems
	if err != nil {
		a.code = exitRefused
		if errors.Is(err, oxpatch.ErrUsage) {
			a.code = exitUsage
		}
		problems = append(problems, oxpatch.ProblemOf(err))
	}
	if a.json {
		a.printJSON(diffDocumentOf(d, err == nil, problems))
		return
	}
	for _, p := range problems {
		if p.Severity == oxpatch.SeverityError || !a.quiet {
			a.printProblem(p)
		}
	}
	if err == nil {
		a.write(string(d.Diff))
	}
}

// diffDocument is the JSON of diff.
type diffDocument struct {
	Schema     string                  `json:"schema"`
	Command    string                  `json:"command"`
	OK         bool                    `json:"ok"`
	Root       string                  `json:"root"`
	RootBase64 string                  `json:"root_base64,omitempty"`
	Exact      bool                    `json:"exact"`
	Operations []string                `json:"operations"`
	Paths      []oxpatch.OperationPath `json:"paths"`
	Diff       string                  `json:"diff"`
	DiffBase64 string                  `json:"diff_base64,omitempty"`
	Problems   []oxpatch.Problem       `json:"problems"`
}

func diffDocumentOf(d *oxpatch.NetDiff, ok bool, problems []oxpatch.Problem) diffDocument {
	doc := diffDocument{
		Schema: oxpatch.Schema, Command: "diff", OK: ok, Exact: ok && d.Exact,
		Operations: append([]string{}, d.Operations...), Paths: append([]oxpatch.OperationPath{}, d.Paths...),
		Problems: oxpatch.WireProblems(problems),
	}
	doc.Root, doc.RootBase64 = oxpatch.WireText([]byte(d.Root))
	doc.Diff, doc.DiffBase64 = oxpatch.WireText(d.Diff)
	return doc
}
