package oxpatch_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
)

// forecast is what the model says of a request.
type forecast struct {
	// err is what the error has to match, nil for success; anyError that it is refused, for whichever
	// reason. In both cases nothing changes.
	err      error
	anyError bool
	// blamed are the paths that a refusal names.
	blamed map[string]bool
	// Otherwise the operation, and what tree and index become.
	op    *past
	tree  plot
	index map[string]string
	// unsure holds paths at which a merge may go either way; then it is refused as a whole, or what
	// stands there afterwards is believed.
	unsure map[string]*trail
	// wild says that it depends on them whether it is refused for another reason.
	wild bool
	// idle says that no file changes and no folder, asks that there is a change to ask the gate about.
	idle, asks bool
	rules      rules
	merged     bool // something of it is a merge
}

// reverse foretells an undo or redo.
func (m *model) reverse(w wish) forecast {
	targets, all, err := m.targets(w)
	if err != nil {
		return forecast{err: err}
	}
	trails := m.trails(targets, all, nil)
	if len(w.paths) > 0 {
		keep, err := m.within(trails, w.paths)
		if err != nil {
			return forecast{err: err}
		}
		trails = m.trails(targets, all, keep)
	}
	lim := limitsOf(targets, trails, len(trails) < len(m.trails(targets, all, nil)))
	f := forecast{blamed: map[string]bool{}, unsure: map[string]*trail{}, rules: lim.rules()}
	f.op = &past{kind: "undo", takesBack: targets, session: common(targets, func(o *past) string { return o.session }),
		turn: common(targets, func(o *past) string { return o.turn })}
	if !slices.ContainsFunc(targets, func(o *past) bool { return o.kind != "undo" }) {
		f.op.kind = "redo"
	}
	for _, path := range sortedKeys(trails) {
		t := trails[path]
		now := m.tree[path]
		if now.kind == 'd' && lim.named[path] {
			now = node{}
		}
		to, how := m.back(t, now, w)
		f.merged = f.merged || w.merge && !now.same(t.deeds[0].after)
		f.anyError = f.anyError || how == clean && now.kind == 'd' // which nobody recorded
		switch how {
		case drifted:
			f.err = oxpatch.ErrDrift
			f.blamed[path] = true
		case conflicting:
			f.err = oxpatch.ErrConflict
			f.blamed[path] = true
		case unsure:
			f.unsure[path] = t
		}
		d := deed{path: path, before: now, after: to, inPlace: t.deeds[0].inPlace}
		t.setLines(&d)
		f.asks = f.asks || d.staged
		if m.index[path] != d.line[0] { // somebody changed it since, so it stays
			d.staged = false
		}
		f.op.deeds = append(f.op.deeds, d)
	}
	for i := range f.op.deeds {
		f.op.deeds[i].from = m.cameFrom(f, trails, f.op.deeds[i].path)
	}
	switch {
	case f.anyError: // it comes first or last, with or without the others
		return forecast{anyError: true}
	case f.err != nil:
		return f
	}
	if landed := m.land(f, f.rules); !landed.anyError || len(f.unsure) == 0 {
		return landed
	}
	f.wild = true
	return f
}

func hasKey[V any](m map[string]V, key string) bool { _, ok := m[key]; return ok }

// cameFrom: the old name of a file that was moved comes back from the new one, if that goes; of several,
// from that of the oldest move.
func (m *model) cameFrom(f forecast, trails map[string]*trail, path string) string {
	from, first := "", len(m.ops)
	for _, d := range f.op.deeds {
		t := trails[d.path]
		oldest, at := t.deeds[len(t.deeds)-1], slices.Index(m.ops, t.ops[len(t.ops)-1])
		if oldest.from == path && oldest.before.kind == 0 && d.before.kind != 0 && d.after.kind == 0 && at < first {
			from, first = d.path, at
		}
	}
	return from
}

