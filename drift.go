package oxpatch

import (
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
)

// drift says how a path differs from what the step i of its operations left there. st is what stands
// there now, or for a later step what stood there before the operation that follows it.
func (u *reversal) drift(p *history.Path, i int, st change.State) *driftedPath {
	step := p.Steps[i]
	m, id := step.Meta(), step.Entry.Meta.ID
	d := &driftedPath{path: p.Path, id: id, kind: KindDrift, err: ErrDrift}
	later := history.Later(u.others(), id, p.Path)
	switch {
	case m.After.Unknown:
		d.reason = "what operation " + id + " left here is not known"
	case st.Kind != m.After.Kind:
		d.reason = fmt.Sprintf("operation %s left %s here, %s %s", id, m.After.Kind.Phrase(), since(p, i, "now there is", "then there was"), st.Kind.Phrase())
	case st.Kind == change.File && int64(len(st.Content)) == m.After.Size &&
		snapshot.StateMeta{Kind: m.After.Kind, Mode: st.Mode, Size: m.After.Size, OID: m.After.OID}.Same(st):
		d.reason = fmt.Sprintf("its mode was changed to %04o %s operation %s", st.Mode.Perm(), since(p, i, "since", "after"), id)
	default:
		d.reason = fmt.Sprintf("its content was changed %s operation %s", since(p, i, "since", "after"), id)
	}
	if i > 0 {
		d.reason += " and before operation " + p.Steps[i-1].Entry.Meta.ID
	}
	switch {
	case len(later) > 0:
		d.reason += ", by " + operations(later)
		d.hint = fmt.Sprintf("take them back together with oxpatch undo %s; --merge keeps what came later, --force brings back what was before (that can be undone)",
			strings.Join(append(later, idsOf(u.chosen.targets)...), " "))
	case m.Before.Same(st):
		d.reason += "; it is as it was before the operation already"
		d.hint = "--merge leaves it as it is and takes back the rest"
	default:
		d.hint = "--merge keeps that change and takes out the operation's; --force brings back what was before, and can itself be undone"
	}
	return d
}

func since(p *history.Path, i int, newest, other string) string {
	if i == 0 {
		return newest
	}
	return other
}

// others are the operations that were met and are not taken back.
func (u *reversal) others() []*history.Entry {
	target := map[*history.Entry]bool{}
	for _, t := range u.chosen.targets {
		target[t.Entry] = true
	}
	var out []*history.Entry
	for _, op := range u.chosen.newer {
		if !target[op.Entry] {
			out = append(out, op.Entry)
		}
	}
	return out
}

func operations(ids []string) string {
	const most = 5
	more := ""
	if len(ids) > most {
		more = fmt.Sprintf(" and %d more", len(ids)-most)
		ids = ids[:most]
	}
	if len(ids) == 1 {
		return "operation " + ids[0]
	}
	return "operations " + strings.Join(ids, ", ") + more
}

// driftedPath is a file that is not as an operation left it, and keeps it from being taken back.
type driftedPath struct {
	path, id, reason, hint string
	line                   int // 1-based, 0 for none
	kind                   Kind
	err                    error // ErrDrift or ErrConflict
}

func (d *driftedPath) Error() string { return change.DisplayPath(d.path) + ": " + d.reason }

func (d *driftedPath) Unwrap() error { return d.err }

// driftError lists all such files.
type driftError struct{ paths []*driftedPath }

func (d *driftError) Error() string {
	var lines []string
	for _, p := range d.paths {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "; ")
}

func (d *driftError) Unwrap() []error { return d.each() }

func (d *driftError) each() []error {
	var out []error
	for _, p := range d.paths {
		out = append(out, p)
	}
	return out
}
