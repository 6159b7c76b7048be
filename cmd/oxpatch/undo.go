package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openoxide/oxpatch"
)

func (a *app) undoCommand() *cobra.Command {
	var req oxpatch.UndoRequest
	var how reverseFlags
	cmd := &cobra.Command{
		Use:   "undo [ID…] [-- PATH…]",
		Short: "Take operations back",
		Long: `Undo brings every file of the newest operation that is not undone back to what it was
before: content, mode, links, also of untracked and ignored files. An operation can be
named by its id, by the beginning of one, as @ (the newest in the log) or @~2 (the second
before that); several are taken back as one. After -- come the files and folders to which
the undo is restricted.

It is refused where a file was changed since, by a later operation or by somebody else:
--merge keeps such changes, --force overwrites them. An undo is an operation too, so
whatever it did can be undone itself, or with oxpatch redo.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.name, a.check = "undo", how.check
			req.IDs, req.Paths = idsAndPaths(cmd, args)
			if err := how.validate(cmd); err != nil {
				return err
			}
			req.Merge, req.Markers, req.Force, req.Check, req.Diff = how.merge, how.markers, how.force, how.check, how.diff
			if err := errors.Join(atLeastOne(cmd, "count", req.Count), notEmpty(cmd, "to", "session", "turn")); err != nil {
				return err
			}
			opts, err := chosen(&how.durability)
			if err != nil {
				return err
			}
			return a.withEngine(how.wait, func(e *oxpatch.Engine) { a.finish(e.Undo(a.ctx, req)) }, opts...)
		},
	}
	fl := cmd.Flags()
	how.flags(fl)
	fl.IntVarP(&req.Count, "count", "n", 0, "take back the newest `N` operations")
	fl.StringVar(&req.To, "to", "", "take back everything after operation `ID`")
	fl.StringVar(&req.Session, "session", "", "take back what session `NAME` did")
	fl.StringVar(&req.Turn, "turn", "", "take back what turn `NAME` did")
	cmd.MarkFlagsMutuallyExclusive("count", "to")
	return cmd
}

func (a *app) redoCommand() *cobra.Command {
	var req oxpatch.RedoRequest
	var how reverseFlags
	cmd := &cobra.Command{
		Use:   "redo [ID…] [-- PATH…]",
		Short: "Take undos back",
		Long: `Redo takes back the newest undo, so that what it had undone stands again. Redo after redo
walks forward as undo after undo walks back, as in an editor. A new apply ends that, but
never loses anything: the undo, or the operation that it undid, can be named.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.name, a.check = "redo", how.check
			req.IDs, req.Paths = idsAndPaths(cmd, args)
			if err := how.validate(cmd); err != nil {
				return err
			}
			req.Merge, req.Markers, req.Force, req.Check, req.Diff = how.merge, how.markers, how.force, how.check, how.diff
			if err := atLeastOne(cmd, "count", req.Count); err != nil {
				return err
			}
			opts, err := chosen(&how.durability)
			if err != nil {
				return err
			}
			return a.withEngine(how.wait, func(e *oxpatch.Engine) { a.finish(e.Redo(a.ctx, req)) }, opts...)
		},
	}
	how.flags(cmd.Flags())
	cmd.Flags().IntVarP(&req.Count, "count", "n", 0, "take back the newest `N` undos")
	return cmd
}

// reverseFlags are what undo and redo have in common.
type reverseFlags struct {
	merge, markers, force, check, diff bool
	conflict                           string
	wait                               lockTimeout
	durability                         durability
}

func (f *reverseFlags) flags(fl *pflag.FlagSet) {
	f.wait.flag(fl)
	f.durability.flag(fl)
	fl.BoolVar(&f.check, "check", false, "say what would be done, change nothing")
	fl.BoolVar(&f.diff, "diff", false, "print the changes as a unified diff")
	fl.BoolVar(&f.merge, "merge", false, "keep what was changed since, by a three-way merge")
	fl.BoolVar(&f.force, "force", false, "bring back what was before, whatever was changed since")
	fl.StringVar(&f.conflict, "conflict", "refuse", "what to do where a merge has conflicts: refuse, or write `markers` into the file")
}

// validate refuses flags that contradict each other.
func (f *reverseFlags) validate(cmd *cobra.Command) error {
	switch {
	case f.conflict == "markers" && f.merge:
		f.markers = true
	case f.conflict != "refuse" && f.conflict != "markers":
		return fmt.Errorf("--conflict: %q is neither refuse nor markers", f.conflict)
	case cmd.Flags().Changed("conflict") && !f.merge:
		return errors.New("--conflict is for --merge")
	}
	if f.merge && f.force {
		return errors.New("either --merge or --force, not both")
	}
	return nil
}

// idsAndPaths divides arguments at "--": ids before it, paths after it.
func idsAndPaths(cmd *cobra.Command, args []string) (ids, paths []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

// atLeastOne refuses a count that was given and is none.
func atLeastOne(cmd *cobra.Command, name string, n int) error {
	if n < 1 && cmd.Flags().Changed(name) {
		return fmt.Errorf("--%s: %d is less than 1", name, n)
	}
	return nil
}

// notEmpty refuses text options that were given and are empty, as by a variable that is not set: without
// the option a command would do something else than what was meant.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	return nil
}

func (a *app) recoverCommand() *cobra.Command {
	var req oxpatch.RecoverRequest
	var wait lockTimeout
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Settle operations that were interrupted",
		Long: `Recover finishes or takes back operations whose process was killed. Every command does
that by itself; recover is for files that were changed since, where somebody has to
decide.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.name = "recover"
			return a.withEngine(wait, func(e *oxpatch.Engine) { a.finish(e.Recover(a.ctx, req)) })
		},
	}
	wait.flag(cmd.Flags())
	cmd.Flags().BoolVar(&req.Keep, "keep", false, "leave such files as they are now")
	cmd.Flags().BoolVar(&req.Rollback, "rollback", false, "bring back what was there before the operation")
	cmd.MarkFlagsMutuallyExclusive("keep", "rollback")
	return cmd
}

// withEngine runs a command that takes the lock; an error is wrong usage.
func (a *app) withEngine(wait lockTimeout, run func(*oxpatch.Engine), opts ...oxpatch.Option) error {
	opt, err := wait.option()
	if err != nil {
		return err
	}
	if engine, ok := a.engine(append(opts, opt)...); ok {
		run(engine)
	}
	return nil
}

// engine opens the engine, or reports why that is not possible.
func (a *app) engine(opts ...oxpatch.Option) (*oxpatch.Engine, bool) {
	engine, err := a.open(opts...)
	if err != nil {
		a.code = exitUsage
		a.failEarly(a.openProblem(err, "run it in the working tree, or name that with -C"))
		return nil, false
	}
	return engine, true
}
