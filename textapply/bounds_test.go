package textapply

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// full is a chunk that replaces one line amid context lines.
func full(context int, name string) Chunk {
	var c Chunk
	add := func(op Op, text string) { c.Lines = append(c.Lines, Line{Op: op, Text: text}) }
	for i := range context {
		add(Context, fmt.Sprintf("%s above %d", name, i))
	}
	add(Remove, name)
	add(Insert, strings.ToUpper(name))
	for i := range context {
		add(Context, fmt.Sprintf("%s below %d", name, i))
	}
	return c
}

func TestEvenContext(t *testing.T) {
	t.Parallel()
	end := Chunk{Lines: []Line{{Context, "}"}, {Insert, "x"}}}
	begin := Chunk{Lines: []Line{{Insert, "x"}, {Context, "{"}}}
	section := func(chunks ...Chunk) Section { return Section{Kind: Update, Chunks: chunks} }
	for name, c := range map[string]struct {
		sections []Section
		want     int
	}{
		"nothing":             {nil, 0},
		"even":                {[]Section{section(full(1, "a"), full(1, "b"), full(1, "c"))}, 1},
		"three":               {[]Section{section(full(3, "a"), full(3, "b")), section(full(3, "c"))}, 3},
		"too few to tell":     {[]Section{section(full(1, "a"), full(1, "b"), end)}, 0},
		"less at the ends":    {[]Section{section(begin, full(1, "a"), full(1, "b"), end), section(full(1, "c"))}, 1},
		"less in the middle":  {[]Section{section(full(1, "a"), end, full(1, "b"), full(1, "c"))}, 0},
		"less in the middle²": {[]Section{section(full(1, "a"), begin, full(1, "b"), full(1, "c"))}, 0},
		"one has more":        {[]Section{section(full(1, "a"), full(1, "b"), full(2, "c"), full(1, "d"))}, 0},
		"no context":          {[]Section{section(full(0, "a"), full(0, "b"), full(0, "c"))}, 0},
	} {
		assert.Equal(t, c.want, evenContext(&Patch{Sections: c.sections}), name)
	}
}

// The last chunk of a file that has fewer lines behind its change than all others stands where the file
// ends, the first that has fewer in front where it begins.
func TestBoundsOfAFileSettleTheEnds(t *testing.T) {
	t.Parallel()
	var told string
	for _, name := range []string{"a", "b", "c"} {
		told += "-\n" + name + " above 0\n" + name + "\n" + name + " below 0\n"
	}
	const alike = "{\n}\n{\n}\n{\n}\n"
	even := update("told", full(1, "a"), full(1, "b"), full(1, "c"))
	begin := Chunk{Lines: []Line{{Insert, "begin"}, {Context, "{"}}}
	end := Chunk{Lines: []Line{{Context, "}"}, {Insert, "end"}}}
	other := Chunk{Lines: []Line{{Context, "{"}, {Insert, "x"}}} // which does not stand at the end
	const heads = "func a\n{\n}\n{\n}\nfunc b\n{\n}\n"
	under := func(scope string, c Chunk) Chunk {
		c.Scopes = []string{scope}
		return c
	}
	for name, c := range map[string]struct {
		sections []Section
		want     string // "" where it is refused
		guesses  int
	}{
		"both ends":             {[]Section{even, update("alike", begin, end)}, "begin\n" + alike + "end\n", 2},
		"the end":               {[]Section{update("alike", end), even}, alike + "end\n", 1},
		"the beginning":         {[]Section{even, update("alike", begin)}, "begin\n" + alike, 1},
		"nothing to go by":      {[]Section{update("alike", begin, end)}, "", 0},
		"too little to go by":   {[]Section{update("told", even.Chunks[:2]...), update("alike", end)}, "", 0},
		"a scope at the end":    {[]Section{even, update("heads", under("func b", end))}, heads + "end\n", 0},
		"a scope elsewhere":     {[]Section{even, update("heads", under("func a", end))}, "", 0},
		"a scope of neither":    {[]Section{even, update("heads", under("func c", end))}, heads + "end\n", 1},
		"not at the end":        {[]Section{even, update("alike", other)}, "", 0},
		"context on both sides": {[]Section{even, update("alike", Chunk{Lines: []Line{{Context, "{"}, {Insert, "x"}, {Context, "}"}}})}, "", 0},
		"in the middle":         {[]Section{even, update("alike", end, begin)}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := MakePlan(&Patch{Sections: c.sections}, files("told", told, "alike", alike, "heads", heads), carefulPolicy())
			if c.want == "" {
				require.NotEmpty(t, p.Errors())
				assert.ErrorIs(t, p.Errors()[0], ErrAmbiguous)
				return
			}
			require.Empty(t, p.Errors())
			var guesses []Warning
			for _, res := range p.Sections {
				guesses = append(guesses, res.Warnings...)
			}
			require.Len(t, guesses, c.guesses)
			for _, w := range guesses {
				assert.Equal(t, "guessed", w.Kind)
				assert.Regexp(t, `^the hunk fits lines .* of the file; its (beginning|end) is taken, since the patch gives other changes 1 lines? of context (in front|behind)$`, w.Message)
			}
			for _, ch := range p.Changes {
				if ch.Path != "told" {
					assert.Equal(t, c.want, string(ch.After.Content))
				}
			}
		})
	}
}

