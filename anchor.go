package oxpatch

import (
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// anchors are the checkpoints of a group that is rolled back, oldest first. What the oldest of them
// that has a path recorded there is brought back, whatever stands there now; of the operations on the
// path only those before that checkpoint are left to be taken back.
type anchors []*anchor

// anchor is one checkpoint, compared with the tree.
type anchor struct {
	id      string
	planner *restorePlanner
	files   map[string]worktree.File // that are not as it recorded them, by path
}

// findAnchors compares the checkpoints among the operations with the tree.
func (u *reversal) findAnchors() (anchors, error) {
	if !u.choose.group {
		return nil, nil
	}
	var list anchors
	for _, t := range slices.Backward(u.chosen.targets) {
		if t.Meta.Kind != snapshot.KindCheckpoint {
			continue
		}
		a, err := u.compareWith(t)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	if len(list) > 0 {
		u.warnOfNew(list[0].planner.plan.left)
	}
	return list, nil
}

func (u *reversal) compareWith(t logged) (*anchor, error) {
	r := &restoring{e: u.e, ctx: u.ctx, req: RestoreRequest{ID: t.Meta.ID}, result: u.e.newResult(u.command), op: u.op, rec: t.rec}
	var err error
	if r.tree, err = u.e.scanTree("", false); err != nil {
		return nil, err
	}
	defer r.tree.Close()
	planner, err := r.makePlanner()
	if err != nil {
		return nil, err
	}
	a := &anchor{id: t.Meta.ID, planner: planner, files: map[string]worktree.File{}}
	for _, f := range planner.plan.files {
		a.files[f.Path] = f
	}
	return a, nil
}

// warnOfNew names files that nobody recorded and that stay.
func (u *reversal) warnOfNew(left []string) {
	for i, path := range left {
		if i == maxNamed {
			break
		}
		u.result.warn(Problem{Kind: KindExists, Path: change.DisplayPath(path), Message: "it was not there at the checkpoint and stays",
			Hint: "oxpatch restore --delete-new removes such files"})
	}
}

// at puts the way back of a path at what a checkpoint recorded, and returns the checkpoint's id; ""
// where none has the path.
func (list anchors) at(path string, b *wayBack) string {
	for _, a := range list {
		if f, ok := a.files[path]; ok {
			b.state = f.After
			return a.id
		}
		if _, ok := a.planner.recorded[path]; ok { // and it is as it was
			return a.id
		}
	}
	return ""
}

// modes gives folders that are made again the mode that a checkpoint recorded.
func (list anchors) modes(made []worktree.Dir) []worktree.Dir {
	for i, d := range made {
		for _, a := range slices.Backward(list) {
			if mode, ok := a.planner.dirs[d.Path]; ok {
				made[i].Mode = mode
			}
		}
	}
	return made
}

// addAnchored adds what only checkpoints know of. done has the paths that are planned already.
func (u *reversal) addAnchored(done map[string]bool) {
	for _, a := range u.anchors {
		for _, f := range a.planner.plan.files {
			if !done[f.Path] {
				done[f.Path] = true
				var b wayBack
				u.anchors.at(f.Path, &b)
				f.After = b.state
				u.add(stateWord(f.Before, f.After), f, &b)
			}
		}
	}
}
