package oxpatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// editsInGitMode applies line by line to a.txt, staged each time, and returns the states of files and
// index: states[i] is that after i applies.
func editsInGitMode(t *testing.T, lines ...int) (*ground, []twin) {
	t.Helper()
	g := newBareGround(t)
	g.write("a.txt", numbered(30, nil))
	g.write("b.txt", numbered(30, nil))
	g.commit()
	states := []twin{g.twin()}
	for _, n := range lines {
		g.must(gitRequest(oneLineDiff("a.txt", n)))
		states = append(states, g.twin())
	}
	return g, states
}

// oneLineDiff is a diff that changes line n of a file of numbered lines; n is over 3.
func oneLineDiff(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d,7 +%[2]d,7 @@\n", name, n-3)
	for i := n - 3; i <= n+3; i++ {
		if i == n {
			fmt.Fprintf(&b, "-line %d\n+changed\n", i)
		} else {
			fmt.Fprintf(&b, " line %d\n", i)
		}
	}
	return b.String()
}

func TestGitModeGroupsTakeTheIndexAlong(t *testing.T) {
	t.Parallel()
	g, states := editsInGitMode(t, 4, 12, 25)
	res := g.undoAs(oxpatch.UndoRequest{Count: 3})
	requireTwin(t, states[0], g.twin(), "undo of three")
	assert.Len(t, res.Reverts, 3)
	g.redoAs(oxpatch.RedoRequest{})
	requireTwin(t, states[3], g.twin(), "redo of three")
	g.undoAs(oxpatch.UndoRequest{To: "@~4"})
	requireTwin(t, states[1], g.twin(), "back to the first")
	g.redoAs(oxpatch.RedoRequest{})
	requireTwin(t, states[3], g.twin(), "and forward")
	for i := 2; i >= 0; i-- {
		g.undo()
		requireTwin(t, states[i], g.twin(), "step by step")
	}
	for i := 1; i <= 3; i++ {
		g.redoAs(oxpatch.RedoRequest{})
		requireTwin(t, states[i], g.twin(), "step by step")
	}
	g.git("fsck", "--strict")
	g.fsck()
}

// A merge keeps a later operation's change in the file; what that one staged stays staged.
func TestGitModeUndoThatMerges(t *testing.T) {
	t.Parallel()
	g, states := editsInGitMode(t, 4, 25)
	first := g.operations()[1].ID
	g.undoRefused(oxpatch.UndoRequest{IDs: []string{first}}, oxpatch.ErrDrift)
	requireTwin(t, states[2], g.twin(), "a refused undo")
	res := g.undoAs(oxpatch.UndoRequest{IDs: []string{first}, Merge: true})
	assert.Equal(t, numbered(30, map[int]string{25: "changed"}), g.read("a.txt"))
	assert.Equal(t, states[2].index, g.twin().index)
	assert.True(t, warned(res, oxpatch.KindIndexMismatch), "%v", res.Problems)
	g.redoAs(oxpatch.RedoRequest{})
	requireTwin(t, states[2], g.twin(), "redo")
}

func TestGitModeUndoOfSomePaths(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	before := g.twin()
	g.must(gitRequest(patch))
	after := g.twin()
	line := g.lineOf("b.txt")
	g.undoAs(oxpatch.UndoRequest{Paths: []string{"a.txt"}})
	assert.Equal(t, before.index[0], g.index()[0])
	assert.Equal(t, line, g.lineOf("b.txt"))
	assert.Equal(t, []string{"undo done", "apply partly"}, g.log())
	g.undoAs(oxpatch.UndoRequest{})
	requireTwin(t, before, g.twin(), "the rest")
	g.redoAs(oxpatch.RedoRequest{Count: 2})
	requireTwin(t, after, g.twin(), "both redone")
}

// Text and git mode over one another: the lines of the index go back to those before the oldest.
func TestUndoAcrossModes(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	before := g.twin()
	g.must(gitRequest(patch))
	g.apply(replacement("a.txt", "line 2", "text mode"))
	g.apply(envelope("*** Update File: b.txt", "*** Move to: c.txt", "@@", "-line 2", "+text mode"))
	after := g.twin()
	g.undoAs(oxpatch.UndoRequest{Count: 3})
	requireTwin(t, before, g.twin(), "undo")
	g.redoAs(oxpatch.RedoRequest{})
	requireTwin(t, after, g.twin(), "redo")
	res, err := g.open().Show(context.Background(), oxpatch.ShowRequest{ID: "@~4", Patch: true, Diff: true})
	require.NoError(t, err)
	assert.Equal(t, "git", res.Mode)
	assert.Equal(t, [][]byte{[]byte(patch)}, res.Inputs)
}

// What force overwrites in the working tree does not touch what is staged since.
func TestGitModeUndoByForce(t *testing.T) {
	t.Parallel()
	g, patch := twoFiles(t)
	before := g.twin()
	g.must(gitRequest(patch))
	g.write("a.txt", "mine\n")
	mine := g.twin()
	g.undoAs(oxpatch.UndoRequest{Force: true})
	requireTwin(t, before, g.twin(), "undo")
	g.redoAs(oxpatch.RedoRequest{})
	requireTwin(t, mine, g.twin(), "redo")
}
