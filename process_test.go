//go:build unix

package oxpatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/snapshot"
)

// program is the built binary, with a link by the name of Codex's command beside it.
type program struct{ dir string }

func buildProgram(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "oxpatch"), "./cmd/oxpatch")
	if out, err := cmd.CombinedOutput(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			oxtest.Lacks(t, "the program go on its PATH")
		}
		require.NoError(t, err, string(out))
	}
	require.NoError(t, os.Symlink("oxpatch", filepath.Join(dir, "apply_patch")))
	return program{dir}
}

// command is one call in a folder; args[0] is the name that the program is called by.
func (p program) command(g *ground, stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.dir, args[0]), args[1:]...)
	cmd.Dir = g.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range g.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	p := buildProgram(t)
	t.Run("killed at any time", p.testKills)
	t.Run("at once on the same tree", p.testAtOnce)
	t.Run("the busy one is named", p.testBusy)
	t.Run("interrupted", p.testInterrupt)
}

// manyFiles is a tree of 40 files and a patch that touches all of them in all ways.
func manyFiles(g *ground) string {
	var sections []string
	for i := range 40 {
		name := fmt.Sprintf("dir%d/file%d.txt", i%4, i)
		lines := make([]string, 60)
		for n := range lines {
			lines[n] = fmt.Sprintf("line %d of %s", n, name)
		}
		g.write(name, strings.Join(lines, "\n")+"\n")
		switch i % 4 {
		case 0:
			sections = append(sections, "*** Delete File: "+name, fmt.Sprintf("*** Add File: new/%d/file.txt", i), "+new")
		case 1:
			sections = append(sections, "*** Update File: "+name, fmt.Sprintf("*** Move to: moved/%d.txt", i), "@@", "-"+lines[7], "+changed")
		default:
			sections = append(sections, "*** Update File: "+name, "@@", "-"+lines[30], "+changed", "-"+lines[31])
		}
	}
	return envelope(sections...)
}

// testKills kills real processes with SIGKILL at times that are spread over the whole run, and lets
// the next command settle what they left.
func (p program) testKills(t *testing.T) {
	t.Parallel()
	runs := 120
	if testing.Short() {
		runs = 15
	}
	commands := map[string][]string{
		"apply":       {"oxpatch", "apply"},
		"in place":    {"oxpatch", "apply", "--in-place"},
		"apply_patch": {"apply_patch"},
		"undo":        {"oxpatch", "undo"},
	}
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKills(t, p, args)
			for want := runs / len(commands); k.killed < want; {
				k.once()
				require.Less(t, k.runs, 10*want, "the kills come too late")
			}
			k.g.fsck()
			t.Logf("of %d runs %d were killed, %d of them between the record and the end; settled: %d to before, %d to after",
				k.runs, k.killed, k.midway, k.before, k.after)
		})
	}
}

// kills is a series of runs of one command, each killed.
type kills struct {
	t      *testing.T
	p      program
	g      *ground
	args   []string
	patch  string
	from   image // the tree that the command finds
	to     image // the tree that it leaves
	took   time.Duration
	random *rand.Rand

	runs, killed, midway, before, after int
}

func newKills(t *testing.T, p program, args []string) *kills {
	k := &kills{t: t, p: p, args: args, g: groundIn(t, quick(t)), random: rand.New(rand.NewPCG(1, 2))}
	k.g.asRepo()
	k.patch = manyFiles(k.g)
	if args[len(args)-1] == "undo" {
		k.forth()
	}
	k.from = k.g.image()
	began := time.Now()
	out, err := k.command().CombinedOutput()
	require.NoError(t, err, string(out))
	k.took = time.Since(began)
	k.to = k.g.image()
	require.NotEqual(t, k.from, k.to)
	k.back()
	return k
}

func (k *kills) command() *exec.Cmd { return k.p.command(k.g, k.patch, k.args...) }

// forth applies the patch by the rules that the command has.
func (k *kills) forth() {
	k.t.Helper()
	req := request(k.patch)
	if k.args[0] == "apply_patch" {
		req.Compat = oxpatch.CompatCodex
	}
	_, err := k.g.open().Apply(context.Background(), req)
	require.NoError(k.t, err)
}

// back leads from what the command leaves to what it found.
func (k *kills) back() {
	k.t.Helper()
	if k.args[len(k.args)-1] == "undo" {
		k.forth()
	} else {
		k.g.undo()
	}
	require.Equal(k.t, k.from, k.g.image())
}

