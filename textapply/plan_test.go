package textapply

import (
	"io/fs"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type contents = map[string]string

// Later sections see what earlier ones do, as on a disk.
func TestPlanOnOverlay(t *testing.T) {
	t.Parallel()
	type sections = []Section
	tests := map[string]struct {
		tree     memTree
		sections sections
		want     contents
	}{
		"several sections for one file": {files("f", "a\nb\nc\n"),
			sections{update("f", chunk("-a", "+x", "+y")), update("f", chunk("-c")), update("f", chunk(" y", "+z"))},
			contents{"f": "x\ny\nz\nb\n"}},
		"two names of one file": {files("f", "a\nb\n"),
			sections{update("./f", chunk("-a")), update("d/../f", chunk("-b", "+x"))},
			contents{"f": "x\n"}},
		"a section takes back another": {files("f", "a\n"),
			sections{update("f", chunk("-a", "+b")), update("f", chunk("-b", "+a"))},
			contents{"f": "a\n"}},
		"add, then update":  {files(), sections{added("f", "a", "b"), update("f", chunk("-a", "+x"))}, contents{"f": "x\nb\n"}},
		"add, then delete":  {files(), sections{added("f", "a"), deleted("f")}, contents{}},
		"add twice":         {files(), sections{added("f", "a"), added("f", "b")}, contents{"f": "b\n"}},
		"add an empty file": {files(), sections{added("d/f")}, contents{"d/f": ""}},
		"delete, then add":  {files("f", "a\n"), sections{deleted("f"), added("f", "b")}, contents{"f": "b\n"}},
		"update, then delete": {files("f", "a\n"),
			sections{update("f", chunk("+b")), deleted("f")}, contents{}},
		"add, then move": {files(),
			sections{added("f", "a"), moved("f", "g", chunk("-a", "+b"))}, contents{"g": "b\n"}},
		"move and edit": {files("f", "a\nb\n"),
			sections{moved("f", "d/g", chunk("-a", "+x"))}, contents{"d/g": "x\nb\n"}},
		"update, then move, then update": {files("f", "a\nb\nc\n"),
			sections{update("f", chunk("-a")), moved("f", "g", chunk("-b", "+x")), update("g", chunk(" c", "+y"))},
			contents{"g": "x\nc\ny\n"}},
		"chain of moves": {files("f", "a\n"),
			sections{moved("f", "g", chunk("+b")), moved("g", "h", chunk("+c"))}, contents{"h": "a\nb\nc\n"}},
		"moves round in a circle": {files("f", "a\n"),
			sections{moved("f", "g", chunk("+b")), moved("g", "f", chunk("+c"))}, contents{"f": "a\nb\nc\n"}},
		"swap": {files("f", "a\n", "g", "b\n"),
			sections{moved("f", "t", chunk(" a")), moved("g", "f", chunk("+x")), moved("t", "g", chunk("+y"))},
			contents{"f": "b\nx\n", "g": "a\ny\n"}},
		"move over an existing file": {files("f", "a\n", "g", "b\n"),
			sections{moved("f", "g", chunk("+x"))}, contents{"g": "a\nx\n"}},
		"move to where a file was deleted": {files("f", "a\n", "g", "b\n"),
			sections{deleted("g"), moved("f", "g", chunk("+x"))}, contents{"g": "a\nx\n"}},
		"new file at the name moved away from": {files("f", "a\n"),
			sections{moved("f", "g", chunk("+x")), added("f", "new")}, contents{"f": "new\n", "g": "a\nx\n"}},
		"move onto itself is an update": {files("f", "a\n"),
			sections{moved("f", "./f", chunk("-a", "+b"))}, contents{"f": "b\n"}},
		"other files stay": {files("f", "a\n", "g", "b\n"),
			sections{update("f", chunk("-a", "+x"))}, contents{"f": "x\n", "g": "b\n"}},
	}
	for name, tt := range tests {
		for _, policy := range []Policy{codexPolicy(), carefulPolicy()} {
			t.Run(name+"/"+policy.Name, func(t *testing.T) {
				t.Parallel()
				plan := MakePlan(patchOf(tt.sections...), tt.tree, policy)
				require.Empty(t, plan.Errors())
				assert.Equal(t, tt.want, carryOut(t, tt.tree, plan).outcome())
				checkSteps(t, tt.tree, plan, policy)
				for _, s := range plan.Sections {
					assert.Equal(t, Planned, s.Status)
				}
			})
		}
	}
}

func TestChangesAreTheNetEffect(t *testing.T) {
	t.Parallel()
	tree := files("a", "1\n", "b", "2\n", "c", "3\n", "d", "4\n")
	plan := MakePlan(patchOf(
		update("d", chunk("-4", "+5")),
		moved("b", "e", chunk(" 2")),
		added("new", "n"),
		update("a", chunk("-1", "+x")),
		update("a", chunk("-x", "+1")),
		added("gone", "g"),
		deleted("gone"),
		deleted("c"),
	), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	carryOut(t, tree, plan)
	var got []string
	for _, c := range plan.Changes {
		got = append(got, c.OldPath+">"+c.Path+":"+c.After.Kind.String())
	}
	assert.Equal(t, []string{">d:file", "b>e:file", ">b:absent", ">new:file", ">c:absent"}, got)
	assert.Equal(t, []change.Edit{{Start: 0, End: 2, New: []byte("5\n")}}, plan.Changes[0].Edits)
	assert.Equal(t, []change.Edit{}, plan.Changes[1].Edits, "moved as it was")
	assert.Nil(t, plan.Changes[3].Edits, "a new file has no base")
}

func TestStepsFollowTheSections(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(
		added("a", "1"), moved("b", "c", chunk("+2")), deleted("a"), update("c", chunk("+3")),
	), files("b", "0\n"), codexPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, []Step{
		{Section: 0, Path: "a", Content: []byte("1\n")},
		{Section: 1, Path: "c", Content: []byte("0\n2\n")},
		{Section: 1, Path: "b", Delete: true, Source: true},
		{Section: 2, Path: "a", Delete: true},
		{Section: 3, Path: "c", Content: []byte("0\n2\n3\n")},
	}, plan.Steps)
}

func TestSectionResults(t *testing.T) {
	t.Parallel()
	tree := files("f", "a\nb\n  c\na\n", "old", "1\n2\n", "gone", "1\n2\n3")
	plan := MakePlan(patchOf(
		moved("f", "g", chunk("-b", "+x", "+y"), chunk("-c")),
		added("old", "n"),
		deleted("gone"),
	), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	f := plan.Sections[0]
	assert.Equal(t, []any{"f", "g", 2, 2}, []any{f.Path, f.NewPath, f.Added, f.Removed})
	assert.Equal(t, []ChunkResult{{Placed: true, Line: 2, Match: "exact"}, {Placed: true, Line: 3, Pass: Indent, Match: "indent"}}, f.Chunks)
	assert.Equal(t, []int{1, 2}, []int{plan.Sections[1].Added, plan.Sections[1].Removed})
	assert.Equal(t, 3, plan.Sections[2].Removed)
}

func TestModes(t *testing.T) {
	t.Parallel()
	tree := files("run", "a\n", "plain", "b\n").mode("run", change.State{Kind: change.File, Mode: 0o755})
	after := func(policy Policy, sections ...Section) map[string]fs.FileMode {
		plan := MakePlan(patchOf(sections...), tree, policy)
		require.Empty(t, plan.Errors())
		modes := map[string]fs.FileMode{}
		for name, st := range carryOut(t, tree, plan).at {
			modes[name] = st.Mode
		}
		return modes
	}
	type modes = map[string]fs.FileMode
	edit := chunk("+x")
	assert.Equal(t, modes{"run": 0o755, "plain": 0o644}, after(carefulPolicy(), update("run", edit)))
	assert.Equal(t, modes{"run": 0o755, "plain": 0o644}, after(carefulPolicy(), added("run", "new")))
	assert.Equal(t, modes{"g": 0o755, "plain": 0o644}, after(carefulPolicy(), moved("run", "g", edit)))
	assert.Equal(t, modes{"plain": 0o755}, after(carefulPolicy(), moved("run", "plain", edit)))
	assert.Equal(t, modes{"g": 0, "plain": 0o644}, after(codexPolicy(), moved("run", "g", edit)), "a new file's mode")
	assert.Equal(t, modes{"plain": 0o644}, after(codexPolicy(), moved("run", "plain", edit)), "the destination's own")
}

// A file that comes back under its name as a new one has lost its mode, which is a change.
func TestModeAloneIsAChange(t *testing.T) {
	t.Parallel()
	tree := files("f", "a\n").mode("f", change.State{Kind: change.File, Mode: 0o600})
	round := patchOf(moved("f", "g", chunk(" a")), moved("g", "f", chunk(" a")))
	plan := MakePlan(round, tree, codexPolicy())
	require.Empty(t, plan.Errors())
	require.Len(t, plan.Changes, 1)
	assert.Zero(t, plan.Changes[0].After.Mode)
	assert.Empty(t, MakePlan(round, tree, carefulPolicy()).Changes, "the mode was kept")
}

// observed is a tree that notes what it is told of the plan.
type observed struct {
	memTree
	told *[]string
}

func (o observed) Locate(name string, entry bool, planned func(string) (change.Kind, bool)) (string, error) {
	for _, key := range []string{"f", "g"} {
		if kind, ok := planned(key); ok {
			*o.told = append(*o.told, name+" after "+key+" became "+kind.String())
		}
	}
	return o.memTree.Locate(name, entry, planned)
}

func TestTreeIsToldOfThePlan(t *testing.T) {
	t.Parallel()
	var told []string
	tree := observed{files("f", "a\n"), &told}
	MakePlan(patchOf(
		update("f", chunk("-no")), // read, but not changed
		update("f", chunk("+x")),
		added("g", "new"),
		deleted("f"),
		deleted("g"),
		added("h"),
	), tree, carefulPolicy())
	assert.Equal(t, []string{
		"g after f became file",
		"f after f became file", "f after g became file",
		"g after f became absent", "g after g became file",
		"h after f became absent", "h after g became absent",
	}, told)
}
