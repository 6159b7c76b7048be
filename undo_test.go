package oxpatch_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

func TestUndoWalksBack(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	states := []image{g.image()}
	for i := range 3 {
		g.apply(envelope("*** Update File: a.txt", "@@", fmt.Sprintf("-%d", i), fmt.Sprintf("+%d", i+1),
			fmt.Sprintf("*** Add File: d%d/new.txt", i), "+x"))
		states = append(states, g.image())
	}
	for i := 2; i >= 0; i-- {
		g.undo()
		require.Equal(t, states[i], g.image())
	}
	g.nothingToUndo()
	require.Equal(t, states[0], g.image())

	g.apply(replacement("a.txt", "0", "other"))
	res := g.undo()
	assert.Equal(t, states[0], g.image())
	assert.Equal(t, []string{g.operations()[1].ID}, res.Reverts)
	g.nothingToUndo()
	assert.Equal(t, []string{
		"undo done", "apply undone", "undo done", "undo done", "undo done", "apply undone", "apply undone", "apply undone",
	}, g.log())
}

func TestUndoBetweenApplies(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.apply(replacement("a.txt", "0", "1"))
	one := g.image()
	g.apply(replacement("a.txt", "1", "2"))
	g.undo()
	g.apply(replacement("a.txt", "1", "3"))
	g.undo()
	assert.Equal(t, one, g.image())
	g.undo()
	assert.Equal(t, "0\n", g.read("a.txt"))
	g.nothingToUndo()
}

func TestUndoCheck(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.apply(replacement("a.txt", "one", "1"))
	was := g.image()
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: true, Diff: true})
	require.NoError(t, err)
	assert.True(t, res.OK && res.Exact)
	assert.False(t, res.Applied)
	assert.Equal(t, "check", res.Command)
	assert.Contains(t, string(res.Diff), "-1\n+one\n")
	assert.Equal(t, was, g.image())
	assert.Equal(t, []string{"apply done"}, g.log())

	empty := newGround(t)
	_, err = empty.open().Undo(context.Background(), oxpatch.UndoRequest{Check: true})
	require.ErrorIs(t, err, oxpatch.ErrNothingToUndo)
	assert.NoDirExists(t, empty.env["XDG_STATE_HOME"])
}

// Everything that a file can be comes back: bytes, mode, kind.
func TestUndoBringsBackAnyFile(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("a line of a large file\n"), 5<<20/23)
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		edit []string // the lines of an update; a deletion without
	}{
		"empty":              {mode: 0o644},
		"empty, filled":      {mode: 0o600, edit: []string{"+x"}},
		"executable":         {text: "#!/bin/sh\n", mode: 0o755, edit: []string{"-#!/bin/sh", "+#!/bin/bash"}},
		"executable, gone":   {text: "#!/bin/sh\n", mode: 0o755},
		"private":            {text: "secret\n", mode: 0o600, edit: []string{"-secret", "+public"}},
		"private, gone":      {text: "secret\n", mode: 0o600},
		"read-only":          {text: "a\n", mode: 0o444, edit: []string{"-a", "+b"}},
		"read-only, gone":    {text: "a\n", mode: 0o444},
		"setuid":             {text: "a\n", mode: os.ModeSetuid | 0o755, edit: []string{"-a", "+b"}},
		"setuid, gone":       {text: "a\n", mode: os.ModeSetuid | 0o755},
		"odd bits":           {text: "a\n", mode: 0o617, edit: []string{"-a", "+b"}},
		"binary, gone":       {text: "\x00\x01\xff\xfe\x00", mode: 0o644},
		"CRLF":               {text: "a\r\nb\r\nc\r\n", mode: 0o644, edit: []string{" a", "-b", "+B"}},
		"mixed endings":      {text: "a\r\nb\nc\rd\n", mode: 0o644, edit: []string{"-b", "+B"}},
		"lone CR":            {text: "a\rb\rc\r", mode: 0o644, edit: []string{"-b", "+B"}},
		"no newline at end":  {text: "a\nb", mode: 0o644, edit: []string{"-b", "+B"}},
		"byte-order mark":    {text: "\xef\xbb\xbfa\nb\n", mode: 0o644, edit: []string{"-a", "+A"}},
		"not UTF-8":          {text: "caf\xe9\nb\n", mode: 0o644, edit: []string{"-b", "+B"}},
		"5 MB":               {text: "first\n" + string(big), mode: 0o644, edit: []string{"-first", "+1"}},
		"5 MB, gone":         {text: string(big), mode: 0o644},
		"no line terminator": {text: "x", mode: 0o644, edit: []string{"-x", "+y"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.writeMode("dir/file", c.text, c.mode)
			before := g.image()
			patch := envelope("*** Delete File: dir/file")
			if c.edit != nil {
				patch = envelope(append([]string{"*** Update File: dir/file", "@@"}, c.edit...)...)
			}
			g.apply(patch)
			after := g.image()
			require.NotEqual(t, before, after)
			if c.edit != nil {
				info, err := os.Lstat(g.path("dir/file"))
				require.NoError(t, err)
				assert.Equal(t, c.mode, info.Mode(), "the mode stays")
			}
			g.undo()
			require.Equal(t, before, g.image())
			if c.edit != nil {
				g.apply(patch)
				assert.Equal(t, after, g.image(), "and again")
			}
		})
	}
}

