package textapply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// firstPolicy takes the first of several places.
func firstPolicy() Policy {
	p := carefulPolicy()
	p.TakeFirst = true
	return p
}

func strictPolicy() Policy {
	p := carefulPolicy()
	p.Strict = true
	return p
}

func lineNumbers(places []Place) []int {
	var lines []int
	for _, p := range places {
		lines = append(lines, p.Line)
	}
	return lines
}

// What the patch does not settle is refused, or taken with a warning where that was asked for.
func TestSeveralPlacesAreRefusedOrGuessed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file    string
		chunk   Chunk
		places  []int
		refused string
		first   string // the file after the first place was taken
	}{
		"two places": {"a\nb\na\n", chunk("-a", "+x"), []int{1, 3},
			"f: hunk 1: the hunk fits more than one place: lines 1 and 3", "x\nb\na\n"},
		"behind the scope only": {"a\ns\na\na\n", chunk("@@ s", "-a", "+x"), []int{3, 4},
			"f: hunk 1: the hunk fits more than one place: lines 3 and 4", "a\ns\nx\na\n"},
		"many places": {"a\na\na\na\na\na\na\n", chunk("-a", "+x"), []int{1, 2, 3, 4, 5, 6, 7},
			"f: hunk 1: the hunk fits more than one place: lines 1, 2, 3, 4 and 3 more", "x\na\na\na\na\na\na\n"},
		"more than are shown": {strings.Repeat("a\nb\n", 25), chunk("-a", "+x", " b"), []int{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39},
			"f: hunk 1: the hunk fits more than one place: lines 1, 3, 5, 7 and 21 more", "x\nb\n" + strings.Repeat("a\nb\n", 24)},
		"exact, but unindented, and indented elsewhere": {"a\n a\n", chunk("-a", "+x"), []int{1, 2},
			"f: hunk 1: the hunk fits more than one place: lines 1 and 2", "x\n a\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", tt.file)
			patch := patchOf(update("f", tt.chunk))
			plan := MakePlan(patch, tree, carefulPolicy())
			require.Len(t, plan.Errors(), 1)
			err := plan.Errors()[0]
			require.ErrorIs(t, err, ErrAmbiguous)
			assert.Equal(t, tt.refused, err.Error())
			assert.Equal(t, tt.places, lineNumbers(err.Places))
			assert.Equal(t, tt.places[0], err.Line)
			assert.Empty(t, plan.Changes)

			plan = MakePlan(patch, tree, firstPolicy())
			require.Empty(t, plan.Errors())
			require.Len(t, plan.Sections[0].Warnings, 1)
			w := plan.Sections[0].Warnings[0]
			assert.Equal(t, []any{"guessed", 1, tt.places[0]}, []any{w.Kind, w.Chunk, w.Line})
			assert.Contains(t, w.Message, "the lines fit more than one place; the first, line ")
			assert.Subset(t, lineNumbers(w.Places), tt.places)
			assert.Equal(t, tt.first, carryOut(t, tree, plan).outcome()["f"])

			both := firstPolicy()
			both.Strict = true
			plan = MakePlan(patch, tree, both)
			require.Len(t, plan.Errors(), 1)
			require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
			assert.Empty(t, plan.Changes)

			plan = MakePlan(patch, tree, codexPolicy())
			assert.Empty(t, plan.Errors())
			assert.Empty(t, plan.Sections[0].Warnings, "Codex does not look for others")
		})
	}
}

