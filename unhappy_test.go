package oxpatch_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// What a hostile or muddled patch asks for is refused, with nothing changed inside and outside.
func TestRefusedPaths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		want error
		link bool // the last name is a link
	}{
		"parent":              {path: "../b.txt", want: oxpatch.ErrUnsafePath},
		"parent, roundabout":  {path: "in/../../b.txt", want: oxpatch.ErrUnsafePath},
		"absolute":            {path: "/nonexistent/b.txt", want: oxpatch.ErrUnsafePath},
		"hook":                {path: ".git/hooks/x", want: oxpatch.ErrUnsafePath},
		"config, upper case":  {path: ".GIT/config", want: oxpatch.ErrUnsafePath},
		"below a folder":      {path: "in/.git/config", want: oxpatch.ErrUnsafePath},
		"NTFS name":           {path: "git~1/config", want: oxpatch.ErrUnsafePath},
		"HFS name":            {path: ".g\u200cit/config", want: oxpatch.ErrUnsafePath},
		"link to git":         {path: "togit/hooks/x", want: oxpatch.ErrUnsafePath},
		"link out, folder":    {path: "outdir/b.txt", want: oxpatch.ErrUnsafePath},
		"link out, file":      {path: "outfile", want: oxpatch.ErrUnsafePath, link: true},
		"link out, dangling":  {path: "outnew", want: oxpatch.ErrUnsafePath, link: true},
		"link in a circle":    {path: "circle", want: oxpatch.ErrUnsafePath, link: true},
		"store":               {path: ".git/oxpatch/store/format", want: oxpatch.ErrUnsafePath},
		"store by its folder": {path: "mystore/format", want: oxpatch.ErrUnsafePath},
		"folder":              {path: "in"},
		"the root":            {path: "."},
		"empty":               {path: ""},
		"name too long":       {path: strings.Repeat("x", 300)},
		"NUL in the name":     {path: "a\x00b"},
		"parent is a file":    {path: "a.txt/b.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			outside := outsideFolder(t, "outside\n")
			g.env["OXPATCH_STORE"] = g.path("mystore")
			g.write("a.txt", "one\n")
			g.write("in/a.txt", "one\n")
			g.link(".git", "togit")
			g.link(outside, "outdir")
			g.link(filepath.Join(outside, "b.txt"), "outfile")
			g.link(filepath.Join(outside, "new.txt"), "outnew")
			g.link("circle", "circle")
			g.apply(replacement("in/a.txt", "one", "1"))
			format := g.read("mystore/format")
			inside := func() image {
				img := g.image()
				maps.DeleteFunc(img, func(path, _ string) bool { return strings.HasPrefix(path, "mystore/") })
				return img
			}
			before, out, git := inside(), imageOf(t, outside), imageOf(t, g.path(".git"))
			for _, patch := range []string{
				envelope("*** Update File: a.txt", "@@", "-one", "+1", "*** Add File: "+c.path, "+evil"),
				envelope("*** Update File: a.txt", "*** Move to: "+c.path, "@@", "-one", "+1"),
			} {
				res, err := g.open().Apply(context.Background(), request(patch))
				if moves := strings.Contains(patch, "*** Move to"); moves && c.link && err == nil {
					g.undo() // a move replaces a link and does not go through it
				} else {
					require.Error(t, err)
					assert.False(t, res.OK || res.Applied)
				}
				if c.want != nil && err != nil {
					assert.ErrorIs(t, err, c.want)
				}
				assert.Equal(t, before, inside())
				assert.Equal(t, format, g.read("mystore/format"))
				assert.Equal(t, out, imageOf(t, outside))
				assert.Equal(t, git, imageOf(t, g.path(".git")))
			}
		})
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	if err := exec.Command("mkfifo", g.path("fifo")).Run(); err != nil {
		oxtest.Lacks(t, "FIFOs: %v", err)
	}
	before := describeAll(t, g)
	for _, patch := range []string{
		replacement("fifo", "x", "y"), addition("fifo", "x"), envelope("*** Delete File: fifo"),
		envelope("*** Update File: a.txt", "*** Move to: fifo", "@@", "-one", "+1"),
	} {
		ended := make(chan error, 1)
		go func() {
			_, err := g.open().Apply(context.Background(), request(patch))
			ended <- err
		}()
		select {
		case err := <-ended:
			require.Error(t, err, patch)
		case <-time.After(20 * time.Second):
			t.Fatal("it hangs: ", patch)
		}
		assert.Equal(t, before, describeAll(t, g))
	}
}

