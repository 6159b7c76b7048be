package textapply

import (
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsThereAlreadyIsAccepted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tree    memTree
		section Section
		message string
	}{
		"added file, byte for byte":  {files("f", "a\nb\n"), added("f", "a", "b"), "the file is there already, byte for byte"},
		"added empty file":           {files("f", ""), added("f"), "the file is there already, byte for byte"},
		"every chunk":                {files("f", "x\nb\ny\n"), update("f", chunk("-a", "+x", " b"), chunk("-c", "+y")), "every change of this section is in the file already"},
		"every chunk, blanks differ": {files("f", "x  \nb\n"), update("f", chunk("-a", "+x", " b")), "every change of this section is in the file already"},
		"move and edit":              {files("g", "x\nb\n"), moved("f", "g", chunk("-a", "+x")), "the file was moved and changed already"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(tt.section), tt.tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			s := plan.Sections[0]
			assert.Equal(t, Unchanged, s.Status)
			assert.Equal(t, []Warning{{Kind: "already_applied", Message: tt.message}}, s.Warnings)
			assert.Equal(t, []int{0, 0}, []int{s.Added, s.Removed})
			assert.Empty(t, plan.Changes)
			assert.Empty(t, plan.Steps)

			strict := carefulPolicy()
			strict.AcceptApplied = false
			plan = MakePlan(patchOf(tt.section), tt.tree, strict)
			assert.NotEqual(t, Unchanged, plan.Sections[0].Status)
		})
	}
}

func TestDeletedAlreadyNeedsHistory(t *testing.T) {
	t.Parallel()
	tree := files()
	tree.known["f"] = true
	plan := MakePlan(patchOf(deleted("f")), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, Unchanged, plan.Sections[0].Status)

	plan = MakePlan(patchOf(deleted("f")), tree, codexPolicy())
	assert.Equal(t, []string{"f: no such file"}, refusals(plan))
	plan = MakePlan(patchOf(deleted("typo")), tree, carefulPolicy())
	assert.Equal(t, []string{"typo: no such file"}, refusals(plan))
}

func TestMovedAlreadyNeedsHistoryOrChunks(t *testing.T) {
	t.Parallel()
	tree := files("g", "a\n")
	tree.known["f"] = true
	plan := MakePlan(patchOf(moved("f", "g")), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, Unchanged, plan.Sections[0].Status)
	assert.Equal(t, "g", plan.Sections[0].NewPath)

	assert.Equal(t, []string{"typo: no such file"}, refusals(MakePlan(patchOf(moved("typo", "g")), tree, carefulPolicy())))
	assert.Equal(t, []string{"f: no such file"}, refusals(MakePlan(patchOf(moved("f", "h")), tree, carefulPolicy())))
}

// An edit that stands in the source already leaves the move to be done.
func TestEditThereButNotMoved(t *testing.T) {
	t.Parallel()
	tree := files("f", "x\nb\n")
	plan := MakePlan(patchOf(moved("f", "g", chunk("-a", "+x"))), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, Planned, plan.Sections[0].Status)
	assert.Equal(t, contents{"g": "x\nb\n"}, carryOut(t, tree, plan).outcome())
	assert.Equal(t, []change.Edit{}, plan.Changes[0].Edits, "the content is not new")
}

// Too little to say that the change was made: these are plain misses.
func TestWeakSignsOfAnAppliedChange(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file  string
		chunk Chunk
	}{
		"new lines at two places":   {"x\nb\nx\n", chunk("-a", "+x")},
		"only lines removed":        {"b\n", chunk("-a", " b")},
		"only a blank line added":   {"b\n\n", chunk("-a", "+", "+ ")},
		"only the indentation fits": {"\tx\n", chunk("-a", "+x")},
		"new lines not in one run":  {"x\nc\ny\n", chunk("-a", "+x", "+y")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(update("f", tt.chunk)), files("f", tt.file), carefulPolicy())
			require.Len(t, plan.Errors(), 1)
			require.ErrorIs(t, plan.Errors()[0], ErrNoMatch)
			assert.Contains(t, plan.Errors()[0].Detail, "the hunk's old lines are not in the file")
			assert.NotContains(t, plan.Errors()[0].Detail, "already")

			skip := carefulPolicy()
			skip.SkipApplied = true
			plan = MakePlan(patchOf(update("f", tt.chunk)), files("f", tt.file), skip)
			assert.Len(t, plan.Errors(), 1)
		})
	}
}