func TestUndoOfLinks(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"deleted":          envelope("*** Delete File: link"),
		"edited through":   replacement("link", "real", "changed"),
		"moved":            envelope("*** Update File: link", "*** Move to: elsewhere", "@@", "-real", "+changed"),
		"dangling deleted": envelope("*** Delete File: dangling"),
		"outward deleted":  envelope("*** Delete File: out"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			outside := outsideFolder(t, "outside\n")
			g.write("real.txt", "real\n")
			g.link("real.txt", "link")
			g.link("nowhere/at/all", "dangling")
			g.link(filepath.Join(outside, "b.txt"), "out")
			before := g.image()
			res, err := g.open().Apply(context.Background(), request(patch))
			if err != nil {
				require.False(t, res.Applied)
				require.Equal(t, before, g.image())
				return // refused as a whole is right too
			}
			require.NotEqual(t, before, g.image())
			g.undo()
			assert.Equal(t, before, g.image())
			assert.Equal(t, "outside\n", readFile(t, filepath.Join(outside, "b.txt")))
		})
	}
}

func TestFoldersComeBackAndGo(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("gone/deep/a.txt", "a\n")
	g.write("gone/deep/b.txt", "b\n")
	g.write("stays/a.txt", "a\n")
	g.write("stays/ignored.o", "o\n")
	require.NoError(t, os.Chmod(g.path("gone/deep"), 0o710))
	require.NoError(t, os.Chmod(g.path("gone"), 0o2750|os.ModeSetgid))
	before := g.image()
	g.apply(envelope(
		"*** Delete File: gone/deep/a.txt", "*** Delete File: gone/deep/b.txt", "*** Delete File: stays/a.txt",
		"*** Add File: made/deep/x.txt", "+x", "*** Add File: used/y.txt", "+y"))
	after := g.image()
	assert.NotContains(t, after, "gone")
	assert.Contains(t, after, "stays/ignored.o")
	g.write("used/mine.txt", "put there by the user\n")
	g.undo()
	used := image{"used": "drwxr-xr-x", "used/mine.txt": `-rw-r--r-- "put there by the user\n"`}
	now := g.image()
	assert.Equal(t, before.with(used), now)
}

// A folder with nothing left in it but what the operation did not make stays.
func TestUndoKeepsAFolderThatWasThereEmpty(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, os.MkdirAll(g.path("empty/deep"), 0o755))
	before := g.image()
	g.apply(envelope("*** Add File: empty/deep/x.txt", "+x", "*** Add File: empty/y/z.txt", "+z"))
	g.undo()
	assert.Equal(t, before, g.image())
}

func TestAFileBecomesAFolderAndBack(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("thing", "a file\n")
	before := g.image()
	g.apply(envelope("*** Delete File: thing", "*** Add File: thing/in/side.txt", "+x"))
	after := g.image()
	g.write("thing/in/mine.txt", "mine\n")
	was := g.image()
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
	require.Error(t, err, "the user's file is in the way")
	assert.False(t, res.Applied)
	assert.Equal(t, was, g.image())
	g.remove("thing/in/mine.txt")
	assert.Equal(t, after, g.image())
	g.undo()
	assert.Equal(t, before, g.image())
}

func TestUndoOfUntrackedAndIgnoredFiles(t *testing.T) {
	t.Parallel()
	g := newGitRepo(t, map[string]string{"tracked.txt": "tracked\n", ".gitignore": "ignored*\n"})
	g.write("untracked.txt", "untracked\n")
	g.write("ignored.env", "SECRET=1\n")
	before := g.image()
	g.apply(envelope(
		"*** Delete File: untracked.txt", "*** Delete File: ignored.env", "*** Update File: tracked.txt", "@@", "-tracked", "+x",
		"*** Add File: ignored-new", "+x"))
	g.undo()
	assert.Equal(t, before, g.image())
}

func TestALongOperation(t *testing.T) {
	t.Parallel()
	g := groundIn(t, quick(t))
	var sections []string
	for i := range 300 {
		name := fmt.Sprintf("d%d/e%d/f%d.txt", i%80, i%7, i)
		g.write(name, fmt.Sprintf("%d\nsame\n", i))
		switch i % 3 {
		case 0:
			sections = append(sections, "*** Update File: "+name, "@@", fmt.Sprintf("-%d", i), "+changed")
		case 1:
			sections = append(sections, "*** Delete File: "+name)
		default:
			sections = append(sections, "*** Update File: "+name, fmt.Sprintf("*** Move to: m%d/%d.txt", i%90, i), "@@", "-same", "+moved")
		}
	}
	before := g.image()
	res := g.apply(envelope(sections...))
	assert.Len(t, res.Files, 300)
	after := g.image()
	res = g.undo()
	assert.Equal(t, before, g.image())
	assert.Len(t, res.Files, 400)
	g.apply(envelope(sections...))
	assert.Equal(t, after, g.image())
}