func describeAll(t *testing.T, g *ground) []string {
	t.Helper()
	entries, err := os.ReadDir(g.dir)
	require.NoError(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name()+" "+e.Type().String())
	}
	return append(all, g.read("a.txt"))
}

func TestPatchesThatAreNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patch string
		want  error
	}{
		"nothing":         {"", oxpatch.ErrMalformed},
		"blank":           {" \n\n\t\n", oxpatch.ErrMalformed},
		"prose":           {"Here is what I would do: nothing.\n", oxpatch.ErrMalformed},
		"junk":            {"\x00\x01\x02*** Begin", oxpatch.ErrMalformed},
		"no sections":     {"*** Begin Patch\n*** End Patch\n", nil},
		"half a section":  {"*** Begin Patch\n*** Update File: a.txt\n*** End Patch\n", oxpatch.ErrMalformed},
		"not in the file": {replacement("a.txt", "nowhere", "x"), oxpatch.ErrNoMatch},
		"missing file":    {replacement("b.txt", "one", "x"), oxpatch.ErrMissing},
		"too large":       {"*** Begin Patch\n*** Add File: big\n+" + strings.Repeat("x", 65<<20) + "\n*** End Patch\n", oxpatch.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.write("a.txt", "one\n")
			before := g.image()
			for _, check := range []bool{true, false} {
				res, err := g.open().Apply(context.Background(), oxpatch.Request{Patch: []byte(c.patch), Check: check})
				require.Error(t, err)
				if c.want != nil {
					assert.ErrorIs(t, err, c.want)
				}
				require.NotEmpty(t, res.Problems)
				assert.False(t, res.OK || res.Applied)
				assert.Equal(t, before, g.image())
			}
			assert.NoDirExists(t, g.env["XDG_STATE_HOME"], "no store for what was refused")
		})
	}
}

func TestAFileOverTheLimit(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\ntwo\n")
	_, err := g.open(oxpatch.WithMaxFile(7)).Apply(context.Background(), request(replacement("a.txt", "one", "1")))
	require.ErrorIs(t, err, oxpatch.ErrTooLarge)
	assert.Equal(t, "one\ntwo\n", g.read("a.txt"))
	g.apply(replacement("a.txt", "one", "1"), oxpatch.WithMaxFile(8))
	g.undo()
}

// Several inputs are one operation.
func TestSeveralInputs(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	before := g.image()
	inputs := []oxpatch.Input{
		{Name: "first", Data: []byte(replacement("a.txt", "one", "two"))},
		{Name: "second", Data: []byte(replacement("a.txt", "two", "three"))},
		{Name: "third", Data: []byte(replacement("a.txt", "nowhere", "x"))},
	}
	res, err := g.open().Apply(context.Background(), oxpatch.Request{Inputs: inputs})
	require.ErrorIs(t, err, oxpatch.ErrNoMatch)
	assert.Equal(t, "third", res.Problems[0].Input)
	assert.Equal(t, before, g.image())
	_, err = g.open().Apply(context.Background(), oxpatch.Request{Inputs: inputs[:2]})
	require.NoError(t, err)
	assert.Equal(t, "three\n", g.read("a.txt"))
	after := g.image()
	assert.Equal(t, []string{"apply done"}, g.log())
	res, err = g.open().Apply(context.Background(), oxpatch.Request{Inputs: inputs[:2], Reverse: true})
	require.NoError(t, err)
	assert.True(t, res.Applied)
	assert.Equal(t, before, g.image())
	g.undo()
	assert.Equal(t, after, g.image())
	g.undo()
	assert.Equal(t, before, g.image())
}

func TestPartial(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	before := g.image()
	res, err := g.open().Apply(context.Background(), oxpatch.Request{Partial: true, Patch: []byte(envelope(
		"*** Update File: a.txt", "@@", "-nowhere", "+x", "*** Update File: b.txt", "@@", "-two", "+2"))})
	require.ErrorIs(t, err, oxpatch.ErrNoMatch)
	assert.True(t, res.Applied)
	assert.False(t, res.OK)
	assert.Equal(t, []string{"b.txt"}, res.AppliedPaths)
	assert.Equal(t, []string{"a.txt"}, res.SkippedPaths)
	assert.Equal(t, before.with(image{"b.txt": `-rw-r--r-- "2\n"`}), g.image())
	g.undo()
	assert.Equal(t, before, g.image())
}

