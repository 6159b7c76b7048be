package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
)

// version is set by the linker.
var version = "dev"

// Exit codes. They are a promise to users; the README has the table.
const (
	exitOK          = 0   // all done, or all of it was there already
	exitRefused     = 1   // nothing was changed
	exitUsage       = 2   // wrong usage, no input, input that cannot be read
	exitPartial     = 3   // changed, but not all that was asked
	exitUnrestored  = 4   // a write failed and could not be rolled back
	exitBusy        = 5   // another operation holds the lock
	exitInterrupted = 130 // interrupted and rolled back
)

// codexFlag is the hidden first argument by which Codex calls its applier where links cannot be
// made.
const codexFlag = "--codex-run-as-apply-patch"

// run is the program. args[0] is the name it was called by.
func run(ctx context.Context, args []string, s streams) int {
	if calledAsApplyPatch(args[0]) {
		return codexMain(ctx, args[1:], s)
	}
	if len(args) > 1 && args[1] == codexFlag {
		return codexHidden(ctx, args[2:], s)
	}
	a := &app{ctx: ctx, streams: s}
	cmd := a.command()
	cmd.SetArgs(args[1:])
	ran, err := cmd.ExecuteContextC(ctx)
	if err != nil {
		if ran != cmd {
			a.name = ran.Name()
		}
		a.json = a.json || asksForJSON(args[1:])
		return a.usageError(err)
	}
	return a.code
}

// asksForJSON looks for the flag in a command line that could not be parsed to its end.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// calledAsApplyPatch reports whether the program was called by one of the names of Codex's
// command, in any case and with or without ".exe".
func calledAsApplyPatch(arg0 string) bool {
	name := strings.ToLower(filepath.Base(arg0))
	name = strings.TrimSuffix(name, ".exe")
	return name == "apply_patch" || name == "applypatch"
}

// exitCode maps what an operation came to to the program's exit code.
func exitCode(res *oxpatch.Result, err error) int {
	switch {
	case err == nil && res.OK:
		return exitOK
	case errors.Is(err, oxpatch.ErrRollback):
		return exitUnrestored
	case errors.Is(err, oxpatch.ErrBusy):
		return exitBusy
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case res.Applied, wouldApply(res):
		return exitPartial
	case hasKind(res, oxpatch.KindUsage, oxpatch.KindUnreadInput):
		return exitUsage
	}
	return exitRefused
}

// wouldApply reports whether a check foresees a change; it exits as the run would.
func wouldApply(res *oxpatch.Result) bool {
	return res.Command == "check" && slices.ContainsFunc(res.Files, func(f oxpatch.FileResult) bool {
		return f.Status == oxpatch.StatusApplied && !f.Unchanged || f.Status == oxpatch.StatusConflicted
	})
}

func hasKind(res *oxpatch.Result, kinds ...oxpatch.Kind) bool {
	for _, p := range res.Problems {
		for _, k := range kinds {
			if p.Severity == oxpatch.SeverityError && p.Kind == k {
				return true
			}
		}
	}
	return false
}
