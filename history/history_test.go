package history

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// op is an operation on paths, given in one string; reverts too.
func op(id string, kind snapshot.Kind, paths string, reverts ...string) *snapshot.Meta {
	m := &snapshot.Meta{ID: id, Kind: kind, Reverts: reverts}
	for _, p := range strings.Fields(paths) {
		m.Paths = append(m.Paths, snapshot.PathMeta{Path: p, Before: file("old"), After: file("new")})
	}
	return m
}

func file(oid string) snapshot.StateMeta {
	return snapshot.StateMeta{Kind: change.File, Mode: 0o644, OID: oid}
}

// walked feeds the operations, given oldest first, to a Walker and returns the entries, newest first.
func walked(ops ...*snapshot.Meta) []*Entry {
	var w Walker
	var out []*Entry
	for _, m := range slices.Backward(ops) {
		out = append(out, w.Next(m))
	}
	return out
}

func TestStates(t *testing.T) {
	t.Parallel()
	const (
		apply = snapshot.KindApply
		undo  = snapshot.KindUndo
		redo  = snapshot.KindRedo
	)
	cases := map[string]struct {
		ops  []*snapshot.Meta // oldest first
		want string           // states, oldest first
	}{
		"nothing":            {},
		"one undone":         {[]*snapshot.Meta{op("1", apply, "a"), op("2", apply, "b"), op("3", undo, "b", "2")}, "done undone done"},
		"undone and redone":  {[]*snapshot.Meta{op("1", apply, "a"), op("2", undo, "a", "1"), op("3", redo, "a", "2")}, "done undone done"},
		"undone once more":   {[]*snapshot.Meta{op("1", apply, "a"), op("2", undo, "a", "1"), op("3", redo, "a", "2"), op("4", undo, "a", "3")}, "undone done undone done"},
		"a group":            {[]*snapshot.Meta{op("1", apply, "a"), op("2", apply, "b"), op("3", undo, "a b", "2", "1")}, "undone undone done"},
		"undone twice over":  {[]*snapshot.Meta{op("1", apply, "a"), op("2", undo, "a", "1"), op("3", undo, "a", "1"), op("4", redo, "a", "3")}, "undone done undone done"},
		"some paths":         {[]*snapshot.Meta{op("1", apply, "a b c"), op("2", undo, "b", "1")}, "partly done"},
		"the rest":           {[]*snapshot.Meta{op("1", apply, "a b c"), op("2", undo, "b", "1"), op("3", undo, "a c", "1")}, "undone done done"},
		"half of an undo":    {[]*snapshot.Meta{op("1", apply, "a b"), op("2", undo, "a b", "1"), op("3", redo, "a", "2")}, "partly partly done"},
		"itself, the future": {[]*snapshot.Meta{op("1", undo, "a", "1", "2"), op("2", apply, "a")}, "done done"},
		"a record is gone":   {[]*snapshot.Meta{op("2", undo, "a", "1")}, "done"},
		"no paths":           {[]*snapshot.Meta{op("1", snapshot.KindCheckpoint, "")}, "done"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range slices.Backward(walked(c.ops...)) {
				got = append(got, string(e.State))
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestWhatUndoAndRedoMayTake(t *testing.T) {
	t.Parallel()
	entries := walked(
		op("1", snapshot.KindApply, "a"), op("2", snapshot.KindRestore, "b"), op("3", snapshot.KindCheckpoint, "b"),
		op("4", snapshot.KindRecover, "b"), op("5", snapshot.KindUndo, "b", "2"), op("6", snapshot.KindRedo, "b", "5"),
		op("7", snapshot.KindUndo, "a", "1"),
	)
	var undoable, redoable []string
	for _, e := range entries {
		if e.Undoable() {
			undoable = append(undoable, e.Meta.ID)
		}
		if e.Redoable() {
			redoable = append(redoable, e.Meta.ID)
		}
	}
	assert.Equal(t, []string{"2"}, undoable)
	assert.Equal(t, []string{"7"}, redoable)
	assert.False(t, Pending(op("8", snapshot.KindApply, "a")).Undoable())
}

func TestReverse(t *testing.T) {
	t.Parallel()
	entries := walked(op("1", snapshot.KindApply, "a"), op("2", snapshot.KindUndo, "a", "1"), op("3", snapshot.KindRedo, "a", "2"))
	assert.Equal(t, snapshot.KindUndo, Reverse(entries[2:]))
	assert.Equal(t, snapshot.KindRedo, Reverse(entries[1:2]))
	assert.Equal(t, snapshot.KindUndo, Reverse(entries[:1]), "a redo taken back is an undo")
	assert.Equal(t, snapshot.KindUndo, Reverse(entries[1:]))
}

func composed(paths []*Path) string {
	var out []string
	for _, p := range paths {
		var ids []string
		for _, s := range p.Steps {
			ids = append(ids, s.Entry.Meta.ID)
		}
		out = append(out, p.Path+":"+strings.Join(ids, ","))
	}
	return strings.Join(out, " ")
}

func TestCompose(t *testing.T) {
	t.Parallel()
	entries := walked(op("1", snapshot.KindApply, "b a"), op("2", snapshot.KindApply, "a c"), op("3", snapshot.KindUndo, "c", "2"))
	assert.Equal(t, "b:1 a:2,1", composed(Compose(entries[1:], false, nil)), "what is undone does not count")
	assert.Equal(t, "b:1 a:2,1 c:3,2", composed(Compose(entries, true, nil)))
	assert.Equal(t, "a:2,1", composed(Compose(entries[1:], false, func(p string) bool { return p == "a" })))
	assert.Empty(t, Compose(nil, false, nil))
}

// A move comes back whole, also where it is one of several.
func TestWithin(t *testing.T) {
	t.Parallel()
	move := func(id, from, to string) *snapshot.Meta {
		return &snapshot.Meta{ID: id, Kind: snapshot.KindApply, Paths: []snapshot.PathMeta{
			{Path: from, Before: file("x")}, {Path: to, OldPath: from, After: file("x")},
		}}
	}
	duplicate := op("3", snapshot.KindApply, "orig")
	duplicate.Paths = append(duplicate.Paths, snapshot.PathMeta{Path: "copy", OldPath: "orig", After: file("x")})
	entries := walked(move("1", "d/a", "e/b"), move("2", "e/b", "f/c"), duplicate)
	for want, c := range map[string]struct{ asked, not string }{
		"d/a e/b f/c":      {"d", "copy orig da"},
		"e/b d/a f/c":      {"f/c", "copy orig"},
		"copy":             {"copy", "orig d/a"},
		"orig":             {"orig", "copy"},
		"copy orig d/a":    {"", ""},
		"d/a e/b f/c copy": {"e copy", "orig"},
	} {
		in := Within(entries, false, append(strings.Fields(c.asked), map[bool][]string{true: {""}}[c.asked == ""]...))
		for p := range strings.FieldsSeq(want) {
			assert.True(t, in(p), "%s: %s", c.asked, p)
		}
		for p := range strings.FieldsSeq(c.not) {
			assert.False(t, in(p), "%s: %s", c.asked, p)
		}
	}
}

func TestLater(t *testing.T) {
	t.Parallel()
	entries := walked(
		op("1", snapshot.KindApply, "a"), op("2", snapshot.KindApply, "a b"), op("3", snapshot.KindApply, "a"),
		op("4", snapshot.KindCheckpoint, "a"), op("5", snapshot.KindUndo, "a", "3"), op("6", snapshot.KindRestore, "b"),
		op("7", snapshot.KindUndo, "a", "1"),
	)
	assert.Equal(t, []string{"7"}, Later(entries, "2", "a"), "3 is undone, and its undo leads back to 2")
	assert.Equal(t, []string{"6"}, Later(entries, "2", "b"))
	assert.Empty(t, Later(entries, "6", "b"))
	assert.Empty(t, Later(entries, "2", "c"))
}

func TestTogether(t *testing.T) {
	t.Parallel()
	entries := walked(
		op("1", snapshot.KindApply, "a b"), op("2", snapshot.KindApply, "b c"), op("3", snapshot.KindApply, "d"),
		op("4", snapshot.KindApply, "c"), op("5", snapshot.KindApply, "e a"), op("6", snapshot.KindUndo, "e a", "5"),
		op("7", snapshot.KindCheckpoint, "a b"), op("8", snapshot.KindUndo, "d", "3"),
	)
	of := func(keep func(string) bool, ids ...string) string {
		var targets []*Entry
		others := slices.DeleteFunc(slices.Clone(entries), func(e *Entry) bool {
			if slices.Contains(ids, e.Meta.ID) {
				targets = append(targets, e)
			}
			return slices.Contains(ids, e.Meta.ID)
		})
		var out []string
		for _, e := range Together(others, targets, keep) {
			out = append(out, e.Meta.ID)
		}
		return strings.Join(out, " ")
	}
	assert.Equal(t, "4 2", of(nil, "1"), "4 is in the way of 2; what is undone is in no way")
	assert.Empty(t, of(func(p string) bool { return p == "a" }, "1"))
	assert.Equal(t, "4", of(nil, "2"))
	assert.Empty(t, of(nil, "4"))
	assert.Equal(t, "4", of(nil, "2", "1"))
}

// step gives the contents that an operation found at paths and left there: "a:old>new".
func step(id string, changes ...string) *snapshot.Meta {
	m := &snapshot.Meta{ID: id, Kind: snapshot.KindApply}
	for _, c := range changes {
		path, states, _ := strings.Cut(c, ":")
		old, after, _ := strings.Cut(states, ">")
		m.Paths = append(m.Paths, snapshot.PathMeta{Path: path, Before: file(old), After: file(after)})
	}
	return m
}

func TestLeads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ops  []*snapshot.Meta // oldest first
		some string           // ids
		want bool
	}{
		"all":                           {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:1>2")}, "1 2", true},
		"nothing":                       {nil, "", true},
		"the rest is there and back":    {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "b:0>1"), step("3", "b:1>0")}, "1", true},
		"there and back in between":     {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:1>2"), step("3", "a:2>1")}, "1", true},
		"another path is left":          {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "b:0>1")}, "1", false},
		"another end":                   {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:1>2")}, "1", false},
		"another beginning":             {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:1>2")}, "2", false},
		"something is lacking between":  {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:1>2"), step("3", "a:2>3")}, "1 3", false},
		"somebody else was there":       {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:x>2")}, "1 2", true},
		"and there is another end":      {[]*snapshot.Meta{step("1", "a:0>1"), step("2", "a:x>2")}, "1", false},
		"nothing of it, and it matters": {[]*snapshot.Meta{step("1", "a:0>1")}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := walked(c.ops...)
			some := slices.DeleteFunc(slices.Clone(entries), func(e *Entry) bool { return !strings.Contains(c.some, e.Meta.ID) })
			assert.Equal(t, c.want, Leads(Compose(some, false, nil), Compose(entries, true, nil)))
		})
	}
}

func TestUnbroken(t *testing.T) {
	t.Parallel()
	assert.True(t, Unbroken(Compose(walked(step("1", "a:0>1", "b:0>1"), step("2", "a:1>2")), true, nil)))
	assert.False(t, Unbroken(Compose(walked(step("1", "b:0>1", "a:0>1"), step("2", "a:x>2")), true, nil)))
	unknown := step("1", "a:0>1")
	unknown.Paths[0].After.Unknown = true
	assert.False(t, Unbroken(Compose(walked(unknown, step("2", "a:1>2")), true, nil)))
	executable := step("1", "a:0>1")
	executable.Paths[0].After.Mode = 0o755
	assert.False(t, Unbroken(Compose(walked(executable, step("2", "a:1>2")), true, nil)))
}
