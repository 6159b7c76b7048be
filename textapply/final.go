package textapply

import (
	"io/fs"

	"github.com/openoxide/oxpatch/change"
)

// settleFinalNewline makes the edited text end in a terminator or not, where a chunk asks for one of
// the two; the edits are those that were made of the text otherwise.
func settleFinalNewline(t *text, chunks []Chunk, edits []change.Edit, p Policy) []change.Edit {
	want := FinalKept
	for _, c := range chunks {
		if c.Final != FinalKept {
			want = c.Final
		}
	}
	if want == FinalKept {
		return edits
	}
	edited := splitText(change.ApplyEdits(t.data, edits), p)
	n := edited.Len()
	if n == 0 {
		return edits
	}
	end, ending := len(edited.data), edited.terminator(n-1)
	var last change.Edit
	switch {
	case want == FinalRemoved && ending != "":
		last = change.Edit{Start: end - len(ending), End: end}
	case want == FinalAdded && ending == "":
		last = change.Edit{Start: end, End: end, New: []byte(edited.firstTerminator())}
	default:
		return edits
	}
	return compose(len(t.data), edits, []change.Edit{last})
}

// content is the text of a section that holds a whole file.
func (s *Section) content() []byte {
	text := join(s.Content)
	if s.NoFinalNewline && len(text) > 0 {
		text = text[:len(text)-1]
	}
	return text
}

// withExecutable returns a file's mode with the execute bits as the section wants them. A file may be
// executed by those who may read it.
func (s *Section) withExecutable(mode fs.FileMode, p Policy) fs.FileMode {
	switch {
	case s.Executable == MakeExecutable && mode == 0:
		return p.NewExecutable
	case s.Executable == MakeExecutable:
		return mode | mode&0o444>>2
	case s.Executable == MakePlain && mode != 0:
		return mode &^ 0o111
	}
	return mode
}
