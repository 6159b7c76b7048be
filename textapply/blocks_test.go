package textapply

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where the lines of a hunk follow its scope more than once, those are meant that stand in the block which the
// scope opens.
func TestBlocksOfScopes(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	const (
		goFile  = "package p\n\nfunc a() {\n\tx()\n}\n\nvar v = 1\n\nfunc b() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n"
		edit    = "-\tx()"
		anew    = "+\ty()"
		twoEach = "def f(a):\n    x\n    x\ndef g(a):\n    x\n"
	)
	in := func(line int, file, text string) string {
		lines := strings.SplitAfter(file, "\n")
		lines[line-1] = text + "\n"
		return strings.Join(lines, "")
	}
	several := func(lines string) string { return "f: hunk 1: the hunk fits more than one place: lines " + lines }
	runJoint(t, map[string]jointCase{
		"the first block": {file: goFile, chunks: chunks{chunk("@@ func a() {", edit, anew)}, want: in(4, goFile, "\ty()")},
		"a middle block":  {file: goFile, chunks: chunks{chunk("@@ func b() {", edit, anew)}, want: in(10, goFile, "\ty()")},
		"each its own": {file: goFile, chunks: chunks{chunk("@@ func a() {", edit, anew), chunk("@@ func b() {", edit, anew)},
			want: in(10, in(4, goFile, "\ty()"), "\ty()")},
		"cut short": {file: goFile, chunks: chunks{chunk("@@ func b(", edit, anew)}, want: in(10, goFile, "\ty()")},
		"twice in the block": {file: twoEach, chunks: chunks{chunk("@@ def f(a):", "-    x", "+    y")}, err: ErrAmbiguous,
			refuse: several("2, 3 and 5"), places: []int{2, 3, 5}},
		"once in the block, twice behind it": {file: "def f(a):\n    x\ndef g(a):\n    x\n    x\n",
			chunks: chunks{chunk("@@ def f(a):", "-    x", "+    y")}, want: "def f(a):\n    y\ndef g(a):\n    x\n    x\n"},
		"only behind the block": {file: "def f(a):\n    z\ndef g(a):\n    x\n    x\n", chunks: chunks{chunk("@@ def f(a):", "-    x", "+    y")},
			err: ErrAmbiguous, refuse: several("4 and 5"), places: []int{4, 5}},
		"the block stands twice": {file: "def f(a):\n    x\ndef g(a):\n    x\ndef f(a):\n    x\n", chunks: chunks{chunk("@@ def f(a):", "-    x", "+    y")},
			err: ErrAmbiguous, refuse: several("2, 4 and 6"), places: []int{2, 4, 6}},
		"lines of another kind do not end it": {file: "func a() {\n\tx()\n}\nvar s = `\nUsage:\n\tx()\n`\n", chunks: chunks{chunk("@@ func a() {", edit, anew)},
			err: ErrAmbiguous, refuse: several("2 and 6"), places: []int{2, 6}},
		"lines that are deeper do not end it": {file: "def f(a):\n    def h(b):\n        x\n    x\n", chunks: chunks{chunk("@@ def f(a):", "-    x", "+    y")},
			want: "def f(a):\n    def h(b):\n        x\n    y\n"},
		"fields do not end a method": {file: "  public void a() {\n    x\n  }\n  public int n;\n  void i() {\n    x\n  }\n",
			chunks: chunks{chunk("@@   public void a() {", "-    x", "+    y")}, err: ErrAmbiguous, refuse: several("2 and 6"), places: []int{2, 6}},
		"no word, no end": {file: ".a {\n  x\n}\n.b {\n  x\n}\n", chunks: chunks{chunk("@@ .a {", "-  x", "+  y")}, err: ErrAmbiguous,
			refuse: several("2 and 5"), places: []int{2, 5}},
		"the hunk begins with the line that ends it": {file: "func a() {\n}\nfunc b() {\n}\nfunc c() {\n}\nfunc b() {\n}\n",
			chunks: chunks{chunk("@@ func a() {", " func b() {", "+\tx()", " }")}, want: "func a() {\n}\nfunc b() {\n\tx()\n}\nfunc c() {\n}\nfunc b() {\n}\n"},
		"together with the end of the file": {file: "def f(a):\n    x\ndef g(a):\n    x\n", chunks: chunks{
			chunk("@@ def f(a):", "-    x", "+    y"), chunk("@@ def g(a):", "-    x", "+    y")}, want: "def f(a):\n    y\ndef g(a):\n    y\n"},
	})
}

// Edits whose scopes are git's headings, the nearest line in front that begins with a letter, in files much
// alike: whatever is placed is placed right, and much is placed that fits elsewhere too.
func TestHeadingsNeverMislead(t *testing.T) {
	t.Parallel()
	n, settled := 8000, 0
	if testing.Short() {
		n = 800
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		lines := blocksAlike(r)
		at := r.IntN(len(lines))
		context := r.IntN(2)
		from, to := max(0, at-context), min(len(lines), at+1+context)
		c := Chunk{}
		if heading := headingAt(lines, from); heading != "" {
			c.Scopes = []string{heading}
		}
		for i := from; i < to; i++ {
			if i == at {
				c.Lines = append(c.Lines, Line{Remove, lines[i]}, Line{Insert, "new"})
			} else {
				c.Lines = append(c.Lines, Line{Context, lines[i]})
			}
		}
		before := strings.Join(lines, "\n") + "\n"
		lines[at] = "new"
		plan := MakePlan(patchOf(update("f", c)), files("f", before), carefulPolicy())
		if len(plan.Errors()) > 0 {
			continue
		}
		require.Equal(t, strings.Join(lines, "\n")+"\n", string(plan.Changes[0].After.Content), "seed %d, file %q, %+v", seed, before, c)
		for _, other := range plan.Sections[0].Chunks[0].AlsoAt {
			if heading := headingAt(strings.Split(before, "\n"), from); heading != "" && other > strings.Count(before[:strings.Index(before, heading)], "\n")+1 {
				settled++ // it fits behind the heading too
				break
			}
		}
	}
	assert.Greater(t, settled, n/50)
}

// blocksAlike draws a file of short blocks with few different lines.
func blocksAlike(r *rand.Rand) []string {
	var lines []string
	for range 3 + r.IntN(5) {
		lines = append(lines, []string{"func a() {", "func b() {", "type t struct {", "var v", "func c() {"}[r.IntN(5)])
		for range r.IntN(5) {
			lines = append(lines, []string{"\tx()", "\ty()", "\t\tx()", "}", ""}[r.IntN(5)])
		}
	}
	return lines
}

// headingAt returns git's heading for a hunk that begins at a line, without a driver for the file's language.
func headingAt(lines []string, from int) string {
	for i := from - 1; i >= 0; i-- {
		if l := lines[i]; l != "" && l[0] >= 'a' && l[0] <= 'z' {
			return l
		}
	}
	return ""
}
