package textapply

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/openoxide/oxpatch/change"
)

// add plans a section that writes a whole file.
func (pl *planner) add(s *Section) {
	key, err := pl.locate(s.Path, false)
	if err != nil {
		pl.fail(&Error{Err: err})
		return
	}
	pl.result.Path = key
	content := s.content()
	pl.result.Added = len(s.Content)
	e, err := pl.target(key)
	if err != nil {
		pl.fail(&Error{Err: err})
		return
	}
	if e.after.Kind == change.File {
		if pl.policy.AcceptApplied && bytes.Equal(e.after.Content, content) && s.withExecutable(e.after.Mode, pl.policy) == e.after.Mode {
			pl.unchanged("the file is there already, byte for byte")
			return
		}
		pl.result.Removed = countLines(e.after.Content)
		if !pl.overwrite(s.Path, e) {
			return
		}
	}
	pl.put(key, e, change.State{Kind: change.File, Mode: s.withExecutable(e.after.Mode, pl.policy), Content: content})
	e.whole, e.edits = true, nil
	pl.step(Step{Path: key, Content: content})
}

// target returns the entry of a path that is to be written, unless something stands there that
// cannot be.
func (pl *planner) target(key string) (*entry, error) {
	e, err := pl.at(key)
	if err != nil && pl.policy.StopAtFirst {
		// Codex writes without a look at what is there.
		e, err = &entry{blind: true}, nil
		pl.overlay[key] = e
	}
	if err != nil {
		return nil, err
	}
	switch e.after.Kind {
	case change.Dir:
		return nil, ErrIsDirectory
	case change.Other:
		return nil, ErrNotText
	}
	return e, nil
}

// put sets what the plan leaves at a key.
func (pl *planner) put(key string, e *entry, st change.State) {
	pl.touch(key, e)
	e.after = st
}

// overwrite says what is done to a file that the patch takes for new; false where that is refused.
func (pl *planner) overwrite(path string, e *entry) bool {
	if pl.policy.Strict {
		pl.fail(&Error{Path: path, Err: ErrExists, Hint: "delete the file in the patch first, or update it"})
		return false
	}
	pl.warn(Warning{
		Kind:    "overwritten",
		Message: fmt.Sprintf("%s existed and is replaced (%d bytes)", change.DisplayPath(path), len(e.after.Content)),
		Hint:    "oxpatch undo brings the old content back",
	})
	return true
}

// unchanged marks the section as done before.
func (pl *planner) unchanged(message string) {
	pl.result.Status = Unchanged
	pl.result.Added, pl.result.Removed = 0, 0
	pl.warn(Warning{Kind: "already_applied", Message: message})
}

// delete plans the removal of a file or of a link itself.
func (pl *planner) delete(s *Section) {
	key, err := pl.locate(s.Path, true)
	if err != nil {
		pl.fail(&Error{Err: err})
		return
	}
	pl.result.Path = key
	e, err := pl.at(key)
	if err == nil {
		err = pl.deletable(s, key, e)
	}
	if err != nil || pl.result.Status == Unchanged {
		if err != nil {
			pl.fail(asError(err))
		}
		return
	}
	pl.result.Removed = countLines(e.after.Content)
	pl.remove(key, e)
	pl.step(Step{Delete: true, Path: key})
}

func (pl *planner) remove(key string, e *entry) {
	pl.put(key, e, change.State{})
	e.whole, e.edits = true, nil
}

// deletable returns why the entry cannot be deleted.
func (pl *planner) deletable(s *Section, key string, e *entry) error {
	switch e.after.Kind {
	case change.Absent:
		if pl.policy.AcceptApplied && pl.tree.Known(key) {
			pl.unchanged("the file is gone already")
			return nil
		}
		return &Error{Err: ErrMissing, Hint: "check the path; nothing known to the last commit or to oxpatch stood there"}
	case change.Dir:
		return &Error{Err: ErrIsDirectory, Hint: "name the files to delete one by one"}
	case change.Other:
		if !pl.policy.ThroughLinks {
			return ErrNotText
		}
	case change.Symlink:
		if pl.policy.ThroughLinks {
			return pl.deletableTarget(s)
		}
	}
	if s.Checked && (e.after.Kind != change.File || !bytes.Equal(e.after.Content, s.content())) {
		return s.stale(e)
	}
	return nil
}

// stale says where a file is not what is to be deleted.
func (s *Section) stale(e *entry) *Error {
	err := &Error{Err: ErrNoMatch, Detail: "the file does not hold what the patch deletes",
		Hint: "read the file again; if it is to go all the same, delete it yourself"}
	if e.after.Kind != change.File {
		return err
	}
	want, have := s.content(), e.after.Content
	same := 0
	for same < min(len(want), len(have)) && want[same] == have[same] {
		same++
	}
	err.Line = 1 + bytes.Count(have[:same], []byte{'\n'})
	err.Detail = fmt.Sprintf("the file does not hold what the patch deletes: line %d is the first that differs", err.Line)
	if slices.EqualFunc(lines(want), lines(have), bytes.Equal) {
		err.Detail = "the file does not hold what the patch deletes: how its lines end differs"
	}
	return err
}

// lines splits a text into lines without their terminators.
func lines(text []byte) [][]byte {
	t := splitText(text, Policy{})
	all := make([][]byte, t.Len())
	for i := range all {
		all[i] = t.Line(i)
	}
	return all
}

// deletableTarget is Codex's rule for links: the file behind one must exist and not be a
// directory (measured on codex-cli 0.171.0).
func (pl *planner) deletableTarget(s *Section) error {
	key, err := pl.locate(s.Path, false)
	if err != nil {
		return err
	}
	e, err := pl.at(key)
	switch {
	case err != nil:
		return err
	case e.after.Kind == change.Absent:
		return ErrMissing
	case e.after.Kind == change.Dir:
		return ErrIsDirectory
	}
	return nil
}

func asError(err error) *Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // only one made by this package is meant
		return e
	}
	return &Error{Err: err}
}

func countLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}
