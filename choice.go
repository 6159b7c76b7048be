package oxpatch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
)

// choice says which operations are to be taken back.
type choice struct {
	redo          bool
	ids           []string
	count         int
	to            string
	session, turn string
	paths         []string
	// group says that ids are those of a Group: what is undone already is passed over, and a
	// checkpoint among them is gone back to.
	group bool
}

// chosen is what a choice came to.
type chosen struct {
	// targets are the operations to take back, newer all that were met on the way to the oldest of
	// them, both newest first.
	targets, newer []logged
	// paths is what they did to each path, as far as it is wanted.
	paths []*history.Path
	// partial says that something of the targets stays.
	partial bool
}

// check refuses what contradicts itself.
func (c *choice) check() error {
	switch {
	case slices.Contains(c.ids, ""):
		return errEmptyID
	case c.count < 0:
		return usage("the number of operations to take back is %d", c.count)
	case len(c.ids) > 0 && (c.count > 0 || c.to != "" || c.session != "" || c.turn != ""):
		return usage("operations are named, so they cannot be counted or chosen by session or turn as well")
	case c.count > 0 && c.to != "":
		return usage("either a number of operations or the one to go back to, not both")
	}
	return nil
}

var errEmptyID = usage("the id of an operation is empty")

// filtered reports whether only operations of a session or turn are wanted.
func (c *choice) filtered() bool { return c.session != "" || c.turn != "" }

func (c *choice) wants(m *snapshot.Meta) bool {
	return (c.session == "" || m.Session == c.session) && (c.turn == "" || m.Turn == c.turn)
}

// pick finds the operations of a choice in the log. Problems are what was passed over.
func (e *Engine) pick(c choice) (*chosen, []Problem, error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	log, err := e.openLog()
	if err != nil {
		return nil, nil, err
	}
	p := picker{e: e, choice: c, log: log}
	if log.partial != nil {
		p.problems = append(p.problems, unlistedStore(log.partial))
	}
	if err := p.find(); err != nil {
		return nil, p.problems, err
	}
	return &p.out, p.problems, p.compose()
}

// picker walks through the log.
type picker struct {
	e        *Engine
	choice   choice
	log      *logReader
	out      chosen
	problems []Problem
	// all says that everything that was met is taken back, also what is undone.
	all bool
}

func (p *picker) find() error {
	switch {
	case len(p.choice.ids) > 0:
		return p.named()
	case p.choice.to != "":
		return p.downTo()
	}
	return p.newest()
}

// walk calls visit for each operation, newest first, until it returns true.
func (p *picker) walk(visit func(logged) (bool, error)) error {
	for op, err := range p.log.each() {
		switch {
		case errors.Is(err, snapshot.ErrNewerFormat):
			return err
		case err != nil:
			p.problems = append(p.problems, Problem{Severity: SeverityWarning, Kind: KindIO, Message: err.Error(),
				Hint: "it is passed over; other operations can still be undone"})
			continue
		}
		done, err := visit(op)
		p.out.newer = append(p.out.newer, op)
		if err != nil || done {
			return err
		}
	}
	return nil
}

func (p *picker) take(op logged) { p.out.targets = append(p.out.targets, op) }

// newest takes the newest operations that stand: one where nothing else is said, else as many as are
// counted, or all of a session or turn. For a redo, an edit ends the search.
func (p *picker) newest() error {
	want := p.choice.count
	if want == 0 && !p.choice.filtered() {
		want = 1
	}
	err := p.walk(func(op logged) (bool, error) {
		if p.choice.redo && op.IsEdit() {
			return true, nil
		}
		if p.fits(op) {
			p.take(op)
		}
		return want > 0 && len(p.out.targets) == want, nil
	})
	switch n := len(p.out.targets); {
	case err != nil:
		return err
	case n == 0:
		return p.nothing()
	case n < want:
		return &tooFewError{have: n, want: want, redo: p.choice.redo}
	}
	return nil
}

func (p *picker) fits(op logged) bool {
	if p.choice.redo {
		return op.Redoable()
	}
	return op.Undoable() && p.choice.wants(op.Meta)
}

