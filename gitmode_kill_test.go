package oxpatch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/worktree"
)

// gitScene is a repository and a diff that between them change files and index in every way.
type gitScene struct {
	name  string
	fails error // what a whole run ends with
	patch string
	build func(t testing.TB, base string) *ground
}

// gitScenes makes each repository once; the others are copies.
func gitScenes(t *testing.T) []gitScene {
	t.Helper()
	clean := newBareGround(t)
	buildGitScene(clean)
	patch := clean.made(func() {
		clean.write("edit.txt", numbered(20, map[int]string{10: "ten"}))
		clean.remove("gone.txt")
		clean.git("mv", "old.txt", "moved/new.txt")
		clean.write("added/deep.txt", "new\n")
		require.NoError(t, os.Chmod(clean.path("tool.sh"), 0o755))
	}, "-M")
	drifted := newBareGround(t)
	buildGitScene(drifted)
	conflict := drifted.made(func() {
		drifted.write("edit.txt", numbered(20, map[int]string{10: "theirs"}))
		drifted.write("added.txt", "new\n")
		drifted.remove("gone.txt")
	})
	drifted.write("edit.txt", numbered(20, map[int]string{10: "ours"}))
	drifted.commit()
	return []gitScene{
		{name: "clean", patch: patch, build: copyOf(clean)},
		{name: "conflicts", patch: conflict, build: copyOf(drifted), fails: oxpatch.ErrConflict},
	}
}

func buildGitScene(g *ground) {
	require.NoError(g.t, os.MkdirAll(g.path("moved"), 0o755))
	g.write("edit.txt", numbered(20, nil))
	g.write("gone.txt", "gone\n")
	g.write("old.txt", numbered(12, nil))
	g.write("tool.sh", "#!/bin/sh\n")
	g.write("bystander.txt", "stays\n")
	g.commit()
	g.write("untracked.txt", "stays too\n")
}

// copyOf returns a builder of copies. The index is refreshed, since it holds the times of the files.
func copyOf(from *ground) func(testing.TB, string) *ground {
	return func(t testing.TB, base string) *ground {
		t.Helper()
		g := groundIn(t, base)
		require.NoError(t, os.CopyFS(g.dir, os.DirFS(from.dir)))
		for name, text := range from.image() { // CopyFS applies the umask
			if strings.HasPrefix(text, "-rw") {
				require.NoError(t, os.Chmod(g.path(name), 0o644))
			}
		}
		g.git("update-index", "-q", "--refresh")
		return g
	}
}

// gitFaultOptions are those of a fault that the steps around the index count for too.
func gitFaultOptions(f *fault) []oxpatch.Option {
	return append(f.options(), oxpatch.WithSteps(func(step string) error {
		switch failed, _ := f.hit("step "+step, false); {
		case !failed:
			return nil
		case f.kill:
			return worktree.ErrKilled
		}
		return errInjected
	}))
}

// leaveLock leaves what a killed process leaves that had locked the index.
func leaveLock(g *ground) {
	g.t.Helper()
	g.write(".git/index.lock", gitapply.LockMark)
	g.write(".git/index"+gitapply.EditSuffix, "half an index")
}

// eachGitPoint runs do for every effect, each in a copy of its own; for a part of them where time is short.
func (s gitScene) eachGitPoint(t *testing.T, points []point, do func(i int, g *ground, f *fault)) {
	t.Helper()
	step := 1
	if testing.Short() || raceDetector {
		step = 5
	}
	for i := len(points) - 1; i >= 0; i -= step { // the last effects are the rarest
		base := quick(t)
		do(i, s.build(t, base), points[i].fault())
		require.NoError(t, os.RemoveAll(base))
	}
}

// gitMeasure is what a scene comes to.
type gitMeasure struct {
	before, after twin
	apply, undo   []point
}

func (s gitScene) measure(t *testing.T) gitMeasure {
	t.Helper()
	g := s.build(t, quick(t))
	m := gitMeasure{before: g.twin()}
	count := &fault{}
	res, err := g.run(gitRequest(s.patch), gitFaultOptions(count)...)
	require.ErrorIs(t, err, s.fails)
	require.True(t, res.Applied)
	m.after, m.apply = g.twin(), count.points()
	require.NotEqual(t, m.before, m.after)
	count = &fault{}
	_, err = g.open(gitFaultOptions(count)...).Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(t, err)
	m.undo = count.points()
	requireTwin(t, m.before, g.twin(), "undo")
	require.Greater(t, len(m.apply), 15)
	require.Greater(t, len(m.undo), 15)
	return m
}

