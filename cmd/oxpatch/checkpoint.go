package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openoxide/oxpatch"
)

// labels are the flags for what is kept in a record beside the files.
type labels struct{ session, turn, label string }

func (l *labels) flags(fl *pflag.FlagSet) {
	fl.StringVar(&l.session, "session", "", "keep this session `NAME` in the record (OXPATCH_SESSION)")
	fl.StringVar(&l.turn, "turn", "", "keep this turn `NAME` in the record")
	fl.StringVar(&l.label, "label", "", "keep this `TEXT` in the record")
}

func (a *app) sessionOf(l labels) string {
	if l.session == "" {
		return a.streams.getenv("OXPATCH_SESSION")
	}
	return l.session
}

func (a *app) checkpointCommand() *cobra.Command {
	var req oxpatch.CheckpointRequest
	var kept labels
	var wait lockTimeout
	var sync durability
	var most maxSnapshot
	cmd := &cobra.Command{
		Use:   "checkpoint {PATH... | --tree}",
		Short: "Record files as they are now, for restore",
		Long: `Checkpoint records files as they are now, before something other than oxpatch changes them;
"oxpatch restore ID" brings them back. It writes nothing in the tree.

A folder stands for all files in it, ignored ones too. A path at which nothing is gets recorded
as that, so that restore removes what is made there. With --tree it is all files that git tracks
and all others that it does not ignore, at the cost of a look at each and of reading those that
changed since the last time.`,
		Example: `  oxpatch checkpoint go.mod go.sum vendor
  oxpatch checkpoint --tree --label "before the codemod"`,
		RunE: func(_ *cobra.Command, args []string) error {
			a.name = "checkpoint"
			switch {
			case len(args) == 0 && !req.Tree:
				return errors.New("name the files and folders to record, or say --tree for all files that git does not ignore")
			case len(args) > 0 && req.Tree:
				return errors.New("either paths or --tree: the tree has all files that git does not ignore")
			}
			switch {
			case req.MaxFiles < 0:
				return fmt.Errorf("--max-files: %d is less than 1", req.MaxFiles)
			case req.MaxTime < 0:
				return fmt.Errorf("--max-time: %v is negative", req.MaxTime)
			}
			req.Paths, req.Session, req.Turn, req.Label = args, a.sessionOf(kept), kept.turn, kept.label
			opts, err := chosen(&sync, &most)
			if err != nil {
				return err
			}
			return a.withEngine(wait, func(e *oxpatch.Engine) { a.finish(e.Checkpoint(a.ctx, req)) }, opts...)
		},
	}
	wait.flag(cmd.Flags())
	sync.flag(cmd.Flags())
	most.flag(cmd.Flags())
	cmd.Flags().BoolVar(&req.Tree, "tree", false, "record all files that git does not ignore")
	cmd.Flags().IntVar(&req.MaxFiles, "max-files", 0, fmt.Sprintf("refuse more than `N` files (%d; %d with --tree)", oxpatch.DefaultCheckpointPaths, oxpatch.DefaultCheckpointFiles))
	cmd.Flags().DurationVar(&req.MaxTime, "max-time", 0, fmt.Sprintf("give up after `DURATION` (%v)", oxpatch.DefaultCheckpointTime))
	kept.flags(cmd.Flags())
	return cmd
}

// recorded says what a checkpoint holds and how to get it back.
func recorded(res *oxpatch.Result) string {
	what, absent := "", []string{}
	if res.Tree != nil {
		what = counted(res.Tree.Files, "file") + " of the tree"
	} else {
		for _, f := range res.Files {
			if f.Change == "absent" {
				absent = append(absent, f.Path)
			}
		}
		what = counted(len(res.Files)-len(absent), "file")
	}
	line := fmt.Sprintf("checkpoint %s: %s; bring it back with: oxpatch restore %s", res.ID, what, res.ID)
	if len(absent) == 0 {
		return line
	}
	const most = 5
	more := ""
	if len(absent) > most {
		more = fmt.Sprintf(" and %d more", len(absent)-most)
		absent = absent[:most]
	}
	return line + "\n" + visible("nothing is there now, and restore sees to it again: "+strings.Join(absent, ", ")) + more
}
