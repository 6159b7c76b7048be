package textapply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where old lines fit only after trimming, the added lines follow the file's indentation if all old
// lines are off by the same.
func TestShift(t *testing.T) {
	t.Parallel()
	const (
		uneven = "the hunk's lines are indented unlike the file's, and not all by the same white space; the added lines keep the patch's indentation"
		given  = "the hunk's old lines lack the file's indentation, and so may the added ones; they get it as well"
		kept   = "the hunk's old lines lack the file's indentation, the added ones seem to have it; they are taken as they are"
	)
	tests := map[string]struct {
		file    string
		chunk   Chunk
		want    string
		match   string
		warning string
	}{
		"all lack the same":                                          {"        a\n          b\n", chunk(" a", "-  b", "+  x", "+y"), "        a\n          x\n        y\n", "shifted", ""},
		"all lack a tab":                                             {"\tif {\n\t\tb\n", chunk(" if {", "-\tb", "+\tx"), "\tif {\n\t\tx\n", "shifted", ""},
		"all have the same too much":                                 {"a\n  b\n", chunk("     a", "-      b", "+      x", "+    y"), "a\n  x\ny\n", "shifted", ""},
		"too much, but an added line has less":                       {"a\n  b\n", chunk("     a", "-      b", "+      x", "+ y"), "a\n      x\n y\n", "indent", uneven},
		"all have too much, not all alike":                           {"a\nb\n", chunk("   a", "-    b", "+    x"), "a\n    x\n", "indent", uneven},
		"not all alike":                                              {"  a\n      b\n", chunk(" a", "-b", "+x"), "  a\nx\n", "indent", uneven},
		"one lacks, one has too much":                                {"  a\nb\n", chunk(" a", "-  b", "+x"), "  a\nx\n", "indent", uneven},
		"tabs in the file, blanks in the patch":                      {"\ta\n\t\tb\n", chunk("     a", "-        b", "+        x", "+            y"), "\ta\n\t\tx\n\t\t\ty\n", "shifted", ""},
		"tabs in the file, blanks that are no full level":            {"\ta\n", chunk("     a", "+      x"), "\ta\n\t  x\n", "shifted", ""},
		"blanks in the file, tabs in the patch":                      {"  a\n    b\n", chunk(" \ta", "-\t\tb", "+\t\tx", "+y"), "  a\n    x\ny\n", "shifted", ""},
		"blanks for tabs, not so many each":                          {"\ta\n\t\tb\n", chunk("     a", "-      b", "+      x"), "\ta\n      x\n", "indent", uneven},
		"one blank for a tab":                                        {"\ta\n", chunk("  a", "+ x"), "\ta\n x\n", "indent", uneven},
		"blanks for tabs in some lines only":                         {"\ta\n\t\tb\n", chunk(" \ta", "-        b", "+        x"), "\ta\n        x\n", "indent", uneven},
		"blank old lines say nothing":                                {"  a\n\n  b\n", chunk(" a", " ", "-b", "+x"), "  a\n\n  x\n", "shifted", ""},
		"blank added lines stay blank":                               {"  a\n", chunk(" a", "+", "+x"), "  a\n\n  x\n", "shifted", ""},
		"nothing added, nothing uneven":                              {"  a\n    b\n", chunk(" a", "-b"), "  a\n", "indent", ""},
		"only blank lines added":                                     {"  a\n    b\n", chunk(" a", "-b", "+"), "  a\n\n", "indent", ""},
		"added lines have it already":                                {"  a\n  b\n", chunk(" a", "-b", "+  x"), "  a\n  x\n", "indent", kept},
		"some added lines have it":                                   {"  a\n  b\n", chunk(" a", "-b", "+  x", "+y"), "  a\n    x\n  y\n", "shifted", ""},
		"they have it below an opener, and are inside it without it": {"  if x {\n  b\n", chunk(" if x {", "+  y", " b"), "  if x {\n    y\n  b\n", "shifted", given},
		"below an opener, but deeper than it by more than they lack": {"  if x {\n", chunk(" if x {", "+    y"), "  if x {\n    y\n", "indent", kept},
		"deeper than old lines that show their depth":                {"  if x {\n    b\n", chunk(" if x {", "+    y", "   b"), "  if x {\n      y\n    b\n", "shifted", given},
		"with it, as deep as what they replace":                      {"    if x {\n        b\n", chunk(" if x {", "-    b", "+        c"), "    if x {\n        c\n", "indent", kept},
		"with it, as deep as the line above":                         {"  a\n    if x {\n  b\n", chunk(" a", "+  c", "   if x {", " b"), "  a\n  c\n    if x {\n  b\n", "indent", kept},
		"without it, all of a block that is replaced":                {"\tif x {\n\t\tb\n\t}\n", chunk("-if x {", "-\tb", "-}", "+if y {", "+\tc", "+}"), "\tif y {\n\t\tc\n\t}\n", "shifted", ""},
		"below a removed opener":                                     {"  if x {\n", chunk("-if x {", "+  if y {"), "  if y {\n", "indent", kept},
		"a colon opens":                                              {"    def f():\n        pass\n", chunk(" def f():", "-    pass", "+    return 1"), "    def f():\n        return 1\n", "shifted", ""},
		"punctuation folded, nothing shifted":                        {"  “a”\n", chunk(`   "a"`, "+  x"), "  “a”\n  x\n", "punctuation", ""},
		"punctuation folded and shifted":                             {"  “a”\n", chunk(` "a"`, "+x"), "  “a”\n  x\n", "shifted", ""},
		"trailing blanks are no shift":                               {"  a \n", chunk("   a", "+x"), "  a \nx\n", "trailing-space", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", tt.file)
			plan := MakePlan(patchOf(update("f", tt.chunk)), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])
			assert.Equal(t, tt.match, plan.Sections[0].Chunks[0].Match)
			if tt.warning == "" {
				assert.Empty(t, plan.Sections[0].Warnings)
				return
			}
			require.Len(t, plan.Sections[0].Warnings, 1)
			assert.Equal(t, []string{"guessed", tt.warning}, []string{plan.Sections[0].Warnings[0].Kind, plan.Sections[0].Warnings[0].Message})

			plan = MakePlan(patchOf(update("f", tt.chunk)), tree, strictPolicy())
			require.Len(t, plan.Errors(), 1)
			assert.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
		})
	}
}