// setLines says what becomes of the path's line in the index: from what the newest operation left to what
// stood there before the oldest.
func (t *trail) setLines(d *deed) {
	for _, x := range t.deeds {
		if !x.staged {
			continue
		}
		if !d.staged {
			d.staged, d.line[0] = true, x.line[1]
		}
		d.line[1] = x.line[0]
	}
}

// limits are the folders that an undo may remove, and those that it brings back. The oldest of the operations that name a folder says which.
type limits struct {
	made, removed map[string]fs.FileMode
	named         map[string]bool
}

func limitsOf(targets []*past, trails map[string]*trail, partial bool) *limits {
	l := &limits{map[string]fs.FileMode{}, map[string]fs.FileMode{}, map[string]bool{}}
	wanted := func(dir string) bool {
		for path := range trails {
			if path == dir || strings.HasPrefix(path, dir+"/") {
				return true
			}
		}
		return !partial
	}
	for _, o := range targets {
		// What an operation has at a path below one of its own stood in a folder there.
		for i := range o.deeds {
			for _, d := range o.deeds {
				if (d.before.kind != 0 || d.after.kind != 0) && strings.HasPrefix(d.path, o.deeds[i].path+"/") {
					l.named[o.deeds[i].path] = true
				}
			}
		}
		for dir, mode := range o.made {
			if l.named[dir] = true; wanted(dir) {
				l.made[dir] = mode
				delete(l.removed, dir)
			}
		}
		for dir, mode := range o.removed {
			if l.named[dir] = true; wanted(dir) {
				l.removed[dir] = mode
				delete(l.made, dir)
			}
		}
	}
	return l
}

func (l *limits) rules() rules {
	return rules{gone: func([]string) []string { return sortedKeys(l.made) }, modes: l.removed, revive: l.removed}
}

func common(ops []*past, field func(*past) string) string {
	for _, o := range ops {
		if field(o) != field(ops[0]) {
			return ""
		}
	}
	return field(ops[0])
}

type outcome int

const (
	clean outcome = iota
	drifted
	conflicting
	unsure
)

// back takes the deeds of one path back, newest first, from what stands there.
func (m *model) back(t *trail, now node, w wish) (node, outcome) {
	at := now
	for _, d := range t.deeds {
		to := d.before
		if to.kind == 'f' && at.kind == 'f' && to.mode == d.after.mode {
			to.mode = at.mode // the operation changed no mode, so one set since stays
		}
		switch {
		case at.same(d.after), w.force:
			at = to
		case !w.merge:
			return now, drifted
		case at.same(to):
		default:
			merged, how := merge(d.after, at, to)
			if how != clean {
				return now, how
			}
			at = merged
		}
	}
	return at, clean
}

// merge makes the way from base to theirs in ours, where it is plain what comes out.
func merge(base, ours, theirs node) (node, outcome) {
	if base.kind != 'f' || ours.kind != 'f' || theirs.kind != 'f' {
		return ours, conflicting
	}
	out := ours
	if base.runs() == ours.runs() {
		out.mode = theirs.mode
	}
	switch {
	case ours.data == base.data:
		out.data = theirs.data
		return out, clean
	case theirs.data == base.data, ours.data == theirs.data:
		return out, clean
	}
	for _, n := range []node{base, ours, theirs} {
		if strings.Contains(n.data, "\x00") {
			return ours, conflicting
		}
	}
	b, o, t := splitLines(base.data), splitLines(ours.data), splitLines(theirs.data)
	if !allDistinct(b) || !allDistinct(o) || !allDistinct(t) {
		return ours, unsure
	}
	of, ot := region(b, o)
	tf, tt := region(b, t)
	const apart = 4
	switch {
	case of-(len(b)-tt) >= apart:
		out.data = strings.Join(t[:len(t)-tt], "") + strings.Join(b[len(b)-tt:of], "") + strings.Join(o[of:], "")
	case tf-(len(b)-ot) >= apart:
		out.data = strings.Join(o[:len(o)-ot], "") + strings.Join(b[len(b)-ot:tf], "") + strings.Join(t[tf:], "")
	default:
		return ours, unsure
	}
	return out, clean
}

