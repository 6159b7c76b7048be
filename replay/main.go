// Command replay measures whether edits land in the right place. It takes real commits of a git
// repository, writes each as one envelope patch the way a language model would (context, but no
// line numbers), applies the patch to the files of the parent commit and compares the bytes with
// those of the commit.
//
//	go run ./replay [-repo folder] [-n commits] [-seed number] [-context 3,1] [-scope 0,1]
//	    [-perturb none,space,indent,typo] [-compat default,codex] [-v] [-keep folder]
//
// Every combination of the lists is a row of the table it prints:
//
//   - context is the number of context lines; hunks that touch are one, as in a unified diff.
//   - scope 1 puts git's own hunk heading, cut short where git cuts it, behind the "@@".
//   - perturb spells the old side as models do: space adds or drops trailing blanks of context and
//     removed lines, indent takes the common indentation off all lines of a hunk, typo swaps ASCII
//     and typographic quotes and dashes in context and removed lines.
//   - compat is the set of rules: default, or codex as codex-cli has them.
//
// A commit is right if all files have the wanted bytes; "line ends" if they differ in terminators
// only; refused if nothing was done (by codex: if not all was); guessed if an edit went elsewhere
// and a warning says that its place was guessed; wrong if an edit went elsewhere without a word.
// Hunks are counted by applying each file of a commit that is not right alone; "held" are hunks
// that were not to blame when their file was refused.
//
// Files that a patch of text cannot express are left out and counted: binary files, links,
// submodules, files over 1 MiB, changes of mode, of the final newline, of line ends or of a
// byte-order mark, text that is not UTF-8. An addition that no context line would anchor keeps one.
//
// The repository is only read. The same seed takes the same commits and the same spellings. The
// exit status is 1 if an edit was wrong under the default rules, or if the run failed.
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
	settings []setting
	verbose  bool
	keep     string // folder for what went wrong or was refused, "" for none
}

// setting is one way of writing and applying the patches: a row of the table.
type setting struct {
	context int
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

// String names the setting in lines and file names: "default-context3-scope-typo".
func (s setting) String() string {
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
	compats := flags.String("compat", "default,codex", "rules: default, codex")
	flags.BoolVar(&o.verbose, "v", false, "name every commit and hunk that is not right")
	flags.StringVar(&o.keep, "keep", "", "folder to keep patch and files of what is not right in")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.commits < 1 {
		return o, errors.New("usage: replay [flags], with at least one commit; see -help")
	}
	return o, o.combine(*contexts, *scopes, *perturbs, *compats)
}

// combine makes a setting of every combination of the lists.
func (o *options) combine(contexts, scopes, perturbs, compats string) error {
	for _, c := range strings.Split(contexts, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 0 {
			return fmt.Errorf("-context: %q is not a number of lines", c)
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
					o.settings = append(o.settings, setting{n, scope, perturbation(p), compat})
				}
			}
		}
	}
	return nil
}