func (t twin) equal(other twin) bool {
	return equalImages(t.files, other.files) && slices.Equal(t.index, other.index)
}

// without takes what the next command added out of a twin.
func (t twin) without(names image) twin {
	files := t.files.with(nil)
	for name := range names {
		delete(files, name)
	}
	return twin{files, t.index}
}

func TestAKillAnywhereInGitMode(t *testing.T) {
	t.Parallel()
	for _, s := range gitScenes(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t)
			ends := map[string]int{}
			s.eachGitPoint(t, m.apply, func(i int, g *ground, f *fault) {
				f.kill = true
				_, err := g.run(gitRequest(s.patch), gitFaultOptions(f)...)
				require.True(t, err != nil || strings.HasPrefix(f.what, "store"), f.what)
				if len(g.log()) > 0 {
					leaveLock(g) // at some points there was none; it must do no harm either
				}
				pending := slices.Contains(g.log(), "apply unresolved")
				n := nexts()[i%len(nexts())]
				n.run(g)
				now := g.twin().without(n.adds)
				switch {
				case now.equal(m.before):
					ends["before"]++
				default:
					requireTwin(t, m.after, now, f.what+", then "+n.name)
					ends["after"]++
				}
				if pending {
					require.NoFileExists(t, g.path(".git/index.lock"), f.what)
					require.NoFileExists(t, g.path(".git/index"+gitapply.EditSuffix), f.what)
				}
			})
			t.Log(ends)
			assert.Greater(t, ends["before"], 0)
			assert.Greater(t, ends["after"], 0)
		})
	}
}

func TestAKillAnywhereInTheUndoOfGitMode(t *testing.T) {
	t.Parallel()
	for _, s := range gitScenes(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t)
			s.eachGitPoint(t, m.undo, func(i int, g *ground, f *fault) {
				_, err := g.run(gitRequest(s.patch))
				require.ErrorIs(t, err, s.fails)
				f.kill = true
				_, err = g.open(gitFaultOptions(f)...).Undo(context.Background(), oxpatch.UndoRequest{})
				require.True(t, err != nil || strings.HasPrefix(f.what, "store"), f.what)
				if slices.Contains(g.log(), "undo unresolved") {
					leaveLock(g)
				}
				nexts()[2].run(g)
				require.NoFileExists(t, g.path(".git/index.lock"), f.what)
				if now := g.twin(); !now.equal(m.before) {
					requireTwin(t, m.after, now, f.what)
					g.undo()
					requireTwin(t, m.before, g.twin(), f.what)
				}
				g.nothingToUndo()
			})
		})
	}
}

func TestAnErrorAnywhereInGitMode(t *testing.T) {
	t.Parallel()
	for _, s := range gitScenes(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := s.measure(t)
			s.eachGitPoint(t, m.apply, func(_ int, g *ground, f *fault) {
				res, err := g.run(gitRequest(s.patch), gitFaultOptions(f)...)
				if f.what == "step close the operation" {
					return // only a kill can end it there
				}
				require.NoFileExists(t, g.path(".git/index.lock"), f.what)
				if err == nil || errors.Is(err, oxpatch.ErrConflict) {
					require.True(t, strings.HasPrefix(f.what, "store"), f.what)
					requireTwin(t, m.after, g.twin(), f.what)
					g.undo()
				} else {
					require.ErrorIs(t, err, errInjected, f.what)
					require.False(t, res.Applied)
					g.nothingToUndo()
				}
				requireTwin(t, m.before, g.twin(), f.what)
			})
			s.eachGitPoint(t, m.undo, func(_ int, g *ground, f *fault) {
				_, err := g.run(gitRequest(s.patch))
				require.ErrorIs(t, err, s.fails)
				_, err = g.open(gitFaultOptions(f)...).Undo(context.Background(), oxpatch.UndoRequest{})
				if f.what == "step close the operation" {
					return
				}
				if err != nil {
					require.ErrorIs(t, err, errInjected)
					requireTwin(t, m.after, g.twin(), f.what)
					require.NoFileExists(t, g.path(".git/index.lock"), f.what)
					g.undo()
				}
				requireTwin(t, m.before, g.twin(), f.what)
			})
		})
	}
}

