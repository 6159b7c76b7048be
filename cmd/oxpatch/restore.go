package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

func (a *app) restoreCommand() *cobra.Command {
	var req oxpatch.RestoreRequest
	var kept labels
	var wait lockTimeout
	var sync durability
	cmd := &cobra.Command{
		Use:   "restore ID [-- PATH...]",
		Short: "Bring files back to what a checkpoint recorded",
		Long: `Restore brings the files of a checkpoint back to what they were then, or those of any other
operation to what that left behind, whatever they hold now; with paths only those. All of them or
none. It is an operation: undo takes it back.

Files that were not there at the checkpoint stay and are named, unless an operation made them.
What git ignores is left alone by a checkpoint of the tree.`,
		Example: `  oxpatch restore 1m2k --check --diff
  oxpatch restore 1m2k -- src go.mod`,
		RunE: func(_ *cobra.Command, args []string) error {
			a.name, a.check = "restore", req.Check
			if len(args) == 0 {
				return errors.New("name the operation to restore; oxpatch log lists them")
			}
			req.ID, req.Paths = args[0], args[1:]
			req.Session, req.Turn, req.Label = a.sessionOf(kept), kept.turn, kept.label
			opts, err := chosen(&sync)
			if err != nil {
				return err
			}
			return a.withEngine(wait, func(e *oxpatch.Engine) { a.finish(e.Restore(a.ctx, req)) }, opts...)
		},
	}
	wait.flag(cmd.Flags())
	sync.flag(cmd.Flags())
	fl := cmd.Flags()
	fl.BoolVar(&req.Check, "check", false, "say what would be done, change nothing")
	fl.BoolVar(&req.Diff, "diff", false, "print the changes as a unified diff")
	fl.BoolVar(&req.DeleteNew, "delete-new", false, "remove files that were not there then")
	kept.flags(fl)
	return cmd
}
