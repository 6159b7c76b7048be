package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// Each script in testdata/script holds one promise of the program. Beyond the commands of testscript
// there are
//
//	exits CODE program args…    run it; the exit code has to be this one. The output of
//	                            "oxpatch … --json" is compared with the schema.
//	json PATH VALUE             the value at the dotted path of the document last printed
//	json PATH ~ REGEXP          the same, by a pattern
//	save NAME DIR…              remember what stands in the folders (git directories left out)
//	[!] same NAME               is it as it was then, in names, bytes, modes and links?
//	put FILE QUOTED             write a file from a quoted Go string
//	holds FILE QUOTED           the file has exactly these bytes
//	fill FILE MIB               a file of that size, made of lines
//	perm FILE MODE              the file's permission bits, in octal
//	hardlink NEW OLD            make a hard link
//	[!] samefile A B            are they one file?
//	hold DIR, release           hold the lock on a working tree meanwhile; $HOLDER is who holds it
//	interrupt DIR FILE…         leave what a process leaves that is killed after writing the first
//	                            of the files, each of which was to get the text "after"
//	unset NAME                  take a variable out of the environment
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setUpScript,
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "json": cmdJSON, "save": cmdSave, "same": cmdSame, "put": cmdPut, "holds": cmdHolds,
			"fill": cmdFill, "perm": cmdPerm, "hardlink": cmdHardLink, "samefile": cmdSameFile,
			"hold": cmdHold, "release": cmdRelease, "interrupt": cmdInterrupt, "unset": cmdUnset,
		},
	})
}

// scriptState is what the commands of one script remember.
type scriptState struct {
	doc     map[string]any // last printed
	saved   map[string]savedTree
	release func()
}

type savedTree struct {
	dirs  []string
	lines []string
}

type stateKey struct{}

func state(ts *testscript.TestScript) *scriptState { return ts.Value(stateKey{}).(*scriptState) }

func setUpScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	for _, pair := range cleanEnv(home) {
		name, value, _ := strings.Cut(pair, "=")
		if name != "TMPDIR" && name != "PATH" {
			env.Setenv(name, value)
		}
	}
	env.Values[stateKey{}] = &scriptState{saved: map[string]savedTree{}}
	return openToOthers(env.WorkDir)
}

func condition(name string) (bool, error) {
	switch name {
	case "git-sha256":
		dir, err := os.MkdirTemp("", "oxpatch-sha256-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		return exec.Command("git", "init", "-q", "--object-format=sha256", dir).Run() == nil, nil
	case "other-user":
		return mayBeOther(), nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
	state(ts).doc = nil
	for i, arg := range args {
		if arg == "--json" && strings.Contains(strings.Join(args[:i], " "), "oxpatch") {
			state(ts).doc, err = checker().CheckExit([]byte(ts.ReadFile("stdout")), got)
			ts.Check(err)
		}
	}
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if state(ts).doc == nil {
		ts.Fatalf("no JSON was printed")
	}
	var ok bool
	var got string
	switch {
	case len(args) == 2:
		got = oxtest.At(state(ts).doc, args[0])
		ok = got == args[1]
	case len(args) == 3 && args[1] == "~":
		got = oxtest.At(state(ts).doc, args[0])
		ok = regexp.MustCompile(args[2]).MatchString(got)
	default:
		ts.Fatalf("usage: json PATH [~] VALUE")
	}
	if ok == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

func readTrees(ts *testscript.TestScript, dirs []string) []string {
	var lines []string
	for _, dir := range dirs {
		tree, err := oxtest.ReadTree(dir, dir, ".git")
		ts.Check(err)
		lines = append(append(lines, filepath.Base(dir)+":"), tree.Lines()...)
	}
	return lines
}

func cmdSave(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: save NAME DIR…")
	}
	var s savedTree
	for _, dir := range args[1:] {
		s.dirs = append(s.dirs, ts.MkAbs(dir))
	}
	s.lines = readTrees(ts, s.dirs)
	state(ts).saved[args[0]] = s
}

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := state(ts).saved[args[0]]
	if !ok {
		ts.Fatalf("nothing saved as %q", args[0])
	}
	now := readTrees(ts, s.dirs)
	was, is := strings.Join(s.lines, "\n"), strings.Join(now, "\n")
	if (was == is) == neg {
		ts.Fatalf("then:\n%s\nnow:\n%s", was, is)
	}
}

func cmdPut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put FILE QUOTED")
	}
	content, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	name, err := strconv.Unquote(`"` + args[0] + `"`) // names may hold any bytes too
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(name), []byte(content), 0o644))
}

func cmdHolds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: holds FILE QUOTED")
	}
	want, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	name, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	got, err := os.ReadFile(ts.MkAbs(name))
	ts.Check(err)
	if string(got) != want {
		ts.Fatalf("%s holds %q, not %q", name, got, want)
	}
}

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill FILE MIB")
	}
	mib, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	ts.Check(err)
	defer f.Close()
	block := bytes.Repeat([]byte("+0123456789abcdef0123456789abcd\n"), 1<<20/32)
	for range mib {
		_, err = f.Write(block)
		ts.Check(err)
	}
}

func cmdPerm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: perm FILE MODE")
	}
	want, err := strconv.ParseUint(args[1], 8, 32)
	ts.Check(err)
	info, err := os.Lstat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm(); got != fs.FileMode(want) {
		ts.Fatalf("%s has %04o, not %04o", args[0], got, want)
	}
}

func cmdHardLink(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: hardlink NEW OLD")
	}
	ts.Check(os.Link(ts.MkAbs(args[1]), ts.MkAbs(args[0])))
}

func cmdSameFile(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: samefile A B")
	}
	a, err := os.Lstat(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	if os.SameFile(a, b) == neg {
		ts.Fatalf("%s and %s: one file is %v", args[0], args[1], !neg)
	}
}

// cmdUnset sets the variable to nothing, which programs that look it up cannot tell from absence.
func cmdUnset(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		ts.Setenv(name, "")
	}
}
