package textapply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A refusal says what stands there instead.
func TestMissesNameTheNearestRegion(t *testing.T) {
	t.Parallel()
	tree := files("f", "package p\n\nfunc f() {\n\treturn compute(a, b)\n}\n")
	plan := MakePlan(patchOf(update("f", chunk(" func f() {", "-\treturn compute(a, c)", "+\treturn 0", " }"))), tree, carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	err := plan.Errors()[0]
	require.ErrorIs(t, err, ErrNoMatch)
	assert.Equal(t, "f: hunk 1: the hunk's old lines are not in the file; nearest is line 3 (66% of the lines agree): the text differs", err.Error())
	assert.Equal(t, `line 4 of the file is "\treturn compute(a, b)"`, err.Hint)
	assert.Equal(t, 4, err.Line)
	assert.Equal(t, &Nearest{Line: 3, Score: 2.0 / 3, DiffLine: 4, Want: "\treturn compute(a, c)", Have: "\treturn compute(a, b)",
		Kind: "the text differs", Excerpt: []string{"", "func f() {"}}, err.Nearest)
	assert.Equal(t, []string{"func f() {", "\treturn compute(a, c)", "}"}, err.Want)
}

// What comes closest to an addition's scope line is told too.
func TestMissingScopeNamesTheNearestLine(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(update("f", chunk("@@ func compute(a, c)", "+x"))), files("f", "a\nfunc compute(a, b)\n"), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	require.ErrorIs(t, plan.Errors()[0], ErrNoContext)
	require.NotNil(t, plan.Errors()[0].Nearest)
	assert.Equal(t, 2, plan.Errors()[0].Nearest.DiffLine)
	assert.Equal(t, "func compute(a, b)", plan.Errors()[0].Nearest.Have)
}

func TestPlacesAreGivenWithTheirScopes(t *testing.T) {
	t.Parallel()
	file := "top\nclass A:\n    def f():\n\n        if a:\n            x\n\tdef g():\n\t\tx\ntop\nx\n"
	plan := MakePlan(patchOf(update("f", chunk("-x"))), files("f", file), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	assert.Equal(t, []Place{
		{Line: 6, Text: "            x", Scope: "class A: > def f(): > if a:"},
		{Line: 8, Text: "\t\tx", Scope: "class A: > def f(): > def g():"},
		{Line: 10, Text: "x"},
	}, plan.Errors()[0].Places)
}

func TestLongLinesAreCutInPlaces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 500)
	plan := MakePlan(patchOf(update("f", chunk("-"+long, "+x"))), files("f", long+"\n"+long+"\nend\n"), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	for _, p := range plan.Errors()[0].Places {
		assert.Equal(t, strings.Repeat("é", 30)+"…", p.Text)
	}
}

// Every hunk of every file that fails is told of in one go, each kind in its own words.
func TestAllKindsOfFailuresInOneGo(t *testing.T) {
	t.Parallel()
	tree := files("missing", "alpha\nbeta\n", "twice", "a\nb\na\n", "order", "a\nb\n", "tail", "e\nx\ne\ny\n", "outside", "a\nb\ns\nc\n", "good", "a\n")
	plan := MakePlan(patchOf(
		update("missing", chunk(" alpha", "-betta"), chunk("-omega")),
		update("twice", chunk("-a")),
		update("good", chunk("-a", "+x")),
		update("order", chunk("-b"), chunk("-a")),
		update("tail", chunk("-e", "$")),
		update("outside", chunk("@@ s", "-a", " b"), chunk("@@ nowhere", "+z")),
	), tree, carefulPolicy())
	assert.Equal(t, []string{
		"missing: hunk 1: the hunk's old lines are not in the file; nearest is line 1 (50% of the lines agree): the text differs",
		`missing: hunk 2: the hunk's old lines are not in the file, and nothing like them; they begin with "omega"`,
		"twice: hunk 1: the hunk fits more than one place: lines 1 and 3",
		"order: hunk 2: the hunk fits line 1, but hunk 1 before it is at line 2",
		"tail: hunk 1: the lines do not end the file, as the hunk says, and stand in several other places: lines 1 and 3",
		`outside: hunk 1: the old lines stand at line 1, in front of the scope line "s" (line 3)`,
		"outside: hunk 2: the scope line was not found",
	}, refusals(plan))
	for _, err := range plan.Errors() {
		assert.NotEmpty(t, err.Hint, err.Error())
		assert.NotZero(t, err.PatchLine)
		assert.NotEmpty(t, err.Want)
	}
}

// Several hunks of one section that have a choice are all told of.
func TestEveryAmbiguousHunkIsTold(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(update("f", chunk("-a", "+x"), chunk("-m"), chunk("-b", "+y"))), files("f", "a\na\nm\nb\nb\n"), carefulPolicy())
	assert.Equal(t, []string{
		"f: hunk 1: the hunk fits more than one place: lines 1 and 2",
		"f: hunk 3: the hunk fits more than one place: lines 4 and 5",
	}, refusals(plan))
	assert.Equal(t, ChunkResult{Placed: true, Line: 3, Match: "exact"}, plan.Sections[0].Chunks[1])
}

