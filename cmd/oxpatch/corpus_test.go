//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// Called as apply_patch, the program is Codex's to the byte, but for the deviations listed.
func TestCorpusAsProcess(t *testing.T) {
	t.Parallel()
	for _, c := range corpus(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.NeedPlainNames(t)
			r := newCaseRun(t, c)
			args := []string{"apply_patch"}
			stdin := c.Input(r.cwd)
			if c.Via == "argv" {
				args, stdin = append(append(args, string(stdin)), c.ExtraArgs...), nil
			}
			got := r.run(stdin, args...)
			assertOutcome(t, c.Outcome(), got)
			if c.Codex != nil {
				assert.NotEqual(t, *c.Codex, got, "this deviation is none any more: %s", c.Deviates)
			}
		})
	}
}

// The two other ways to call it are the same program. Which patches are tried matters little; the
// groups are those with every kind of outcome.
func TestCorpusByOtherCalls(t *testing.T) {
	t.Parallel()
	calls := map[string]func(patch []byte) (stdin []byte, args []string){
		"hidden flag": func(patch []byte) ([]byte, []string) {
			return nil, []string{"oxpatch", "--codex-run-as-apply-patch", string(patch), "what follows is ignored"}
		},
		"compat codex": func(patch []byte) ([]byte, []string) {
			return patch, []string{"oxpatch", "apply", "--compat", "codex", "-"}
		},
	}
	for _, c := range corpus(t) {
		switch c.Group {
		case "summary", "partial", "add", "delete", "move":
		default:
			continue
		}
		if c.Exit == 2 || !utf8.Valid(c.Patch.Bytes()) || bytes.IndexByte(c.Patch.Bytes(), 0) >= 0 {
			continue // about the command line of apply_patch itself
		}
		for name, call := range calls {
			t.Run(c.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				c.NeedPlainNames(t)
				r := newCaseRun(t, c)
				stdin, args := call(c.Input(r.cwd))
				assertOutcome(t, c.Outcome(), r.run(stdin, args...))
			})
		}
	}
}

func corpus(t *testing.T) []*oxtest.Case {
	t.Helper()
	cases, err := oxtest.LoadCorpus(filepath.Join("..", "..", "testdata"))
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}

// caseRun is one run of a case by a process.
type caseRun struct {
	t         *testing.T
	c         *oxtest.Case
	root, cwd string
}

func newCaseRun(t *testing.T, c *oxtest.Case) *caseRun {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &caseRun{t: t, c: c, root: root, cwd: filepath.Join(root, "cwd")}
	require.NoError(t, os.Mkdir(r.cwd, 0o755))
	require.NoError(t, c.Files.Write(r.cwd))
	return r
}

func (r *caseRun) run(stdin []byte, args ...string) oxtest.Outcome {
	r.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = r.cwd, bytes.NewReader(stdin)
	cmd.Env = cleanEnv(r.t.TempDir(), "PWD="+r.cwd)
	for name, value := range r.c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		require.NoError(r.t, err)
	}
	after, err := oxtest.ReadTree(r.root, r.cwd)
	require.NoError(r.t, err)
	return oxtest.Outcome{
		Exit:   cmd.ProcessState.ExitCode(),
		Stdout: oxtest.Masked(stdout.String(), r.root, r.cwd),
		Stderr: oxtest.Masked(stderr.String(), r.root, r.cwd),
		After:  after,
	}
}

func assertOutcome(t *testing.T, want, got oxtest.Outcome) {
	t.Helper()
	assert.Equal(t, want.Exit, got.Exit, "exit code")
	assert.Equal(t, want.Stdout, got.Stdout, "standard output")
	assert.Equal(t, want.Stderr, got.Stderr, "standard error")
	assert.Equal(t, want.After.Lines(), got.After.Lines(), "tree")
}