func (k *kills) once() {
	k.t.Helper()
	k.runs++
	cmd := k.command()
	require.NoError(k.t, cmd.Start())
	time.Sleep(time.Duration(k.random.Float64() * 1.1 * float64(k.took)))
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // how it ended is in its state
	if cmd.ProcessState.Exited() {
		k.took -= k.took / 10 // the machine was slower when it was measured
	} else {
		k.killed++
		k.took += k.took / 30
	}
	if ops := k.g.operations(); len(ops) > 0 && ops[0].State == "unresolved" {
		k.midway++
	}
	_, err := k.g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
	require.NoError(k.t, err)
	switch now := k.g.image(); {
	case equalImages(k.from, now):
		k.before++
	default:
		require.Equal(k.t, k.to, now, "the tree is neither before nor after")
		k.after++
		k.back()
	}
	k.g.operations()
}

// testAtOnce runs processes at once, on files of their own and on a file that all of them want.
func (p program) testAtOnce(t *testing.T) {
	t.Parallel()
	const processes, rounds = 4, 4
	g := newRepo(t)
	g.write("shared.txt", "nobody\n")
	before := g.image()
	var mu sync.Mutex
	var wg sync.WaitGroup
	won := 0
	for i := range processes {
		wg.Go(func() {
			for n := range rounds {
				own := addition(fmt.Sprintf("p%d/%d.txt", i, n), "x")
				out, err := p.command(g, own, "oxpatch", "apply", "--durability", "process").CombinedOutput()
				assert.NoError(t, err, string(out))
				shared := replacement("shared.txt", "nobody", fmt.Sprintf("process %d round %d", i, n))
				if p.command(g, shared, "oxpatch", "apply", "--durability", "process").Run() == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1, won, "only one can be the first to change a line")
	ops := g.operations()
	assert.Len(t, ops, processes*rounds+1)
	distinct(t, ops)
	for range ops {
		g.undo()
	}
	assert.Equal(t, before, g.image())
	g.nothingToUndo()
	g.fsck()
}

func (p program) testBusy(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.apply(addition("a.txt", "a")) // makes the store, which holds the note of who has the lock
	site, err := snapshot.Locate(g.dir, func(name string) string { return g.env[name] })
	require.NoError(t, err)
	release, err := site.Lock(context.Background(), -1)
	require.NoError(t, err)
	defer release()

	began := time.Now()
	res, err := g.open(oxpatch.WithLockTimeout(100*time.Millisecond)).Apply(context.Background(), request(addition("b.txt", "b")))
	require.ErrorIs(t, err, oxpatch.ErrBusy)
	assert.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
	assert.True(t, hasProblem(res, oxpatch.KindBusy, ""))
	assert.Contains(t, err.Error(), fmt.Sprint(os.Getpid()))

	_, err = g.open(oxpatch.WithLockTimeout(-1)).Undo(context.Background(), oxpatch.UndoRequest{})
	require.ErrorIs(t, err, oxpatch.ErrBusy)
	_, err = g.open(oxpatch.WithLockTimeout(-1)).Recover(context.Background(), oxpatch.RecoverRequest{})
	require.ErrorIs(t, err, oxpatch.ErrBusy)

	// A look takes no lock, and another process sees the same holder.
	_, err = g.open(oxpatch.WithLockTimeout(-1)).Apply(context.Background(), oxpatch.Request{Patch: []byte(addition("b.txt", "b")), Check: true})
	require.NoError(t, err)
	_, err = g.open(oxpatch.WithLockTimeout(-1)).Undo(context.Background(), oxpatch.UndoRequest{Check: true})
	require.NoError(t, err)
	assert.NotContains(t, g.image(), "b.txt")

	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	res, err = g.open().Apply(ctx, request(addition("b.txt", "b")))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.True(t, hasProblem(res, oxpatch.KindInterrupted, ""))
}

// An interrupt ends a run with nothing changed.
func (p program) testInterrupt(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	site, err := snapshot.Locate(g.dir, func(name string) string { return g.env[name] })
	require.NoError(t, err)
	release, err := site.Lock(context.Background(), -1)
	require.NoError(t, err)
	defer release()
	cmd := p.command(g, addition("a.txt", "a"), "oxpatch", "apply", "--json")
	var out strings.Builder
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	time.Sleep(300 * time.Millisecond) // it waits for the lock now
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	assert.Equal(t, 130, cmd.ProcessState.ExitCode())
	var document struct{ OK, Applied bool }
	require.NoError(t, json.Unmarshal([]byte(out.String()), &document), out.String())
	assert.False(t, document.OK || document.Applied)
	assert.Empty(t, g.image())
}
