package oxpatch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// life is something that happens between an apply and its undo.
//
// The repository holds a.txt, b.txt and keep.txt in one commit on main; lively's patch edits a.txt,
// deletes b.txt and adds new.txt. The branch other has another keep.txt, the branch far another line 2 of
// a.txt; both have one commit on top of main's.
type life struct {
	between func(g *ground)
	// drift names the files that an undo is refused for, in text and in git mode; nil where it is done.
	text, git []string
	// files is what differs from the beginning after an undo; "" stands for a file that is gone.
	files map[string]string
	// textStatus and gitStatus are what git status --porcelain says then.
	textStatus, gitStatus string
}

const (
	inA   = "a.txt"
	inB   = "b.txt"
	inNew = "new.txt"
)

// every file of the patch.
func everyFile() []string { return []string{inA, inB, inNew} }

// lively makes copies of a repository as life says, and returns the patch.
func lively(t *testing.T) (fresh func(t *testing.T) *ground, patch string) {
	t.Helper()
	g := newBareGround(t)
	g.write(inA, numbered(20, nil))
	g.write(inB, "b\n")
	g.write("keep.txt", "keep\n")
	g.commit()
	g.git("switch", "-q", "-c", "other")
	g.write("keep.txt", "other\n")
	g.commit()
	g.git("switch", "-q", "-c", "far", "main")
	g.write(inA, numbered(20, map[int]string{2: "far"}))
	g.commit()
	g.git("switch", "-q", "main")
	patch = g.made(func() {
		g.write(inA, numbered(20, map[int]string{10: "ten"}))
		g.remove(inB)
		g.write(inNew, "new\n")
	})
	return func(t *testing.T) *ground {
		c := newGround(t)
		require.NoError(t, os.CopyFS(c.dir, os.DirFS(g.dir)))
		c.git("status", "--porcelain") // refreshes the index
		return c
	}, patch
}

// commands runs git commands, in each of which blanks separate the words.
func commands(lines ...string) func(g *ground) {
	return func(g *ground) {
		g.t.Helper()
		for _, l := range lines {
			g.git(strings.Fields(l)...)
		}
	}
}

