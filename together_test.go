//go:build unix

package oxpatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/snapshot"
)

func TestProcessesTogether(t *testing.T) {
	t.Parallel()
	p := buildProgram(t)
	t.Run("in linked working trees", p.testWorktrees)
	t.Run("in linked working trees, some killed", p.testKilledInWorktrees)
	t.Run("the holder is stopped", p.testStopped)
	t.Run("the holder is stopped and killed", p.testStoppedAndKilled)
	t.Run("git is not installed", p.testWithoutGit)
}

// answer is what the tests here read of a JSON document.
type answer struct {
	OK, Applied bool
	ID          string
	Reverts     []string
	Problems    []struct{ Kind, Message, Hint string }
	Operations  []struct{ ID, Kind, State string }
	Snapshot    struct{ Store string }
}

// ask runs the program with --json and returns its answer and exit code.
func (p program) ask(t *testing.T, cmd *exec.Cmd) (answer, int) {
	t.Helper()
	cmd.Args = append(cmd.Args, "--json")
	out, err := cmd.Output()
	var a answer
	if assert.NoError(t, json.Unmarshal(out, &a), "%v: %s", err, out) {
		return a, cmd.ProcessState.ExitCode()
	}
	return a, -1
}

// testWorktrees has processes apply in both modes and undo in all working trees of one repository.
func (p program) testWorktrees(t *testing.T) {
	t.Parallel()
	const workers, rounds = 2, 3
	c := newCrowd(t, 1)
	var wg sync.WaitGroup
	for i, g := range c.trees {
		for w := range workers {
			wg.Go(func() {
				for n := range rounds {
					own := fmt.Sprintf("w%d/%d", w, n)
					for _, call := range []struct {
						patch string
						args  []string
					}{
						{addition("text/"+own, "x"), []string{"apply"}},
						{addedByGit("git/" + own), []string{"apply", "--mode", "git"}},
						{replacement("shared.txt", "nobody", own), []string{"apply"}},
						{"", []string{"undo"}},
					} {
						args := append([]string{"oxpatch"}, append(call.args, "--lock-timeout", "5m")...)
						a, code := p.ask(t, p.command(g, call.patch, args...))
						switch {
						case code == 0 && call.args[0] == "undo":
							c.note(c.undone[i], a.ID)
							c.note(c.reverted[i], a.Reverts...)
						case code == 0:
							c.note(c.applied[i], a.ID)
						default:
							assert.True(t, strings.Contains(call.patch, "shared.txt") && code == 1, "%v: exit code %d: %v", call.args, code, a.Problems)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	c.check()
}

// testKilledInWorktrees has processes work as in testWorktrees, and kills half of them at any time. What
// they leave is settled by the next, in the same tree, while the others go on.
func (p program) testKilledInWorktrees(t *testing.T) {
	t.Parallel()
	const workers, rounds = 2, 5
	c := newCrowd(t, 1)
	var wg sync.WaitGroup
	var killed atomic.Int32
	for i, g := range c.trees {
		for w := range workers {
			random := rand.New(rand.NewPCG(uint64(i), uint64(w)))
			wg.Go(func() {
				for n := range rounds {
					own := fmt.Sprintf("w%d/%d", w, n)
					for _, cmd := range []*exec.Cmd{
						p.command(g, addition("text/"+own, "x"), "oxpatch", "apply", "--lock-timeout", "5m"),
						p.command(g, addedByGit("git/"+own), "oxpatch", "apply", "--mode", "git", "--lock-timeout", "5m"),
						p.command(g, replacement("shared.txt", "nobody", own), "oxpatch", "apply", "--lock-timeout", "5m"),
						p.command(g, "", "oxpatch", "undo", "--lock-timeout", "5m"),
					} {
						if !assert.NoError(t, cmd.Start()) {
							return
						}
						if random.IntN(2) == 0 {
							time.Sleep(time.Duration(random.IntN(40_000)) * time.Microsecond)
							_ = cmd.Process.Kill() // it may have ended
						}
						_ = cmd.Wait() // how it ended is in its state
						if !cmd.ProcessState.Exited() {
							killed.Add(1)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	require.NotZero(t, killed.Load())
	for _, g := range c.trees {
		res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
		require.NoError(t, err, "%v", res.Problems)
		assert.Empty(t, gitIn(t, g.dir, "ls-files", "--unmerged"))
		for _, op := range g.operations() {
			assert.NotEqual(t, "unresolved", op.State, "%+v", op)
		}
	}
	c.agrees()
	for i, g := range c.trees {
		left := 0
		for _, op := range g.operations() {
			if op.Kind == "apply" && op.State == "done" {
				left++
			}
		}
		c.allBack(i, left)
	}
	t.Logf("%d killed", killed.Load())
}

// stopped starts a run in git mode that holds the root's lock and waits for git's lock on the index,
// and stops it there.
func (p program) stopped(t *testing.T) (g *ground, cmd *exec.Cmd) {
	t.Helper()
	g = newBareGround(t)
	g.write("f.txt", numbered(20, nil))
	g.commit()
	g.apply(addition("first.txt", "x"))
	g.write(".git/index.lock", "")
	cmd = p.command(g, unifiedEdit("f.txt", "line 9", "line 11"), "oxpatch", "apply", "--mode", "git", "--lock-timeout", "5m", "--json")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.Eventually(t, func() bool {
		// It has the lock, and has written its record, once the record is pending.
		site, err := snapshot.Locate(g.dir, func(name string) string { return g.env[name] })
		require.NoError(t, err)
		pending, err := site.History().Pending()
		return err == nil && len(pending) == 1
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	return g, cmd
}

// busy makes sure that every command that changes something ends with exit code 5 and names the
// holder, after it has waited.
func (p program) busy(t *testing.T, g *ground, holder int) {
	t.Helper()
	const wait = 200 * time.Millisecond
	was := g.image()
	for _, args := range [][]string{{"apply"}, {"apply", "--mode", "git"}, {"undo"}, {"recover"}} {
		patch := ""
		if args[0] == "apply" {
			patch = addedByGit("other.txt")
		}
		args = append([]string{"oxpatch"}, append(args, "--lock-timeout", wait.String())...)
		began := time.Now()
		a, code := p.ask(t, p.command(g, patch, args...))
		assert.Equal(t, 5, code, args)
		assert.GreaterOrEqual(t, time.Since(began), wait, args)
		if assert.Len(t, a.Problems, 1, args) {
			assert.Equal(t, "busy", a.Problems[0].Kind, args)
			assert.Contains(t, a.Problems[0].Message, fmt.Sprintf("process %d ", holder), args)
			assert.NotEmpty(t, a.Problems[0].Hint, args)
		}
	}
	assert.Equal(t, was, g.image())
	// Who only looks does not wait.
	_, code := p.ask(t, p.command(g, "", "oxpatch", "log"))
	assert.Equal(t, 0, code)
	_, code = p.ask(t, p.command(g, addition("other.txt", "x"), "oxpatch", "apply", "--check", "--lock-timeout", "0s"))
	assert.Equal(t, 0, code)
}

func (p program) testStopped(t *testing.T) {
	t.Parallel()
	g, cmd := p.stopped(t)
	before := g.image()
	p.busy(t, g, cmd.Process.Pid)
	waiting := p.command(g, addition("waited.txt", "x"), "oxpatch", "apply", "--lock-timeout", "1m")
	require.NoError(t, waiting.Start())
	require.NoError(t, os.Remove(g.path(".git/index.lock")))
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	require.NoError(t, cmd.Wait())
	require.NoError(t, waiting.Wait(), "who waited gets the lock")
	assert.Equal(t, []string{"apply done", "apply done", "apply done"}, g.log())
	g.undo()
	g.undo()
	assert.Equal(t, before, g.image())
	g.fsck()
}

func (p program) testStoppedAndKilled(t *testing.T) {
	t.Parallel()
	g, cmd := p.stopped(t)
	before := g.image()
	p.busy(t, g, cmd.Process.Pid)
	require.NoError(t, os.Remove(g.path(".git/index.lock")))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	a, code := p.ask(t, p.command(g, addition("next.txt", "x"), "oxpatch", "apply", "--lock-timeout", "0s"))
	assert.Equal(t, 0, code, "%v", a.Problems)
	assert.Equal(t, []string{"apply done", "apply done"}, g.log(), "what had not begun to write is dropped")
	assert.Equal(t, before.with(image{"next.txt": `-rw-r--r-- "x\n"`}), g.image())
	assert.Equal(t, "?? first.txt\n?? next.txt\n", g.git("status", "--porcelain"))
	g.fsck()
}

// Text mode needs no git, in whatever kind of repository; git mode says that it does.
func (p program) testWithoutGit(t *testing.T) {
	t.Parallel()
	kinds := repositoryKinds()
	for _, name := range []string{
		"plain", "linked working tree", "submodule", "linked working tree of a submodule", "sha256", "reftable", "worktreeConfig",
		"git directory elsewhere", "an included configuration", "sparse index", "alternates", "no repository",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := kinds[name](t)
			files := g.image()
			repo := name != "no repository"
			var seen map[string]string
			if repo {
				seen = g.seen()
			}
			run := func(stdin string, args ...string) (answer, int) {
				t.Helper()
				cmd := p.command(g, stdin, append([]string{"oxpatch"}, args...)...)
				cmd.Env = append(cmd.Env, "PATH="+g.env["HOME"])
				return p.ask(t, cmd)
			}
			a, code := run(replacement("in/f.txt", "line 10", "ten"), "apply")
			assert.Equal(t, 0, code, "%v", a.Problems)
			if repo {
				common := strings.TrimSpace(g.git("rev-parse", "--git-common-dir"))
				if !filepath.IsAbs(common) {
					common = g.path(common)
				}
				assert.Equal(t, filepath.Join(common, "oxpatch", "store"), a.Snapshot.Store)
				a, code = run(unifiedEdit("in/f.txt", "line 9", "line 11"), "apply", "--mode", "git")
				assert.Equal(t, 1, code)
				if assert.Len(t, a.Problems, 1) {
					assert.Equal(t, "no_git", a.Problems[0].Kind)
				}
			}
			a, code = run("", "undo")
			assert.Equal(t, 0, code, "%v", a.Problems)
			assert.Equal(t, files, g.image())
			a, code = run("", "log")
			assert.Equal(t, 0, code)
			assert.Len(t, a.Operations, 2)
			_, err := g.open().Apply(context.Background(), request(replacement("in/f.txt", "line 10", "ten")))
			require.NoError(t, err)
			assert.Len(t, g.log(), 3, "with git it is the same history")
			g.undo()
			g.fsck()
			if repo {
				assert.Equal(t, seen, g.seen())
				g.git("fsck", "--strict", "--full")
			}
		})
	}
}