// Patches of several files, as a program renders them, with lines so much alike that only the even
// context can settle the ends: whatever is placed is placed right.
func TestEvenContextNeverMisleads(t *testing.T) {
	t.Parallel()
	settled, n := 0, 4000
	if testing.Short() {
		n = 400
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		context := 1 + r.IntN(3)
		tree, want := files(), map[string]string{}
		patch := &Patch{}
		for i := range 4 {
			before, after, chunks := alikeFile(r, context)
			name := fmt.Sprint("f", i)
			tree.at[name] = change.State{Kind: change.File, Mode: 0o644, Content: []byte(before)}
			want[name] = after
			if len(chunks) > 0 {
				patch.Sections = append(patch.Sections, Section{Kind: Update, Path: name, Chunks: chunks})
			}
		}
		plan := MakePlan(patch, tree, carefulPolicy())
		for _, c := range plan.Changes {
			require.Equal(t, want[c.Path], string(c.After.Content), "seed %d, %s", seed, c.Path)
		}
		for i := range patch.Sections {
			s := &patch.Sections[i]
			text := splitText(tree.at[s.Path].Content, carefulPolicy())
			if _, errs := placeJointly(text, s, carefulPolicy(), newEffort()); len(errs) > 0 && len(plan.Sections[i].Errs) == 0 {
				settled++
			}
		}
	}
	assert.Greater(t, settled, n/50, "sections of %d patches", n)
}

// alikeFile draws a file of few distinct lines and an edit of it, rendered with a number of context lines.
func alikeFile(r *rand.Rand, context int) (before, after string, chunks []Chunk) {
	var script []Line
	for range 12 + r.IntN(12) {
		op := Context
		if r.IntN(7) == 0 {
			op = []Op{Insert, Remove}[r.IntN(2)]
		}
		script = append(script, Line{Op: op, Text: []string{"{", "}", "x", ""}[r.IntN(4)] + strings.Repeat("!", r.IntN(2))})
	}
	var b, a strings.Builder
	for _, l := range script {
		if l.Op != Insert {
			b.WriteString(l.Text + "\n")
		}
		if l.Op != Remove {
			a.WriteString(l.Text + "\n")
		}
	}
	for at := 0; at < len(script); at++ {
		if script[at].Op == Context {
			continue
		}
		last := at
		for i := at; i < len(script) && i <= last+2*context+1; i++ {
			if script[i].Op != Context {
				last = i
			}
		}
		from, to := max(0, at-context), min(len(script), last+1+context)
		c := Chunk{Lines: script[from:to]}
		if len(c.Old()) == 0 {
			return b.String(), b.String(), nil
		}
		chunks = append(chunks, c)
		at = to - 1
	}
	return b.String(), a.String(), chunks
}

// A hunk that fits exactly in one place does not stand at the end of the file because it fits there too, its
// indentation aside.
func TestBoundsKeepToTheStrictestPlaces(t *testing.T) {
	t.Parallel()
	const text = "a\n\tw\n\tx\n}\nb\n\t\tw\n\t\tx\n}\n"
	end := Chunk{Lines: []Line{{Context, "\tw"}, {Context, "\tx"}, {Context, "}"}, {Insert, "end"}}}
	p := MakePlan(&Patch{Sections: []Section{update("told", full(3, "a")), update("f", end)}},
		files("told", "a above 0\na above 1\na above 2\na\na below 0\na below 1\na below 2\n", "f", text), carefulPolicy())
	require.Len(t, p.Errors(), 1)
	require.ErrorIs(t, p.Errors()[0], ErrAmbiguous)
	assert.Len(t, p.Errors()[0].Places, 2)
}
