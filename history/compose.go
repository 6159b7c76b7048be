package history

import (
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// Path is what several operations did to one path.
type Path struct {
	Path  string
	Steps []Step // newest first, never empty
}

// Step is what one operation did to a path.
type Step struct {
	Entry *Entry
	Index int // in Entry.Meta.Paths
}

// Meta returns what the operation's record says of the path.
func (s Step) Meta() *snapshot.PathMeta { return &s.Entry.Meta.Paths[s.Index] }

// Newest is the step whose after is to stand there now.
func (p *Path) Newest() Step { return p.Steps[0] }

// Oldest is the step whose before taking all of them back leads to.
func (p *Path) Oldest() Step { return p.Steps[len(p.Steps)-1] }

// Compose lines up what operations, given newest first, did to each path, as far as keep wants it (a
// nil keep wants all) and as far as it stands; with all, what is undone counts too. The paths come in
// the order in which the oldest operations name them.
func Compose(entries []*Entry, all bool, keep func(path string) bool) []*Path {
	byName := map[string]*Path{}
	var order []string
	for _, e := range slices.Backward(entries) {
		for i, p := range e.Meta.Paths {
			if !all && !e.Stands(i) || keep != nil && !keep(p.Path) {
				continue
			}
			at := byName[p.Path]
			if at == nil {
				at = &Path{Path: p.Path}
				byName[p.Path] = at
				order = append(order, p.Path)
			}
			at.Steps = append(at.Steps, Step{e, i})
		}
	}
	paths := make([]*Path, len(order))
	for i, name := range order {
		paths[i] = byName[name]
		slices.Reverse(paths[i].Steps)
	}
	return paths
}

// Within returns a filter for Compose, of the same operations, that keeps the given paths and what is
// below them. A path that an operation moved brings its other name along: half of a move cannot be
// taken back.
func Within(entries []*Entry, all bool, wanted []string) func(path string) bool {
	in := func(path string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool {
			return w == "" || w == "." || path == w || strings.HasPrefix(path, w+"/")
		})
	}
	also := map[string]bool{}
	// Each round may bring in a name that another move leads on from.
	for grown := true; grown; {
		grown = false
		for _, e := range entries {
			for i, p := range e.Meta.Paths {
				if p.OldPath == "" || !all && !e.Stands(i) || !leaves(e.Meta, p.OldPath) {
					continue
				}
				a, b := in(p.Path) || also[p.Path], in(p.OldPath) || also[p.OldPath]
				if a != b {
					also[p.Path], also[p.OldPath], grown = true, true, true
				}
			}
		}
	}
	return func(path string) bool { return in(path) || also[path] }
}

// leaves reports whether nothing is left at the path after the operation: it was moved, not copied.
func leaves(m *snapshot.Meta, path string) bool {
	return slices.ContainsFunc(m.Paths, func(p snapshot.PathMeta) bool {
		return p.Path == path && p.Before.Kind != change.Absent && p.After.Kind == change.Absent && !p.After.Unknown
	})
}

// Later returns the ids of the operations among newer, given newest first, that stand in the way of
// taking back an operation with this id at a path: those that changed the path after it and are not
// undone. An undo counts if what it took back is older than the operation.
func Later(newer []*Entry, id, path string) []string {
	var ids []string
	for _, e := range newer {
		if e.Meta.ID <= id || !inTheWay(e, id) {
			continue
		}
		for i, p := range e.Meta.Paths {
			if p.Path == path && e.Stands(i) {
				ids = append(ids, e.Meta.ID)
				break
			}
		}
	}
	return ids
}

func inTheWay(e *Entry, id string) bool {
	switch e.Meta.Kind {
	case snapshot.KindCheckpoint:
		return false
	case snapshot.KindUndo, snapshot.KindRedo:
		return slices.ContainsFunc(e.Meta.Reverts, func(r string) bool { return r < id })
	}
	return true
}
