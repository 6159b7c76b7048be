package oxpatch

import (
	"maps"
	"os"
	pathpkg "path"
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// wayBack is what a path becomes when operations are taken back.
type wayBack struct {
	state    change.State
	drift    *driftedPath    // why it is refused, if it is
	conflict *conflictedPath // what the merge could not settle, where that is written into the file
}

// back takes the operations on a path back one by one, from the newest, starting with what stands
// there now. Each must find what it left, unless the request says how to go on.
func (u *reversal) back(p *history.Path, now change.State) (*wayBack, error) {
	b := &wayBack{state: now}
	anchor := u.anchors.at(p.Path, b)
	for i, step := range p.Steps {
		if anchor != "" && step.Entry.Meta.ID >= anchor {
			continue
		}
		m, rec := step.Meta(), u.record(step)
		before, err := rec.Before(step.Index)
		if err != nil {
			return nil, err
		}
		if m.Before.Kind == change.File && m.Before.Mode == m.After.Mode && b.state.Kind == change.File {
			// The operation left the mode alone, so a mode set since is the user's.
			before.Mode = b.state.Mode
		}
		switch {
		case m.After.Same(b.state), u.how.force:
			b.state = before
		case u.how.merge:
			if err := u.merge(b, step, rec, before); err != nil {
				return nil, err
			}
		default:
			b.drift = u.drift(p, i, b.state)
		}
		if b.drift != nil {
			b.state, b.conflict = now, nil
			break
		}
	}
	return b, nil
}

func (u *reversal) record(s history.Step) *snapshot.Record {
	for _, t := range u.chosen.targets {
		if t.Entry == s.Entry {
			return t.rec
		}
	}
	return nil
}

// madeDirs are the folders that operations made and removed. Of several operations that made and removed
// one, in turn, the oldest says what was there before all of them.
type madeDirs struct {
	made, removed map[string]snapshot.DirMeta // by the oldest operation
	named         map[string]bool             // by any, or by its paths
}

// dirsOfAll collects the folders of operations, given newest first, as far as they are of concern; nil is
// for all.
func dirsOfAll(targets []logged, concern func(dir string) bool) madeDirs {
	d := madeDirs{map[string]snapshot.DirMeta{}, map[string]snapshot.DirMeta{}, map[string]bool{}}
	for _, t := range targets {
		d.add(t.Meta, concern)
	}
	return d
}

// dirsOfOne collects the folders of one operation.
func dirsOfOne(m *snapshot.Meta) madeDirs {
	d := dirsOfAll(nil, nil)
	d.add(m, nil)
	return d
}

func (d madeDirs) add(m *snapshot.Meta, concern func(dir string) bool) {
	for _, dir := range m.DirsMade {
		d.note(dir, d.made, d.removed, concern)
	}
	for _, dir := range m.DirsRemoved {
		d.note(dir, d.removed, d.made, concern)
	}
	d.noteParents(m.Paths)
}

// noteParents notes the paths of an operation that are above others of it at which something stood or
// stands. An undo of a group that put a file in the place of a folder, and the folder back, made and
// removed none, but has both.
func (d madeDirs) noteParents(paths []snapshot.PathMeta) {
	has := map[string]bool{}
	for _, p := range paths {
		has[p.Path] = true
	}
	for _, p := range paths {
		if p.Before.Kind == change.Absent && p.After.Kind == change.Absent {
			continue
		}
		for up := pathpkg.Dir(p.Path); up != "." && up != "/"; up = pathpkg.Dir(up) {
			if has[up] {
				d.named[up] = true
			}
		}
	}
}

func (d madeDirs) note(m snapshot.DirMeta, to, other map[string]snapshot.DirMeta, concern func(dir string) bool) {
	d.named[m.Path] = true
	if concern == nil || concern(m.Path) {
		to[m.Path] = m
		delete(other, m.Path)
	}
}

// standing reads what stands at a path. A folder that one of the operations makes or removes in the
// place of a file counts as nothing there, as it does in the records.
func (d madeDirs) standing(tree *worktree.Tree, path string) (change.State, worktree.Stamp, error) {
	now, stamp, err := tree.Read(path)
	if err == nil && now.Kind == change.Dir && d.named[path] {
		return change.State{}, worktree.Stamp{}, nil
	}
	return now, stamp, err
}

// toMake returns the folders to be made: those that files need, with the mode that they had, and those
// that the operations removed when there was nothing left in them, as there will not be now.
func (d madeDirs) toMake(tree *worktree.Tree, files []worktree.File, needed []worktree.Dir) []worktree.Dir {
	have := map[string]bool{}
	for i, m := range needed {
		have[m.Path] = true
		if old, ok := d.removed[m.Path]; ok {
			needed[i].Mode = old.Mode
		}
	}
	for _, f := range files {
		have[f.Path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(d.removed)) { // what is above comes first
		now, _, err := tree.Read(path)
		if have[path] || err != nil || now.Kind != change.Absent {
			continue
		}
		up, _, err := tree.Read(pathpkg.Dir(path))
		if above := pathpkg.Dir(path); above == "." || have[above] || err == nil && up.Kind == change.Dir {
			have[path] = true
			needed = append(needed, worktree.Dir{Path: path, Mode: d.removed[path].Mode})
		}
	}
	return needed
}

// toRemove returns, of the folders that the operations made, those in which nothing is left when the
// files are written, the deepest first. One that they did not come to use, as in a run under Codex's rules
// that fails midway, is among them.
func (d madeDirs) toRemove(tree *worktree.Tree, files []worktree.File) []worktree.Dir {
	goes, needed := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if f.After.Kind == change.Absent {
			goes[f.Path] = true
			continue
		}
		for up := pathpkg.Dir(f.Path); up != "." && up != "/"; up = pathpkg.Dir(up) {
			needed[up] = true
		}
	}
	var removed []worktree.Dir
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(d.made))) {
		now, _, err := tree.Read(path)
		if needed[path] || err != nil || now.Kind != change.Dir {
			continue
		}
		inside, err := os.ReadDir(tree.Abs(path))
		if err == nil && !slices.ContainsFunc(inside, func(n os.DirEntry) bool { return !goes[path+"/"+n.Name()] }) {
			goes[path] = true
			removed = append(removed, worktree.Dir{Path: path, Mode: now.Mode})
		}
	}
	return removed
}
