package main

import (
	"errors"
	"fmt"

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
	shown, problem := a.fromLog(engine, f.from)
	if problem != nil {
		a.code = exitRefused
		a.failEarly(*problem)
		return nil
	}
	a.applyTo(engine, again(cmd, shown.Request(engine), asked))
	return nil
}

// fromLog finds the operation in the log of the tree that it is applied to, or of the one that the
// program runs in. What names one operation here and another one there is refused.
func (a *app) fromLog(engine *oxpatch.Engine, id string) (*oxpatch.Shown, *oxpatch.Problem) {
	req := oxpatch.ShowRequest{ID: id, Patch: true, Diff: true}
	shown, err := engine.Show(a.ctx, req)
	if other, ok := a.elsewhere(engine, req); ok {
		switch {
		case errors.Is(err, oxpatch.ErrUnknownOperation):
			shown, err = other, nil
		case err == nil && other.ID != shown.ID:
			return nil, &oxpatch.Problem{Severity: oxpatch.SeverityError, Kind: oxpatch.KindUnknownOperation,
				Message: fmt.Sprintf("%s is operation %s here and operation %s in %s", id, other.ID, shown.ID, a.dir),
				Hint:    "name it by its id"}
		}
	}
	if err != nil {
		p := oxpatch.ProblemOf(err)
		return nil, &p
	}
	if len(shown.Inputs) == 0 && len(shown.Diff) == 0 {
		p := oxpatch.Problem{Severity: oxpatch.SeverityError, Kind: oxpatch.KindNothingToDo,
			Message: "operation " + shown.ID + " changed nothing that a patch could hold", Hint: "oxpatch log lists the operations"}
		if shown.Kind == "checkpoint" {
			p.Message, p.Hint = "operation "+shown.ID+" is a checkpoint, which changed nothing", "oxpatch restore "+shown.ID+" goes back to it"
		}
		return nil, &p
	}
	return shown, nil
}

// elsewhere finds the operation in the log of the tree that the program runs in, if that is another one.
func (a *app) elsewhere(engine *oxpatch.Engine, req oxpatch.ShowRequest) (*oxpatch.Shown, bool) {
	if a.dir == "" {
		return nil, false
	}
	here := &app{ctx: a.ctx, streams: a.streams}
	other, err := here.open()
	if err != nil || other.Root() == engine.Root() {
		return nil, false
	}
	shown, err := other.Show(a.ctx, req)
	return shown, err == nil
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