// Codex takes the added lines as they are.
func TestCodexShiftsNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "    a\nx\n", edited(t, codexPolicy(), "    a\n    b\n", chunk(" a", "-b", "+x")))
}

// A hunk that adds at its end what stands right behind its place, or at its beginning what stands in front of
// it, may have been applied before.
func TestDuplicateWarning(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file  string
		chunk Chunk
		line  int // of the warning, 0 for none
	}{
		"the same line follows":                   {"a\nx\n", chunk(" a", "+x"), 2},
		"the same lines follow":                   {"a\nx\ny\nz\n", chunk(" a", "+x", "+y"), 2},
		"only the first of them follows":          {"a\nx\nz\n", chunk(" a", "+x", "+y"), 0},
		"the file ends before":                    {"a\nx\n", chunk(" a", "+x", "+y"), 0},
		"the same line stands above":              {"x\na\n", chunk("+x", " a"), 1},
		"the same lines stand above":              {"z\nx\ny\na\n", chunk("+x", "+y", " a"), 2},
		"only the last of them stands above":      {"z\ny\na\n", chunk("+x", "+y", " a"), 0},
		"the file begins behind":                  {"y\na\n", chunk("+x", "+y", " a"), 0},
		"what stands above replaces another":      {"x\na\n", chunk("+x", "-a"), 0},
		"below a scope":                           {"s\nx\na\n", chunk("@@ s", "+x"), 2},
		"below a scope, but not right below":      {"s\na\nx\n", chunk("@@ s", "+x"), 0},
		"at the end of the file":                  {"a\nx\n", chunk("+x", "$"), 2},
		"with a blank line on either side":        {"\nx\n\na\n", chunk(" ", "+x", "+", " a"), 1},
		"with another line in front":              {"b\nx\n\na\n", chunk(" ", "+x", "+", " a"), 0},
		"context behind":                          {"a\nb\nx\n", chunk(" a", "+x", " b"), 0},
		"a blank line is added":                   {"a\n\n", chunk(" a", "+"), 0},
		"the added line replaces another":         {"a\nx\n", chunk("-a", "+x"), 0},
		"the added lines end in a blank, as does": {"a\nx\n\n", chunk(" a", "+x", "+"), 2},
		"indentation differs":                     {" a\nx\n", chunk("  a", "+ x"), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(update("f", tt.chunk)), files("f", tt.file), carefulPolicy())
			require.Empty(t, plan.Errors())
			if tt.line == 0 {
				assert.Empty(t, plan.Sections[0].Warnings)
				return
			}
			require.Len(t, plan.Sections[0].Warnings, 1)
			w := plan.Sections[0].Warnings[0]
			assert.Equal(t, []any{"duplicate", 1, tt.line}, []any{w.Kind, w.Chunk, w.Line})
			assert.Equal(t, Planned, plan.Sections[0].Status, "it is done all the same")
			assert.Empty(t, MakePlan(patchOf(update("f", tt.chunk)), files("f", tt.file), codexPolicy()).Sections[0].Warnings)
		})
	}
}