// The nearest region costs a walk over the file; a patch of which nothing fits gets only so many.
func TestOnlySoManyNearestRegionsAPlan(t *testing.T) {
	t.Parallel()
	tree := files("f", "alpha\nbeta\n", "g", "alpha\nbeta\n")
	var chunks []Chunk
	for i := range mostSearches - 5 {
		chunks = append(chunks, chunk(" alpha", fmt.Sprintf("-miss %d", i)))
	}
	plan := MakePlan(patchOf(update("f", chunks...), update("g", chunks...)), tree, carefulPolicy())
	require.Len(t, plan.Errors(), 2*len(chunks))
	for i, err := range plan.Errors() {
		require.ErrorIs(t, err, ErrNoMatch)
		if i < mostSearches {
			assert.NotNil(t, err.Nearest, i)
			continue
		}
		assert.Nil(t, err.Nearest, i)
		assert.Equal(t, `the hunk's old lines are not in the file; they begin with "alpha"`, err.Detail)
		assert.Equal(t, "only the first 20 hunks that fail are compared with their file; mend those first", err.Hint)
	}
	again := MakePlan(patchOf(update("f", chunks[:1]...)), tree, carefulPolicy())
	assert.NotNil(t, again.Errors()[0].Nearest, "the next plan has its own")
}

// hostile are patches of 10,000 hunks that must not cost 10,000 walks over the file.
func hostile(lines, hunks int) map[string]struct {
	file  string
	chunk func(i int) Chunk
} {
	var words, deep strings.Builder
	deep.WriteString("top\n")
	for i := range lines {
		fmt.Fprintf(&words, "common %d\n", i%977)
		fmt.Fprintf(&deep, "\tword %d\n", i%(hunks/2))
	}
	type hostilePatch = struct {
		file  string
		chunk func(i int) Chunk
	}
	return map[string]hostilePatch{
		"nothing fits": {words.String(), func(i int) Chunk { return chunk(fmt.Sprintf("-no such line %d", i)) }},
		"common lines only": {words.String(), func(i int) Chunk {
			return chunk(fmt.Sprintf(" common %d", i%977), fmt.Sprintf(" common %d", (i+1)%977), fmt.Sprintf("-common %d", (i+3)%977))
		}},
		"everything is ambiguous, far below its scope": {deep.String(), func(i int) Chunk { return chunk(fmt.Sprintf("-\tword %d", i%(hunks/2)), "+\tx") }},
		"every scope is cut short": {deep.String(), func(i int) Chunk {
			return chunk(fmt.Sprintf("@@ no such scope %d", i), fmt.Sprintf("-\tword %d", i%(hunks/2)), "+\tx")
		}},
		"every hunk fits almost everywhere": {strings.Repeat("x\n", lines), func(int) Chunk { return chunk("-x", "+y") }},
		"every hunk, behind a scope of its own, almost everywhere": {strings.Repeat("s\n", hunks) + strings.Repeat("x\n", lines-hunks), func(i int) Chunk {
			c := chunk("-x", "+y")
			c.Scopes = []string{"s"}
			return c
		}},
		"every scope is found, the hunk fits everywhere": {scopedFile(lines, hunks), func(i int) Chunk {
			c := chunk("-x", "+y")
			c.Scopes = []string{fmt.Sprintf("scope %d", i)}
			return c
		}},
	}
}

// scopedFile begins with many different scope lines.
func scopedFile(lines, hunks int) string {
	var b strings.Builder
	for i := range hunks {
		fmt.Fprintf(&b, "scope %d\n", i)
	}
	b.WriteString(strings.Repeat("x\n", lines-hunks))
	return b.String()
}

func hostilePlan(file string, hunks int, chunkOf func(int) Chunk, p Policy) *Plan {
	s := Section{Kind: Update, Path: "f"}
	for i := range hunks {
		s.Chunks = append(s.Chunks, chunkOf(i))
	}
	return MakePlan(patchOf(s), files("f", file), p)
}

// The bound is generous: the machine may have other work, and the race detector slows it.
func TestHostileRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	const lines, hunks = 60_000, 4_000
	for name, h := range hostile(lines, hunks) {
		start := time.Now()
		plan := hostilePlan(h.file, hunks, h.chunk, carefulPolicy())
		assert.NotEmpty(t, plan.Errors(), name)
		assert.Less(t, time.Since(start), 20*time.Second, name)
		for _, err := range plan.Errors() {
			require.LessOrEqual(t, len(err.Places), mostOthers)
			require.Less(t, len(err.Error()), 400)
		}
	}
}

func BenchmarkHostileRefusals(b *testing.B) {
	const lines, hunks = 300_000, 10_000
	for name, h := range hostile(lines, hunks) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				hostilePlan(h.file, hunks, h.chunk, carefulPolicy())
			}
		})
	}
}
