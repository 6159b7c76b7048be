package oxpatch_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
)

// The reference model of the history: operations with whole copies of what they changed, and the tree
// as a map. It shares no code with what it judges, and it is plain where that is clever.

// node is what stands at a path; the zero value is nothing.
type node struct {
	kind byte        // 'f' file, 'l' link, 'd' folder
	mode fs.FileMode // permissions of files and folders
	data string
}

func (n node) runs() bool { return n.kind == 'f' && n.mode&0o100 != 0 }

// same reports whether two nodes are one to git: kind, bytes and the owner's execute bit.
func (n node) same(o node) bool {
	return n.kind == o.kind && n.data == o.data && n.runs() == o.runs()
}

// plot is a tree: nodes by path.
type plot map[string]node

func parentOf(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

// parents returns the folders above a path, the nearest first.
func parents(path string) []string {
	var out []string
	for p := parentOf(path); p != ""; p = parentOf(p) {
		out = append(out, p)
	}
	return out
}

func (t plot) empty(dir string) bool {
	for p := range t {
		if strings.HasPrefix(p, dir+"/") {
			return false
		}
	}
	return true
}

// withoutModes leaves out the modes of folders: one that was removed and made again by operations that are
// taken back together keeps the mode that it has.
func (t plot) withoutModes() plot {
	out := maps.Clone(t)
	for path, n := range out {
		if n.kind == 'd' {
			out[path] = node{kind: 'd'}
		}
	}
	return out
}

// deed is what an operation does to one path.
type deed struct {
	path, from    string // from is the name that a moved file had
	before, after node
	inPlace       bool
	// staged says that the path's line in the index changes too, from line[0] to line[1]; "" is none.
	staged bool
	line   [2]string
}

// past is an operation of the model.
type past struct {
	id, kind      string
	session, turn string
	deeds         []deed
	takesBack     []*past
	// made and removed are folders with their modes.
	made, removed map[string]fs.FileMode
	// scopes are, of a checkpoint, the folders of which it has all files, folders the modes of those and
	// of all in them.
	scopes  []string
	folders map[string]fs.FileMode
	// tree is the whole tree after it.
	tree plot
}

func (o *past) touches(path string) *deed {
	for i := range o.deeds {
		if o.deeds[i].path == path {
			return &o.deeds[i]
		}
	}
	return nil
}

func (o *past) isEdit() bool { return o.kind == "apply" || o.kind == "restore" }

// model is all that is known of a root.
type model struct {
	tree  plot
	index map[string]string // lines by path; nil outside of repositories
	ops   []*past           // oldest first
	known map[stands]bool   // what stands says, until the next operation
	umask fs.FileMode
}

type stands struct {
	op   *past
	path string
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// stands: what an operation did to a path stands unless a later operation that stands there took it back.
func (m *model) stands(op *past, path string) bool {
	key := stands{op, path}
	if v, ok := m.known[key]; ok {
		return v
	}
	v := true
	for _, later := range m.ops {
		if slices.Contains(later.takesBack, op) && later.touches(path) != nil && m.stands(later, path) {
			v = false
		}
	}
	if m.known == nil {
		m.known = map[stands]bool{}
	}
	m.known[key] = v
	return v
}

func (m *model) state(op *past) string {
	n := 0
	for _, d := range op.deeds {
		if m.stands(op, d.path) {
			n++
		}
	}
	switch n {
	case len(op.deeds):
		return "done"
	case 0:
		return "undone"
	}
	return "partly"
}

func (m *model) add(op *past) {
	op.tree = maps.Clone(m.tree)
	m.ops, m.known = append(m.ops, op), nil
}

// newestFirst returns the operations as the log lists them.
func (m *model) newestFirst() []*past {
	out := slices.Clone(m.ops)
	slices.Reverse(out)
	return out
}

func (m *model) undoable(op *past) bool { return op.isEdit() && m.state(op) != "undone" }

func (m *model) redoable(op *past) bool { return op.kind == "undo" && m.state(op) != "undone" }

// nextUndo and nextRedo are what the commands without arguments take back; nil for nothing.
func (m *model) nextUndo() *past {
	for _, op := range m.newestFirst() {
		if m.undoable(op) {
			return op
		}
	}
	return nil
}

func (m *model) nextRedo() *past {
	for _, op := range m.newestFirst() {
		switch {
		case op.isEdit():
			return nil
		case m.redoable(op):
			return op
		}
	}
	return nil
}

// wish is a request for an undo or redo.
type wish struct {
	redo                  bool
	named                 []*past
	count                 int
	to                    *past
	session, turn         string
	paths                 []string
	merge, force, decline bool
}

// targets returns the operations that a wish takes back, newest first. all says that what is undone
// among them is taken back too.
func (m *model) targets(w wish) (list []*past, all bool, err error) {
	nothing := oxpatch.ErrNothingToUndo
	if w.redo {
		nothing = oxpatch.ErrNothingToRedo
	}
	switch {
	case len(w.named) > 0:
		list, err = m.namedTargets(w, nothing)
	case w.to != nil:
		list, all = m.targetsAfter(w)
	default:
		list = m.newestTargets(w)
		if len(list) < w.count {
			err = nothing
		}
	}
	if len(list) == 0 && err == nil {
		err = nothing
	}
	return list, all, err
}

func (w wish) of(op *past) bool {
	return (w.session == "" || w.session == op.session) && (w.turn == "" || w.turn == op.turn)
}

func (m *model) newestTargets(w wish) (list []*past) {
	most := w.count
	if most == 0 {
		most = 1
		if w.session != "" || w.turn != "" {
			most = len(m.ops)
		}
	}
	for _, op := range m.newestFirst() {
		if len(list) == most || w.redo && op.isEdit() {
			break
		}
		if w.redo && m.redoable(op) || !w.redo && m.undoable(op) && w.of(op) {
			list = append(list, op)
		}
	}
	return list
}

// targetsAfter: the edits after an operation that stand. If something since then that is no edit took
// back, or brought back, what is as old as the operation or older, or if at a path of theirs these edits do
// not begin or end where everything since does, or have a gap where that has none, then everything since.
func (m *model) targetsAfter(w wish) (list []*past, all bool) {
	at := slices.Index(m.ops, w.to)
	after := m.newestFirst()[:len(m.ops)-1-at]
	for _, op := range after {
		if m.undoable(op) && w.of(op) {
			list = append(list, op)
			continue
		}
		behind := slices.ContainsFunc(op.takesBack, func(t *past) bool { return slices.Index(m.ops, t) <= at })
		if behind && m.state(op) != "undone" && w.session == "" && w.turn == "" {
			all = true
		}
	}
	whole := slices.DeleteFunc(slices.Clone(after), func(op *past) bool { return op.kind == "checkpoint" || op.kind == "recover" })
	if w.session == "" && w.turn == "" {
		every := m.trails(whole, true, nil)
		for path, t := range m.trails(list, false, nil) {
			all = all || !t.sameEndsAs(every[path]) || t.gap() && !every[path].gap()
		}
	}
	if all {
		return whole, true
	}
	return list, false
}

// sameEndsAs: both lead from the same state to the same one.
func (t *trail) sameEndsAs(u *trail) bool {
	return t.deeds[0].after.same(u.deeds[0].after) && t.deeds[len(t.deeds)-1].before.same(u.deeds[len(u.deeds)-1].before)
}

// gap: somebody else changed the path between two of the operations.
func (t *trail) gap() bool {
	for i := 1; i < len(t.deeds); i++ {
		if !t.deeds[i].after.same(t.deeds[i-1].before) {
			return true
		}
	}
	return false
}

func (m *model) namedTargets(w wish, nothing error) ([]*past, error) {
	chosen := map[*past]bool{}
	for _, op := range w.named {
		switch {
		case op.kind == "checkpoint", !w.redo && m.state(op) == "undone":
			return nil, nothing
		case !w.redo || m.redoable(op):
			chosen[op] = true
		case op.kind == "undo":
			return nil, nothing
		default:
			some := false
			for _, u := range m.ops {
				if m.redoable(u) && slices.Contains(u.takesBack, op) {
					chosen[u], some = true, true
				}
			}
			if !some {
				return nil, nothing
			}
		}
	}
	return slices.DeleteFunc(m.newestFirst(), func(op *past) bool { return !chosen[op] }), nil
}

// trail is what the targets did to one path, newest first.
type trail struct {
	path  string
	ops   []*past
	deeds []*deed
}

// trails lines up what the targets did, path by path. A nil keep keeps all.
func (m *model) trails(targets []*past, all bool, keep map[string]bool) map[string]*trail {
	out := map[string]*trail{}
	for _, op := range targets {
		for i := range op.deeds {
			d := &op.deeds[i]
			if keep != nil && !keep[d.path] || !all && !m.stands(op, d.path) {
				continue
			}
			if out[d.path] == nil {
				out[d.path] = &trail{path: d.path}
			}
			out[d.path].ops, out[d.path].deeds = append(out[d.path].ops, op), append(out[d.path].deeds, d)
		}
	}
	return out
}

// within returns the paths of trails that are named or below a folder that is, together with the other
// names of files that were moved.
func (m *model) within(trails map[string]*trail, named []string) (map[string]bool, error) {
	keep := map[string]bool{}
	for _, name := range named {
		some := false
		for path := range trails {
			if name == "." || path == name || strings.HasPrefix(path, name+"/") {
				keep[path], some = true, true
			}
		}
		if !some {
			return nil, oxpatch.ErrNothingToUndo
		}
	}
	for n := -1; n != len(keep); {
		n = len(keep)
		for _, t := range trails {
			for i, d := range t.deeds {
				from := t.ops[i].touches(d.from)
				if from == nil || from.before.kind == 0 || from.after.kind != 0 {
					continue
				}
				if keep[d.path] || keep[d.from] {
					keep[d.path], keep[d.from] = true, true
				}
			}
		}
	}
	return keep, nil
}
