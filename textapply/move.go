package textapply

import (
	"io/fs"

	"github.com/openoxide/oxpatch/change"
)

// move plans an update that gives the file a new name. A destination that leads to the same file
// is an update in place; Codex deletes the file then (openai/codex#34210).
func (pl *planner) move(s *Section, key string, e *entry, edits []change.Edit, content []byte) {
	dest, err := pl.locate(s.MoveTo, !pl.policy.ThroughLinks)
	if err != nil {
		pl.fail(&Error{Path: s.MoveTo, Err: err})
		return
	}
	source, err := pl.locate(s.Path, true)
	if err != nil {
		pl.fail(&Error{Err: err})
		return
	}
	mode := s.withExecutable(e.after.Mode, pl.policy)
	if dest == key || dest == source {
		pl.edit(key, e, edits, content, mode)
		pl.step(Step{Path: key, Content: content})
		return
	}
	pl.result.NewPath = dest
	d, err := pl.target(dest)
	if err != nil {
		pl.fail(&Error{Path: s.MoveTo, Err: err})
		return
	}
	if d.after.Kind != change.Absent && !pl.overwrite(s.MoveTo, d) {
		return
	}
	pl.result.Status = Planned
	src, err := pl.at(source)
	if err != nil {
		pl.fail(&Error{Err: err})
		return
	}
	if src.after.Kind == change.Symlink && pl.policy.KeepMode {
		pl.moveLink(key, e, edits, content, mode, dest, d, src)
	} else {
		pl.moveFile(e, edits, content, mode, dest, d)
	}
	pl.remove(source, src)
	pl.step(Step{Path: dest, Content: content})
	pl.step(Step{Delete: true, Path: source, Source: true})
}

// moveFile leaves the edited content at the destination.
func (pl *planner) moveFile(e *entry, edits []change.Edit, content []byte, mode fs.FileMode, dest string, d *entry) {
	st := change.State{Kind: change.File, Mode: d.after.Mode, Content: content}
	if pl.policy.KeepMode {
		st.Mode = mode
	}
	pl.put(dest, d, st)
	d.from, d.edits, d.whole = e.from, pl.composed(e, edits), e.whole
}

// moveLink renames a link as it is and makes the edits in the file behind it.
func (pl *planner) moveLink(key string, e *entry, edits []change.Edit, content []byte, mode fs.FileMode, dest string, d, link *entry) {
	pl.edit(key, e, edits, content, mode)
	pl.put(dest, d, link.after)
	d.from, d.edits, d.whole = link.from, link.edits, link.whole
}

// updateMissing judges a move whose source is not there: it is done already where the destination
// holds the result.
func (pl *planner) updateMissing(s *Section) {
	dest, err := pl.locate(s.MoveTo, false)
	if err == nil {
		if d, readErr := pl.at(dest); readErr == nil && d.after.Kind == change.File {
			t := splitText(d.after.Content, pl.policy)
			if pl.movedBefore(s) && len(appliedChunks(t, s)) == len(s.Chunks) {
				pl.result.NewPath = dest
				pl.unchanged("the file was moved and changed already")
				return
			}
		}
	}
	pl.fail(&Error{Err: ErrMissing, Hint: hintMissing})
}

// movedBefore reports whether a move whose source is missing may be taken for done: where it has no
// chunks that could be seen in the destination, only if the source is known to have existed.
func (pl *planner) movedBefore(s *Section) bool {
	return len(s.Chunks) > 0 || pl.tree.Known(pl.result.Path)
}
