package oxpatch

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// folders works out which folders come and go.
func (p *restorePlanner) folders() error {
	made, removed, err := p.tree.Dirs(fileChangesOf(p.plan.files))
	var pe *worktree.PathError
	if errors.As(err, &pe) && (errors.Is(err, worktree.ErrIsDirectory) || errors.Is(err, worktree.ErrParentIsFile)) {
		return &worktree.PathError{Path: pe.Path, Err: ErrExists, Problem: p.inTheWay(pe.Path)}
	}
	if err != nil {
		return err
	}
	for i, d := range made {
		made[i].Mode = p.dirs[d.Path]
		if mode, ok := p.since.modes[d.Path]; ok && made[i].Mode == 0 {
			made[i].Mode = mode
		}
	}
	p.plan.made = made
	puts := map[string]bool{}
	for _, f := range p.plan.files {
		puts[f.Path] = f.After.Kind != change.Absent
	}
	for _, d := range removed {
		if p.since.dirs[d.Path] || makesRoom(d.Path, puts) || p.req.DeleteNew && p.isNew(d.Path) {
			p.plan.removed = append(p.plan.removed, d)
		}
	}
	return nil
}

// makesRoom reports whether a folder has to go because a file is to stand there, or above.
func makesRoom(dir string, puts map[string]bool) bool {
	return puts[dir] || slices.ContainsFunc(worktree.Above(dir), func(up string) bool { return puts[up] })
}

// isNew reports whether a folder lies in the scope of a checkpoint that does not know it, or where nothing
// was. Folders without files are not in checkpoints, so it may have been there, empty.
func (p *restorePlanner) isNew(dir string) bool {
	if slices.ContainsFunc(p.inWay, func(at string) bool { return p.recorded[at].Kind == change.Absent && worktree.Within(dir, at) }) {
		return true
	}
	if _, known := p.dirs[dir]; known {
		return false
	}
	return p.rec.Meta.Tree != nil || slices.ContainsFunc(p.rec.Meta.Scopes, func(s snapshot.DirMeta) bool { return worktree.Within(dir, s.Path) })
}

// inTheWay says why a path cannot become what it was.
func (p *restorePlanner) inTheWay(at string) string {
	what, more := "a file or link that was not there then stands in the place of a folder", ""
	if s, err := p.tree.Look(at); err == nil && s.Kind == change.Dir {
		what, more = "a folder stands in the place of a file", "; an empty one has to be removed by hand"
	}
	if p.rec.Meta.Kind != snapshot.KindCheckpoint {
		return what + "; move it away first"
	}
	return what + "; --delete-new removes files that are new" + more
}

// later is what the operations after another one did.
type later struct {
	leaves map[string]bool        // whether the last one to touch a path left something there
	dirs   map[string]bool        // folders made
	modes  map[string]fs.FileMode // of folders removed
}

// laterThan reads the operations after one. Those that cannot be read are named in warnings.
func (e *Engine) laterThan(id string, res *Result) (*later, error) {
	l := &later{leaves: map[string]bool{}, dirs: map[string]bool{}, modes: map[string]fs.FileMode{}}
	ops, err := e.site.History().Ops()
	if errors.Is(err, snapshot.ErrNewerFormat) {
		return nil, err
	}
	for _, op := range ops {
		if op.ID <= id {
			break
		}
		rec, err := op.Read()
		if errors.Is(err, snapshot.ErrNewerFormat) {
			return nil, err
		}
		if errors.Is(err, snapshot.ErrUnknownOperation) {
			continue // dropped from the history since it was listed
		}
		if err != nil {
			res.warn(Problem{Kind: KindIO, Message: fmt.Sprintf("operation %s cannot be read: %v", op.ID, err), Hint: "files that it made are taken for yours"})
			continue
		}
		if rec.Meta.Kind == snapshot.KindCheckpoint {
			continue
		}
		l.note(rec.Meta)
	}
	return l, nil
}

func (l *later) note(m snapshot.Meta) {
	for _, p := range m.Paths {
		if _, ok := l.leaves[p.Path]; !ok {
			l.leaves[p.Path] = p.After.Unknown || p.After.Kind != change.Absent
		}
	}
	for _, d := range m.DirsMade {
		l.dirs[d.Path] = true
	}
	for _, d := range m.DirsRemoved {
		l.modes[d.Path] = d.Mode
	}
}
