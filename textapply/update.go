package textapply

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/openoxide/oxpatch/change"
)

// update plans the edit of a file, and its move where the section asks for one.
func (pl *planner) update(s *Section) {
	key, err := pl.locate(s.Path, false)
	if err != nil {
		pl.fail(&Error{Err: err})
		return
	}
	pl.result.Path = key
	e, err := pl.at(key)
	if err == nil {
		err = pl.editable(s, e)
	}
	if err != nil {
		pl.fail(asError(err))
		return
	}
	if e.after.Kind == change.Absent {
		pl.updateMissing(s)
		return
	}
	edits, ok := pl.edits(s, e.after.Content)
	if !ok {
		return
	}
	content := e.after.Content
	if len(edits) > 0 {
		content = change.ApplyEdits(content, edits)
	}
	if s.MoveTo != "" {
		pl.move(s, key, e, edits, content)
		return
	}
	mode := s.withExecutable(e.after.Mode, pl.policy)
	if pl.policy.AcceptApplied && mode == e.after.Mode && bytes.Equal(content, e.after.Content) {
		pl.unchanged("the section changes nothing: the file is as it asks")
		return
	}
	pl.edit(key, e, edits, content, mode)
	pl.step(Step{Path: key, Content: content})
}

// edit leaves content, made from the entry's by edits, at key.
func (pl *planner) edit(key string, e *entry, edits []change.Edit, content []byte, mode fs.FileMode) {
	if pl.result.Status == Planned && (len(edits) > 0 || mode != e.after.Mode) {
		e.edits = pl.composed(e, edits)
		pl.put(key, e, change.State{Kind: change.File, Mode: mode, Content: content})
	}
}

// composed returns the edits that lead from the content before the plan to the entry's content
// with edits made in it.
func (pl *planner) composed(e *entry, edits []change.Edit) []change.Edit {
	if e.whole {
		return nil
	}
	return compose(len(pl.overlay[e.from].before.Content), e.edits, edits)
}

// editable returns why the entry's content cannot be edited as text.
func (pl *planner) editable(s *Section, e *entry) error {
	data := e.after.Content
	switch {
	case e.after.Kind == change.Absent:
		if s.MoveTo == "" || !pl.policy.AcceptApplied {
			return &Error{Err: ErrMissing, Hint: hintMissing}
		}
	case e.after.Kind == change.Dir:
		return ErrIsDirectory
	case e.after.Kind != change.File:
		return ErrNotText
	case pl.policy.RequireUTF8:
		if !utf8.Valid(data) {
			return &Error{Err: ErrNotText, Detail: describeInvalidUTF8(data)}
		}
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return &Error{Err: ErrNotText, Detail: "the file is UTF-16, which is not edited as text",
			Hint: "convert it to UTF-8, or replace it with an Add File section"}
	}
	return nil
}

// edits places the section's chunks in data and returns what they change. It is false where the
// section is settled: refused, or there already.
func (pl *planner) edits(s *Section, data []byte) ([]change.Edit, bool) {
	t := splitText(data, pl.policy)
	if t.starts[0] > 0 {
		s = s.withoutBOM()
	}
	placed, errs := placeChunks(t, s, pl.policy, pl.effort)
	pl.result.Chunks = chunkResults(placed)
	if len(errs) > 0 {
		rest, ok := pl.unplaced(t, s, errs)
		if rest == nil {
			return nil, ok
		}
		placed = rest
	}
	for i, p := range placed {
		if p != nil {
			pl.count(p.lines)
			pl.reportPlace(t, i, p)
		}
	}
	if pl.result.Status == Failed {
		return nil, false
	}
	return settleFinalNewline(t, s.Chunks, splice(t, placed, pl.policy), pl.policy), true
}

func chunkResults(placed []*placement) []ChunkResult {
	out := make([]ChunkResult, len(placed))
	for i, p := range placed {
		if p == nil {
			continue
		}
		out[i] = ChunkResult{Placed: true, Line: p.at + 1, Pass: p.pass, Match: p.word(), AlsoAt: oneBased(p.others)}
	}
	return out
}

func oneBased(lines []int) []int {
	var out []int
	for _, n := range lines {
		out = append(out, n+1)
	}
	return out
}

func (pl *planner) count(lines []Line) {
	for _, l := range lines {
		switch l.Op {
		case Insert:
			pl.result.Added++
		case Remove:
			pl.result.Removed++
		}
	}
}

// reportPlace warns of, or with Strict refuses, a place that was chosen and not settled by the
// patch, and what looks wrong about it.
func (pl *planner) reportPlace(t *text, i int, p *placement) {
	c := &pl.result.Section.Chunks[i]
	about := func(detail, hint string) *Error {
		return &Error{Chunk: i + 1, PatchLine: c.Line, Line: p.at + 1, Err: ErrAmbiguous, Detail: detail, Hint: hint}
	}
	if p.guess != "" {
		err := about(p.guess, "add context lines, or a scope line, to say which place is meant")
		if len(p.others) > 0 {
			all := slices.Insert(slices.Clone(p.others), sort.SearchInts(p.others, p.at), p.at)
			err.Places = describePlaces(t, all, pl.effort)
		}
		pl.guess(err)
	}
	if p.uneven {
		pl.guess(about("the hunk's lines are indented unlike the file's, and not all by the same white space; the added lines keep the patch's indentation",
			"make the hunk anew with the file's own indentation"))
	}
	if p.doubtful {
		said := "the hunk's old lines lack the file's indentation, and so may the added ones; they get it as well"
		if p.kept {
			said = "the hunk's old lines lack the file's indentation, the added ones seem to have it; they are taken as they are"
		}
		pl.guess(about(said, "make the hunk anew with the file's own indentation"))
	}
	if !pl.policy.FirstMatch {
		pl.reportRepeats(t, i, p)
	}
}

