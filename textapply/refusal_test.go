package textapply

import (
	"errors"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	special := files("f", "a\n", "d/x", "1\n", "utf16", "\xff\xfea\x00", "crlf", "a\r\n")
	special.at["fifo"] = change.State{Kind: change.Other}
	tests := map[string]struct {
		section Section
		want    error
		text    string
	}{
		"update of a missing file":   {update("no", chunk("+x")), ErrMissing, "no: no such file"},
		"update of a directory":      {update("d", chunk("+x")), ErrIsDirectory, "d: is a directory"},
		"update of a device":         {update("fifo", chunk("+x")), ErrNotText, "fifo: not a text file that can be edited"},
		"update of UTF-16":           {update("utf16", chunk("+x")), ErrNotText, "utf16: the file is UTF-16, which is not edited as text"},
		"add over a directory":       {added("d", "x"), ErrIsDirectory, "d: is a directory"},
		"add over a device":          {added("fifo", "x"), ErrNotText, "fifo: not a text file that can be edited"},
		"delete of a missing file":   {deleted("no"), ErrMissing, "no: no such file"},
		"delete of a directory":      {deleted("d"), ErrIsDirectory, "d: is a directory"},
		"delete of a device":         {deleted("fifo"), ErrNotText, "fifo: not a text file that can be edited"},
		"move onto a directory":      {moved("f", "d", chunk("+x")), ErrIsDirectory, "d: is a directory"},
		"move of a missing file":     {moved("no", "g", chunk("+x")), ErrMissing, "no: no such file"},
		"delete of other lines":      {checked("f", "a", "b"), ErrNoMatch, "f: the file does not hold what the patch deletes: line 2 is the first that differs"},
		"delete of other endings":    {checked("crlf", "a"), ErrNoMatch, "crlf: the file does not hold what the patch deletes: how its lines end differs"},
		"lines that are not there":   {update("f", chunk("-b")), ErrNoMatch, `f: hunk 1: the hunk's old lines are not in the file, and nothing like them; they begin with "b"`},
		"scope that is not there":    {update("f", chunk("@@ b", "+x")), ErrNoContext, "f: hunk 1: the scope line was not found"},
		"scope counts as no match":   {update("f", chunk("@@ b", "+x")), ErrNoMatch, "f: hunk 1: the scope line was not found"},
		"name that is not printable": {update("\xff", chunk("+x")), ErrMissing, `"\377": no such file`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(tt.section), special, carefulPolicy())
			require.Len(t, plan.Errors(), 1)
			assert.ErrorIs(t, plan.Errors()[0], tt.want)
			assert.Equal(t, tt.text, plan.Errors()[0].Error())
			assert.NotZero(t, plan.Errors()[0].PatchLine)
			assert.Equal(t, Failed, plan.Sections[0].Status)
			assert.Empty(t, plan.Changes)
			assert.Empty(t, plan.Steps)
		})
	}
}

// checked deletes a file that holds the lines given.
func checked(path string, lines ...string) Section {
	return Section{Kind: Delete, Path: path, Content: lines, Checked: true}
}

func TestErrorsCarryTheirPlace(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(update("f", chunk("+x"), chunk("@@ s", "+a"), chunk("-b", " ", "+c"))), files("f", "1\n"), carefulPolicy())
	errs := plan.Errors()
	require.Len(t, errs, 2)
	assert.Equal(t, []any{"f", 2, 4, []string{"s"}}, []any{errs[0].Path, errs[0].Chunk, errs[0].PatchLine, errs[0].Want})
	assert.Equal(t, []any{"f", 3, 5, []string{"b", ""}}, []any{errs[1].Path, errs[1].Chunk, errs[1].PatchLine, errs[1].Want})
}

