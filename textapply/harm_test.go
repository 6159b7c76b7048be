package textapply_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/textapply"
)

// A hunk that is given as it was made must never change another place than the one it was made
// for, however alike the file's lines are and however its old side is misspelled: the outcome is
// the wanted text, or a refusal, or it says that the place was guessed.
//
// OXPATCH_HARM_SEEDS sets how many random edits are tried.
func TestTrueEditsNeverDoHarm(t *testing.T) {
	t.Parallel()
	n := harmSeeds(t)
	var mu sync.Mutex
	var wrong []harmCase
	placed := 0
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for seed := w; seed < n; seed += workers {
				c := drawHarmCase(uint64(seed))
				v := c.try()
				mu.Lock()
				switch v {
				case harmRight:
					placed++
				case harmWrong:
					wrong = append(wrong, c)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.Greater(t, placed, n/3, "a rule that refuses everything is no rule")
	for _, c := range wrong[:min(3, len(wrong))] {
		t.Errorf("wrong without a word: %s", c)
	}
	if len(wrong) > 0 {
		t.Errorf("%d of %d edits: %v", len(wrong), n, seedsOf(wrong))
	}
}

func harmSeeds(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("OXPATCH_HARM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	if testing.Short() {
		return 2_000
	}
	return 20_000
}

func seedsOf(cases []harmCase) []uint64 {
	var seeds []uint64
	for _, c := range cases[:min(50, len(cases))] {
		seeds = append(seeds, c.seed)
	}
	return seeds
}

// carefulRules is the policy of "oxpatch apply".
func carefulRules() textapply.Policy {
	return textapply.Policy{
		Name: "default", SkipBOM: true, LoneCR: textapply.LoneCRWithoutLF, Ending: textapply.EndingOfNeighbour,
		KeepMode: true, AcceptApplied: true,
	}
}

type harmVerdict int

const (
	harmRight harmVerdict = iota
	harmRefused
	harmGuessed
	harmWrong
)

// harmCase is a true edit and the chunks that were made of it.
type harmCase struct {
	seed          uint64
	spelling      string
	before, after string
	chunks        []textapply.Chunk
	got           string
}

// try plans the edit.
func (c *harmCase) try() harmVerdict {
	patch := &textapply.Patch{Sections: []textapply.Section{{Kind: textapply.Update, Path: "f", Chunks: c.chunks}}}
	plan := textapply.MakePlan(patch, oneFile(c.before), carefulRules())
	if len(plan.Errors()) > 0 {
		return harmRefused
	}
	c.got = c.before
	for _, ch := range plan.Changes {
		c.got = string(ch.After.Content)
	}
	if c.got == c.after {
		return harmRight
	}
	for _, w := range plan.Sections[0].Warnings {
		if w.Kind == "guessed" {
			return harmGuessed
		}
	}
	return harmWrong
}

// String shows the case as a Go programmer would write it down.
func (c harmCase) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, spelling %s\nbefore %q\nwanted %q\ngot    %q\n", c.seed, c.spelling, c.before, c.after, c.got)
	for _, ch := range c.chunks {
		fmt.Fprintf(&b, "@@ %q eof=%v\n", ch.Scopes, ch.EOF)
		for _, l := range ch.Lines {
			fmt.Fprintf(&b, "%c%q\n", " -+"[l.Op], l.Text)
		}
	}
	return b.String()
}

// oneFile is a tree that holds the file "f".
type oneFile string

func (f oneFile) Locate(name string, _ bool, _ func(string) (change.Kind, bool)) (string, error) {
	return path.Clean(name), nil
}

func (f oneFile) Read(key string) (change.State, error) {
	if key != "f" {
		return change.State{}, nil
	}
	return change.State{Kind: change.File, Mode: 0o644, Content: []byte(f)}, nil
}

func (f oneFile) Known(string) bool { return false }

// drawHarmCase makes an edit, its chunks and their spelling from a seed.
func drawHarmCase(seed uint64) harmCase {
	d := &harmDrawer{Rand: rand.New(rand.NewPCG(seed, 1))}
	c := harmCase{seed: seed, spelling: pick(d, "as it is", "as it is", "trailing space", "no indentation", "punctuation")}
	d.pool = harmPool(d, c.spelling)
	d.script = d.drawScript()
	c.before, c.after = d.texts()
	c.chunks = d.drawChunks()
	for i := range c.chunks {
		c.chunks[i].Lines = d.spell(c.chunks[i].Lines, c.spelling)
	}
	return c
}

func pick[T any](d *harmDrawer, from ...T) T { return from[d.IntN(len(from))] }

// harmDrawer holds what one case is made of.
type harmDrawer struct {
	*rand.Rand
	pool   []string         // the lines that the file is made of
	script []textapply.Line // the whole file with its edit
}

// harmPool draws few lines. Two that the spelling would make one are never in it together, since
// then the misspelled hunk says in so many words that the other place is meant.
func harmPool(d *harmDrawer, spelling string) []string {
	pools := [][]string{
		{"a", "b"},
		{"a", "b", "", "c"},
		{"a", "\ta", "\t\ta", "b", "\tb", ""},
		{"func f() {", "\tx()", "\tif x {", "\t\ty()", "\t}", "}", ""},
		{"def f(self):", "    def f(self):", "        return 1", "    return 1", ""},
		{"func f() {", "func g() {", "func h() {", "\tx()", "\ty()", "}"},
		{"class A:", "class B:", "    def f():", "    def g():", "        x = 1", "        y = 1", ""},
		{"{", "  {", "    {", "}", "  }", "    }"},
		{"end", "  end", "  do 'a'", "  do \"b\" - c", ""},
	}
	if spelling != "trailing space" {
		pools = append(pools, []string{"a", "a ", "b", "", " "},
			[]string{"def f():", "    return 1", "    return 1 ", "", "    "})
	}
	if spelling != "punctuation" {
		pools = append(pools, []string{"it's - so", "it’s – so", "b", ""})
	}
	return pools[d.IntN(len(pools))]
}

// drawScript draws a file from the pool, sometimes as copies of one block, and edits in it.
func (d *harmDrawer) drawScript() []textapply.Line {
	lines := make([]string, d.IntN(30))
	for i := range lines {
		lines[i] = d.line()
	}
	if d.IntN(3) == 0 && len(lines) > 0 {
		block := lines[:1+d.IntN(min(8, len(lines)))]
		lines = nil
		for range 1 + d.IntN(5) {
			lines = append(append(lines, block...), d.line())
		}
	}
	var script []textapply.Line
	edits := 1 + d.IntN(3)
	for i, l := range lines {
		op := textapply.Context
		if edits > 0 && d.IntN(max(1, (len(lines)-i)/edits)) == 0 {
			edits--
			for range d.IntN(3) {
				script = append(script, textapply.Line{Op: textapply.Insert, Text: d.newLine()})
			}
			op = pick(d, textapply.Context, textapply.Remove)
		}
		script = append(script, textapply.Line{Op: op, Text: l})
	}
	if len(lines) == 0 || edits > 0 {
		script = append(script, textapply.Line{Op: textapply.Insert, Text: d.newLine()})
	}
	return script
}

func (d *harmDrawer) line() string { return pick(d, d.pool...) }

// newLine draws an added line: one of the file's, or a new one at some depth.
func (d *harmDrawer) newLine() string {
	if d.IntN(2) == 0 {
		return d.line()
	}
	return pick(d, "", "\t", "\t\t", "  ", "    ") + pick(d, "new", "other")
}

// texts joins both sides of the script.
func (d *harmDrawer) texts() (before, after string) {
	end := pick(d, "\n", "\n", "\r\n")
	whole := textapply.Chunk{Lines: d.script}
	last := end
	switch o, n := whole.Old(), whole.New(); {
	case len(o) == 0:
		end, last = "\n", "\n" // there is no line to learn the terminator from
	case len(o) > 1 && len(n) > 1 && o[len(o)-1] != "" && n[len(n)-1] != "" && d.IntN(5) == 0:
		last = "" // unfinished, which a last line without characters cannot be
	}
	join := func(lines []string) string {
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, end) + last
	}
	return join(whole.Old()), join(whole.New())
}
