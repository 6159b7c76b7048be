package textapply

import "github.com/openoxide/oxpatch/change"

// Tree is what a plan asks of the disk. It is only read.
type Tree interface {
	// Locate returns the key of the file that a path of the patch leads to: two paths with one key
	// are one file. With entry a final link is not followed. planned tells what the unfinished plan
	// has put at a key.
	Locate(path string, entry bool, planned func(key string) (change.Kind, bool)) (key string, err error)
	// Read returns what stands at a key; that nothing is there is no error.
	Read(key string) (change.State, error)
	// Known reports whether history (a commit or an earlier operation) knows a file at the key.
	// It is asked only about a file that a patch deletes or moves and that is not there.
	Known(key string) bool
}

// Plan is what a patch does to a tree, worked out without touching it.
type Plan struct {
	// Sections has one entry for every section of the patch, in its order.
	Sections []SectionResult
	// Changes are the net effect: every path once, in the order in which the patch reached them,
	// paths whose state does not change left out. With StopAtFirst they are what the sections
	// before the failing one do, otherwise they count only if there are no Errors.
	Changes []change.Change
	// Steps are the same effects section by section, for a writer that works as Codex does. They are
	// kept only with StopAtFirst: they hold the file once more for every section that edits it.
	Steps []Step
}

// Errors returns the refusals of all sections.
func (p *Plan) Errors() []*Error {
	var errs []*Error
	for i := range p.Sections {
		errs = append(errs, p.Sections[i].Errs...)
	}
	return errs
}

// Status is the fate of a section in a plan.
type Status uint8

const (
	NotReached Status = iota // an earlier section ended the plan
	Planned                  // will be done
	Unchanged                // what the section asks for is there already
	Failed                   // refused; Errs says why
)

// SectionResult says what one section does.
type SectionResult struct {
	Section *Section
	// Path is the key of the file; NewPath that of a move's destination, else "". Both may be ""
	// in a section that failed early.
	Path, NewPath string
	Status        Status
	Added         int // lines
	Removed       int // lines
	Chunks        []ChunkResult
	Warnings      []Warning
	Errs          []*Error
}

// ChunkResult says where one chunk of an Update landed.
type ChunkResult struct {
	Placed bool
	// Line is the 1-based line of the file, as it stands before the section, where the chunk's
	// first old line is; for an addition the line it is put in front of.
	Line int
	Pass Pass
	// Match is the word for how the place was found: that of the Pass, or shifted, or line-hint.
	Match string
	// There says that the chunk was left out because its change is at Line already.
	There  bool
	AlsoAt []int // 1-based lines of the first twenty further places where the chunk fits
}

// Warning is something the user should know about a section that is done all the same.
type Warning struct {
	Kind    string // guessed, duplicate, overwritten or already_applied
	Chunk   int    // 1-based, 0 for the section
	Line    int    // 1-based line of the file, or 0
	Message string
	Hint    string
	Places  []Place
}

// Step is one effect on the disk.
type Step struct {
	Section int // index into the patch's sections
	// Delete removes the file; otherwise Content is written.
	Delete  bool
	Path    string
	Content []byte
	// Source marks the removal of a moved file's old name.
	Source bool
}

// MakePlan works out what the patch does to the tree. It reads through an overlay, so that a later
// section sees what an earlier one does: several sections for one file, an addition that is then
// updated, and chains of moves come out as they would on disk. Refusals are in the plan, not an
// error of MakePlan.
func MakePlan(patch *Patch, tree Tree, policy Policy) *Plan {
	e := newEffort()
	e.context = evenContext(patch)
	plan := makePlan(patch, tree, policy, e)
	if e.bounded && e.uneven {
		return makePlan(patch, tree, policy, newEffort())
	}
	return plan
}