func TestAllFailuresAreReported(t *testing.T) {
	t.Parallel()
	sections := []Section{
		update("f", chunk("-no"), chunk("-a", "+x"), chunk("@@ no", "+c")),
		update("g", chunk("-1", "+2")),
		deleted("no"),
		update("g", chunk("-2", "+3"), chunk("-4")),
	}
	tree := files("f", "a\nb\n", "g", "1\n")
	plan := MakePlan(patchOf(sections...), tree, carefulPolicy())
	assert.Equal(t, []string{
		`f: hunk 1: the hunk's old lines are not in the file, and nothing like them; they begin with "no"`,
		"f: hunk 3: the scope line was not found",
		"no: no such file",
		`g: hunk 2: the hunk's old lines are not in the file, and nothing like them; they begin with "4"`,
	}, refusals(plan))
	assert.Equal(t, []ChunkResult{{}, {Placed: true, Line: 1, Match: "exact"}, {}}, plan.Sections[0].Chunks)
	var states []Status
	for _, s := range plan.Sections {
		states = append(states, s.Status)
	}
	assert.Equal(t, []Status{Failed, Planned, Failed, Failed}, states)
}

func TestStopAtFirstKeepsEarlierChanges(t *testing.T) {
	t.Parallel()
	tree := files("f", "a\n", "g", "1\n")
	plan := MakePlan(patchOf(
		update("f", chunk("-a", "+x")), update("g", chunk("-1", "+2"), chunk("-no"), chunk("-never")), deleted("f"),
	), tree, codexPolicy())
	assert.Equal(t, []string{"g: hunk 2: the expected lines were not found"}, refusals(plan))
	assert.Equal(t, contents{"f": "x\n", "g": "1\n"}, carryOut(t, tree, plan).outcome())
	checkSteps(t, tree, plan, codexPolicy())
	assert.Equal(t, NotReached, plan.Sections[2].Status)
	assert.Empty(t, plan.Sections[2].Path)
}

// failingTree cannot read.
type failingTree struct{ memTree }

var errDisk = errors.New("the disk is on fire")

func (failingTree) Read(string) (change.State, error) { return change.State{}, errDisk }

// lockedTree lets no path be located.
type lockedTree struct{ memTree }

func (lockedTree) Locate(string, bool, func(string) (change.Kind, bool)) (string, error) {
	return "", errDisk
}

// unreadable is a tree in which one path cannot be looked at.
type unreadable struct {
	memTree
	key string
}

func (u unreadable) Read(key string) (change.State, error) {
	if key == u.key {
		return change.State{}, errDisk
	}
	return u.memTree.Read(key)
}

// Codex writes to a path without reading it. The plan then says what to write, but not as a change,
// since what stood there is not known.
func TestCodexWritesBlindly(t *testing.T) {
	t.Parallel()
	tree := unreadable{files("f", "a\n"), "locked"}
	for _, s := range []Section{added("locked", "a"), moved("f", "locked", chunk(" a"))} {
		plan := MakePlan(patchOf(s), tree, codexPolicy())
		require.Empty(t, plan.Errors())
		assert.Equal(t, Step{Path: "locked", Content: []byte("a\n")}, plan.Steps[0])
		for _, c := range plan.Changes {
			assert.NotEqual(t, "locked", c.Path)
		}
		plan = MakePlan(patchOf(s), tree, carefulPolicy())
		require.Len(t, plan.Errors(), 1)
		assert.ErrorIs(t, plan.Errors()[0], errDisk)
	}
	for _, s := range []Section{deleted("locked"), update("locked", chunk("+x"))} {
		plan := MakePlan(patchOf(s), tree, codexPolicy())
		require.Len(t, plan.Errors(), 1)
		assert.ErrorIs(t, plan.Errors()[0], errDisk)
	}
}

// Where the name of a move's destination is refused, the error names it.
func TestMoveToARefusedName(t *testing.T) {
	t.Parallel()
	tree := files("f", "a\n").link("loop", "loop")
	plan := MakePlan(patchOf(moved("f", "loop", chunk(" a"))), tree, codexPolicy())
	assert.Equal(t, []string{"loop: too many links"}, refusals(plan))
	assert.Empty(t, plan.Steps)
}

func TestErrorsOfTheTreeArePassedOn(t *testing.T) {
	t.Parallel()
	for _, tree := range []Tree{failingTree{}, lockedTree{}} {
		for _, s := range []Section{added("f"), deleted("f"), update("f"), moved("f", "g")} {
			plan := MakePlan(patchOf(s), tree, carefulPolicy())
			require.Len(t, plan.Errors(), 1)
			assert.ErrorIs(t, plan.Errors()[0], errDisk)
			assert.Equal(t, "f: the disk is on fire", plan.Errors()[0].Error())
		}
	}
}
