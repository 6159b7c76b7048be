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

// Unbroken reports whether each operation found at the path what the one before it had left, as far as the
// records know.
func (p *Path) Unbroken() bool {
	for i := 1; i < len(p.Steps); i++ {
		if !Follows(p.Steps[i], p.Steps[i-1]) {
			return false
		}
	}
	return true
}

// Follows reports whether the newer of two steps found what the older had left.
func Follows(older, newer Step) bool { return same(older.Meta().After, newer.Meta().Before) }

// same compares what undo compares: kind, content, and whether a file may be executed.
func same(a, b snapshot.StateMeta) bool {
	return !a.Unknown && !b.Unknown && a.Kind == b.Kind && a.OID == b.OID && a.Mode&0o100 == b.Mode&0o100
}

// Unbroken reports whether all of the paths are.
func Unbroken(paths []*Path) bool {
	return !slices.ContainsFunc(paths, func(p *Path) bool { return !p.Unbroken() })
}

// Leads reports whether taking back some, of the operations of all, comes to the same as taking all of them
// back: with the same end and beginning for each path, and nothing missing in between.
func Leads(some, all []*Path) bool {
	byName := map[string]*Path{}
	for _, p := range some {
		byName[p.Path] = p
	}
	for _, p := range all {
		before, after := p.Oldest().Meta().Before, p.Newest().Meta().After
		s := byName[p.Path]
		switch {
		case s == nil && same(before, after):
		case s == nil, !same(s.Oldest().Meta().Before, before), !same(s.Newest().Meta().After, after):
			return false
		case !s.Unbroken() && p.Unbroken():
			return false
		}
	}
	return true
}

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

// Together returns the operations among others, given newest first, that have to be taken back
// with the targets so that each finds what it left: those that stand in the way of one of them, of one of
// those, and so on. Only paths that keep wants count; a nil keep wants all.
func Together(others, targets []*Entry, keep func(path string) bool) []*Entry {
	newest := map[string]string{} // by path, of the operations that go
	note := func(e *Entry) {
		for i, p := range e.Meta.Paths {
			if e.Stands(i) && (keep == nil || keep(p.Path)) {
				newest[p.Path] = e.Meta.ID
			}
		}
	}
	isTarget := map[*Entry]bool{}
	all := slices.Clone(others)
	for _, t := range targets {
		isTarget[t] = true
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b *Entry) int { return strings.Compare(a.Meta.ID, b.Meta.ID) })
	var out []*Entry
	for _, e := range all { // what stands in the way of an operation is newer
		blocks := func(i int) bool {
			id := newest[e.Meta.Paths[i].Path]
			return id != "" && e.Stands(i) && inTheWay(e, id)
		}
		switch {
		case isTarget[e]:
			note(e)
		case slices.ContainsFunc(indices(e), blocks):
			note(e)
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// indices returns those of an operation's paths.
func indices(e *Entry) []int {
	out := make([]int, len(e.Meta.Paths))
	for i := range out {
		out[i] = i
	}
	return out
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
