package textapply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGuessesAreReportedOrRefused(t *testing.T) {
	t.Parallel()
	strict := carefulPolicy()
	strict.Strict = true
	tests := map[string]struct {
		file   string
		chunk  Chunk
		places []int
		text   string
	}{
		"two places": {"a\nb\na\n", chunk("-a", "+x"), []int{1, 3},
			"the lines fit more than one place; line 1 is taken, line 3 would fit too"},
		"behind the scope only": {"a\ns\na\na\n", chunk("@@ s", "-a", "+x"), []int{3, 4},
			"the lines fit more than one place; line 3 is taken, line 4 would fit too"},
		"many places": {"a\na\na\na\na\na\na\n", chunk("-a", "+x"), []int{1, 2, 3, 4, 5, 6, 7},
			"the lines fit more than one place; line 1 is taken, lines 2, 3, 4, 5 and 2 more would fit too"},
		"nothing to hold on to": {"a\n", chunk("+x"), nil,
			"the added lines have no context; they go to the end of the file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", tt.file)
			plan := MakePlan(patchOf(update("f", tt.chunk)), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			require.Len(t, plan.Sections[0].Warnings, 1)
			w := plan.Sections[0].Warnings[0]
			assert.Equal(t, []any{"guessed", 1, tt.text, tt.places}, []any{w.Kind, w.Chunk, w.Message, w.Places})

			plan = MakePlan(patchOf(update("f", tt.chunk)), tree, strict)
			require.Len(t, plan.Errors(), 1)
			assert.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
			assert.Equal(t, tt.places, plan.Errors()[0].Places)
			assert.Empty(t, plan.Changes)

			plan = MakePlan(patchOf(update("f", tt.chunk)), tree, codexPolicy())
			assert.Empty(t, plan.Sections[0].Warnings, "Codex does not look for others")
		})
	}
}

func TestNoGuess(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file  string
		chunk Chunk
	}{
		"the tail is one place":           {"a\na\n", chunk("-a", "+x", "$")},
		"a scope line settles it":         {"a\ns\na\n", chunk("@@ s", "-a", "+x")},
		"a stricter pass settles it":      {"a\n a\n", chunk("-a", "+x")},
		"addition below a scope":          {"a\nb\n", chunk("@@ a", "+x")},
		"addition to an empty file":       {"", chunk("+x")},
		"addition at the end of the file": {"a\n", chunk("+x", "$")},
		"nothing but a stray blank line":  {"a\n", chunk(" ")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(update("f", tt.chunk)), files("f", tt.file), carefulPolicy())
			require.Empty(t, plan.Errors())
			assert.Empty(t, plan.Sections[0].Warnings)
		})
	}
}

// A text of equal lines must not be listed once more for every chunk.
func TestFurtherPlacesAreBounded(t *testing.T) {
	t.Parallel()
	lines := make([]byte, 0, 4000)
	var chunks []Chunk
	for range 2000 {
		lines = append(lines, "x\n"...)
		chunks = append(chunks, chunk("-x"))
	}
	plan := MakePlan(patchOf(update("f", chunks[:100]...)), files("f", string(lines)), carefulPolicy())
	require.Empty(t, plan.Errors())
	for i, c := range plan.Sections[0].Chunks {
		assert.Equal(t, i+1, c.Line)
		assert.Len(t, c.AlsoAt, mostOthers)
	}
	assert.Contains(t, plan.Sections[0].Warnings[0].Message, "lines 2, 3, 4, 5 and many more would fit too")
}