// The same file by two names is one file.
func TestOneFileByTwoNames(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("real/a.txt", "one\ntwo\n")
	g.link("real", "alias")
	g.link("real/a.txt", "direct")
	before := g.image()
	g.apply(envelope("*** Update File: alias/a.txt", "@@", "-one", "+1", "*** Update File: direct", "@@", "-two", "+2"))
	assert.Equal(t, "1\n2\n", g.read("real/a.txt"))
	assert.Equal(t, before["alias"], g.image()["alias"])
	g.undo()
	assert.Equal(t, before, g.image())
}

// A forgetful user applies the same patch twice, and undoes once too often.
func TestTheSamePatchTwice(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "keep\none\n")
	before := g.image()
	patch := envelope("*** Update File: a.txt", "@@", " keep", "-one", "+1", "*** Add File: new.txt", "+new")
	g.apply(patch)
	after := g.image()
	res, err := g.open().Apply(context.Background(), request(patch))
	assert.False(t, res.Applied)
	if err == nil {
		assert.Equal(t, oxpatch.KindAlreadyApplied, res.Problems[0].Kind)
	}
	assert.Equal(t, after, g.image())
	assert.Equal(t, []string{"apply done"}, g.log())
	g.undo()
	assert.Equal(t, before, g.image())
	g.nothingToUndo()
	assert.Equal(t, before, g.image())
}

// The store may lie inside the tree, be removed by the user, or be full of other things.
func TestTheStoreIsGone(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "one\n")
	g.apply(replacement("a.txt", "one", "1"))
	g.remove(".git/oxpatch")
	g.nothingToUndo()
	g.apply(replacement("a.txt", "1", "2"))
	g.undo()
	assert.Equal(t, "1\n", g.read("a.txt"))
}

func TestTheClockGoesBack(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, text := range []string{"1", "2", "3"} {
		g.apply(replacement("a.txt", []string{"0", "1", "2"}[i], text),
			oxpatch.WithClock(func() time.Time { return now.AddDate(-i*10, 0, 0) }))
	}
	ops := g.operations()
	assert.Len(t, ops, 3)
	g.undo()
	assert.Equal(t, "2\n", g.read("a.txt"))
}

func TestLogLimit(t *testing.T) {
	t.Parallel()
	g, _ := halfDone(t)
	for range 3 {
		g.apply(replacement("free.txt", "free", "x"))
		g.undo()
	}
	all := g.operations()
	require.Len(t, all, 7)
	assert.Equal(t, "unresolved", all[6].State, "the oldest, though it is not settled")
	for limit := 1; limit <= 8; limit++ {
		ops, errs := listed(g.open(), oxpatch.LogRequest{Count: limit})
		require.Empty(t, errs)
		require.Len(t, ops, min(limit, 7))
		assert.Equal(t, all[:len(ops)], ops)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range g.open().Log(ctx, oxpatch.LogRequest{}) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// Files whose names no program likes.
func TestOddNames(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	names := []string{"caf\xe9.txt", "with blank", "-rf", "\"quoted\"", "back\\slash", "new\u00e9", "#", "a:b", "ends.with.dot.", "*", "{}"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(g.dir, name), []byte("one\n"), 0o644))
	}
	before := g.image()
	var sections []string
	for _, name := range names {
		sections = append(sections, "*** Update File: "+name, "@@", "-one", "+1")
	}
	res := g.apply(envelope(sections...))
	assert.Len(t, res.AppliedPaths, len(names))
	assert.Contains(t, res.AppliedPaths, `"caf\351.txt"`)
	_, err := res.MarshalJSON()
	require.NoError(t, err)
	g.undo()
	assert.Equal(t, before, g.image())
}

// A disk that is full when the record is written, and again when it is closed.
func TestTheTreeIsFullFromAPointOn(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	before := g.image()
	full := false
	e := g.open(oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
		full = full || op == worktree.OpWrite && path == "b.txt"
		if full && (op == worktree.OpWrite || op == worktree.OpCreate) {
			return errInjected // writing fails, removing works
		}
		return nil
	}))
	_, err := e.Apply(context.Background(), request(envelope(
		"*** Update File: a.txt", "@@", "-one", "+1", "*** Update File: b.txt", "@@", "-two", "+2", "*** Add File: made/c.txt", "+c")))
	require.ErrorIs(t, err, errInjected)
	require.NotErrorIs(t, err, oxpatch.ErrRollback)
	assert.Equal(t, before, g.image())
	assert.Empty(t, g.log())
}