// Where one hunk shows how the added lines were written, the others of the file are read alike.
func TestHunksAreReadAlike(t *testing.T) {
	t.Parallel()
	const file = "f:\n    a\n    b\ng:\n    c\n    d\nh:\n"
	below := chunk(" c", "+    e", " d") // as deep as the file's lines, or deeper than its own
	for name, tt := range map[string]struct {
		first Chunk
		want  string
		warns bool
	}{
		"none has it":            {chunk(" a", "+x", " b"), "f:\n    a\n    x\n    b\ng:\n    c\n        e\n    d\nh:\n", false},
		"all have it":            {chunk(" a", "+    x", " b"), "f:\n    a\n    x\n    b\ng:\n    c\n    e\n    d\nh:\n", true},
		"a hunk that lacks none": {chunk(" f:", "-    a", "+    x"), "f:\n    x\n    b\ng:\n    c\n    e\n    d\nh:\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", file)
			plan := MakePlan(patchOf(update("f", tt.first, below)), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])
			assert.Equal(t, tt.warns, len(plan.Sections[0].Warnings) > 0)
		})
	}
}

// Blanks for tabs in one hunk are blanks for tabs in all, where no old line says otherwise.
func TestHunksAreConvertedAlike(t *testing.T) {
	t.Parallel()
	const file = "package p\n\nfunc f() {\n\ta()\n}\n\nvar v int\n\nfunc g() {\n\tb()\n}\n"
	top := chunk(" var v int", "+", "+func h() {", "+    d()", "+}")
	for name, tt := range map[string]struct {
		second Chunk
		want   string
	}{
		"told":     {chunk(" func g() {", "-    b()", "+    c()"), strings.NewReplacer("b()", "c()", "var v int\n", "var v int\n\nfunc h() {\n\td()\n}\n").Replace(file)},
		"not told": {chunk(" func g() {", "-\tb()", "+\tc()"), strings.NewReplacer("b()", "c()", "var v int\n", "var v int\n\nfunc h() {\n    d()\n}\n").Replace(file)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", file)
			plan := MakePlan(patchOf(update("f", top, tt.second)), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			assert.Empty(t, plan.Sections[0].Warnings)
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])
		})
	}
}
