package main

import (
	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) undoCommand() *cobra.Command {
	var req oxpatch.UndoRequest
	var wait lockTimeout
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Take the newest operation back",
		Long: `Undo brings every file of the newest operation that is not undone back to what it was
before: content, mode, links, also of untracked and ignored files. It is refused where
a file was changed since. An undo is an operation too.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.name, a.check = "undo", req.Check
			return a.withEngine(wait, func(e *oxpatch.Engine) { a.finish(e.Undo(a.ctx, req)) })
		},
	}
	wait.flag(cmd.Flags())
	cmd.Flags().BoolVar(&req.Check, "check", false, "say what would be done, change nothing")
	cmd.Flags().BoolVar(&req.Diff, "diff", false, "print the changes as a unified diff")
	return cmd
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
func (a *app) withEngine(wait lockTimeout, run func(*oxpatch.Engine)) error {
	opt, err := wait.option()
	if err != nil {
		return err
	}
	if engine, ok := a.engine(opt); ok {
		run(engine)
	}
	return nil
}

// engine opens the engine, or reports why that is not possible.
func (a *app) engine(opts ...oxpatch.Option) (*oxpatch.Engine, bool) {
	engine, err := a.open(opts...)
	if err != nil {
		a.code = exitUsage
		a.failEarly(oxpatch.Problem{Kind: oxpatch.KindUsage, Message: err.Error(), Hint: "run it in the working tree, or name that with -C"})
		return nil, false
	}
	return engine, true
}
