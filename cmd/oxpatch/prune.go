package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openoxide/oxpatch"
)

func (a *app) pruneCommand() *cobra.Command {
	var req oxpatch.PruneRequest
	var keep keepLimits
	var wait lockTimeout
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Drop old operations and free their space",
		Long: `Prune drops the operations that are past the limits on number, age and size, and frees
what only they needed. The newest ten of each tree stay in any case. Operations do this
by themselves once a limit is passed by some. The limits are settings too:
oxpatch.keepOperations, oxpatch.keepDays and oxpatch.keepBytes in git's configuration.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.name, a.check = "prune", req.Check
			opts, err := keep.options()
			if err != nil {
				return err
			}
			return a.withEngine(wait, func(e *oxpatch.Engine) { a.finishPrune(e.Prune(a.ctx, req)) }, opts...)
		},
	}
	wait.flag(cmd.Flags())
	keep.flag(cmd.Flags())
	cmd.Flags().BoolVar(&req.Check, "check", false, "say what would be done, change nothing")
	return cmd
}

// keepLimits are the values of --keep, --keep-days and --keep-bytes.
type keepLimits struct {
	operations, days uint32
	bytes            string
	flags            *pflag.FlagSet
}

func (k *keepLimits) flag(fl *pflag.FlagSet) {
	k.flags = fl
	fl.Uint32Var(&k.operations, "keep", 200, "keep the newest `N` operations of a tree")
	fl.Uint32Var(&k.days, "keep-days", 30, "keep the operations of the last `DAYS`")
	fl.StringVar(&k.bytes, "keep-bytes", "512M", "keep what fits into a store of this `SIZE`")
}

// options returns the limits that are given; an error is wrong usage.
func (k *keepLimits) options() ([]oxpatch.Option, error) {
	var opts []oxpatch.Option
	if k.flags.Changed("keep") {
		opts = append(opts, oxpatch.WithKeepOperations(int(k.operations)))
	}
	if k.flags.Changed("keep-days") {
		age, ok := oxpatch.ParseDays(strconv.FormatUint(uint64(k.days), 10))
		if !ok {
			return nil, fmt.Errorf("--keep-days: %d is too many", k.days)
		}
		opts = append(opts, oxpatch.WithKeepAge(age))
	}
	if k.flags.Changed("keep-bytes") {
		n, err := size("keep-bytes", k.bytes)
		if err != nil {
			return nil, err
		}
		opts = append(opts, oxpatch.WithKeepBytes(n))
	}
	return opts, nil
}

func (a *app) forgetCommand() *cobra.Command {
	var req oxpatch.ForgetRequest
	var wait lockTimeout
	cmd := &cobra.Command{
		Use:   "forget ID... | --all",
		Short: "Drop operations for good, with all that their records hold",
		Long: `Forget drops operations from the history and erases what their records hold, so that a
secret that a patch or a file held is in no record any more. They can no longer be undone.
Files in the tree are not touched.`,
		RunE: func(_ *cobra.Command, args []string) error {
			a.name, a.check = "forget", req.Check
			req.IDs = args
			switch {
			case req.All && len(args) > 0:
				return errors.New("either ids or --all")
			case !req.All && len(args) == 0:
				return errors.New("no operation is named")
			}
			return a.withEngine(wait, func(e *oxpatch.Engine) { a.finishPrune(e.Forget(a.ctx, req)) })
		},
	}
	wait.flag(cmd.Flags())
	cmd.Flags().BoolVar(&req.Check, "check", false, "say what would be done, change nothing")
	cmd.Flags().BoolVar(&req.All, "all", false, "all operations on this tree")
	return cmd
}

// finishPrune prints what a prune or a forget did and sets the exit code.
func (a *app) finishPrune(res *oxpatch.PruneResult, err error) {
	a.code = pruneCode(res, err)
	if a.json {
		a.printJSON(res)
		return
	}
	for _, p := range res.Problems {
		if p.Severity == oxpatch.SeverityError || !a.quiet {
			a.printProblem(p)
		}
	}
	if a.quiet || !res.OK {
		return
	}
	for _, s := range res.Stores {
		a.write(visible(prunedLine(res, s)) + "\n")
	}
	for i, s := range res.Shared {
		const most = 20
		if i == most {
			a.write(fmt.Sprintf("and so do %d more contents; --json names them\n", len(res.Shared)-i))
			break
		}
		a.write(visible(sharedLine(s)) + "\n")
	}
	switch {
	case len(res.Stores) == 0:
		a.write("there is no history\n")
	case res.Check:
		a.write("nothing was changed: this is what would be done\n")
	}
}

// prunedLine is one store: how many operations went and what the store's size was and is.
func prunedLine(res *oxpatch.PruneResult, s oxpatch.PrunedStore) string {
	line := fmt.Sprintf("%s: %s dropped, %s -> ", s.Path, counted(len(s.Operations), "operation"), oxpatch.FormatSize(s.Before))
	if res.Check {
		line += "about "
	}
	line += oxpatch.FormatSize(s.After)
	if n := len(s.Operations); n > 0 && n <= 5 {
		line += "  (" + strings.Join(s.Operations, ", ") + ")"
	}
	return line
}

// sharedLine says which operation keeps a content in the store.
func sharedLine(s oxpatch.SharedContent) string {
	of := ""
	if s.Root != "" {
		of = " in " + s.Root
	}
	return fmt.Sprintf("operation %s: a content of %s stays, for operation %s%s has it too", s.Operation, s.Path, s.With, of)
}

// pruneCode maps what a prune or a forget came to to the exit code. One that failed midway has changed
// something.
func pruneCode(res *oxpatch.PruneResult, err error) int {
	dropped := slices.ContainsFunc(res.Stores, func(s oxpatch.PrunedStore) bool { return len(s.Operations) > 0 })
	if err != nil && dropped && !res.Check && !errors.Is(err, context.Canceled) {
		return exitPartial
	}
	return exitCode(&oxpatch.Result{Command: res.Command, OK: res.OK, Problems: res.Problems}, err)
}