func lives() map[string]life {
	// What an undo leaves after the patch was committed: text mode leaves the index to the commit, git
	// mode brings it back with the files.
	const textCommitted, gitCommitted = " M a.txt\n D new.txt\n?? b.txt\n", "M  a.txt\nA  b.txt\nD  new.txt\n"
	commit := []string{"add -A", "commit -q -m patched"}
	after := func(lines ...string) func(g *ground) { return commands(append(slices.Clone(commit), lines...)...) }
	committed := func(lines ...string) life {
		return life{between: after(lines...), textStatus: textCommitted, gitStatus: gitCommitted}
	}
	other := map[string]string{"keep.txt": "other\n"}
	return map[string]life{
		"nothing":                {between: func(*ground) {}},
		"committed":              committed(),
		"committed and more":     {between: func(g *ground) { after()(g); g.write("x", "x\n"); g.commit() }, files: map[string]string{"x": "x\n"}, textStatus: textCommitted, gitStatus: gitCommitted},
		"amended":                {between: commands("add -A", "commit -q --amend -m amended"), textStatus: textCommitted, gitStatus: gitCommitted},
		"amended twice":          committed("commit -q --amend -m again", "commit -q --amend --reset-author -m more"),
		"tagged, detached":       committed("tag v1", "checkout -q v1"),
		"branch renamed":         committed("branch -m main renamed"),
		"an orphan":              {between: commands("checkout -q --orphan orphan"), textStatus: "A  a.txt\nA  b.txt\nA  keep.txt\n", gitStatus: "A  a.txt\nA  b.txt\nA  keep.txt\n"},
		"reverted":               {between: after("revert --no-edit HEAD"), text: everyFile(), git: everyFile()},
		"reverted twice":         committed("revert --no-edit HEAD", "revert --no-edit HEAD"),
		"cherry-picked":          {between: after("switch -q other", "cherry-pick main"), files: other, textStatus: textCommitted, gitStatus: gitCommitted},
		"cherry-picked on far":   {between: after("switch -q far", "cherry-pick main"), text: []string{inA}, git: []string{inA}},
		"collected":              committed("reflog expire --expire=now --all", "gc -q --prune=now"),
		"collected, uncommitted": {between: commands("reflog expire --expire=now --all", "gc -q --prune=now")},

		// Branches.
		"new branch":                  {between: commands("switch -q -c fresh")},
		"other branch, changes along": {between: commands("switch -q other"), files: other},
		"other branch and back":       {between: commands("switch -q other", "switch -q main")},
		"committed, other branch":     {between: after("switch -q other"), text: everyFile(), git: everyFile()},
		"committed, other and back":   committed("switch -q other", "switch -q main"),
		"committed there, and back": {between: commands("switch -q -c fresh", "add -A", "commit -q -m patched", "switch -q main"),
			text: everyFile(), git: everyFile()},
		"forced to another branch": {between: commands("add -A", "switch -q --discard-changes far"), text: everyFile(), git: everyFile()},
		"forced, untracked stays":  {between: commands("switch -q --discard-changes other"), text: []string{inA, inB}, git: everyFile()},

		// Stash. Without --index a stash brings back what was added as staged, the rest as not staged.
		"stashed":                  {between: commands("stash -q -u"), text: everyFile(), git: everyFile()},
		"stashed, untracked stays": {between: commands("stash -q"), text: []string{inA, inB}, git: everyFile()},
		"stashed and popped":       {between: commands("stash -q -u", "stash pop -q")},
		"stashed with index":       {between: commands("stash -q -u", "stash pop -q --index")},
		"popped on a branch":       {between: commands("stash -q -u", "switch -q other", "stash pop -q --index"), files: other},
		"popped onto changes":      {between: commands("stash -q -u", "switch -q far", "stash pop -q"), text: []string{inA}, git: []string{inA}},

		// Rebase and merge.
		"rebased":              {between: after("rebase -q other"), files: other, textStatus: textCommitted, gitStatus: gitCommitted},
		"rebased onto changes": {between: after("rebase -q far"), text: []string{inA}, git: []string{inA}},
		"rebased, autostash":   {between: commands("add -A", "rebase -q --autostash other"), files: other, textStatus: "AD new.txt\n"},
		"rebased away":         {between: after("reset -q --hard HEAD~"), text: everyFile(), git: everyFile()},
		"merged":               {between: after("merge -q --no-edit other"), files: other, textStatus: textCommitted, gitStatus: gitCommitted},
		"merged changes":       {between: after("merge -q --no-edit far"), text: []string{inA}, git: []string{inA}},
		"fast-forwarded":       {between: commands("stash -q -u", "merge -q --ff-only other", "stash pop -q --index"), files: other},
		"squashed":             {between: after("merge -q --squash other", "commit -q -m squashed"), files: other, textStatus: textCommitted, gitStatus: gitCommitted},

		// Reset and clean.
		"reset --hard":     {between: commands("reset -q --hard"), text: []string{inA, inB}, git: everyFile()},
		"reset --mixed":    {between: commands("reset -q")},
		"reset --soft":     {between: after("reset -q --soft HEAD~"), textStatus: "MM a.txt\nD  b.txt\nAD new.txt\n?? b.txt\n"},
		"reset --keep":     committed("reset -q --keep HEAD"),
		"restored":         {between: commands("restore --staged --worktree a.txt"), text: []string{inA}, git: []string{inA}},
		"restored, staged": {between: commands("restore --staged .")},
		"cleaned":          {between: commands("clean -q -d -f -x"), text: []string{inNew}, gitStatus: ""},
		"staged":           {between: commands("add -A"), textStatus: "MM a.txt\nD  b.txt\nAD new.txt\n?? b.txt\n"},
		"untracked":        {between: commands("add -A", "rm -q --cached a.txt"), textStatus: "D  a.txt\nD  b.txt\nAD new.txt\n?? a.txt\n?? b.txt\n", gitStatus: "D  a.txt\n?? a.txt\n"},
		"line endings": {between: func(g *ground) {
			after("config core.autocrlf true", "rm -q --cached a.txt", "reset -q --hard")(g)
			g.remove(inA)
			g.git("checkout", "-q", "--", inA)
		}, text: []string{inA}, git: []string{inA}},

		// What the user does by hand.
		"edited":                {between: func(g *ground) { g.write(inA, "mine\n") }, text: []string{inA}, git: []string{inA}},
		"edited and back":       {between: func(g *ground) { was := g.read(inA); g.write(inA, "mine\n"); g.write(inA, was) }},
		"renamed":               {between: func(g *ground) { require.NoError(g.t, os.Rename(g.path(inA), g.path("c.txt"))) }, text: []string{inA}, git: []string{inA}},
		"renamed by git":        {between: commands("add -A", "mv a.txt c.txt"), text: []string{inA}, git: []string{inA}},
		"made again":            {between: func(g *ground) { g.write(inB, "b\n") }, text: []string{inB}, git: []string{inB}},
		"executable":            {between: func(g *ground) { require.NoError(g.t, os.Chmod(g.path(inNew), 0o755)) }, text: []string{inNew}, git: []string{inNew}},
		"a folder in its place": {between: func(g *ground) { g.write("b.txt/x", "x\n") }, text: []string{inB}, git: []string{inB}},
		"a link in its place":   {between: func(g *ground) { g.remove(inA); g.link("keep.txt", inA) }, text: []string{inA}, git: []string{inA}},
		"another file":          {between: func(g *ground) { g.write("keep.txt", "mine\n") }, files: map[string]string{"keep.txt": "mine\n"}, textStatus: " M keep.txt\n", gitStatus: " M keep.txt\n"},
	}
}

