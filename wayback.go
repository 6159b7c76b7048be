package oxpatch

import (
	"os"
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

// madeDirs are the folders that operations made and removed.
type madeDirs struct {
	made, removed map[string]snapshot.DirMeta
}

// dirsOfAll collects the folders of operations, given newest first; where several removed one, what
// it was before the oldest counts.
func dirsOfAll(targets []logged) madeDirs {
	d := madeDirs{map[string]snapshot.DirMeta{}, map[string]snapshot.DirMeta{}}
	for _, t := range targets {
		for _, m := range t.Meta.DirsMade {
			d.made[m.Path] = m
		}
		for _, m := range t.Meta.DirsRemoved {
			d.removed[m.Path] = m
		}
	}
	return d
}

// standing reads what stands at a path. A folder that one of the operations makes or removes in the
// place of a file counts as nothing there, as it does in the records.
func (d madeDirs) standing(tree *worktree.Tree, path string) (change.State, worktree.Stamp, error) {
	now, stamp, err := tree.Read(path)
	if err != nil || now.Kind != change.Dir {
		return now, stamp, err
	}
	_, made := d.made[path]
	_, removed := d.removed[path]
	if made || removed {
		return change.State{}, worktree.Stamp{}, nil
	}
	return now, stamp, nil
}

// modes gives folders that are made again the mode that they had.
func (d madeDirs) modes(made []worktree.Dir) []worktree.Dir {
	for i, m := range made {
		if old, ok := d.removed[m.Path]; ok {
			made[i].Mode = old.Mode
		}
	}
	return made
}

// ours keeps of the folders that become empty those that the operations had made.
func (d madeDirs) ours(removed []worktree.Dir) []worktree.Dir {
	return slices.DeleteFunc(removed, func(r worktree.Dir) bool {
		_, ok := d.made[r.Path]
		return !ok
	})
}

// leftover adds the folders that the operations made and did not come to use, as a run under Codex's
// rules does that fails midway: those in which there is nothing but folders that go.
func (d madeDirs) leftover(tree *worktree.Tree, removed []worktree.Dir) []worktree.Dir {
	goes := map[string]bool{}
	for _, r := range removed {
		goes[r.Path] = true
	}
	var names []string
	for path := range d.made {
		names = append(names, path)
	}
	slices.Sort(names)
	for _, path := range slices.Backward(names) { // what is inside comes first
		now, _, err := tree.Read(path)
		if goes[path] || err != nil || now.Kind != change.Dir {
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
