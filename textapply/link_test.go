package textapply

import (
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	type sections = []Section
	plainMove := carefulPolicy()
	plainMove.KeepMode = false
	tree := func() memTree {
		return files("f", "a\n", "g", "b\n").link("l", "f").link("d/up", "../f").link("dangling", "no").link("toDir", "d")
	}
	rest := func(changed contents, without ...string) contents {
		all := contents{"f": "a\n", "g": "b\n", "l": "-> f", "d/up": "-> ../f", "dangling": "-> no", "toDir": "-> d"}
		for name, content := range changed {
			all[name] = content
		}
		for _, name := range without {
			delete(all, name)
		}
		return all
	}
	tests := map[string]struct {
		policy   Policy
		sections sections
		want     contents
	}{
		"update goes through":               {carefulPolicy(), sections{update("l", chunk("-a", "+x"))}, rest(contents{"f": "x\n"})},
		"two names, one file":               {carefulPolicy(), sections{update("l", chunk("-a", "+x")), update("d/up", chunk("-x", "+y"))}, rest(contents{"f": "y\n"})},
		"add goes through":                  {carefulPolicy(), sections{added("l", "new")}, rest(contents{"f": "new\n"})},
		"add through a dangling link":       {carefulPolicy(), sections{added("dangling", "new")}, rest(contents{"no": "new\n"})},
		"delete takes the link":             {carefulPolicy(), sections{deleted("l")}, rest(nil, "l")},
		"delete takes a dangling link":      {carefulPolicy(), sections{deleted("dangling")}, rest(nil, "dangling")},
		"move takes the link, edits behind": {carefulPolicy(), sections{moved("l", "m", chunk("-a", "+x"))}, rest(contents{"f": "x\n", "m": "-> f"}, "l")},
		"move over a link replaces it":      {carefulPolicy(), sections{moved("g", "l", chunk("+x"))}, rest(contents{"l": "b\nx\n"}, "g")},
		"move over a link to the same file": {carefulPolicy(), sections{moved("f", "l", chunk("+x"))}, rest(contents{"l": "a\nx\n"}, "f")},
		"move of a link onto itself":        {carefulPolicy(), sections{moved("l", "./l", chunk("+x"))}, rest(contents{"f": "a\nx\n"})},
		"move of a link onto its file":      {carefulPolicy(), sections{moved("l", "f", chunk("+x"))}, rest(contents{"f": "a\nx\n"})},
		"move of a link makes a file":       {plainMove, sections{moved("l", "m", chunk("-a", "+x"))}, rest(contents{"m": "x\n"}, "l")},
		"Codex: move of a link":             {codexPolicy(), sections{moved("l", "m", chunk("-a", "+x"))}, rest(contents{"m": "x\n"}, "l")},
		"Codex: move through a link":        {codexPolicy(), sections{moved("g", "l", chunk("+x"))}, rest(contents{"f": "b\nx\n"}, "g")},
		"Codex: move to a link to itself":   {codexPolicy(), sections{moved("f", "l", chunk("+x"))}, rest(contents{"f": "a\nx\n"})},
		"Codex: delete takes the link":      {codexPolicy(), sections{deleted("l")}, rest(nil, "l")},
		"link deleted, then a file there":   {carefulPolicy(), sections{deleted("l"), added("l", "new")}, rest(contents{"l": "new\n"})},
		"link and file behind it deleted":   {carefulPolicy(), sections{deleted("l"), deleted("f")}, rest(nil, "l", "f")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := tree()
			plan := MakePlan(patchOf(tt.sections...), tree, tt.policy)
			require.Empty(t, plan.Errors())
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome())
			checkSteps(t, tree, plan, tt.policy)
		})
	}
}

// Codex deletes a link only where a file is behind it.
func TestCodexRefusesSomeLinks(t *testing.T) {
	t.Parallel()
	tree := files("d/x", "1\n").link("dangling", "no").link("toDir", "d").link("loop", "loop")
	for name, want := range map[string]error{"dangling": ErrMissing, "toDir": ErrIsDirectory, "loop": errLoop} {
		plan := MakePlan(patchOf(deleted(name)), tree, codexPolicy())
		require.Len(t, plan.Errors(), 1, name)
		assert.ErrorIs(t, plan.Errors()[0], want, name)
	}
	plan := MakePlan(patchOf(deleted("toDir")), tree, carefulPolicy())
	assert.Empty(t, plan.Errors(), "the link is no directory")
}

func TestCodexDeletesDevices(t *testing.T) {
	t.Parallel()
	tree := files()
	tree.at["fifo"] = change.State{Kind: change.Other}
	plan := MakePlan(patchOf(deleted("fifo")), tree, codexPolicy())
	require.Empty(t, plan.Errors())
	assert.Empty(t, carryOut(t, tree, plan).outcome())
}

func TestMovedLinkIsARename(t *testing.T) {
	t.Parallel()
	tree := files("f", "a\n").link("l", "f")
	plan := MakePlan(patchOf(moved("l", "m", chunk(" a"))), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	require.Len(t, plan.Changes, 2)
	assert.Equal(t, []string{"m", "l"}, []string{plan.Changes[0].Path, plan.Changes[0].OldPath})
	assert.Equal(t, change.Symlink, plan.Changes[0].After.Kind)
	assert.Equal(t, "l", plan.Changes[1].Path)
}

// What a plan says of a moved file's edits counts in the file it came from.
func TestEditsOfAMovedFile(t *testing.T) {
	t.Parallel()
	tree := files("f", "a\nb\n", "g", "c\nd\n")
	plan := MakePlan(patchOf(
		update("f", chunk("-a", "+x")), moved("f", "t", chunk(" b")), moved("g", "f", chunk("-c")), moved("t", "g", chunk("+y")),
	), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	carryOut(t, tree, plan)
	got := map[string]change.Change{}
	for _, c := range plan.Changes {
		got[c.Path] = c
	}
	require.Len(t, got, 2)
	assert.Equal(t, "g", got["f"].OldPath)
	assert.Equal(t, []change.Edit{{Start: 0, End: 2}}, got["f"].Edits)
	assert.Equal(t, "f", got["g"].OldPath)
	assert.Equal(t, []change.Edit{{Start: 0, End: 2, New: []byte("x\n")}, {Start: 4, End: 4, New: []byte("y\n")}}, got["g"].Edits)
}