func TestUndoOfCodexRuns(t *testing.T) {
	t.Parallel()
	t.Run("a patch that fails midway", func(t *testing.T) {
		t.Parallel()
		g := newRepo(t)
		g.write("a.txt", "one\n")
		g.write("b.txt", "two\n")
		before := g.image()
		res, err := g.open().Apply(context.Background(), codexRequest(envelope(
			"*** Update File: a.txt", "@@", "-one", "+1", "*** Add File: d/c.txt", "+c",
			"*** Update File: b.txt", "@@", "-not there", "+2", "*** Delete File: b.txt")))
		require.ErrorIs(t, err, oxpatch.ErrNoMatch)
		assert.True(t, res.Applied)
		assert.Equal(t, "1\n", g.read("a.txt"))
		assert.Equal(t, "two\n", g.read("b.txt"))
		assert.True(t, res.Snapshot.Undoable)
		g.undo()
		assert.Equal(t, before, g.image())
		g.nothingToUndo()
	})
	t.Run("paths outside the root", func(t *testing.T) {
		t.Parallel()
		g := newRepo(t)
		outside := outsideFolder(t, "two\n")
		g.write("a.txt", "one\n")
		before, beforeOut := g.image(), imageOf(t, outside)
		_, err := g.open().Apply(context.Background(), codexRequest(envelope(
			"*** Update File: a.txt", "@@", "-one", "+1",
			"*** Update File: "+filepath.Join(outside, "b.txt"), "@@", "-two", "+2",
			"*** Add File: "+filepath.Join(outside, "new/c.txt"), "+c")))
		require.NoError(t, err)
		assert.Equal(t, "2\n", readFile(t, filepath.Join(outside, "b.txt")))
		g.undo()
		assert.Equal(t, before, g.image())
		assert.Equal(t, beforeOut, imageOf(t, outside))
	})
	t.Run("in place", func(t *testing.T) {
		t.Parallel()
		g := newRepo(t)
		g.write("a.txt", "one\n")
		require.NoError(t, os.Link(g.path("a.txt"), g.path("other name")))
		_, err := g.open().Apply(context.Background(), codexRequest(replacement("a.txt", "one", "1")))
		require.NoError(t, err)
		assert.Equal(t, "1\n", g.read("other name"))
		g.undo()
		assert.Equal(t, "one\n", g.read("other name"), "undo writes in place too")
	})
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		g := newRepo(t)
		g.env["OXPATCH_SNAPSHOT"] = "0"
		_, err := g.open().Apply(context.Background(), codexRequest(addition("a.txt", "a")))
		require.NoError(t, err)
		g.nothingToUndo()
		assert.NoDirExists(t, g.path(".git/oxpatch"))
	})
}

// One record that cannot be read does not take the others along.
func TestADamagedRecord(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "one\n")
	g.write("b.txt", "one\n")
	before := g.image()
	g.apply(replacement("a.txt", "one", "1"))
	store := g.operations()[0].Store
	first, err := filepath.Glob(filepath.Join(store, "objects/pack/*.pack"))
	require.NoError(t, err)
	g.apply(replacement("b.txt", "one", "1"))
	newest := g.operations()[0]
	packs, err := filepath.Glob(filepath.Join(store, "objects/pack/*.pack"))
	require.NoError(t, err)
	for _, pack := range packs {
		if !slices.Contains(first, pack) {
			require.NoError(t, os.Truncate(pack, 40))
		}
	}
	ops, errs := listed(g.open(), oxpatch.LogRequest{})
	require.Len(t, ops, 1)
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], newest.ID)
	res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, res.Problems, "the damaged one is passed over, but not in silence")
	assert.Contains(t, res.Problems[0].Message, newest.ID)
	assert.Equal(t, before.with(image{"b.txt": `-rw-r--r-- "1\n"`}), g.image())
}

// A mode that the operation left alone is the user's to change; undo must not widen it again.
func TestUndoKeepsAModeSetSince(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("secret.txt", "0\n")
	g.apply(replacement("secret.txt", "0", "1"))
	require.NoError(t, os.Chmod(g.path("secret.txt"), 0o600))
	g.undo()
	assert.Equal(t, "0\n", g.read("secret.txt"))
	info, err := os.Stat(g.path("secret.txt"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A check must not promise what the run then refuses for want of a snapshot.
func TestCheckForeseesThatNoSnapshotCanBeTaken(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("a.txt", "0\n")
	g.write("in-the-way", "")
	engine := g.open(oxpatch.WithEnv(func(name string) string {
		if name == "OXPATCH_STORE" {
			return g.path("in-the-way/store")
		}
		return ""
	}))
	req := request(replacement("a.txt", "0", "1"))
	req.Check = true
	checked, err := engine.Apply(t.Context(), req)
	require.ErrorIs(t, err, oxpatch.ErrNoSnapshot)
	assert.False(t, checked.OK)
	req.Check = false
	_, err = engine.Apply(t.Context(), req)
	require.ErrorIs(t, err, oxpatch.ErrNoSnapshot)
	assert.Equal(t, "0\n", g.read("a.txt"))
}