func (p *picker) nothing() error {
	if p.choice.redo {
		return ErrNothingToRedo
	}
	var of []string
	if p.choice.session != "" {
		of = append(of, fmt.Sprintf("session %q", p.choice.session))
	}
	if p.choice.turn != "" {
		of = append(of, fmt.Sprintf("turn %q", p.choice.turn))
	}
	return &noneError{verb: "undo", of: strings.Join(of, " and ")}
}

// noneError says that no operation stands.
type noneError struct {
	verb string // what was to be done with it
	of   string // what was asked of it, "" for nothing
}

func (e *noneError) Error() string {
	if e.of == "" {
		return "nothing to " + e.verb
	}
	return fmt.Sprintf("nothing to %s: no operation of %s stands", e.verb, e.of)
}

func (e *noneError) Is(target error) bool { return target == ErrNothingToUndo }

// downTo takes all operations that stand after the one that is named. Where undos and redos since then
// reach back behind it, or where what stands does not lead back to what it left, as after a forced undo,
// everything after it is taken back, one by one.
func (p *picker) downTo() error {
	op, err := p.e.site.History().Find(p.choice.to)
	if err != nil {
		return err
	}
	found, behind := false, false
	err = p.walk(func(at logged) (bool, error) {
		switch {
		case at.Meta.ID == op.ID:
			found = true
			return true, nil
		case p.fits(at):
			p.take(at)
		case at.State != history.Undone && slices.ContainsFunc(at.Meta.Reverts, func(r string) bool { return r <= op.ID }):
			behind = true
		}
		return false, nil
	})
	switch {
	case err != nil:
		return err
	case !found:
		return &snapshot.UnknownError{ID: p.choice.to} // it is listed, and cannot be read
	case !p.choice.filtered():
		p.takeAll(p.out.newer[:len(p.out.newer)-1], behind)
	}
	if len(p.out.targets) == 0 {
		return fmt.Errorf("%w after operation %s", p.nothing(), op.ID)
	}
	return nil
}

// takeAll takes everything that was met instead of what stands, if that reaches behind, or if only that
// leads back at the paths of what stands. What was done and undone elsewhere does not matter.
func (p *picker) takeAll(met []logged, behind bool) {
	met = slices.DeleteFunc(slices.Clone(met), func(op logged) bool {
		// What recovery saved is torn, and no step of the way: what it put there was there before.
		return isCheckpoint(op) || op.Meta.Kind == snapshot.KindRecover
	})
	some := history.Compose(entriesIn(p.out.targets), false, nil)
	all := history.Compose(entriesIn(met), true, func(path string) bool {
		return slices.ContainsFunc(some, func(s *history.Path) bool { return s.Path == path })
	})
	if behind || !history.Leads(some, all) {
		p.all, p.out.targets = true, met
	}
}

// named takes the operations that are named.
func (p *picker) named() error {
	left := map[string]bool{}
	for _, id := range p.choice.ids {
		op, err := p.e.site.History().Find(id)
		if err != nil {
			return err
		}
		left[op.ID] = true
	}
	// A redo of an operation that is undone takes back the undos that did it, which are newer.
	var undos []logged
	err := p.walk(func(op logged) (bool, error) {
		if p.choice.redo && op.Redoable() {
			undos = append(undos, op)
		}
		if !left[op.Meta.ID] {
			return false, nil
		}
		delete(left, op.Meta.ID)
		if err := p.takeNamed(op, undos); err != nil {
			return true, err
		}
		return len(left) == 0, nil
	})
	for id := range left {
		if err == nil {
			err = &snapshot.UnknownError{ID: id} // it is listed, and cannot be read
		}
	}
	slices.SortFunc(p.out.targets, func(a, b logged) int { return strings.Compare(b.Meta.ID, a.Meta.ID) })
	p.out.targets = slices.CompactFunc(p.out.targets, func(a, b logged) bool { return a.Meta.ID == b.Meta.ID })
	return err
}