func TestSomeChunksThereAlready(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(update("f", chunk("-a", "+x"), chunk("-b", "+y"), chunk("-no", "+never"))), files("f", "x\nb\n"), carefulPolicy())
	errs := plan.Errors()
	require.Len(t, errs, 2)
	assert.Equal(t, "f: hunk 1: the old lines were not found; the new ones stand at line 1 already", errs[0].Error())
	assert.Equal(t, 1, errs[0].Line)
	assert.NotEmpty(t, errs[0].Hint)
	require.ErrorIs(t, errs[0], ErrApplied)
	assert.Equal(t, `f: hunk 3: the hunk's old lines are not in the file, and nothing like them; they begin with "no"`, errs[1].Error())
	assert.Empty(t, plan.Changes)
}

func TestOverwritingIsReportedOrRefused(t *testing.T) {
	t.Parallel()
	tree := files("f", "old\n", "g", "other\n")
	strict := carefulPolicy()
	strict.Strict = true
	tests := map[string]struct {
		section Section
		path    string
	}{
		"add":  {added("f", "new"), "f"},
		"move": {moved("f", "g", chunk("-old", "+x")), "g"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(tt.section), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			require.Len(t, plan.Sections[0].Warnings, 1)
			w := plan.Sections[0].Warnings[0]
			assert.Equal(t, "overwritten", w.Kind)
			assert.Contains(t, w.Message, tt.path+" existed and is replaced")

			plan = MakePlan(patchOf(tt.section), tree, strict)
			require.Len(t, plan.Errors(), 1)
			assert.ErrorIs(t, plan.Errors()[0], ErrExists)
			assert.Equal(t, tt.path+": the file exists already", plan.Errors()[0].Error())
			assert.Empty(t, plan.Changes)
		})
	}
	plan := MakePlan(patchOf(deleted("f"), added("f", "new")), tree, strict)
	assert.Empty(t, plan.Errors(), "deleted before by the patch itself")
}

// skipPolicy leaves out hunks that are there already.
func skipPolicy() Policy {
	p := carefulPolicy()
	p.SkipApplied = true
	return p
}

func TestSkipApplied(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	tests := map[string]struct {
		file   string
		chunks chunks
		want   string
		there  []int // 1-based hunks that are left out
		err    error
		refuse string
	}{
		"one of two":        {"x\nb\n", chunks{chunk("-a", "+x"), chunk("-b", "+y")}, "x\ny\n", []int{1}, nil, ""},
		"the last of three": {"a\nb\nz\n", chunks{chunk("-a", "+x"), chunk("-b"), chunk("-c", "+z")}, "x\nz\n", []int{3}, nil, ""},
		"the others are placed together": {"a\nx\na\nb\n", chunks{chunk("-m", "+x"), chunk("-a", "+y"), chunk("-b")}, "", nil, ErrApplied,
			"f: hunk 1: the old lines were not found; the new ones stand at line 2 already"},
		"an addition whose old lines are part of the new": {"a\nx\nc\n", chunks{chunk(" a", "+x"), chunk("-b", "+c")}, "a\nx\nc\n", []int{1, 2}, nil, ""},
		"another is neither": {"x\n", chunks{chunk("-a", "+x"), chunk("-no", "+never")}, "", nil, ErrApplied,
			"f: hunk 1: the old lines were not found; the new ones stand at line 1 already"},
		"old lines here and new ones there": {"x\na\ny\nc\n", chunks{chunk("-m", "+x"), chunk("-a", "+y"), chunk("-c", "+d")}, "", nil, ErrAmbiguous,
			"f: hunk 2: the hunk's new lines stand at line 3 already, its old ones somewhere else: it may be applied or not"},
		"old lines behind the new ones": {"x\ny\na\nc\n", chunks{chunk("-m", "+x"), chunk("-a", "+y"), chunk("-c", "+d")}, "", nil, ErrAmbiguous,
			"f: hunk 2: the hunk's new lines stand at line 2 already, its old ones somewhere else: it may be applied or not"},
		"nothing is missing, so nothing is left out": {"a\nx\n", chunks{chunk("-a", "+x")}, "x\nx\n", nil, nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", tt.file)
			plan := MakePlan(patchOf(update("f", tt.chunks...)), tree, skipPolicy())
			if tt.err != nil {
				require.NotEmpty(t, plan.Errors())
				require.ErrorIs(t, plan.Errors()[0], tt.err)
				assert.Equal(t, tt.refuse, plan.Errors()[0].Error())
				assert.Empty(t, plan.Changes)
				return
			}
			require.Empty(t, plan.Errors())
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])
			if plan.Sections[0].Status == Unchanged {
				assert.Len(t, tt.there, len(tt.chunks))
				return
			}
			var there []int
			for i, c := range plan.Sections[0].Chunks {
				if c.There {
					there = append(there, i+1)
				}
				assert.NotEqual(t, c.Placed, c.There)
			}
			assert.Equal(t, tt.there, there)
			warned := 0
			for _, w := range plan.Sections[0].Warnings {
				if w.Kind == "already_applied" {
					warned++
				}
			}
			assert.Equal(t, len(tt.there), warned)
		})
	}
}

