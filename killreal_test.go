//go:build unix

package oxpatch_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// realKills is a walk through three trees, on which commands are killed: the first patch leads from 0 to 1,
// the second from 1 to 2.
type realKills struct {
	t       *testing.T
	p       program
	base    string
	patches [2]string
	trees   [3]image
	// grounds are what commands start from; each run gets a copy.
	grounds map[string]*ground
	random  *rand.Rand
	took    map[string]time.Duration
	runs    int
	tally   map[string]int
}

// victim commands: where they start, and from which tree to which they lead.
type killedCommand struct {
	start    string
	args     []string
	from, to int
}

func killedCommands() map[string]killedCommand {
	return map[string]killedCommand{
		"apply":    {"one", []string{"oxpatch", "apply"}, 1, 2},
		"in place": {"one", []string{"oxpatch", "apply", "--in-place"}, 1, 2},
		"undo":     {"two", []string{"oxpatch", "undo"}, 2, 1},
		"group":    {"two", []string{"oxpatch", "undo", "-n", "2"}, 2, 0},
		"redo":     {"undone", []string{"oxpatch", "redo"}, 1, 2},
	}
}

// Real processes are killed at any time. The next command, whichever, finds the tree as it was before or
// after, and goes on from there. OXPATCH_KILLS says how many are killed.
func TestRealKills(t *testing.T) {
	t.Parallel()
	want, end := 250, time.Now().Add(30*time.Second)
	switch text := os.Getenv("OXPATCH_KILLS"); {
	case text != "":
		n, err := strconv.Atoi(text)
		require.NoError(t, err, "OXPATCH_KILLS")
		want, end = n, time.Now().Add(time.Hour)
	case testing.Short():
		want = 20
	}
	const least = 100
	k := newRealKills(t)
	names := []string{"apply", "undo", "redo", "apply", "undo", "redo", "in place", "group"}
	killed := 0
	for i := 0; killed < want && (killed < least || time.Now().Before(end)); i++ {
		name := names[i%len(names)]
		if k.once(name, killedCommands()[name], i) {
			killed++
		}
		require.Less(t, k.runs, 10*want, "the kills come too late")
	}
	for _, what := range sortedKeys(k.tally) {
		t.Logf("%4d %s", k.tally[what], what)
	}
}

func newRealKills(t *testing.T) *realKills {
	k := &realKills{t: t, p: buildProgram(t), base: quick(t), random: rand.New(rand.NewPCG(3, 4)),
		grounds: map[string]*ground{}, took: map[string]time.Duration{}, tally: map[string]int{}}
	begin := k.folder("begin")
	begin.asRepo()
	k.patches[0] = manyFiles(begin)
	k.trees[0] = begin.image()
	begin.apply(k.patches[0])
	k.trees[1] = begin.image()
	k.patches[1] = k.second(begin)
	k.grounds["one"] = k.copied(begin, "one")
	begin.apply(k.patches[1])
	k.trees[2] = begin.image()
	k.grounds["two"] = k.copied(begin, "two")
	begin.undo()
	require.Equal(t, k.trees[1], begin.image())
	k.grounds["undone"] = begin
	return k
}

// second is a patch for what the first one leaves.
func (k *realKills) second(g *ground) string {
	var sections []string
	for i, name := range slices.Sorted(func(yield func(string) bool) {
		for name, text := range g.image() {
			if strings.HasPrefix(text, "-") && !yield(name) {
				return
			}
		}
	}) {
		lines := splitLines(g.read(name))
		first := strings.TrimSuffix(lines[0], "\n")
		switch i % 5 {
		case 0:
			sections = append(sections, "*** Delete File: "+name)
		case 1:
			sections = append(sections, "*** Update File: "+name, "*** Move to: second/"+name, "@@", "-"+first, "+second")
		case 2:
			sections = append(sections, "*** Add File: "+name+".new", "+"+strings.Repeat("long ", 4000))
		default:
			sections = append(sections, "*** Update File: "+name, "@@", "-"+first, "+second", "+and third")
		}
	}
	return envelope(sections...)
}

func (k *realKills) folder(name string) *ground {
	dir := filepath.Join(k.base, name)
	require.NoError(k.t, os.Mkdir(dir, 0o755))
	return groundIn(k.t, dir)
}

