package oxpatch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/history"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
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
		var ways []string
		if command := u.together(); command != "" {
			ways = append(ways, "take them back together with "+command)
		}
		if mergeable(m, st) {
			ways = append(ways, "--merge keeps what came later")
		}
		d.hint = strings.Join(append(ways, "--force brings back what was before (that can be undone)"), "; ")
	case m.Before.Same(st):
		d.reason += "; it is as it was before the operation already"
		d.hint = "--merge leaves it as it is and takes back the rest"
	case inTheWay(st.Kind):
		d.hint = moveAway
	case mergeable(m, st):
		d.hint = "--merge keeps that change and takes out the operation's; --force brings back what was before, and can itself be undone"
	default:
		d.hint = "--force brings back what was before, and can itself be undone"
	}
	return d
}

// mergeable reports whether a merge may take out what an operation did to a path where st is now.
func mergeable(m *snapshot.PathMeta, st change.State) bool {
	return !m.After.Unknown && m.Before.Kind == change.File && m.After.Kind == change.File && st.Kind == change.File
}

// inTheWay reports whether what is of this kind is never replaced, since no record could hold it.
func inTheWay(k change.Kind) bool { return k == change.Dir || k == change.Other }

const moveAway = "move it away; then --force brings back what was before, which can itself be undone"

// obstacle refuses a path at which something stands that is never replaced.
func obstacle(path string, now change.State, back *wayBack) error {
	if back.drift != nil || !inTheWay(now.Kind) || back.state.Kind == now.Kind {
		return nil
	}
	refused := &worktree.PathError{Path: path, Err: worktree.ErrIsDirectory, Problem: "a folder stands there now", Hint: "move it away, then try again"}
	if now.Kind == change.Other {
		refused.Err, refused.Problem = worktree.ErrNotRegular, now.Kind.Phrase()+" stands there now"
	}
	return refused
}

// together is the command that takes back all operations that stand in each other's way, "" where that
// would be refused too, since something that is undone lies in between.
func (u *reversal) together() string {
	if u.ways == nil || u.ways.of != u.chosen {
		u.ways = &waysOut{u.chosen, u.findTogether()}
	}
	return u.ways.command
}

// waysOut remembers what together found for a choice of operations.
type waysOut struct {
	of      *chosen
	command string
}

func (u *reversal) findTogether() string {
	var keep func(path string) bool
	if u.chosen.partial {
		wanted := map[string]bool{}
		for _, p := range u.chosen.paths {
			wanted[p.Path] = true
		}
		keep = func(path string) bool { return wanted[path] }
	}
	going := append(history.Together(u.others(), entriesIn(u.chosen.targets), keep), entriesIn(u.chosen.targets)...)
	slices.SortFunc(going, func(a, b *history.Entry) int { return strings.Compare(b.Meta.ID, a.Meta.ID) })
	if !history.Unbroken(history.Compose(going, false, keep)) {
		return ""
	}
	ids := make([]string, len(going))
	for i, e := range going {
		ids[i] = e.Meta.ID
	}
	command := "oxpatch undo " + strings.Join(ids, " ")
	if len(u.choose.paths) > 0 {
		command += " --"
		for _, path := range u.choose.paths {
			command += " " + quotedForShell(path)
		}
	}
	return command
}

// quotedForShell writes a path as one word of a command line.
func quotedForShell(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-+,:@%=", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
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
