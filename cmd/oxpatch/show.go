package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) showCommand() *cobra.Command {
	var req oxpatch.ShowRequest
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show one operation: what it was and which files it touched",
		Long: `Show prints what an operation was, when, how it stands and which files it touched; without an
ID, the newest one. With --patch it prints the input as it was received and nothing else, with
--diff what the operation changed, as a unified diff that "oxpatch apply" and "git apply" take.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.name = "show"
			if len(args) > 0 {
				if req.ID = args[0]; req.ID == "" {
					return fmt.Errorf("the id is empty")
				}
			}
			if engine, ok := a.engine(); ok {
				a.show(engine, req)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&req.Patch, "patch", false, "print the input as it was received")
	cmd.Flags().BoolVar(&req.Diff, "diff", false, "print the changes as a unified diff")
	cmd.MarkFlagsMutuallyExclusive("patch", "diff")
	return cmd
}

func (a *app) show(engine *oxpatch.Engine, req oxpatch.ShowRequest) {
	shown, err := engine.Show(a.ctx, req)
	var problems []oxpatch.Problem
	if err != nil {
		a.code = exitRefused
		problems = []oxpatch.Problem{oxpatch.ProblemOf(err)}
	} else {
		problems = shown.Problems
	}
	if a.json {
		doc := showDocument{Schema: oxpatch.Schema, Command: "show", OK: err == nil, Problems: oxpatch.WireProblems(problems)}
		if err == nil {
			doc.Operation = &shown.Operation
			doc.Patches, doc.Diff = shown.Inputs, shown.Diff
		}
		a.printJSON(doc.wire(req))
		return
	}
	for _, p := range problems {
		a.printProblem(p)
	}
	switch {
	case err != nil:
	case req.Patch:
		if len(shown.Inputs) == 0 {
			a.printProblem(oxpatch.Problem{Severity: oxpatch.SeverityWarning, Message: "operation " + shown.ID + " had no input",
				Hint: "oxpatch show --diff " + shown.ID + " shows what it changed"})
		}
		for i, in := range shown.Inputs {
			if i > 0 && !strings.HasSuffix(string(shown.Inputs[i-1]), "\n") {
				a.write("\n")
			}
			a.write(string(in))
		}
	case req.Diff:
		a.write(string(shown.Diff))
	default:
		a.printOperation(shown.Operation)
	}
}

// printOperation is a head of lines and a line for each file.
func (a *app) printOperation(op oxpatch.Operation) {
	lines := []string{
		"operation " + op.ID,
		"kind:     " + op.Kind + " (" + op.State + ")",
		"time:     " + op.Time.Local().Format("2006-01-02 15:04:05 -0700"),
	}
	for _, field := range []struct{ name, value string }{
		{"reverts", strings.Join(op.Reverts, ", ")}, {"restores", op.Restores}, {"label", op.Label}, {"session", op.Session}, {"turn", op.Turn},
		{"mode", op.Mode}, {"format", op.Format}, {"commit", op.Commit}, {"store", op.Store},
	} {
		if field.value != "" {
			lines = append(lines, fmt.Sprintf("%-9s %s", field.name+":", field.value))
		}
	}
	if op.Tree != nil {
		lines = append(lines, "files:    "+counted(op.Tree.Files, "file")+" of the tree")
	}
	for _, line := range lines {
		a.write(visible(line) + "\n")
	}
	for _, p := range op.Paths {
		a.printFile(oxpatch.FileResult{Path: p.Path, OldPath: p.OldPath, Change: p.Change, Status: oxpatch.StatusApplied})
	}
}

// showDocument is the JSON of show.
type showDocument struct {
	Schema    string
	Command   string
	OK        bool
	Operation *oxpatch.Operation
	Patches   [][]byte
	Diff      []byte
	Problems  []oxpatch.Problem
}

// wire returns what is encoded: the patches and the diff only where they were asked for.
func (d showDocument) wire(req oxpatch.ShowRequest) any {
	w := struct {
		Schema     string             `json:"schema"`
		Command    string             `json:"command"`
		OK         bool               `json:"ok"`
		Operation  *oxpatch.Operation `json:"operation,omitempty"`
		Patches    *[]wireText        `json:"patches,omitempty"`
		Diff       *string            `json:"diff,omitempty"`
		DiffBase64 string             `json:"diff_base64,omitempty"`
		Problems   []oxpatch.Problem  `json:"problems"`
	}{Schema: d.Schema, Command: d.Command, OK: d.OK, Operation: d.Operation, Problems: d.Problems}
	if req.Patch && d.OK {
		patches := []wireText{}
		for _, p := range d.Patches {
			var t wireText
			t.Text, t.TextBase64 = oxpatch.WireText(p)
			patches = append(patches, t)
		}
		w.Patches = &patches
	}
	if req.Diff && d.OK {
		text, twin := oxpatch.WireText(d.Diff)
		w.Diff, w.DiffBase64 = &text, twin
	}
	return w
}

type wireText struct {
	Text       string `json:"text"`
	TextBase64 string `json:"text_base64,omitempty"`
}