// reportRepeats warns of added lines that stand beside the chunk already.
func (pl *planner) reportRepeats(t *text, i int, p *placement) {
	warn := func(line int, message string) {
		pl.warn(Warning{Kind: "duplicate", Chunk: i + 1, Line: line, Message: message,
			Hint: "look whether that is meant; oxpatch undo takes it back"})
	}
	above, below := repeatsAbove(t, p), repeatsBelow(t, p)
	if above > 0 {
		warn(p.at-above+1, "the lines added at the beginning of the hunk stand right above it already, and are there twice now")
	}
	if below {
		warn(p.at+p.old+1, "the lines added at the end of the hunk stand right below it already, and are there twice now")
	}
	if at := repeatsAround(t, p); at >= 0 && above == 0 && !below {
		warn(at+1, "the lines of the hunk stand there already with those that it adds, which are there twice now")
	}
}

// repeatsAround returns the line where all that a chunk which only adds leaves stands already, so that it begins
// or ends where the chunk does; -1 for none.
func repeatsAround(t *text, p *placement) int {
	lines := slices.Clone(p.lines)
	for i := range lines {
		if lines[i].Op == Remove {
			return -1
		}
		lines[i].Op = Insert
	}
	for _, at := range []int{p.at + p.old - len(lines), p.at} {
		if len(lines) > p.old && addsTextTo(p.lines) && standsAt(t, lines, at) {
			return at
		}
	}
	return -1
}

// repeatsBelow reports whether the lines that a chunk adds at its end are those that follow it, as when
// an applied patch is applied again.
func repeatsBelow(t *text, p *placement) bool {
	tail := len(p.lines)
	for tail > 0 && p.lines[tail-1].Op == Insert {
		tail--
	}
	return (tail == 0 || p.lines[tail-1].Op == Context) && standsAt(t, p.lines[tail:], p.at+p.old)
}

// repeatsAbove reports the same of the lines that it adds at its beginning: how many there are, 0 for no.
func repeatsAbove(t *text, p *placement) int {
	head := 0
	for head < len(p.lines) && p.lines[head].Op == Insert {
		head++
	}
	if (head == len(p.lines) || p.lines[head].Op == Context) && standsAt(t, p.lines[:head], p.at-head) {
		return head
	}
	return 0
}

// standsAt reports whether the text has the lines, not all of them blank, at a line.
func standsAt(t *text, lines []Line, at int) bool {
	if !addsTextTo(lines) || at < 0 || at+len(lines) > t.Len() {
		return false
	}
	for k, l := range lines {
		if string(t.Line(at+k)) != l.Text {
			return false
		}
	}
	return true
}

// guess turns a choice into a warning, or into a refusal where the policy is strict.
func (pl *planner) guess(err *Error) {
	if pl.policy.Strict {
		pl.fail(err)
		return
	}
	pl.warn(Warning{Kind: "guessed", Chunk: err.Chunk, Line: err.Line, Message: err.Detail, Hint: err.Hint, Places: err.Places})
}

// lineList names lines, given 0-based, for a message: "line 4", "lines 4 and 9", "lines 4, 9, 12, 15
// and 5 more". With more these are not all.
func lineList(at []int, more bool) string {
	const most = 4
	if len(at) == 1 {
		return fmt.Sprintf("line %d", at[0]+1)
	}
	var words []string
	for i, line := range at {
		if i == most && more {
			return fmt.Sprintf("lines %s and many more", strings.Join(words, ", "))
		}
		if i == most {
			return fmt.Sprintf("lines %s and %d more", strings.Join(words, ", "), len(at)-most)
		}
		words = append(words, fmt.Sprint(line+1))
	}
	last := len(words) - 1
	return fmt.Sprintf("lines %s and %s", strings.Join(words[:last], ", "), words[last])
}

// describeInvalidUTF8 says where data stops being UTF-8, in the words that Codex prints.
func describeInvalidUTF8(data []byte) string {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	bad := invalidLength(data[at:])
	if bad == 0 {
		return fmt.Sprintf("incomplete utf-8 byte sequence from index %d", at)
	}
	return fmt.Sprintf("invalid utf-8 sequence of %d bytes from index %d", bad, at)
}

// invalidLength returns how many bytes the ill-formed sequence at the start of b has, by the
// practice of maximal subparts (Unicode, 3.9), or 0 where b ends inside a sequence.
func invalidLength(b []byte) int {
	lo, hi, need := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
	case c >= 0xf0 && c <= 0xf4:
		need = 3
	default:
		return 1
	}
	switch b[0] {
	case 0xe0:
		lo = 0xa0
	case 0xed:
		hi = 0x9f
	case 0xf0:
		lo = 0x90
	case 0xf4:
		hi = 0x8f
	}
	for i := 1; i <= need; i++ {
		if i >= len(b) {
			return 0
		}
		if b[i] < lo || b[i] > hi {
			return i
		}
		lo, hi = 0x80, 0xbf
	}
	return 1
}
