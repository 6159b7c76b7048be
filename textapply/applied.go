package textapply

import (
	"errors"
	"fmt"
)

// unplaced judges a section some of whose chunks found no place. It returns the placements of the
// others where those without are there already and may be left out; true without placements where
// the whole section is there and only a move remains.
func (pl *planner) unplaced(t *text, s *Section, errs []*Error) ([]*placement, bool) {
	if pl.policy.AcceptApplied && allMissing(errs) {
		there := appliedChunks(t, s)
		if len(there) == len(s.Chunks) {
			pl.unchanged("every change of this section is in the file already")
			return nil, s.MoveTo != ""
		}
		if pl.policy.SkipApplied {
			if doubts := doubtful(t, s, there, errs); len(doubts) > 0 {
				errs = doubts
			} else if rest := pl.placeRest(t, s, there); rest != nil {
				return rest, true
			}
		}
		for _, err := range errs {
			if line, ok := there[err.Chunk-1]; ok && errors.Is(err, ErrNoMatch) {
				err.Line, err.Err, err.Nearest = line, ErrApplied, nil
				err.Detail = fmt.Sprintf("the old lines were not found; the new ones stand at line %d already", line)
				err.Hint = "leave this hunk out of the patch, or use --skip-applied"
			}
		}
	}
	for _, err := range errs {
		pl.fail(err)
	}
	return nil, false
}

// allMissing reports whether the chunks failed because their old lines are not there. Lines that
// are there, in several places or in the wrong order, wait for the change.
func allMissing(errs []*Error) bool {
	for _, err := range errs {
		if !errors.Is(err, ErrNoMatch) {
			return false
		}
	}
	return true
}

// doubtful refuses to leave out a chunk whose new lines stand in the text while its old ones, which
// are no part of them, stand somewhere else: it may have been done, or may yet have to be.
func doubtful(t *text, s *Section, there map[int]int, missing []*Error) []*Error {
	var olds [][]string
	for _, c := range s.Chunks {
		olds = append(olds, c.Old())
	}
	gone := map[int]bool{}
	for _, err := range missing {
		gone[err.Chunk-1] = true
	}
	x := newIndex(t, olds)
	var errs []*Error
	for i, c := range s.Chunks {
		line, ok := there[i]
		if !ok || gone[i] || len(olds[i]) == 0 || x.standsIn(olds[i], line-1, line-1+len(c.New())) {
			continue
		}
		errs = append(errs, &Error{Path: s.Path, Chunk: i + 1, PatchLine: c.Line, Line: line, Err: ErrAmbiguous,
			Detail: fmt.Sprintf("the hunk's new lines stand at line %d already, its old ones somewhere else: it may be applied or not", line),
			Hint:   "leave this hunk out of the patch if it is applied, and give it more context lines if it is not"})
	}
	return errs
}

// standsIn reports whether the pattern stands in the text, blanks at the ends of lines aside, so
// that it overlaps the lines [from, to).
func (x *Index) standsIn(pattern []string, from, to int) bool {
	at := x.places(pattern, TrailingSpace, max(0, from-len(pattern)+1), 1)
	return len(at) > 0 && at[0] < to
}

// placeRest places the chunks that are not there already; nil where one of them has no place.
func (pl *planner) placeRest(t *text, s *Section, there map[int]int) []*placement {
	rest := *s
	rest.Chunks = nil
	var index []int
	for i, c := range s.Chunks {
		if _, ok := there[i]; !ok {
			rest.Chunks = append(rest.Chunks, c)
			index = append(index, i)
		}
	}
	some, errs := placeChunks(t, &rest, pl.policy, pl.effort)
	if len(errs) > 0 {
		return nil
	}
	placed := make([]*placement, len(s.Chunks))
	for k, i := range index {
		placed[i] = some[k]
	}
	pl.result.Chunks = chunkResults(placed)
	for i, line := range there {
		pl.result.Chunks[i] = ChunkResult{Line: line, There: true}
		pl.warn(Warning{Kind: "already_applied", Chunk: i + 1, Line: line, Message: "the change is in the file already and is left out"})
	}
	return placed
}

// appliedChunks returns the chunks (by index) whose new lines stand in the text at exactly one
// place and hold an added line that is not blank, each with that place (1-based).
func appliedChunks(t *text, s *Section) map[int]int {
	wanted := make([][]string, len(s.Chunks))
	for i, c := range s.Chunks {
		wanted[i] = c.New()
	}
	x := newIndex(t, wanted)
	there := map[int]int{}
	for i, c := range s.Chunks {
		if !addsText(c) {
			continue
		}
		for p := Exact; p <= TrailingSpace; p++ {
			if at := x.places(wanted[i], p, 0, 2); len(at) > 0 {
				if len(at) == 1 {
					there[i] = at[0] + 1
				}
				break
			}
		}
	}
	return there
}

func addsText(c Chunk) bool { return addsTextTo(c.Lines) }