// Contents decide: where every file is as the operation left it, undo brings all of them back whatever
// has become of branches, commits and the index. Otherwise it names the files, and nothing changes.
func TestLifeGoesOn(t *testing.T) {
	t.Parallel()
	fresh, patch := lively(t)
	for name, l := range lives() {
		for _, mode := range []oxpatch.Mode{oxpatch.ModeText, oxpatch.ModeGit} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				g := fresh(t)
				files := g.image()
				g.must(oxpatch.Request{Patch: []byte(patch), Mode: mode})
				drift, status := l.text, l.textStatus
				if mode == oxpatch.ModeGit {
					drift, status = l.git, l.gitStatus
				}
				l.between(g)
				if drift != nil {
					g.refusedForDrift(drift)
					return
				}
				between := g.image()
				for name, text := range l.files {
					files[name] = fmt.Sprintf("-rw-r--r-- %q", text)
				}
				g.undo()
				requireImage(t, files, g.image(), "undone")
				assert.Equal(t, status, g.git("status", "--porcelain"))
				g.git("write-tree") // every blob in the index is there
				g.nothingToUndo()
				assert.Equal(t, []string{"undo done", "apply undone"}, g.log())
				_, err := g.open().Redo(t.Context(), oxpatch.RedoRequest{})
				require.NoError(t, err)
				requireImage(t, between, g.image(), "redone")
			})
		}
	}
}

// refusedForDrift makes sure that an undo, and its check, are refused for these files and change nothing.
func (g *ground) refusedForDrift(drift []string) {
	g.t.Helper()
	was, log := g.twin(), g.log()
	for _, check := range []bool{true, false} {
		res, err := g.open().Undo(context.Background(), oxpatch.UndoRequest{Check: check})
		require.ErrorIs(g.t, err, oxpatch.ErrDrift)
		var named []string
		for _, p := range res.Problems {
			if p.Severity == oxpatch.SeverityError {
				assert.Equal(g.t, oxpatch.KindDrift, p.Kind)
				named = append(named, p.Path)
			}
		}
		slices.Sort(named)
		assert.Equal(g.t, drift, named)
		assert.False(g.t, res.OK || res.Applied)
		requireTwin(g.t, was, g.twin(), "a refused undo")
	}
	assert.Equal(g.t, log, g.log())
}

// moved is what becomes of the folder of a repository.
type moved struct {
	// to does it, and returns the folder that the undo runs in.
	to func(t *testing.T, g *ground) *ground
	// linked applies in a linked working tree.
	linked bool
	// lost says that the history went with the git directory.
	lost bool
	// stays is the folder whose own copy of the history must not be touched by the undo.
	stays bool
}