// Under Codex's rules a step fails, and then the store fails too: what was done stays for good.
func TestCodexFailsAndTheStoreToo(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "two\n")
	failing := false
	e := g.open(
		oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
			if failing = failing || op == worktree.OpTruncate && path == "b.txt"; failing {
				return errInjected
			}
			return nil
		}),
		oxpatch.WithStoreEffects(func(e snapshot.Effect, _ string) error {
			if failing && e == snapshot.EffectWrite {
				return errInjected
			}
			return nil
		}))
	res, err := e.Apply(context.Background(), codexRequest(envelope(
		"*** Update File: a.txt", "@@", "-one", "+1", "*** Update File: b.txt", "@@", "-two", "+2")))
	require.ErrorIs(t, err, errInjected)
	assert.True(t, res.Applied)
	assert.False(t, res.Snapshot.Undoable)
	assert.NotEmpty(t, res.Snapshot.Reason)
	was := g.image()
	require.Equal(t, "1\n", g.read("a.txt"))
	_, err = g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
	require.NoError(t, err)
	assert.Equal(t, was, g.image(), "the next command takes nothing back")
	_, err = g.open().Undo(context.Background(), oxpatch.UndoRequest{})
	require.ErrorIs(t, err, oxpatch.ErrDrift, "b.txt was never changed")
	assert.Equal(t, was, g.image())
}

func TestTheLogKeepsWhoAskedForIt(t *testing.T) {
	t.Parallel()
	g := newGitRepo(t, map[string]string{"a.txt": "one\n", "b.txt": "two\nthree\n"})
	began := time.Now().Add(-time.Second)
	_, err := g.open(oxpatch.WithTool("tool 1")).Apply(context.Background(), oxpatch.Request{
		Patch:   []byte(envelope("*** Delete File: a.txt", "*** Update File: b.txt", "*** Move to: c.txt", "@@", "-two", "+2", "*** Add File: d.txt", "+d")),
		Session: "s", Turn: "t", Label: "l"})
	require.NoError(t, err)
	g.undo()
	ops := g.operations()
	require.Len(t, ops, 2)
	op := ops[1]
	assert.Equal(t, []string{"s", "t", "l"}, []string{op.Session, op.Turn, op.Label})
	assert.WithinRange(t, op.Time, began, time.Now())
	assert.ElementsMatch(t, []oxpatch.OperationPath{
		{Path: "a.txt", Change: "delete"}, {Path: "c.txt", OldPath: "b.txt", Change: "rename"}, {Path: "d.txt", Change: "add"},
	}, op.Paths)
	assert.Equal(t, []string{op.ID}, ops[0].Reverts)
	assert.Equal(t, "s", ops[0].Session)
	assert.NotNil(t, op.Reverts)
}

// A full disk is the user's to make room on: the refusal says so, and everything is as it was.
func TestAFullDiskIsExplained(t *testing.T) {
	t.Parallel()
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		for name, opt := range map[string]func() oxpatch.Option{
			"writing": func() oxpatch.Option {
				return oxpatch.WithTreeEffects(func(op worktree.Op, path string) error {
					return &fs.PathError{Op: string(op), Path: path, Err: full}
				})
			},
			"recording": func() oxpatch.Option {
				return oxpatch.WithStoreEffects(func(e snapshot.Effect, path string) error {
					if e == snapshot.EffectWrite {
						return &fs.PathError{Op: "write", Path: path, Err: full}
					}
					return nil
				})
			},
		} {
			g := newGround(t)
			g.write("a.txt", "0\n")
			g.apply(replacement("a.txt", "0", "1"))
			was := g.image()
			check := func(res *oxpatch.Result, err error) {
				t.Helper()
				require.ErrorIs(t, err, full, name)
				require.NotEmpty(t, res.Problems)
				assert.Contains(t, res.Problems[0].Hint, "free some space", "%s: %v", name, res.Problems)
				assert.False(t, res.Applied)
				assert.Equal(t, was, g.image())
			}
			check(g.open(opt()).Undo(context.Background(), oxpatch.UndoRequest{}))
			check(g.open(opt()).Apply(context.Background(), request(replacement("a.txt", "1", "2"))))
			assert.Equal(t, []string{"apply done"}, g.log())
		}
	}
}
