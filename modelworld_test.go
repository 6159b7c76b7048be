package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// story is a folder, what the model knows of it, and a source of steps.
type story struct {
	g      *ground
	m      model
	seed   uint64
	git    bool // a repository made by git, with patches in git mode
	pure   bool // nobody but oxpatch changes anything
	random *rand.Rand
	lines  int      // how many lines were made up
	at     int      // the number of the step
	steps  []string // what was done, for the report
	tally  map[string]int
	// effects is how many effects an operation on so many paths had.
	effects map[int]int
	// owing says that a kill left something to settle: the tree is compared after the next command.
	owing bool
}

// broken is how a step ends that does not agree with the model.
type broken struct{ what string }

func (w *story) fail(format string, args ...any) { panic(broken{fmt.Sprintf(format, args...)}) }

func (w *story) must(err error) {
	if err != nil {
		w.fail("the test itself: %v", err)
	}
}

func (w *story) say(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf("%3d. ", w.at)+fmt.Sprintf(format, args...))
}

func (w *story) chance(percent int) bool { return w.random.IntN(100) < percent }

func pickOne[T any](w *story, list []T) T { return list[w.random.IntN(len(list))] }

// run does the steps with the numbers that are not left out, and returns what did not agree.
func (w *story) run(steps int, without map[int]bool) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			err = errors.New(r.what)
		default:
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	w.random = rand.New(rand.NewPCG(w.seed, 0))
	w.plant()
	for w.at = 1; w.at <= steps; w.at++ {
		if without[w.at] {
			continue
		}
		w.random = rand.New(rand.NewPCG(w.seed, uint64(w.at)))
		w.step()
	}
	if w.owing {
		w.recover()
		w.check()
	}
	w.checkRecords()
	return nil
}

// step is one command or what somebody else does, and the comparison after it.
func (w *story) step() {
	moves := []struct {
		weight int
		alone  bool // it settles nothing
		do     func()
	}{
		{weight: 30, do: w.apply},
		{weight: 24, do: w.undo},
		{weight: 14, do: w.redo},
		{weight: 5, do: w.checkpoint},
		{weight: 6, do: w.restore},
		{weight: 2, do: w.recover},
		{weight: 2, alone: true, do: w.forsake},
		{weight: 4, do: w.look},
		{weight: 18, alone: true, do: w.edit},
	}
	sum := 0
	for _, m := range moves {
		sum += m.weight
	}
	for {
		n := w.random.IntN(sum)
		for _, m := range moves {
			if n -= m.weight; n >= 0 {
				continue
			}
			if m.alone && (w.owing || w.pure) {
				break
			}
			m.do()
			if !w.owing {
				w.check()
			}
			return
		}
	}
}

// readPlot reads a tree from the disk, without git directories.
func readPlot(dir string) (plot, error) {
	out := plot{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = readNode(path)
		return err
	})
	return out, err
}

func readNode(path string) (node, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return node{}, err
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	switch {
	case info.IsDir():
		return node{kind: 'd', mode: mode}, nil
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return node{kind: 'l', data: to}, err
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		return node{kind: 'f', mode: mode, data: string(data)}, err
	}
	return node{kind: 'o', mode: mode}, nil
}

func (w *story) disk() plot {
	tree, err := readPlot(w.g.dir)
	w.must(err)
	return tree
}

func (n node) String() string {
	if len(n.data) > 300 {
		return fmt.Sprintf("%c %04o %d bytes %q…", max(n.kind, '-'), n.mode, len(n.data), n.data[:40])
	}
	return fmt.Sprintf("%c %04o %q", max(n.kind, '-'), n.mode, n.data)
}

func differences(want, got plot) string {
	all := maps.Clone(want)
	maps.Copy(all, got)
	var out []string
	for _, path := range sortedKeys(all) {
		if want[path] != got[path] {
			out = append(out, fmt.Sprintf("%q is %v, not %v", path, got[path], want[path]))
		}
	}
	return strings.Join(out, "\n")
}

// check compares tree, index, log and now and then the status with the model.
func (w *story) check() {
	if diff := differences(w.m.tree, w.disk()); diff != "" {
		w.fail("the tree: %s", diff)
	}
	if w.git {
		if want, got := w.m.index, w.readIndex(); !maps.Equal(want, got) {
			w.fail("the index is %v, not %v", got, want)
		}
	}
	ops, errs := listed(w.g.open(), oxpatch.LogRequest{})
	if len(errs) > 0 {
		w.fail("the log: %v", errs)
	}
	w.compareLog(ops, w.m.newestFirst())
	if w.chance(20) {
		w.checkStatus()
	}
}

func (w *story) compareLog(got []oxpatch.Operation, want []*past) {
	if len(got) != len(want) {
		w.fail("the log has %d operations, not %d: %v", len(got), len(want), brief(got))
	}
	for i, op := range want {
		if op.id == "" {
			op.id = got[i].ID
		}
		ids := make([]string, len(op.takesBack))
		for n, t := range op.takesBack {
			ids[n] = t.id
		}
		line := func(id, kind, state, session, turn string, takesBack []string) string {
			return fmt.Sprint(id, " ", kind, " ", state, " of ", session, "/", turn, " takes back ", takesBack)
		}
		is := line(got[i].ID, got[i].Kind, got[i].State, got[i].Session, got[i].Turn, got[i].Reverts)
		if be := line(op.id, op.kind, w.m.state(op), op.session, op.turn, ids); is != be {
			w.fail("the log, entry %d: %s\nnot %s", i, is, be)
		}
	}
}

