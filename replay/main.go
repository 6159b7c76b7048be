// Command replay measures whether edits land in the right place. It takes real commits of a git
// repository, writes each as one patch, applies the patch to the files of the parent commit and
// compares the bytes with those of the commit.
//
//	go run ./replay [-mode envelope|text|git] [-repo folder] [-n commits] [-seed number] [-context 3,1]
//	    [-scope 0,1] [-perturb none,space,indent,typo] [-compat default,codex]
//	    [-drift none,apart,overlap] [-v] [-keep folder]
//
// The mode says what the patch is:
//
//   - envelope: an envelope as a language model would write it: context, but no line numbers.
//   - text: git's own diff, placed by content in a plain folder.
//   - git: git's own diff with all that it can hold (binary contents, links, submodules), applied
//     in git mode inside a repository. A second copy of that repository gets a bare
//     "git apply --3way".
//
// Every combination of the lists is a row of the table it prints:
//
//   - context is the number of context lines; hunks that touch are one, as in a unified diff.
//   - drift is what has happened to the files since the parent commit: none is nothing; apart
//     changes, adds and drops lines outside of the hunks; overlap, in git mode only, does so
//     anywhere, and lets files that the patch adds be there already. What is in a repository is
//     committed.
//   - scope 1 puts git's own hunk heading, cut short where git cuts it, behind the "@@".
//   - perturb spells the old side as models do: space adds or drops trailing blanks of context and
//     removed lines, indent takes the common indentation off all lines of a hunk, typo swaps ASCII
//     and typographic quotes and dashes in context and removed lines.
//   - compat is the set of rules: default, or codex as codex-cli has them.
//
// scope, perturb and compat are for envelopes, drift is for diffs.
//
// A commit is right if all files have the wanted bytes; "line ends" if they differ in terminators
// only; refused if nothing was done (by codex: if not all was); guessed if an edit went elsewhere
// and a warning says that its place was guessed; wrong if an edit went elsewhere without a word.
// Hunks are counted by applying each file of a commit that is not right alone; "held" are hunks
// that were not to blame when their file was refused.
//
// In git mode the verdict is what the direct run did (right for applied, conflicts, refused) as long
// as both runs leave the same files, execute bits, links and index lines, the result names the same
// conflicts, and undo brings back files and index; all else is wrong.
//
// Files that an envelope cannot express are left out and counted: binary files, links, submodules,
// files over 1 MiB, changes of mode, of the final newline, of line ends or of a byte-order mark,
// text that is not UTF-8. An addition that no context line would anchor keeps one. Of a diff in text
// mode these are binary files, links, submodules, files over 1 MiB and changes of line ends; in git
// mode only files over 1 MiB.
//
// The repository is only read. The same seed takes the same commits, spellings and drift. The exit
// status is 1 if an edit was wrong under the default rules, or if the run failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch"
)

func main() {
	pinGit()
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	repo     string
	commits  int
	seed     uint64
	mode     mode
	settings []setting
	verbose  bool
	keep     string // folder for what went wrong or was refused, "" for none
}

// mode says what patches are made and how they are applied.
type mode string

const (
	modeEnvelope mode = "envelope"
	modeText     mode = "text"
	modeGit      mode = "git"
)

// setting is one way of writing and applying the patches: a row of the table.
type setting struct {
	mode    mode
	context int
	drift   drift
	scope   bool
	perturb perturbation
	compat  oxpatch.Compat
}

func (s setting) rules() string {
	if s.compat == oxpatch.CompatDefault {
		return "default"
	}
	return string(s.compat)
}

// String names the setting in lines and file names: "default-context3-scope-typo",
// "git-context3-apart".
func (s setting) String() string {
	if s.mode != modeEnvelope {
		return fmt.Sprintf("%s-context%d-%s", s.mode, s.context, s.drift)
	}
	name := fmt.Sprintf("%s-context%d", s.rules(), s.context)
	if s.scope {
		name += "-scope"
	}
	return name + "-" + string(s.perturb)
}

