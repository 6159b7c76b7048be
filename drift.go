package oxpatch

import (
	"fmt"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// drift says how a path differs from what the operation left there.
func (u *undo) drift(p snapshot.PathMeta, now change.State) *driftedPath {
	d := &driftedPath{path: p.Path, id: u.rec.Meta.ID, hint: "undo would lose that change; save the file elsewhere or put back what the operation left, then undo again"}
	switch {
	case p.After.Unknown:
		d.reason = "what operation " + d.id + " left here is not known"
	case now.Kind != p.After.Kind:
		d.reason = fmt.Sprintf("operation %s left %s here, now there is %s", d.id, p.After.Kind.Phrase(), now.Kind.Phrase())
	case now.Kind == change.File && int64(len(now.Content)) == p.After.Size &&
		snapshot.StateMeta{Kind: p.After.Kind, Mode: now.Mode, Size: p.After.Size, OID: p.After.OID}.Same(now):
		d.reason = fmt.Sprintf("its mode was changed to %04o since operation %s", now.Mode.Perm(), d.id)
	default:
		d.reason = "its content was changed since operation " + d.id
	}
	if id, ok := u.later[p.Path]; ok {
		d.reason += ", by operation " + id
	}
	return d
}

// driftedPath is a file that is not as an operation left it.
type driftedPath struct{ path, id, reason, hint string }

func (d *driftedPath) Error() string { return change.DisplayPath(d.path) + ": " + d.reason }

func (d *driftedPath) Unwrap() error { return ErrDrift }

// driftError lists all such files of an undo.
type driftError struct{ paths []*driftedPath }

func (d *driftError) Error() string {
	var lines []string
	for _, p := range d.paths {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "; ")
}

func (d *driftError) Unwrap() error { return ErrDrift }

func (d *driftError) each() []error {
	var out []error
	for _, p := range d.paths {
		out = append(out, p)
	}
	return out
}
