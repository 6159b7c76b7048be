package oxpatch

import (
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/worktree"
)

// concerns reports whether a folder is for the request to make or remove: where only some paths are wanted,
// those that are above one of them.
func (u *reversal) concerns(dir string) bool {
	return !u.chosen.partial || slices.ContainsFunc(u.chosen.paths, func(p *history.Path) bool {
		return p.Path == dir || strings.HasPrefix(p.Path, dir+"/")
	})
}

// plan works out the way back for every path, or why there is none.
func (u *reversal) plan() error {
	u.files, u.still, u.conflicts, u.result.Changes, u.result.Files = nil, nil, nil, nil, nil
	var refused driftError
	files, backs := make([]worktree.File, len(u.chosen.paths)), make([]*wayBack, len(u.chosen.paths))
	for i, p := range u.chosen.paths {
		now, stamp, err := u.dirs.standing(u.tree, p.Path)
		if err != nil {
			return err
		}
		if id, ok := u.op.unresolved[p.Path]; ok {
			return &pendingError{path: p.Path, id: id}
		}
		back, err := u.back(p, now)
		if err != nil {
			return err
		}
		if back.drift != nil {
			refused.paths = append(refused.paths, back.drift)
		}
		if back.conflict != nil {
			u.conflicts = append(u.conflicts, back.conflict)
		}
		if err := obstacle(p.Path, now, back); err != nil {
			return err
		}
		c := change.Change{Path: p.Path, Before: now, After: back.state, Index: indexBackOf(p)}
		files[i], backs[i] = worktree.File{Change: c, Stamp: stamp, InPlace: p.Newest().Meta().InPlace}, back
	}
	moved, done := movedFrom(u.chosen.paths, files), map[string]bool{}
	for i, p := range u.chosen.paths {
		files[i].OldPath = moved[p.Path]
		u.add(reverseWord(p), files[i], backs[i])
		done[p.Path] = true
	}
	u.addAnchored(done)
	if len(refused.paths) > 0 {
		for i := range u.result.Files {
			u.result.Files[i].skip()
		}
		u.result.listPaths()
		return &refused
	}
	u.result.listPaths()
	return nil
}

// add puts a path into the plan and the result.
func (u *reversal) add(word string, f worktree.File, back *wayBack) {
	r := FileResult{Path: change.DisplayPath(f.Path), Change: word, Status: StatusApplied}
	if back.drift != nil {
		r.Status = StatusSkipped
		u.result.Files = append(u.result.Files, r)
		return
	}
	still := f.Before.Equal(f.After) && f.Before.Mode == f.After.Mode
	switch {
	case back.conflict != nil:
		r.Status = StatusConflicted
	case still && f.Index == nil:
		r.Unchanged = true
	}
	if still {
		u.still = append(u.still, f)
	} else {
		u.files = append(u.files, f)
	}
	if !still || f.Index != nil {
		u.result.Changes = append(u.result.Changes, f.Change)
	}
	u.result.Files = append(u.result.Files, r)
}

// reverseWord says what taking the operations back does to a path.
func reverseWord(p *history.Path) string {
	from, to := p.Newest().Meta().After, p.Oldest().Meta().Before
	switch {
	case to.Kind == change.Absent:
		return "delete"
	case from.Kind == change.Absent && !from.Unknown:
		return "add"
	case from.OID == to.OID && from.Mode != to.Mode:
		return "mode"
	}
	return "modify"
}

// movedFrom maps the old name of a file that was moved to the new one, from which it comes back. Where
// several were moved away from there, one after the other, it is the first that comes back.
func movedFrom(paths []*history.Path, files []worktree.File) map[string]string {
	out, since := map[string]string{}, map[string]string{}
	for i, p := range paths {
		m, id := p.Oldest().Meta(), p.Oldest().Entry.Meta.ID
		goes := files[i].Before.Kind != change.Absent && files[i].After.Kind == change.Absent
		if m.OldPath == "" || m.Before.Kind != change.Absent || !goes {
			continue
		}
		if old, ok := since[m.OldPath]; !ok || id < old {
			out[m.OldPath], since[m.OldPath] = p.Path, id
		}
	}
	return out
}

// indexBackOf returns what happens to the path's lines of git's index.
func indexBackOf(p *history.Path) *change.IndexChange {
	var back *change.IndexChange
	for _, s := range p.Steps {
		x := s.Meta().Index
		switch {
		case x == nil:
		case back == nil:
			back = &change.IndexChange{Before: x.After, After: x.Before}
		default:
			back.After = x.Before
		}
	}
	return back
}
