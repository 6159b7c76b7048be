package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

// applyAgain applies an operation of the log again.
func (a *app) applyAgain(cmd *cobra.Command, f applyFlags, args []string) error {
	switch {
	case len(args) > 0:
		return errors.New("--from takes the patch from the log, so no file can be named")
	case f.from == "":
		return errors.New("--from: the id is empty")
	}
	for _, flag := range []string{"format", "parse", "compat"} {
		if cmd.Flags().Changed(flag) {
			return errors.New("--" + flag + " is as it was when the operation was applied, with --from")
		}
	}
	asked, opts, err := a.request(f)
	if err != nil {
		return err
	}
	engine, ok := a.target(opts)
	if !ok {
		return nil
	}
	shown, err := a.fromLog(engine, f.from)
	if err != nil {
		a.code = exitRefused
		a.failEarly(oxpatch.ProblemOf(err))
		return nil
	}
	a.applyTo(engine, again(cmd, shown.Request(engine), asked))
	return nil
}

// fromLog finds the operation in the log of the tree that it is applied to, or of the one that the
// program runs in.
func (a *app) fromLog(engine *oxpatch.Engine, id string) (*oxpatch.Shown, error) {
	req := oxpatch.ShowRequest{ID: id, Patch: true, Diff: true}
	shown, err := engine.Show(a.ctx, req)
	if err == nil || a.dir == "" || !errors.Is(err, oxpatch.ErrUnknownOperation) {
		return shown, err
	}
	here := &app{ctx: a.ctx, streams: a.streams}
	other, openErr := here.open()
	if openErr != nil {
		return nil, err
	}
	return other.Show(a.ctx, req)
}

// again joins what an operation was asked with and what is asked now.
func again(cmd *cobra.Command, req, asked oxpatch.Request) oxpatch.Request {
	req.Check, req.Diff, req.Strict, req.Fetch = asked.Check, asked.Diff, asked.Strict, asked.Fetch
	req.Session, req.Turn = asked.Session, asked.Turn
	req.Partial = req.Partial || asked.Partial
	req.First = req.First || asked.First
	req.SkipApplied = req.SkipApplied || asked.SkipApplied
	req.NoStage = req.NoStage || asked.NoStage
	req.NoRepair = req.NoRepair || asked.NoRepair
	req.Reverse = req.Reverse != asked.Reverse
	if asked.Label != "" {
		req.Label = asked.Label
	}
	if cmd.Flags().Changed("mode") {
		req.Mode = asked.Mode
	}
	if cmd.Flags().Changed("conflict") {
		req.RefuseConflicts = asked.RefuseConflicts
	}
	return req
}