// Choices that are no matter of several places: taken with a warning, refused by a strict policy.
func TestGuessesAreReportedOrRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file    string
		chunk   Chunk
		message string
		line    int
		want    string
	}{
		"nothing to hold on to": {"a\nb\n", chunk("+x"),
			"the added lines have no context; they go to the end of the file", 3, "a\nb\nx\n"},
		"nothing but a blank line that is not there": {"a\n", chunk(" ", "+x"),
			"the added lines have no context; they go to the end of the file", 2, "a\n\nx\n"},
		"end of file, but only in the middle": {"a\nb\nc\n", chunk(" b", "+x", "$"),
			"the lines do not end the file, as the hunk says; their only place, line 2, is taken", 2, "a\nb\nx\nc\n"},
		"end of file, only in the middle and only trimmed": {"a\n  b\nc\n", chunk("-b", "$"),
			"the lines do not end the file, as the hunk says; their only place, line 2, is taken", 2, "a\nc\n"},
		"old lines indented unevenly": {"  a\n      b\n", chunk(" a", "-b", "+x"),
			"the hunk's lines are indented unlike the file's, and not all by the same white space; the added lines keep the patch's indentation", 1, "  a\nx\n"},
		"added lines seem to have the indentation": {"  a\n  b\n", chunk(" a", "-b", "+  x"),
			"the hunk's old lines lack the file's indentation, the added ones seem to have it; they are taken as they are", 1, "  a\n  x\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", tt.file)
			plan := MakePlan(patchOf(update("f", tt.chunk)), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			require.Len(t, plan.Sections[0].Warnings, 1)
			w := plan.Sections[0].Warnings[0]
			assert.Equal(t, []any{"guessed", 1, tt.message, tt.line}, []any{w.Kind, w.Chunk, w.Message, w.Line})
			assert.NotEmpty(t, w.Hint)
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])

			plan = MakePlan(patchOf(update("f", tt.chunk)), tree, strictPolicy())
			require.Len(t, plan.Errors(), 1)
			require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
			assert.Equal(t, "f: hunk 1: "+tt.message, plan.Errors()[0].Error())
			assert.Empty(t, plan.Changes)
		})
	}
}

func TestNoGuess(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file   string
		chunks []Chunk
	}{
		"the tail is one place":               {"a\na\n", []Chunk{chunk("-a", "+x", "$")}},
		"a scope line settles it":             {"a\ns\na\n", []Chunk{chunk("@@ s", "-a", "+x")}},
		"a stricter pass settles it":          {"  a\n a\n", []Chunk{chunk("- a", "+ x")}},
		"the order settles it":                {"a\nb\na\n", []Chunk{chunk("-b"), chunk("-a", "+x")}},
		"there are as many as hunks":          {"a\na\n", []Chunk{chunk("-a", "+x"), chunk("-a", "+y")}},
		"both places give the same":           {"b\na\na\nb\n", []Chunk{chunk("-a")}},
		"context only, in several places":     {"a\na\n", []Chunk{chunk(" a")}},
		"addition below a scope":              {"a\nb\n", []Chunk{chunk("@@ a", "+x")}},
		"addition to an empty file":           {"", []Chunk{chunk("+x")}},
		"addition at the end of the file":     {"a\n", []Chunk{chunk("+x", "$")}},
		"nothing but a stray blank line":      {"a\n", []Chunk{chunk(" ")}},
		"trimmed without added lines":         {"  a\n    b\n", []Chunk{chunk(" a", "-b")}},
		"added lines that the file surpasses": {"    a\n", []Chunk{chunk(" a", "+x")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, policy := range []Policy{carefulPolicy(), strictPolicy(), firstPolicy()} {
				plan := MakePlan(patchOf(update("f", tt.chunks...)), files("f", tt.file), policy)
				require.Empty(t, plan.Errors())
				for _, w := range plan.Sections[0].Warnings {
					assert.NotEqual(t, "guessed", w.Kind)
				}
			}
		})
	}
}

// A text of equal lines must not be listed once more for every chunk.
func TestFurtherPlacesAreBounded(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for range 100 {
		chunks = append(chunks, chunk("-x"))
	}
	tree := files("f", strings.Repeat("x\n", 2000))
	plan := MakePlan(patchOf(update("f", chunks...)), tree, firstPolicy())
	require.Empty(t, plan.Errors())
	for i, c := range plan.Sections[0].Chunks {
		assert.Equal(t, i+1, c.Line)
		assert.Len(t, c.AlsoAt, mostOthers)
	}
	plan = MakePlan(patchOf(update("f", chunk("-x", "+y"))), files("f", strings.Repeat("x\n", 5000)), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	assert.Len(t, plan.Errors()[0].Places, mostOthers)
	assert.Contains(t, plan.Errors()[0].Detail, "lines 1, 2, 3, 4 and many more")
}

// Where more places than are listed are before it, the first place of a chunk is found all the same.
func TestFirstPlaceBehindMoreThanAreListed(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("x\n", maxPlaces+10) + "s\nx\nx\n"
	tree := files("f", file)
	patch := patchOf(update("f", chunk("-s"), chunk("-x", "+y")))
	plan := MakePlan(patch, tree, firstPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, strings.Repeat("x\n", maxPlaces+10)+"y\nx\n", carryOut(t, tree, plan).outcome()["f"])
	require.Len(t, plan.Sections[0].Warnings, 1)
	assert.Equal(t, maxPlaces+12, plan.Sections[0].Warnings[0].Line)

	plan = MakePlan(patch, tree, carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	assert.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
}
