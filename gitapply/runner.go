package gitapply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// runner starts git with an environment in which nothing but the repository's own settings changes
// the outcome.
type runner struct {
	git    string
	repo   Repo
	env    []string // without what says where the repository is
	config []string // "-c", "key=value", …
	getenv func(string) string
}

// output is what a process left.
type output struct {
	stdout, stderr []byte
	code           int
}

// Installed reports whether there is a git on PATH.
func Installed() bool {
	_, err := exec.LookPath("git")
	return err == nil || errors.Is(err, exec.ErrDot)
}

func newRunner(repo Repo, o Options) (*runner, error) {
	if repo.Top == "" {
		return nil, ErrBare
	}
	getenv := o.Env
	if getenv == nil {
		getenv = os.Getenv
	}
	git := o.Git
	if git == "" {
		git = "git"
	}
	path, err := exec.LookPath(git)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, fmt.Errorf("%s: %w", git, ErrNoGit)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err // git is started in other folders
	}
	for _, pair := range o.Config {
		if err := checkPair(pair); err != nil {
			return nil, err
		}
	}
	r := &runner{git: path, repo: repo, getenv: getenv}
	r.env = environment(getenv, o.Fetch)
	r.config = settings(o.Config)
	return r, nil
}

// settings are the -c options. The user's pairs win over the first few; the rest keeps git from
// writing outside of the scratch, from running hooks, and from resolving conflicts by itself.
func settings(pairs []string) []string {
	all := []string{"apply.whitespace=nowarn", "apply.ignoreWhitespace=no", "merge.conflictStyle=merge"}
	all = append(all, pairs...)
	all = append(all, "core.quotePath=false", "core.safecrlf=false", "rerere.enabled=false", "color.ui=false",
		"core.hooksPath="+os.DevNull, "gc.auto=0")
	var args []string
	for _, kv := range all {
		args = append(args, "-c", kv)
	}
	return args
}

// inScratch are the settings for an index that does not stand in its repository: a split one would
// leave its other half behind, a file system monitor knows nothing of the scratch, and checksums,
// compression and waiting for the disk are for files that last.
func inScratch() []string {
	return []string{"-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=keep", "-c", "index.skipHash=true",
		"-c", "core.fsync=none", "-c", "core.looseCompression=0"}
}

// environment is that of this process without what would redirect git or change its messages.
func environment(getenv func(string) string, fetch bool) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !changesGit(name) {
			env = append(env, kv)
		}
	}
	env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0")
	if common := getenv("GIT_COMMON_DIR"); common != "" {
		env = append(env, "GIT_COMMON_DIR="+common)
	}
	if !fetch {
		// The first is known to newer gits only; without a protocol the others cannot fetch either.
		env = append(env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	}
	return env
}

func changesGit(name string) bool {
	switch name {
	case "LANGUAGE", "LANG", "LC_ALL", "LC_MESSAGES", "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_NAMESPACE",
		"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
		"GIT_INTERNAL_SUPER_PREFIX", "GIT_IMPLICIT_WORK_TREE", "GIT_ATTR_SOURCE", "GIT_INDEX_VERSION",
		"GIT_TERMINAL_PROMPT", "GIT_PAGER", "GIT_OPTIONAL_LOCKS", "GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL",
		"GIT_CEILING_DIRECTORIES", "GIT_REDIRECT_STDIN", "GIT_REDIRECT_STDOUT", "GIT_REDIRECT_STDERR",
		"GIT_TEST_SPLIT_INDEX", "GIT_FSMONITOR_TEST", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_FLUSH":
		return true
	}
	return strings.HasPrefix(name, "GIT_TRACE")
}

// place says on what a process works.
type place struct {
	dir     string   // current folder
	tree    string   // GIT_WORK_TREE
	index   string   // GIT_INDEX_FILE
	objects string   // GIT_OBJECT_DIRECTORY, "" for the repository's
	config  []string // further -c options
	env     []string // further variables
}

// real is the working tree itself, with the index in the given file.
func (r *runner) real(index string) place {
	return place{dir: r.repo.Top, tree: r.repo.Top, index: index}
}

// indexFile is the path of the repository's index.
func (r *runner) indexFile() string { return filepath.Join(r.repo.GitDir, "index") }

func (r *runner) objectsDir() string {
	if dir := r.getenv("GIT_OBJECT_DIRECTORY"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
	}
	return filepath.Join(r.repo.CommonDir, "objects")
}

// environ completes the environment for a place.
func (r *runner) environ(p place) []string {
	env := append([]string(nil), r.env...)
	env = append(env, "GIT_DIR="+r.repo.GitDir, "GIT_WORK_TREE="+p.tree)
	env = append(env, p.env...)
	if p.index != "" {
		env = append(env, "GIT_INDEX_FILE="+p.index)
	}
	alternates := r.getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES")
	switch {
	case p.objects != "":
		list := quoteEntry(r.objectsDir())
		if alternates != "" {
			list += string(os.PathListSeparator) + alternates
		}
		env = append(env, "GIT_OBJECT_DIRECTORY="+p.objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+list)
	default:
		if dir := r.getenv("GIT_OBJECT_DIRECTORY"); dir != "" {
			env = append(env, "GIT_OBJECT_DIRECTORY="+r.objectsDir())
		}
		if alternates != "" {
			env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+alternates)
		}
	}
	return env
}

// quoteEntry writes a folder for a list in which git takes a quoted entry apart; a plain one could
// hold the separator.
func quoteEntry(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.ToSlash(dir)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(dir) + `"`
}

// do runs git. A git that ends with another code than 0 is no error here.
func (r *runner) do(ctx context.Context, p place, stdin []byte, args ...string) (output, error) {
	all := append(append(append([]string(nil), r.config...), p.config...), args...)
	cmd := exec.CommandContext(ctx, r.git, all...)
	cmd.Dir, cmd.Env = p.dir, r.environ(p)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	ownGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return output{}, ctx.Err()
	}
	res := output{stdout: out.Bytes(), stderr: errOut.Bytes(), code: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		if cmd.ProcessState == nil {
			return output{}, fmt.Errorf("%s: %w: %w", r.git, ErrNoGit, err)
		}
		// git takes no more of the patch than it wants to read.
		if !errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() && !brokenPipe(err) {
			return output{}, err
		}
	}
	return res, nil
}

// must is do for commands that have to succeed.
func (r *runner) must(ctx context.Context, p place, stdin []byte, args ...string) ([]byte, error) {
	out, err := r.mustDo(ctx, p, stdin, args...)
	return out.stdout, err
}

// mustDo is must with what git said beside.
func (r *runner) mustDo(ctx context.Context, p place, stdin []byte, args ...string) (output, error) {
	out, err := r.do(ctx, p, stdin, args...)
	if err != nil {
		return output{}, err
	}
	if out.code != 0 {
		return output{}, fmt.Errorf("git %s: %w: %s", args[0], ErrGit, strings.TrimSpace(string(out.stderr)))
	}
	return out, nil
}