func splitLines(s string) []string { return slices.Collect(strings.Lines(s)) }

func allDistinct(lines []string) bool {
	seen := map[string]bool{}
	for _, l := range lines {
		l = strings.TrimRight(l, "\r\n")
		if seen[l] {
			return false
		}
		seen[l] = true
	}
	return true
}

// region returns how many lines two texts have in common at the beginning and at the end.
func region(a, b []string) (first, last int) {
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	return first, last
}

// rules say which folders come and go with files.
type rules struct {
	// gone returns those that go if nothing is left in them; from are those out of which something goes.
	gone func(from []string) []string
	// modes are those of folders that are made again; revive are folders that come back without a file.
	modes, revive map[string]fs.FileMode
}

// land carries the deeds of a forecast out on copies of tree and index.
func (m *model) land(f forecast, r rules) forecast {
	tree, op := maps.Clone(m.tree), f.op
	op.made, op.removed = map[string]fs.FileMode{}, map[string]fs.FileMode{}
	f.idle = true
	var from []string // folders from which something goes
	for _, d := range op.deeds {
		if d.before == d.after {
			continue
		}
		f.idle, f.asks = false, true
		if d.after.kind == 0 {
			delete(tree, d.path)
			from = append(from, parents(d.path)...)
		}
	}
	needed := map[string]bool{}
	for _, d := range op.deeds {
		if d.after.kind != 0 && d.before != d.after {
			for _, dir := range parents(d.path) {
				needed[dir] = true
			}
		}
	}
	gone := slices.Sorted(slices.Values(r.gone(from)))
	for _, dir := range slices.Backward(gone) {
		if n := tree[dir]; n.kind == 'd' && tree.empty(dir) && !needed[dir] {
			delete(tree, dir)
			op.removed[dir] = n.mode
		}
	}
	for _, dir := range sortedKeys(needed) {
		switch n, ok := tree[dir]; {
		case ok && n.kind != 'd':
			return forecast{anyError: true}
		case !ok:
			mode := 0o777 &^ m.umask
			if old, ok := r.modes[dir]; ok {
				mode = old
			}
			tree[dir] = node{kind: 'd', mode: mode}
			op.made[dir] = mode
		}
	}
	for _, d := range op.deeds {
		if d.after.kind == 0 || d.before == d.after {
			continue
		}
		// A folder gives way to a file only if this empties it.
		if tree[d.path].kind == 'd' || m.tree[d.path].kind == 'd' && !slices.Contains(from, d.path) {
			return forecast{anyError: true}
		}
		tree[d.path] = d.after
	}
	m.revive(tree, op, r.revive)
	f.idle = f.idle && len(op.made)+len(op.removed) == 0
	f.tree, f.index = tree, m.lines(op)
	return f
}

// revive makes folders again that were there without anything in them.
func (m *model) revive(tree plot, op *past, dirs map[string]fs.FileMode) {
	for _, dir := range sortedKeys(dirs) {
		up := parentOf(dir)
		if tree[dir].kind == 0 && m.tree[dir].kind == 0 && (up == "" || tree[up].kind == 'd') {
			tree[dir] = node{kind: 'd', mode: dirs[dir]}
			op.made[dir] = dirs[dir]
		}
	}
}

// lines returns the index after an operation: each line that is as it expects changes.
func (m *model) lines(op *past) map[string]string {
	index := maps.Clone(m.index)
	for _, d := range op.deeds {
		if !d.staged || index[d.path] != d.line[0] {
			continue
		}
		if d.line[1] == "" {
			delete(index, d.path)
		} else {
			index[d.path] = d.line[1]
		}
	}
	return index
}

// apply foretells a patch that fits, made up of deeds.
func (m *model) apply(op *past) forecast {
	op.kind = "apply"
	return m.land(forecast{op: op}, rules{gone: func(from []string) []string { return from }})
}

// commit makes a forecast that came true the present.
func (m *model) commit(f forecast) {
	m.tree, m.index = f.tree, f.index
	m.add(f.op)
}