func moves() map[string]moved {
	rename := func(t *testing.T, g *ground, name string) *ground {
		to := g.beside(name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to.dir), 0o755))
		require.NoError(t, os.Rename(g.dir, to.dir))
		return to
	}
	copied := func(t *testing.T, g *ground, name string) *ground {
		to := g.beside(name)
		out, err := exec.Command("cp", "-a", g.dir, to.dir).CombinedOutput()
		require.NoError(t, err, string(out))
		return to
	}
	return map[string]moved{
		"renamed":        {to: func(t *testing.T, g *ground) *ground { return rename(t, g, "renamed") }},
		"moved deeper":   {to: func(t *testing.T, g *ground) *ground { return rename(t, g, "some/where/else") }},
		"moved and back": {to: func(t *testing.T, g *ground) *ground { return rename(t, rename(t, g, "away"), "tree") }},
		"reached by a link": {to: func(t *testing.T, g *ground) *ground {
			link := g.dir + " link"
			require.NoError(t, os.Symlink(g.dir, link))
			assert.Equal(t, g.dir, g.openAt(link).Root())
			return g
		}},
		"copied":           {stays: true, to: func(t *testing.T, g *ground) *ground { return copied(t, g, "copy") }},
		"copied, original": {to: func(t *testing.T, g *ground) *ground { copied(t, g, "copy"); return g }},
		"git directory moved out": {to: func(t *testing.T, g *ground) *ground {
			g.git("init", "-q", "--separate-git-dir=../elsewhere.git")
			return g
		}},
		"cloned": {lost: true, to: func(t *testing.T, g *ground) *ground {
			g.commit()
			g.git("clone", "-q", ".", "../clone")
			return g.beside("clone")
		}},
		"cloned into its place": {lost: true, to: func(t *testing.T, g *ground) *ground {
			g.commit()
			g.git("clone", "-q", "--bare", ".", "../bare.git")
			g.remove(".")
			gitIn(t, filepath.Dir(g.dir), "clone", "-q", "bare.git", "tree")
			return g
		}},
		"git directory deleted": {lost: true, to: func(_ *testing.T, g *ground) *ground { g.remove(".git"); return g }},
		"git directory made anew": {lost: true, to: func(_ *testing.T, g *ground) *ground {
			g.remove(".git")
			g.init()
			return g
		}},
		"git directory away and back": {to: func(t *testing.T, g *ground) *ground {
			away := filepath.Join(filepath.Dir(g.dir), "away")
			require.NoError(t, os.Rename(g.path(".git"), away))
			g.nothingToUndo()
			require.NoError(t, os.Rename(away, g.path(".git")))
			return g
		}},
		"git init again": {to: func(_ *testing.T, g *ground) *ground { g.git("init", "-q"); return g }},

		"linked tree moved by git": {linked: true, to: func(_ *testing.T, g *ground) *ground {
			g.git("worktree", "move", ".", "../moved")
			return g.beside("moved")
		}},
		"linked tree moved and repaired": {linked: true, to: func(t *testing.T, g *ground) *ground {
			to := rename(t, g, "moved")
			to.git("worktree", "repair")
			return to
		}},
		"repository of a linked tree moved": {linked: true, to: func(t *testing.T, g *ground) *ground {
			main := rename(t, g.beside("tree"), "renamed")
			g.nothingToUndo() // nothing leads to the history for now
			main.git("worktree", "repair", g.dir)
			return g
		}},
		"linked tree locked": {linked: true, to: func(_ *testing.T, g *ground) *ground {
			g.git("worktree", "lock", ".")
			return g
		}},
		"another linked tree removed": {linked: true, to: func(_ *testing.T, g *ground) *ground {
			g.git("worktree", "add", "-q", "--detach", "../third")
			g.git("worktree", "remove", "../third")
			g.git("worktree", "prune")
			return g
		}},
	}
}

// The history goes where the git directory goes, and the files are found where they are now.
func TestFoldersMove(t *testing.T) {
	t.Parallel()
	fresh, patch := lively(t)
	for name, m := range moves() {
		for _, mode := range []oxpatch.Mode{oxpatch.ModeText, oxpatch.ModeGit} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				g := fresh(t)
				if m.linked {
					g.git("worktree", "add", "-q", "--detach", "../linked")
					g = g.beside("linked")
				}
				before := g.twin()
				g.must(oxpatch.Request{Patch: []byte(patch), Mode: mode})
				after := g.image()
				at := m.to(t, g)
				if m.lost {
					at.nothingToUndo()
					requireImage(t, after, at.image(), "nothing is touched")
					assert.Empty(t, at.log())
					return
				}
				at.undo()
				requireTwin(t, before, at.twin(), "undone")
				assert.Empty(t, at.git("status", "--porcelain"))
				at.nothingToUndo()
				at.fsck()
				if m.stays {
					requireImage(t, after, g.image(), "the original")
					g.undo()
					requireTwin(t, before, g.twin(), "the original, undone")
				}
			})
		}
	}
}
