package oxpatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// reversing is a way of taking operations back, on the tree of the first scene.
type reversing struct {
	prepare func(g *ground)
	act     func(e *oxpatch.Engine) error
}

// secondEffects is a patch on what everyEffect leaves.
func secondEffects() string {
	return envelope(
		"*** Update File: edit.txt", "@@", "-2", "+two again",
		"*** Update File: dst.txt", "*** Move to: far/away.txt", "@@", "-has moved", "+has moved on",
		"*** Delete File: thing/inside.txt",
		"*** Add File: thing", "+a file again",
		"*** Add File: emptied/deep/gone.txt", "+back",
	)
}

func reversals() map[string]reversing {
	undo := func(req oxpatch.UndoRequest) func(e *oxpatch.Engine) error {
		return func(e *oxpatch.Engine) error {
			res, err := e.Undo(context.Background(), req)
			if errors.Is(err, oxpatch.ErrConflict) && res.Applied {
				return nil // marked, as was asked for
			}
			return err
		}
	}
	redo := func(req oxpatch.RedoRequest) func(e *oxpatch.Engine) error {
		return func(e *oxpatch.Engine) error {
			_, err := e.Redo(context.Background(), req)
			return err
		}
	}
	twice := func(g *ground) {
		g.apply(everyEffect())
		g.apply(secondEffects())
	}
	// A file takes the place of a folder, and the folder comes back: taken together, neither was made.
	swapped := func(g *ground) {
		g.apply(envelope("*** Delete File: emptied/deep/gone.txt", "*** Add File: emptied/deep", "+a file"))
		g.apply(envelope("*** Delete File: emptied/deep", "*** Add File: emptied/deep/gone.txt", "+another",
			"*** Add File: emptied/new.txt", "+new", "*** Update File: edit.txt", "@@", "-two", "+2"))
		require.NoError(g.t, os.Chmod(g.path("emptied/deep"), 0o755))
		g.undoAs(oxpatch.UndoRequest{Count: 2})
	}
	edit := func(g *ground) {
		g.write("edit.txt", strings.Replace(g.read("edit.txt"), "three", "three, mine", 1))
		g.write("untouched.txt", "changed\n")
	}
	return map[string]reversing{
		"a group":        {twice, undo(oxpatch.UndoRequest{Count: 2})},
		"redo":           {func(g *ground) { twice(g); g.undo() }, redo(oxpatch.RedoRequest{})},
		"redo of two":    {func(g *ground) { twice(g); g.undo(); g.undo() }, redo(oxpatch.RedoRequest{Count: 2})},
		"folder swapped": {swapped, redo(oxpatch.RedoRequest{})},
		"a part":         {twice, undo(oxpatch.UndoRequest{Paths: []string{"far", "thing"}})},
		"by force":       {func(g *ground) { twice(g); edit(g); g.remove("over.txt") }, undo(oxpatch.UndoRequest{Count: 2, Force: true})},
		"by merge":       {func(g *ground) { g.apply(everyEffect()); edit(g) }, undo(oxpatch.UndoRequest{Merge: true, Markers: true})},
		"back to before": {func(g *ground) { twice(g); g.undoAs(oxpatch.UndoRequest{Count: 2}) }, undo(oxpatch.UndoRequest{To: "@~2"})},
	}
}

// Whatever is taken back, a failure at any effect leaves everything as it was, and a kill either that or
// what was wanted; nothing in between is left behind by the next command.
func TestAFaultAtAnyEffectOfAReversal(t *testing.T) {
	t.Parallel()
	s := scenes()[0]
	for name, r := range reversals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := quick(t)
			g := s.ground(t, base, 0)
			r.prepare(g)
			before, log := g.image(), g.log()
			count := &fault{}
			require.NoError(t, r.act(g.open(count.options()...)))
			after := withoutIDs(g.image())
			require.NotEqual(t, before, after)
			points := count.points()
			require.Greater(t, len(points), 10)
			for i := 1; i <= len(points); i += step() {
				for _, kill := range []bool{false, true} {
					g := s.ground(t, base, i)
					r.prepare(g)
					f := points[i-1].fault()
					if kill {
						killed(g, f)
					}
					err := r.act(g.open(f.options()...))
					if kill {
						_, err := g.open().Recover(context.Background(), oxpatch.RecoverRequest{})
						require.NoError(t, err, f.what)
					}
					now := g.image()
					if !kill && err != nil && !errors.Is(err, oxpatch.ErrRollback) {
						require.Equal(t, before, now, f.what)
					}
					if equalImages(before, now) {
						require.Equal(t, log, g.log(), f.what)
					} else {
						require.Equal(t, after, withoutIDs(now), f.what)
						require.Len(t, g.log(), len(log)+1, f.what)
						g.undoAs(oxpatch.UndoRequest{IDs: []string{"@"}})
						require.Equal(t, before, g.image(), f.what)
					}
					if i%7 == 0 {
						g.fsck()
					}
					require.NoError(t, os.RemoveAll(filepath.Dir(g.dir)))
				}
			}
		})
	}
}

// withoutIDs takes the ids of operations out of conflict markers.
func withoutIDs(i image) image {
	id := regexp.MustCompile(`operation [0-9a-z]{12}`)
	for name, what := range i {
		i[name] = id.ReplaceAllString(what, "operation")
	}
	return i
}
