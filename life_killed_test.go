package oxpatch_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/worktree"
)

// The steps in front of which an operation is killed here.
const (
	beforeFiles = "write the files"
	beforeIndex = "change the index"
	beforeClose = "close the operation"
)

// interrupted is what happens after an operation was killed, and what becomes of it.
type interrupted struct {
	at      string
	mode    oxpatch.Mode // "" for both
	between func(g *ground)
	// log is the log after the recovery: empty where the operation is dropped.
	log []string
	// pending says that it is left for the user to decide.
	pending bool
}

func interruptions() map[string]interrupted {
	done := []string{"apply done"}
	rename := func(g *ground) {
		require.NoError(g.t, os.Rename(g.dir, g.dir+" renamed"))
		g.dir += " renamed"
	}
	commit := func(lines ...string) func(g *ground) {
		return commands(append([]string{"add -A", "commit -q -m patched"}, lines...)...)
	}
	return map[string]interrupted{
		"all done":                    {at: beforeClose, between: func(*ground) {}, log: done},
		"all done, renamed":           {at: beforeClose, between: rename, log: done},
		"files done, renamed":         {at: beforeIndex, mode: oxpatch.ModeGit, between: rename},
		"files done, text, renamed":   {at: beforeIndex, mode: oxpatch.ModeText, between: rename, log: done},
		"nothing done, renamed":       {at: beforeFiles, between: rename},
		"all done, committed":         {at: beforeClose, mode: oxpatch.ModeText, between: commit(), log: done},
		"all done, branch switched":   {at: beforeClose, mode: oxpatch.ModeText, between: commands("switch -q other"), log: done},
		"all done, committed, left":   {at: beforeClose, mode: oxpatch.ModeText, between: commit("switch -q other")},
		"all done, rebased":           {at: beforeClose, mode: oxpatch.ModeText, between: commit("rebase -q other"), log: done},
		"all done, rebased on far":    {at: beforeClose, mode: oxpatch.ModeText, between: commit("rebase -q far"), pending: true},
		"all done, stashed":           {at: beforeClose, mode: oxpatch.ModeText, between: commands("stash -q -u")},
		"all done, edited":            {at: beforeClose, between: func(g *ground) { g.write(inA, "mine\n") }, pending: true},
		"files done, edited":          {at: beforeIndex, between: func(g *ground) { g.write(inB, "mine\n") }, pending: true},
		"nothing done, edited":        {at: beforeFiles, between: func(g *ground) { g.write(inA, "mine\n") }, pending: true},
		"nothing done, another added": {at: beforeFiles, between: func(g *ground) { g.write("x", "x\n") }},
		"nothing done, switched":      {at: beforeFiles, mode: oxpatch.ModeText, between: commands("switch -q far"), pending: true},
	}
}

// What a killed operation left is settled by what stands there, wherever and on whatever branch that is
// then. What somebody has changed since waits for a decision, and nothing else is held up.
func TestLifeGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	fresh, patch := lively(t)
	for name, c := range interruptions() {
		for _, mode := range []oxpatch.Mode{oxpatch.ModeText, oxpatch.ModeGit} {
			if c.mode != "" && c.mode != mode {
				continue
			}
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				g := fresh(t)
				before := g.twin()
				_, err := g.run(oxpatch.Request{Patch: []byte(patch), Mode: mode}, oxpatch.WithSteps(func(step string) error {
					if step == c.at {
						return worktree.ErrKilled
					}
					return nil
				}))
				require.ErrorIs(t, err, worktree.ErrKilled)
				c.between(g)
				between := g.twin()
				res, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
				if c.pending {
					require.ErrorIs(t, err, oxpatch.ErrPending)
					assert.False(t, res.OK)
					requireTwin(t, between, g.twin(), "left for the user")
					g.apply(replacement("keep.txt", "keep", "kept")) // others go on
					_, err = g.open().Apply(context.Background(), request(addition(inNew, "else")))
					require.ErrorIs(t, err, oxpatch.ErrPending)
					assert.Equal(t, []string{"apply done", "apply unresolved"}, g.log())
					return
				}
				require.NoError(t, err, "%v", res.Problems)
				assert.NoFileExists(t, g.path(".git/index.lock"))
				assert.Equal(t, len(c.log), len(g.log()))
				if c.log == nil {
					g.nothingToUndo()
					for _, file := range everyFile() {
						assert.Equal(t, before.files[file], g.image()[file], file)
						assert.Equal(t, before.files[file] == "", len(g.lineOf(file)) == 0, file)
					}
					g.fsck()
					return
				}
				assert.Equal(t, c.log, g.log())
				requireTwin(t, between, g.twin(), "what was done stays")
				g.undo()
				for _, file := range everyFile() {
					assert.Equal(t, before.files[file], g.image()[file], file)
				}
				g.fsck()
			})
		}
	}
}
