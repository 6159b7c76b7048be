package main

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/openoxide/oxpatch"
)

// codexMain is the program under the name apply_patch. Arguments, streams and exit codes are those
// of codex-cli 0.171.0; there are no options.
func codexMain(ctx context.Context, args []string, s streams) int {
	var patch []byte
	switch {
	case len(args) > 0 && !utf8.ValidString(args[0]):
		fmt.Fprintln(s.err, "Error: apply_patch requires a UTF-8 PATCH argument.")
		return exitRefused
	case len(args) > 1:
		fmt.Fprintln(s.err, "Error: apply_patch accepts exactly one argument.")
		return exitUsage
	case len(args) == 1:
		patch = []byte(args[0])
	default:
		data, err := interruptible(ctx, func() ([]byte, error) { return readAll(s.in, 0) })
		if ctx.Err() != nil {
			return exitInterrupted // a signal ends Codex there
		}
		if err == nil && !utf8.Valid(data) {
			err = fmt.Errorf("stream did not contain valid UTF-8")
		}
		if err != nil {
			fmt.Fprintf(s.err, "Error: Failed to read PATCH from stdin.\n%v\n", err)
			return exitRefused
		}
		if len(data) == 0 {
			fmt.Fprint(s.err, "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n")
			return exitUsage
		}
		patch = data
	}
	return codexApply(ctx, patch, s)
}

// codexHidden is the form with the hidden first argument; arguments after the patch are ignored.
func codexHidden(ctx context.Context, args []string, s streams) int {
	if len(args) == 0 || !utf8.ValidString(args[0]) {
		fmt.Fprintf(s.err, "Error: %s requires a UTF-8 PATCH argument.\n", codexFlag)
		return exitRefused
	}
	return codexApply(ctx, []byte(args[0]), s)
}

func codexApply(ctx context.Context, patch []byte, s streams) int {
	dir, err := s.getwd()
	var engine *oxpatch.Engine
	if err == nil {
		engine, err = openCodex(dir)
	}
	if err != nil {
		fmt.Fprintf(s.err, "Error: Failed to determine current directory.\n%s\n", codexCause(err))
		return exitRefused
	}
	res, err := engine.Apply(ctx, oxpatch.Request{Patch: patch, Compat: oxpatch.CompatCodex})
	return codexPrint(res, err, s)
}

// codexPrint prints what Codex would and returns its exit code. A summary that cannot be written is
// a failure, though the files are changed.
func codexPrint(res *oxpatch.Result, err error, s streams) int {
	stdout, stderr := res.CodexOutput()
	fmt.Fprint(s.err, stderr)
	if _, writeErr := io.WriteString(s.out, stdout); writeErr != nil || err != nil {
		return exitRefused
	}
	return exitOK
}

// openCodex opens the engine for the folder that Codex would work in.
func openCodex(dir string) (*oxpatch.Engine, error) {
	tool := oxpatch.WithTool("oxpatch " + version + " as apply_patch")
	if engine, err := oxpatch.Open(dir, tool, oxpatch.WithSettings()); err == nil {
		return engine, nil
	}
	// Codex knows no settings, so a bad one is no reason to fail.
	return oxpatch.Open(dir, tool)
}