// The index cannot be changed, and that shows only after the files were written: they go back.
func TestFilesGoBackWithTheIndex(t *testing.T) {
	t.Parallel()
	s := gitScenes(t)[0]
	for name, undo := range map[string]bool{"apply": false, "undo": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := s.build(t, quick(t))
			if undo {
				g.must(gitRequest(s.patch))
			}
			before := g.twin()
			written := false
			spoil := oxpatch.WithSteps(func(step string) error {
				if step == "change the index" {
					written = !equalImages(before.files, g.image())
					g.write(".git/index"+gitapply.EditSuffix+"/in the way", "") // a folder, where the new index is made
				}
				return nil
			})
			var err error
			if undo {
				_, err = g.open(spoil).Undo(context.Background(), oxpatch.UndoRequest{})
			} else {
				_, err = g.run(gitRequest(s.patch), spoil)
			}
			require.Error(t, err)
			require.True(t, written, "the files were not written at all")
			require.NoFileExists(t, g.path(".git/index.lock"))
			g.remove(".git/index" + gitapply.EditSuffix)
			requireTwin(t, before, g.twin(), "after the error")
		})
	}
}

// victim is what a test process does that is to be killed: see beVictim.
const victim = "OXPATCH_TEST_VICTIM"

// beVictim runs in a process of its own and kills it in front of a step.
func beVictim(t *testing.T, role string) {
	t.Helper()
	what, at, _ := strings.Cut(role, " at ")
	var err error
	base := os.Getenv("OXPATCH_TEST_DIR")
	g := &ground{t: t, dir: filepath.Join(base, "tree"), env: map[string]string{
		"XDG_STATE_HOME": filepath.Join(base, "state"), "HOME": filepath.Join(base, "home")}}
	e := g.open(oxpatch.WithSteps(func(step string) error {
		if step == at {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			time.Sleep(time.Minute)
		}
		return nil
	}))
	if what == "undo" {
		_, err = e.Undo(context.Background(), oxpatch.UndoRequest{})
	} else {
		patch, readErr := os.ReadFile(filepath.Join(base, "patch"))
		require.NoError(t, readErr)
		_, err = e.Apply(context.Background(), gitRequest(string(patch)))
	}
	t.Fatal("not killed: ", err)
}

// Processes that are killed leave their lock on the index. The next command removes it, but no lock of
// git's.
func TestADeadLockGoesAForeignOneStays(t *testing.T) {
	if role := os.Getenv(victim); role != "" { // started by itself, below
		beVictim(t, role)
		return
	}
	t.Parallel()
	s := gitScenes(t)[0]
	m := s.measure(t)
	for _, what := range []string{"apply", "undo"} {
		for step, locked := range map[string]bool{"lock the index": false, "write the files": true, "change the index": true, "close the operation": false} {
			t.Run(what+" at "+step, func(t *testing.T) {
				t.Parallel()
				base := quick(t)
				g := s.build(t, base)
				begin, end := m.before, m.after
				if what == "undo" {
					g.must(gitRequest(s.patch))
					begin, end = end, begin
				}
				require.NoError(t, os.WriteFile(filepath.Join(base, "patch"), []byte(s.patch), 0o644))
				kill := func() {
					cmd := exec.Command(os.Args[0], "-test.run=^TestADeadLockGoesAForeignOneStays$")
					cmd.Env = append(os.Environ(), victim+"="+what+" at "+step, "OXPATCH_TEST_DIR="+base)
					out, err := cmd.CombinedOutput()
					require.Error(t, err)
					require.NotContains(t, string(out), "not killed")
				}
				kill()
				lock := g.path(".git/index.lock")
				if locked {
					require.FileExists(t, lock)
				} else {
					require.NoFileExists(t, lock)
				}
				g.write(".git/index.lock", "") // as git's own is while it works
				_, err := g.open(oxpatch.WithLockTimeout(-1)).Recover(context.Background(), oxpatch.RecoverRequest{})
				require.FileExists(t, lock, "a lock of git's was removed")
				require.NoError(t, err, "nothing has to be changed in the index")
				require.NoError(t, os.Remove(lock))
				if locked {
					requireTwin(t, begin, g.twin(), "taken back")
				}

				// Once more, with the lock as the killed process left it.
				if locked {
					kill()
					require.FileExists(t, lock)
				}
				nexts()[2].run(g)
				require.NoFileExists(t, lock)
				now := g.twin()
				if step == "close the operation" {
					requireTwin(t, end, now, step)
				} else {
					requireTwin(t, begin, now, step)
				}
				g.git("status") // and git finds nothing to complain about
			})
		}
	}
}