func makePlan(patch *Patch, tree Tree, policy Policy, e *effort) *Plan {
	pl := &planner{tree: tree, policy: policy, overlay: map[string]*entry{}, effort: e}
	plan := &Plan{Sections: make([]SectionResult, len(patch.Sections))}
	for i := range patch.Sections {
		plan.Sections[i].Section = &patch.Sections[i]
	}
	for i := range plan.Sections {
		pl.section, pl.result = i, &plan.Sections[i]
		pl.plan()
		if policy.StopAtFirst && pl.result.Status == Failed {
			break
		}
	}
	plan.Changes, plan.Steps = pl.changes(), pl.steps
	return plan
}

// planner holds the state of one MakePlan.
type planner struct {
	tree    Tree
	policy  Policy
	effort  *effort
	overlay map[string]*entry
	order   []string // keys in the order in which they were first changed
	steps   []Step

	section int
	result  *SectionResult
}

// entry is a path as the plan has it.
type entry struct {
	before, after change.State
	touched       bool
	// blind marks a path that could not be read. It is written all the same under Codex's rules,
	// but is in no Change, since what stood there is not known.
	blind bool
	// from is the key whose content, as it was before, edits turn into after; whole is set where
	// the content is new and edits say nothing.
	from  string
	edits []change.Edit
	whole bool
}

func (pl *planner) planned(key string) (change.Kind, bool) {
	if e, ok := pl.overlay[key]; ok && e.touched {
		return e.after.Kind, true
	}
	return change.Absent, false
}

func (pl *planner) locate(path string, entry bool) (string, error) {
	return pl.tree.Locate(path, entry, pl.planned)
}

// at returns the entry of a key, reading it at the first call.
func (pl *planner) at(key string) (*entry, error) {
	if e, ok := pl.overlay[key]; ok {
		return e, nil
	}
	st, err := pl.tree.Read(key)
	if err != nil {
		return nil, err
	}
	e := &entry{before: st, after: st, from: key}
	pl.overlay[key] = e
	return e, nil
}

// touch marks the entry as changed by the plan.
func (pl *planner) touch(key string, e *entry) {
	if !e.touched {
		e.touched = true
		pl.order = append(pl.order, key)
	}
}

func (pl *planner) plan() {
	s := pl.result.Section
	pl.result.Status = Planned
	switch s.Kind {
	case Add:
		pl.add(s)
	case Delete:
		pl.delete(s)
	case Update:
		pl.update(s)
	}
}

// fail records a refusal of the section.
func (pl *planner) fail(err *Error) {
	s := pl.result.Section
	if err.Path == "" {
		err.Path = s.Path
	}
	if err.PatchLine == 0 {
		err.PatchLine = s.Line
	}
	pl.result.Status = Failed
	pl.result.Errs = append(pl.result.Errs, err)
}

func (pl *planner) warn(w Warning) { pl.result.Warnings = append(pl.result.Warnings, w) }

func (pl *planner) step(s Step) {
	if pl.policy.StopAtFirst {
		s.Section = pl.section
		pl.steps = append(pl.steps, s)
	}
}

// changes returns the net effect of the plan.
func (pl *planner) changes() []change.Change {
	var out []change.Change
	for _, key := range pl.order {
		e := pl.overlay[key]
		if e.blind || e.before.Equal(e.after) && e.before.Mode == e.after.Mode {
			continue
		}
		c := change.Change{Path: key, Before: e.before, After: e.after}
		if e.after.Kind != change.Absent && !e.whole {
			c.Edits = e.edits
			if c.Edits == nil && e.after.Kind == change.File {
				c.Edits = []change.Edit{} // moved as it was: nothing is replaced
			}
			if e.from != key {
				c.OldPath = e.from
			}
		}
		out = append(out, c)
	}
	return out
}

// join returns lines as the content of a new file: each ended by LF.
func join(lines []string) []byte {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	content := make([]byte, 0, size)
	for _, l := range lines {
		content = append(content, l...)
		content = append(content, '\n')
	}
	return content
}