func brief(ops []oxpatch.Operation) (out []string) {
	for _, op := range ops {
		out = append(out, op.ID+" "+op.Kind+" "+op.State)
	}
	return out
}

func (w *story) checkStatus() {
	st, err := w.g.open().Status(context.Background())
	if err != nil {
		w.fail("status: %v", err)
	}
	compare := func(word string, got *oxpatch.Operation, want *past) {
		switch {
		case got == nil && want == nil:
		case got == nil || want == nil || got.ID != want.id:
			w.fail("the next %s is %v, not %v", word, got, want)
		}
	}
	compare("undo", st.Undo, w.m.nextUndo())
	compare("redo", st.Redo, w.m.nextRedo())
	if len(st.Pending) > 0 {
		w.fail("status: pending %v", st.Pending)
	}
}

// checkRecords makes sure that no byte is lost: every record has what was there before and after. git has
// nothing to say against stores and repository.
func (w *story) checkRecords() {
	site, err := snapshot.Locate(w.g.dir, func(name string) string { return w.g.env[name] })
	w.must(err)
	for _, op := range w.m.ops {
		rec, err := site.History().Read(op.id)
		if err != nil {
			w.fail("record %s: %v", op.id, err)
		}
		if len(rec.Meta.Paths) != len(op.deeds) {
			w.fail("record %s has %d paths, not %d", op.id, len(rec.Meta.Paths), len(op.deeds))
		}
		for i, p := range rec.Meta.Paths {
			d := op.touches(p.Path)
			if d == nil {
				w.fail("record %s has %q", op.id, p.Path)
			}
			w.recorded(op, p.Path+" before", d.before, rec.Before, i)
			w.recorded(op, p.Path+" after", d.after, rec.After, i)
		}
	}
	for _, p := range site.Read {
		if _, err := os.Stat(filepath.Join(p.Dir, "format")); err == nil {
			w.gitOK(p.Dir, "--git-dir=.", "fsck", "--strict", "--no-dangling")
		}
	}
	if w.git {
		w.gitOK(w.g.dir, "fsck", "--strict", "--no-dangling")
	}
}

func (w *story) recorded(op *past, what string, want node, read func(int) (change.State, error), i int) {
	st, err := read(i)
	if err != nil {
		w.fail("record %s, %q: %v", op.id, what, err)
	}
	kinds := map[change.Kind]byte{change.Absent: 0, change.File: 'f', change.Symlink: 'l', change.Dir: 'd', change.Other: 'o'}
	got := node{kind: kinds[st.Kind], mode: st.Mode, data: string(st.Content)}
	switch {
	case got.kind == 'l':
		got.mode = 0
	case got.kind == 'f' && got.mode == 0: // which is how a record has the mode of a new file
		got.mode = 0o666 &^ w.m.umask
	}
	if got != want {
		w.fail("record %s, %q: %v, not %v", op.id, what, got, want)
	}
}

// engine opens one in the folder.
func (w *story) engine(opts ...oxpatch.Option) *oxpatch.Engine { return w.g.open(opts...) }

// plant makes the tree that the world begins with.
func (w *story) plant() {
	w.m = model{umask: worktree.Umask()}
	text := func(n int, end string, last bool) string {
		var lines []string
		for range n {
			lines = append(lines, w.line())
		}
		out := strings.Join(lines, end)
		if last {
			out += end
		}
		return out
	}
	g := w.g
	g.write("plain.txt", text(20, "\n", true))
	g.write("deep/er/file.txt", text(12, "\n", true))
	g.writeMode("tool.sh", text(9, "\n", true), 0o755)
	g.write("dos.txt", text(14, "\r\n", true))
	g.write("a b/no end.txt", text(8, "\n", false))
	g.write("empty", "")
	g.write("bin", w.line()+"\n"+"\x00\x01\xff\xfe\n"+w.line()+"\n")
	if !w.git {
		g.write("caf\xe9/q\"uoted\" ü.txt", text(7, "\n", true))
		g.writeMode("private.env", text(3, "\n", true), 0o600)
		w.must(os.Chmod(g.path("deep/er"), 0o750))
		w.must(os.MkdirAll(g.path("hollow/inner"), 0o755))
	}
	w.must(os.Symlink("plain.txt", g.path("link")))
	w.must(os.Symlink("nowhere", g.path("deep/dangling")))
	if w.chance(5) {
		g.write("large.txt", text(40000, "\n", true))
	}
	if w.git {
		g.write(".gitignore", "*.o\nignored/\n")
		g.git("add", "-A")
		g.git("commit", "-q", "-m", "first")
		g.write("ignored/x.o", text(5, "\n", true))
		g.write("untracked.txt", text(6, "\n", true))
	}
	w.m.tree = w.disk()
	if w.git {
		w.m.index = w.readIndex()
	}
}

// line makes up a line that stands nowhere else.
func (w *story) line() string {
	w.lines++
	return fmt.Sprintf("line %d.%d of the world", w.at, w.lines)
}
