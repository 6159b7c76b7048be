package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openoxide/oxpatch"
)

// app is one run of the program.
type app struct {
	ctx     context.Context
	streams streams
	code    int
	// flags that every command has
	dir   string
	json  bool
	quiet bool
	// changed says that the command has changed the tree, unwritten that its output is lost.
	changed, unwritten bool
	// name is the command, for what is said of an error that comes before the command runs; "" where
	// the command line names none.
	name string
	// check says that the command was only to say what it would do.
	check bool
}

// command builds the command line. The commands themselves only set a.code; an error that comes out
// of cobra is wrong usage.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "oxpatch",
		Short:         "Apply patches made by coding agents, and take them back",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs, // so that RunE sees them: cobra answers unknown commands with the help
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return fmt.Errorf("unknown command %q", args[0])
			case a.json:
				return errors.New("no command")
			}
			return cmd.Help()
		},
	}
	root.SetOut(a.streams.out)
	root.SetErr(a.streams.err)
	root.SetIn(a.streams.in)
	root.CompletionOptions.HiddenDefaultCmd = true
	p := root.PersistentFlags()
	p.StringVarP(&a.dir, "directory", "C", "", "work as if started in `DIR`")
	p.BoolVar(&a.json, "json", false, "print one JSON object to standard output, in every outcome")
	p.BoolVarP(&a.quiet, "quiet", "q", false, "print only problems")
	root.AddCommand(a.applyCommand(), a.undoCommand(), a.redoCommand(), a.checkpointCommand(), a.restoreCommand(),
		a.logCommand(), a.showCommand(), a.diffCommand(), a.statusCommand(), a.recoverCommand(), a.pruneCommand(),
		a.forgetCommand(), a.versionCommand())
	return root
}

// open returns the engine for the working folder.
func (a *app) open(opts ...oxpatch.Option) (*oxpatch.Engine, error) {
	dir := a.dir
	if dir == "" {
		wd, err := a.streams.getwd()
		if err != nil {
			return nil, fmt.Errorf("the working folder cannot be found: %w", err)
		}
		dir = wd
	}
	opts = append([]oxpatch.Option{oxpatch.WithTool("oxpatch " + version), oxpatch.WithEnv(a.streams.getenv), oxpatch.WithSettings()}, opts...)
	return oxpatch.Open(dir, opts...)
}

// lockTimeout is the value of the flag --lock-timeout.
type lockTimeout struct {
	d     time.Duration
	flags *pflag.FlagSet
}

func (l *lockTimeout) flag(fl *pflag.FlagSet) {
	l.flags = fl
	fl.DurationVar(&l.d, "lock-timeout", 10*time.Second, "wait `DURATION` for another oxpatch in the same tree; 0 does not wait")
}

func (l *lockTimeout) option() (oxpatch.Option, error) {
	switch {
	case l.flags == nil || !l.flags.Changed("lock-timeout"):
		return nil, nil // as the settings say
	case l.d < 0:
		return nil, fmt.Errorf("--lock-timeout: %v is negative", l.d)
	case l.d == 0:
		return oxpatch.WithLockTimeout(-1), nil // the option's word for one attempt
	}
	return oxpatch.WithLockTimeout(l.d), nil
}

// finish prints a result and sets the exit code.
func (a *app) finish(res *oxpatch.Result, err error) {
	a.code, a.changed = exitCode(res, err), res.Applied
	if a.json {
		a.printJSON(res)
		return
	}
	a.printResult(res)
}

// usageError reports wrong usage, in JSON too where that was asked for.
func (a *app) usageError(err error) int {
	a.failEarly(oxpatch.Problem{Kind: oxpatch.KindUsage, Message: err.Error(), Hint: "see oxpatch " + a.name + helpFlag(a.name)})
	return exitUsage
}

func helpFlag(name string) string {
	if name == "" {
		return "--help"
	}
	return " --help"
}

// failEarly reports what kept a command from running at all.
func (a *app) failEarly(p oxpatch.Problem) {
	p.Severity = oxpatch.SeverityError
	if a.json {
		a.printJSON(a.earlyDocument([]oxpatch.Problem{p}))
		return
	}
	a.printProblem(p)
}

// earlyDocument is the JSON of a command that did not run: of the form that its readers expect, with
// nothing done.
func (a *app) earlyDocument(problems []oxpatch.Problem) any {
	switch a.name {
	case "":
		return document{Schema: oxpatch.Schema, Command: "oxpatch", Problems: problems}
	case "log":
		return logDocument{Schema: oxpatch.Schema, Command: a.name, Operations: []oxpatch.Operation{}, Problems: problems}
	case "prune", "forget":
		return &oxpatch.PruneResult{Command: a.name, Check: a.check, Problems: problems}
	case "diff":
		return diffDocumentOf(&oxpatch.NetDiff{}, false, problems)
	case "apply", "undo", "redo", "recover", "checkpoint", "restore":
		res := &oxpatch.Result{Command: a.name, Exact: true, Problems: problems}
		if a.check {
			res.Command = "check"
		}
		return res
	}
	return document{Schema: oxpatch.Schema, Command: a.name, Problems: problems}
}

// document is the JSON of a command that has no result of an operation.
type document struct {
	Schema   string            `json:"schema"`
	Command  string            `json:"command"`
	OK       bool              `json:"ok"`
	Version  string            `json:"version,omitempty"`
	Problems []oxpatch.Problem `json:"problems"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			if a.json {
				a.printJSON(document{Schema: oxpatch.Schema, Command: "version", OK: true, Version: version, Problems: []oxpatch.Problem{}})
				return
			}
			a.write("oxpatch " + version + "\n")
		},
	}
}