// Lines that are there, though in several places or in the wrong order, wait for the change: that
// the new ones are there too does not make it done.
func TestOnlyMissingLinesCanBeApplied(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file   string
		chunks []Chunk
		want   error
	}{
		"several places":        {"a\nb\na\nx\n", []Chunk{chunk("-a", "+x")}, ErrAmbiguous},
		"several, end of file":  {"a\nb\na\nx\n", []Chunk{chunk("-a", "+x", "$")}, ErrAmbiguous},
		"the wrong order":       {"a\nb\nx\ny\n", []Chunk{chunk("-b", "+y"), chunk("-a", "+x")}, ErrOutOfOrder},
		"several, and a miss":   {"a\nb\na\nx\n", []Chunk{chunk("-a", "+z"), chunk("-no", "+never")}, ErrNoMatch},
		"several, unprefixed":   {"a\nb\na\nx\n", []Chunk{unprefixed(chunk("-a", "+x"))}, ErrAmbiguous},
		"below a scope, twice":  {"s\ns\nx\n", []Chunk{chunk("@@ s", "+y")}, ErrAmbiguous},
		"missing, but no match": {"b\n", []Chunk{chunk("-a", "+x")}, ErrNoMatch},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, policy := range []Policy{carefulPolicy(), skipPolicy(), strictPolicy()} {
				plan := MakePlan(patchOf(update("f", tt.chunks...)), files("f", tt.file), policy)
				require.Len(t, plan.Errors(), 1)
				require.ErrorIs(t, plan.Errors()[0], tt.want)
				assert.NotErrorIs(t, plan.Errors()[0], ErrApplied)
				assert.Equal(t, Failed, plan.Sections[0].Status)
			}
		})
	}
}

// A patch that is applied again does not change the next block, where its old lines stand as well.
func TestAppliedInItsScope(t *testing.T) {
	t.Parallel()
	const file = "func a() {\n\treturn nil\n}\n\nfunc b() {\n\treturn nil\n}\n\nfunc c() {\n\tx()\n}\n"
	inA, inC := chunk("@@ func a() {", "-\treturn nil", "+\treturn err"), chunk("-\tx()", "+\ty()")
	once := edited(t, carefulPolicy(), file, inA)
	require.Equal(t, strings.Replace(file, "nil", "err", 1), once)

	plan := MakePlan(patchOf(update("f", inA)), files("f", once), carefulPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, Unchanged, plan.Sections[0].Status)

	plan = MakePlan(patchOf(update("f", inA, inC)), files("f", once), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	require.ErrorIs(t, plan.Errors()[0], ErrApplied)
	assert.Equal(t, 2, plan.Errors()[0].Line)
	skip := carefulPolicy()
	skip.SkipApplied = true
	assert.Equal(t, strings.Replace(once, "x()", "y()", 1), edited(t, skip, once, inA, inC))

	// Without its new lines in the block, or with them elsewhere too, the scope is taken for a wrong one.
	other := strings.Replace(file, "nil", "0", 1)
	assert.Equal(t, strings.Replace(other, "nil", "err", 1), edited(t, carefulPolicy(), other, inA))
	twice := strings.Replace(once, "x()", "return err", 1)
	assert.Equal(t, strings.Replace(twice, "nil", "err", 1), edited(t, carefulPolicy(), twice, inA))
}
