package textapply

import "slices"

// Reverse returns the patch that takes p back, as far as p holds the text for it: sections and
// what they do are turned around. A Delete holds no text, and added lines without context have no
// place to be removed from; both are refused with an *Error that matches ErrUnsupported.
func Reverse(p *Patch) (*Patch, error) {
	out := *p
	out.Sections = make([]Section, 0, len(p.Sections))
	for _, s := range slices.Backward(p.Sections) {
		r, err := reverseSection(s)
		if err != nil {
			return nil, err
		}
		out.Sections = append(out.Sections, r)
	}
	return &out, nil
}

func reverseSection(s Section) (Section, error) {
	refuse := func(chunk, line int, detail string) (Section, error) {
		return Section{}, &Error{Path: s.Path, Chunk: chunk, PatchLine: line, Err: ErrUnsupported,
			Detail: detail, Hint: "oxpatch undo takes an applied patch back from its snapshot"}
	}
	switch s.Kind {
	case Add:
		s.Kind, s.Checked = Delete, true
		return s, nil
	case Delete:
		if s.Checked {
			s.Kind, s.Checked = Add, false
			return s, nil
		}
		return refuse(0, s.Line, "a Delete File section does not hold the file's text, so it cannot be reversed")
	}
	chunks := make([]Chunk, len(s.Chunks))
	for i, c := range s.Chunks {
		if len(c.Old()) == 0 || len(c.New()) == 0 {
			return refuse(i+1, c.Line, "a hunk that only adds or only removes lines, without context, cannot be reversed")
		}
		chunks[i] = c
		chunks[i].Lines = reverseLines(c.Lines)
		chunks[i].Final = [...]FinalNewline{FinalKept, FinalAdded, FinalRemoved}[c.Final]
		chunks[i].Ending = [...]LineEnding{KeepEnding, ToCRLF, ToLF}[c.Ending]
		chunks[i].Hint = 0 // it is a line of the other side
	}
	s.Chunks = chunks
	s.Executable = [...]Executable{KeepExecutable, MakePlain, MakeExecutable}[s.Executable]
	s.Blob = ""
	if s.MoveTo != "" {
		s.Path, s.MoveTo = s.MoveTo, s.Path
	}
	return s, nil
}

func reverseLines(lines []Line) []Line {
	out := make([]Line, len(lines))
	for i, l := range lines {
		switch l.Op {
		case Remove:
			l.Op = Insert
		case Insert:
			l.Op = Remove
		}
		out[i] = l
	}
	return out
}