func (k *realKills) copied(from *ground, name string) *ground {
	g := k.folder(name)
	require.NoError(k.t, filepath.WalkDir(from.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from.dir {
			return err
		}
		rel, err := filepath.Rel(from.dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(g.dir, rel)
		if d.IsDir() {
			err = os.Mkdir(to, 0o755)
		} else {
			var data []byte
			if data, err = os.ReadFile(path); err == nil {
				err = os.WriteFile(to, data, 0o644)
			}
		}
		if err != nil {
			return err
		}
		return os.Chmod(to, info.Mode().Perm())
	}))
	return g
}

// once kills one command and runs another after it; it reports whether the kill came in time.
func (k *realKills) once(name string, c killedCommand, i int) bool {
	g := k.copied(k.grounds[c.start], fmt.Sprint("run", i))
	defer os.RemoveAll(filepath.Dir(g.dir))
	had := len(g.operations())
	if k.took[name] == 0 {
		began := time.Now()
		out, err := k.p.command(g, k.patches[1], c.args...).CombinedOutput()
		require.NoError(k.t, err, string(out))
		k.took[name] = time.Since(began)
		require.Equal(k.t, k.trees[c.to], g.image())
		return false
	}
	k.runs++
	cmd := k.p.command(g, k.patches[1], c.args...)
	require.NoError(k.t, cmd.Start())
	part := k.random.Float64()
	if k.random.IntN(3) > 0 { // the writing comes late
		part = 0.5 + part/2
	}
	time.Sleep(time.Duration(part * 1.1 * float64(k.took[name])))
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // how it ended is in its state
	if cmd.ProcessState.Exited() {
		k.took[name] -= k.took[name] / 20 // the machine was slower when it was measured
		return false
	}
	k.took[name] += k.took[name] / 20
	k.tally[name+" killed "+k.when(g, c, had)]++
	k.next(g, name, c, had)
	return true
}

// when tells how far a killed command came.
func (k *realKills) when(g *ground, c killedCommand, had int) string {
	ops := g.operations()
	now := g.image()
	switch {
	case len(ops) == had:
		require.Equal(k.t, k.trees[c.from], now, "files were written before a record was there")
		return "1 before the record was pending"
	case ops[0].State != "unresolved":
		require.Equal(k.t, k.trees[c.to], now, "the record was closed before all was written")
		return "5 after it was published"
	case equalImages(k.trees[c.from], now):
		return "2 before the first write"
	case equalImages(k.trees[c.to], now):
		return "4 when all was written"
	}
	return "3 in the middle of the writing"
}

// next runs one command of the program, after which the tree is what that makes of before or after.
func (k *realKills) next(g *ground, name string, c killedCommand, had int) {
	type command struct {
		args  []string
		stdin string
		leads func(at int, undone bool) int // from the tree that the killed command left
		ends  []int                         // exit codes
	}
	nexts := []command{
		{[]string{"recover"}, "", func(at int, _ bool) int { return at }, []int{0}},
		{[]string{"apply"}, addition("other.txt", "other"), func(at int, _ bool) int { return at }, []int{0}},
		{[]string{"undo"}, "", func(at int, _ bool) int { return max(at-1, 0) }, []int{0, 1}},
		{[]string{"redo"}, "", func(at int, undone bool) int {
			if undone { // what was taken back comes again
				return 2
			}
			return at
		}, []int{0, 1}},
	}
	n := nexts[k.random.IntN(len(nexts))]
	out, err := k.p.command(g, n.stdin, append([]string{"oxpatch"}, n.args...)...).CombinedOutput()
	code := 0
	if err != nil {
		code = exitCode(k.t, err)
	}
	require.Contains(k.t, n.ends, code, "%s after a killed %s: %s", n.args, name, out)

	// What the log says of the killed command decides.
	ops := slices.DeleteFunc(g.operations(), func(op oxpatch.Operation) bool { return op.Kind == "recover" })
	if n.args[0] != "recover" && code == 0 {
		ops = ops[1:]
	}
	at, word := c.from, " settled to before"
	if len(ops) > had {
		require.Len(k.t, ops, had+1)
		at, word = c.to, " settled to after"
	}
	want := k.trees[n.leads(at, at != 2 && (c.start == "undone" || at == c.to && c.to < c.from))]
	if n.args[0] == "apply" {
		want = want.with(image{"other.txt": g.image()["other.txt"]})
		require.Equal(k.t, "other\n", g.read("other.txt"))
	}
	requireImage(k.t, want, g.image(), fmt.Sprintf("%s after a killed %s%s: %s", n.args, name, word, out))
	k.tally[name+word]++
	g.fsck()
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	return exit.ExitCode()
}