func (p *picker) takeNamed(op logged, undos []logged) error {
	id := op.Meta.ID
	switch {
	case p.choice.group && op.State == history.Undone:
		return nil
	case op.Meta.Kind == snapshot.KindCheckpoint && !p.choice.group:
		return &stateError{id: id, message: "is a checkpoint, which changed nothing", hint: "oxpatch restore " + id + " goes back to it"}
	case !p.choice.redo && op.State == history.Undone:
		return &stateError{id: id, message: "is undone already", hint: "oxpatch redo " + id + " brings it back"}
	case !p.choice.redo, op.Redoable():
		p.take(op)
		return nil
	case op.Meta.Kind == snapshot.KindUndo:
		return &stateError{id: id, message: "is redone already", hint: "oxpatch log shows what stands"}
	}
	found := false
	for _, u := range undos {
		if slices.Contains(u.Meta.Reverts, id) {
			p.take(u)
			found = true
		}
	}
	switch {
	case found:
	case op.State == history.Undone:
		return &stateError{id: id, message: "is undone, and the record of that is gone", hint: "oxpatch apply --from " + id + " applies it again"}
	default:
		return &stateError{id: id, message: "is not undone", hint: "oxpatch log shows what stands"}
	}
	return nil
}

// compose lines up what the targets did to each path.
func (p *picker) compose() error {
	entries := entriesIn(p.out.targets)
	whole := history.Compose(entries, p.all, nil)
	p.out.paths = whole
	if len(p.choice.paths) == 0 {
		return nil
	}
	wanted := make([]string, len(p.choice.paths))
	for i, name := range p.choice.paths {
		var err error
		if wanted[i], err = p.e.recordedPath(name); err != nil {
			return err
		}
		if len(history.Compose(entries, p.all, history.Within(nil, p.all, wanted[i:i+1]))) == 0 {
			return &untouchedError{name: name, path: wanted[i], ids: idsOf(p.out.targets)}
		}
	}
	p.out.paths = history.Compose(entries, p.all, history.Within(entries, p.all, wanted))
	p.out.partial = len(p.out.paths) < len(whole)
	return nil
}

// recordedPath returns the form in which records have a path that the user names.
func (e *Engine) recordedPath(name string) (string, error) {
	abs := name
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(e.dir, abs)
	}
	rel, err := filepath.Rel(e.site.Root, abs)
	switch {
	case name == "":
		return "", usage("a path is empty")
	case err != nil || !filepath.IsLocal(rel):
		return filepath.ToSlash(filepath.Clean(abs)), nil // as records have what is outside of the root
	case rel == ".":
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

func entriesIn(ops []logged) []*history.Entry {
	out := make([]*history.Entry, len(ops))
	for i, op := range ops {
		out[i] = op.Entry
	}
	return out
}

// idsOf returns the ids of operations.
func idsOf(ops []logged) []string {
	out := make([]string, len(ops))
	for i, op := range ops {
		out[i] = op.Meta.ID
	}
	return out
}

// stateError is an operation that cannot be taken back as it stands.
type stateError struct{ id, message, hint string }

func (e *stateError) Error() string { return "operation " + e.id + " " + e.message }

func (e *stateError) Is(target error) bool { return isNothing(target) }

// isNothing reports whether the error asked for is that of a request with nothing to do.
func isNothing(target error) bool {
	return errors.Is(target, ErrNothingToUndo) || errors.Is(target, ErrNothingToRedo)
}

// tooFewError says that there are not as many operations as were counted.
type tooFewError struct {
	have, want int
	redo       bool
}

func (e *tooFewError) Error() string {
	word := "undone"
	if e.redo {
		word = "redone"
	}
	return fmt.Sprintf("only %d of %d operations can be %s", e.have, e.want, word)
}

func (e *tooFewError) Is(target error) bool {
	return target == ErrNothingToUndo && !e.redo || target == ErrNothingToRedo && e.redo
}

// untouchedError is a path at which the operations have nothing to take back.
type untouchedError struct {
	name, path string // as it was given, and as records have it
	ids        []string
}

func (e *untouchedError) hint() string {
	return "oxpatch log --path " + quotedForShell(e.name) + " lists the operations that touched it; paths count from where oxpatch runs, those that are listed from the root of the tree"
}

func (e *untouchedError) Error() string {
	return "nothing of " + operations(e.ids) + " stands there"
}

func (e *untouchedError) Is(target error) bool { return isNothing(target) }

// usageError is a request that contradicts itself.
type usageError struct{ message string }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func (e *usageError) Error() string { return e.message }

func (e *usageError) Is(target error) bool { return target == ErrUsage }