var errWrong = errors.New("edits went to the wrong place without a warning")

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	report, err := replay(ctx, o, out)
	if err != nil {
		return err
	}
	report.print(out)
	for _, t := range report.tallies {
		if t.setting.compat == oxpatch.CompatDefault && t.commits[wrong] > 0 {
			return errWrong
		}
	}
	return nil
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.StringVar(&o.repo, "repo", ".", "the git repository")
	flags.IntVar(&o.commits, "n", 200, "how many commits")
	flags.Uint64Var(&o.seed, "seed", 1, "chooses commits and spellings")
	contexts := flags.String("context", "3", "numbers of context lines")
	scopes := flags.String("scope", "0", "1 for hunk headings, 0 for none")
	perturbs := flags.String("perturb", "none", "spellings of the old side: none, space, indent, typo")
	compats := flags.String("compat", "", "rules: default, codex; both for envelopes if nothing is said")
	drifts := flags.String("drift", "none", "what happened to the files: none, apart, overlap")
	flags.StringVar((*string)(&o.mode), "mode", string(modeEnvelope), "envelope, or text or git for diffs")
	flags.BoolVar(&o.verbose, "v", false, "name every commit and hunk that is not right")
	flags.StringVar(&o.keep, "keep", "", "folder to keep patch and files of what is not right in")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.commits < 1 {
		return o, errors.New("usage: replay [flags], with at least one commit; see -help")
	}
	switch o.mode {
	case modeEnvelope:
		if *drifts != string(driftNone) {
			return o, errors.New("-drift: for -mode text and -mode git")
		}
		if *compats == "" {
			*compats = "default,codex"
		}
		return o, o.combine(*contexts, *scopes, *perturbs, *compats)
	case modeText, modeGit:
		if *scopes != "0" || *perturbs != string(perturbNone) || *compats != "" && *compats != "default" {
			return o, errors.New("-scope, -perturb, -compat: for -mode envelope")
		}
		return o, o.combineDrifts(*contexts, *drifts)
	}
	return o, fmt.Errorf("-mode: unknown mode %q", string(o.mode))
}

// combineDrifts is combine for diffs.
func (o *options) combineDrifts(contexts, drifts string) error {
	for _, c := range strings.Split(contexts, ",") {
		n, err := contextLines(c)
		if err != nil {
			return err
		}
		for _, d := range strings.Split(drifts, ",") {
			if !drift(d).known(o.mode) {
				return fmt.Errorf("-drift: %q is not known in mode %s", d, o.mode)
			}
			o.settings = append(o.settings, setting{mode: o.mode, context: n, drift: drift(d)})
		}
	}
	return nil
}

func contextLines(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("-context: %q is not a number of lines", s)
	}
	return n, nil
}

// combine makes a setting of every combination of the lists.
func (o *options) combine(contexts, scopes, perturbs, compats string) error {
	for _, c := range strings.Split(contexts, ",") {
		n, err := contextLines(c)
		if err != nil {
			return err
		}
		for _, s := range strings.Split(scopes, ",") {
			scope, err := strconv.ParseBool(s)
			if err != nil {
				return fmt.Errorf("-scope: %q is neither 0 nor 1", s)
			}
			for _, p := range strings.Split(perturbs, ",") {
				if !perturbation(p).known() {
					return fmt.Errorf("-perturb: unknown spelling %q", p)
				}
				for _, r := range strings.Split(compats, ",") {
					compat := oxpatch.Compat(r)
					switch r {
					case "default":
						compat = oxpatch.CompatDefault
					case string(oxpatch.CompatCodex):
					default:
						return fmt.Errorf("-compat: unknown rules %q", r)
					}
					o.settings = append(o.settings, setting{mode: modeEnvelope, context: n, scope: scope, perturb: perturbation(p), compat: compat})
				}
			}
		}
	}
	return nil
}
