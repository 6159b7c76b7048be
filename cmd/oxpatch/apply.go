package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/openoxide/oxpatch"
)

// applyFlags are the options of "oxpatch apply".
type applyFlags struct {
	check, diff, partial, strict, reverse bool
	first, skipApplied                    bool
	noStage, noRepair, fetch              bool
	conflict                              string
	inPlace, noSnapshot                   bool
	parse, compat, mode                   string
	format                                string
	session, turn, label                  string
	from                                  string
	wait                                  lockTimeout
	durability                            durability
	maxSnapshot                           maxSnapshot
}

func (a *app) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply [PATCH-FILE | -]...",
		Short: "Apply a patch, all of it or nothing",
		Long: `Apply reads a patch from the files named, or from standard input ("-", or when none is
named), and applies it: every file of it, or none. Several files are one operation.
What it replaces is recorded first; "oxpatch undo" brings it back. With --from an
operation of the log is applied again; with -C, also one of the tree that oxpatch runs in.`,
		Example: `  oxpatch apply fix.patch
  oxpatch apply --check --diff < fix.patch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.name, a.check = "apply", f.check
			if cmd.Flags().Changed("from") {
				return a.applyAgain(cmd, f, args)
			}
			return a.apply(f, args)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.check, "check", false, "say what would be done, change nothing")
	fl.BoolVar(&f.diff, "diff", false, "print the changes as a unified diff")
	fl.BoolVar(&f.partial, "partial", false, "apply the file sections that fit, leave out those that do not")
	fl.BoolVar(&f.first, "first", false, "take the first place where a hunk fits several, with a warning")
	fl.BoolVar(&f.skipApplied, "skip-applied", false, "leave out hunks that are in the file already")
	fl.BoolVar(&f.strict, "strict", false, "refuse guessed places and overwritten files")
	fl.BoolVar(&f.reverse, "reverse", false, "take the patch back, as far as it holds the text for that")
	fl.BoolVar(&f.inPlace, "in-place", false, "write into existing files (keeps inode, owner and hard links)")
	fl.BoolVar(&f.noSnapshot, "no-snapshot", false, "record nothing; the patch cannot be undone")
	fl.StringVar(&f.parse, "parse", "lenient", "what may surround the patch: `lenient or strict`")
	fl.StringVar(&f.compat, "compat", "default", "rules to follow: `default or codex`")
	fl.StringVar(&f.mode, "mode", "auto", "how to place the patch: `auto, text or git`")
	fl.StringVar(&f.conflict, "conflict", "markers", "what to do with conflicts, in git mode: `markers or refuse`")
	fl.BoolVar(&f.noStage, "no-stage", false, "leave git's index as it is, in git mode")
	fl.BoolVar(&f.noRepair, "no-repair", false, "give the diff to git as it is, in git mode")
	fl.BoolVar(&f.fetch, "fetch", false, "let git fetch objects that a partial clone lacks")
	fl.StringVar(&f.format, "format", "auto", "dialect of the patch: `auto, envelope or udiff`")
	f.durability.flag(fl)
	f.maxSnapshot.flag(fl)
	f.wait.flag(fl)
	fl.StringVar(&f.session, "session", "", "keep this session `NAME` in the record (OXPATCH_SESSION)")
	fl.StringVar(&f.turn, "turn", "", "keep this turn `NAME` in the record")
	fl.StringVar(&f.from, "from", "", "apply operation `ID` of the log again")
	fl.StringVar(&f.label, "label", "", "keep this `TEXT` in the record")
	return cmd
}

func (a *app) apply(f applyFlags, args []string) error {
	req, opts, err := a.request(f)
	if err != nil {
		return err
	}
	req.Inputs, err = a.inputs(args)
	var none *noInputError
	if errors.As(err, &none) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		a.code = exitInterrupted
		a.failEarly(oxpatch.Problem{Kind: oxpatch.KindInterrupted, Message: "interrupted while the patch was read; nothing was changed"})
		return nil
	}
	if err != nil {
		a.code = exitUsage
		a.failEarly(oxpatch.Problem{Kind: oxpatch.KindUnreadInput, Message: err.Error(), Hint: "name a file that can be read, or pipe the patch in"})
		return nil
	}
	engine, ok := a.target(opts)
	if !ok {
		return nil
	}
	a.applyTo(engine, req)
	return nil
}

// target opens the engine that a patch is applied with.
func (a *app) target(opts []oxpatch.Option) (*oxpatch.Engine, bool) {
	engine, err := a.open(opts...)
	if err != nil {
		a.code = exitUsage
		a.failEarly(a.openProblem(err, "run it in the folder that the patch is for, or name that with -C"))
	}
	return engine, err == nil
}

func (a *app) applyTo(engine *oxpatch.Engine, req oxpatch.Request) {
	res, err := engine.Apply(a.ctx, req)
	// Codex's words have no place for a forecast or a diff.
	if req.Compat == oxpatch.CompatCodex && !a.json && !req.Check && !req.Diff {
		a.code = codexPrint(res, err, a.streams)
		return
	}
	a.finish(res, err)
}

// request turns the flags into a request; an error is wrong usage.
func (a *app) request(f applyFlags) (oxpatch.Request, []oxpatch.Option, error) {
	req := oxpatch.Request{
		Check: f.check, Diff: f.diff, Partial: f.partial, Strict: f.strict, Reverse: f.reverse,
		First: f.first, SkipApplied: f.skipApplied, NoStage: f.noStage, NoRepair: f.noRepair, Fetch: f.fetch,
		Session: f.session, Turn: f.turn, Label: f.label,
	}
	if req.Session == "" {
		req.Session = a.streams.getenv("OXPATCH_SESSION")
	}
	var err error
	if req.Parse, err = choose("parse", f.parse, map[string]oxpatch.Parse{"lenient": oxpatch.ParseLenient, "strict": oxpatch.ParseStrict}); err != nil {
		return req, nil, err
	}
	if req.Compat, err = choose("compat", f.compat, map[string]oxpatch.Compat{"default": oxpatch.CompatDefault, "codex": oxpatch.CompatCodex}); err != nil {
		return req, nil, err
	}
	if req.Mode, err = choose("mode", f.mode, map[string]oxpatch.Mode{"auto": oxpatch.ModeAuto, "text": oxpatch.ModeText, "git": oxpatch.ModeGit}); err != nil {
		return req, nil, err
	}
	if req.Format, err = choose("format", f.format, map[string]oxpatch.Format{"auto": oxpatch.FormatAuto, "envelope": oxpatch.FormatEnvelope, "udiff": oxpatch.FormatUnified}); err != nil {
		return req, nil, err
	}
	if req.RefuseConflicts, err = choose("conflict", f.conflict, map[string]bool{"markers": false, "refuse": true}); err != nil {
		return req, nil, err
	}
	opts, err := chosen(&f.durability, &f.maxSnapshot, &f.wait)
	if err != nil {
		return req, nil, err
	}
	if f.inPlace {
		opts = append(opts, oxpatch.WithInPlace())
	}
	if f.noSnapshot {
		opts = append(opts, oxpatch.WithoutSnapshot())
	}
	return req, opts, nil
}

// choose returns the value that a flag's word stands for.
func choose[T any](flag, word string, values map[string]T) (T, error) {
	v, ok := values[word]
	if !ok {
		return v, fmt.Errorf("--%s: unknown value %q", flag, word)
	}
	return v, nil
}

// noInputError is a call without a patch from a terminal, where reading would wait in silence.
type noInputError struct{}

func (*noInputError) Error() string {
	return "no patch: name a file, or pipe the patch into standard input"
}

// inputs reads the patches named, or standard input.
func (a *app) inputs(args []string) ([]oxpatch.Input, error) {
	if len(args) == 0 {
		if a.streams.inTerminal {
			return nil, &noInputError{}
		}
		args = []string{"-"}
	}
	var list []oxpatch.Input
	for _, name := range args {
		data, err := interruptible(a.ctx, func() ([]byte, error) { return a.read(name) })
		if err != nil {
			return nil, err
		}
		if name == "-" {
			name = "standard input"
		}
		list = append(list, oxpatch.Input{Name: name, Data: data})
	}
	if len(list) == 1 {
		list[0].Name = ""
	}
	return list, nil
}

// read reads one patch, but no more of it than tells that it is too large.
func (a *app) read(name string) ([]byte, error) {
	if name == "-" {
		return readPatch(a.streams.in)
	}
	if a.dir != "" && !filepath.IsAbs(name) {
		name = filepath.Join(a.dir, name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readPatch(file)
}

func readPatch(r io.Reader) ([]byte, error) {
	return readAll(r, oxpatch.MaxPatch+1)
}
