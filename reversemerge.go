package oxpatch

import (
	"fmt"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/merge3"
	"github.com/openoxide/oxpatch/snapshot"
)

// merge takes one operation out of what stands there now: the base is what it left, and the way from
// there to what was before it is made in what was changed since.
func (u *reversal) merge(b *wayBack, step history.Step, rec *snapshot.Record, before change.State) error {
	m, id := step.Meta(), step.Entry.Meta.ID
	if before.Equal(b.state) {
		return nil // somebody has taken it back already
	}
	if m.After.Unknown {
		b.drift = unmergeable(m, step, b.state, "what the operation left is not known, so nothing can be merged")
		return nil
	}
	after, err := rec.After(step.Index)
	if err != nil {
		return err
	}
	if after.Kind != change.File || before.Kind != change.File || b.state.Kind != change.File {
		b.drift = unmergeable(m, step, b.state, fmt.Sprintf("operation %s left %s, before it there was %s, and now there is %s, which cannot be merged",
			id, after.Kind.Phrase(), before.Kind.Phrase(), b.state.Kind.Phrase()))
		return nil
	}
	res := merge3.Merge(after.Content, b.state.Content, before.Content, merge3.Options{Labels: merge3.Labels{
		Ours: "now", Base: "after operation " + id, Theirs: "before operation " + id,
	}})
	switch {
	case res.Binary:
		b.drift = unmergeable(m, step, b.state, "its content was changed since operation "+id+" too, and it is not text")
		return nil
	case len(res.Conflicts) > 0 && !u.how.markers:
		b.drift = conflictDrift(m, step, fmt.Sprintf("what was changed since operation %s overlaps with it%s", id, more(len(res.Conflicts))))
		b.drift.line = max(res.Conflicts[0].Ours.First, 1)
		return nil
	case len(res.Conflicts) > 0 && b.conflict != nil:
		b.drift = conflictDrift(m, step, "it has conflicts with more than one operation")
		b.drift.hint = "take them back one by one, resolving the conflicts of each, or bring back what was before with --force, which can be undone"
		return nil
	case len(res.Conflicts) > 0:
		b.conflict = &conflictedPath{path: m.Path, id: id, line: res.Conflicts[0].Lines.First}
	}
	merged := change.State{Kind: change.File, Mode: b.state.Mode, Content: res.Content}
	if after.Executable() == b.state.Executable() {
		merged.Mode = before.Mode
	}
	b.state = merged
	return nil
}

// conflictDrift is a path at which a merge cannot do what was asked.
func conflictDrift(m *snapshot.PathMeta, step history.Step, reason string) *driftedPath {
	return &driftedPath{path: m.Path, id: step.Entry.Meta.ID, reason: reason, kind: KindConflict, err: ErrConflict,
		hint: "resolve it by hand with --merge --conflict=markers, or bring back what was before with --force, which loses nothing: it can be undone"}
}

// unmergeable is a path at which there is nothing that could be merged, with markers or without.
func unmergeable(m *snapshot.PathMeta, step history.Step, now change.State, reason string) *driftedPath {
	d := conflictDrift(m, step, reason)
	d.hint = "bring back what was before with --force, which loses nothing: it can be undone"
	if inTheWay(now.Kind) {
		d.hint = moveAway
	}
	return d
}

// conflictedPath is a file into which conflicts are written.
type conflictedPath struct {
	path, id string
	line     int // of the first marker, 1-based
}

// problem reports the path, of an operation of that kind.
func (c *conflictedPath) problem(kind snapshot.Kind, check bool) Problem {
	verb, hint := "are", "resolve them, or take this undo back with oxpatch redo"
	if kind == snapshot.KindRedo {
		hint = "resolve them, or take this redo back with oxpatch undo @"
	}
	if check {
		verb = "would be"
	}
	return Problem{Kind: KindConflict, Path: change.DisplayPath(c.path), Line: c.line,
		Message: fmt.Sprintf("what was changed since operation %s overlaps with it; the conflicts %s marked in the file", c.id, verb), Hint: hint}
}

func more(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" in %d places", n)
}
