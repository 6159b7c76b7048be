package textapply

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJointPlacementIsTheNaiveOne(t *testing.T) {
	t.Parallel()
	const cases = 40_000
	count := map[string]int{}
	for seed := range uint64(cases) {
		d := &jointDrawer{Rand: rand.New(rand.NewPCG(seed, 3))}
		content, chunks := d.draw()
		verdict, err := compareWithNaive(content, chunks)
		require.NoError(t, err, "seed %d, file %q, chunks %+v", seed, content, chunks)
		count[verdict]++
	}
	t.Log(count)
	for _, verdict := range []string{"taken", "taken, several alike", "taken, in the block of its scope", "ambiguous", "out of order", "no candidate"} {
		assert.Greater(t, count[verdict], cases/500, verdict)
	}
	assert.Less(t, count["refused, though alike"], cases/200)
}

// compareWithNaive names the outcome, or says how the two differ.
func compareWithNaive(content string, chunks []Chunk) (string, error) {
	p := carefulPolicy()
	n := newNaiveJoint(content, chunks, p)
	s := &Section{Kind: Update, Path: "f", Chunks: chunks}
	placed, errs := placeJointly(n.t, s, p, newEffort())
	if failing := n.failing(); len(failing) > 0 {
		return "no candidate", sameFailures(failing, errs)
	}
	if len(n.all) == 0 {
		return "out of order", onlyErrors(errs, ErrOutOfOrder)
	}
	texts, first := n.results()
	if err := compareFirst(n, s, first, len(texts) > 1); err != nil {
		return "", err
	}
	if len(texts) > 1 {
		return "ambiguous", onlyErrors(errs, ErrAmbiguous)
	}
	if len(errs) > 0 {
		if !n.endDecides() {
			return "", fmt.Errorf("refused, though all of %v give the same: %w", n.all, errs[0])
		}
		return "refused, though alike", onlyErrors(errs, ErrAmbiguous)
	}
	if got := applied(n.t, placed, p); !texts[string(got)] {
		return "", fmt.Errorf("got %q, want one of %v", got, texts)
	}
	switch {
	case len(n.all) == 1:
		return "taken", nil
	case len(n.textsOf(n.all)) > 1:
		return "taken, in the block of its scope", nil
	}
	return "taken, several alike", nil
}

// compareFirst checks that the first placement is taken where the policy says so.
func compareFirst(n *naiveJoint, s *Section, first []int, choice bool) error {
	p := n.p
	p.TakeFirst = true
	placed, errs := placeJointly(n.t, s, p, newEffort())
	if len(errs) > 0 {
		return fmt.Errorf("the first placement was not taken: %w", errs[0])
	}
	if got, want := string(applied(n.t, placed, p)), n.outcome(first); got != want {
		return fmt.Errorf("first of %v: got %q, want %q", n.all, got, want)
	}
	guessed := false
	for _, pl := range placed {
		guessed = guessed || strings.HasPrefix(pl.guess, "the lines fit more than one place")
	}
	if choice && !guessed {
		return fmt.Errorf("the first of %v was taken without a word", n.all)
	}
	return nil
}

func sameFailures(want map[int]error, errs []*Error) error {
	if len(errs) != len(want) {
		return fmt.Errorf("failing: got %v, want %v", errs, want)
	}
	for _, err := range errs {
		if w, ok := want[err.Chunk-1]; !ok || err.Err != w { //nolint:errorlint // the sentinel itself
			return fmt.Errorf("failing: want %v, got %w", want, err)
		}
	}
	return nil
}

func onlyErrors(errs []*Error, want error) error {
	for _, err := range errs {
		if !errors.Is(err, want) {
			return fmt.Errorf("got %w, want %w", err, want)
		}
	}
	if len(errs) == 0 {
		return fmt.Errorf("got no refusal, want %w", want)
	}
	return nil
}

// jointDrawer draws files of few different lines and chunks that follow them loosely.
type jointDrawer struct{ *rand.Rand }

var jointPools = [][]string{
	{"a", "b"},
	{"a", "a", "a", "b", ""},
	{"a", " a", "  a", "b", " b", ""},
	{" a", "  a", " b", "", "b"},
	{"a", "a ", "b", "", " "},
	{"x–y", "x-y", " x-y", "“b”", `"b"`},
	{"f {", "\tg {", "\t\ta", "\ta", "\t}", "}"},
	{"abc", "ab", "a", "x", "y"},
	{"a", "b", "c", "d", "e", "f", "g", "h"},
}

func (d *jointDrawer) draw() (string, []Chunk) {
	if d.IntN(8) == 0 {
		return d.drawBlocks()
	}
	pool := jointPools[d.IntN(len(jointPools))]
	lines := make([]string, d.IntN(13))
	for i := range lines {
		lines[i] = pool[d.IntN(len(pool))]
	}
	var content bytes.Buffer
	end := []string{"\n", "\n", "\r\n", "mixed"}[d.IntN(4)]
	for i, line := range lines {
		content.WriteString(line)
		if i == len(lines)-1 && line != "" && d.IntN(3) == 0 {
			break
		}
		if end == "mixed" {
			content.WriteString([]string{"\n", "\r\n"}[d.IntN(2)])
		} else {
			content.WriteString(end)
		}
	}
	var chunks []Chunk
	at := 0
	for range 1 + d.IntN(3) {
		at = d.IntN(4) + at*min(1, d.IntN(8)) // now and then from the top again
		var c Chunk
		c, at = d.chunk(pool, lines, at)
		chunks = append(chunks, c)
	}
	return content.String(), chunks
}

// chunk draws a chunk whose old lines stand in the file from a line on, or nearly.
func (d *jointDrawer) chunk(pool, lines []string, at int) (Chunk, int) {
	c := Chunk{EOF: d.IntN(8) == 0, Unprefixed: d.IntN(12) == 0}
	for d.IntN(3) == 0 {
		scope := pool[d.IntN(len(pool))]
		if 0 < at && at <= len(lines) && d.IntN(2) == 0 {
			scope = lines[d.IntN(at)]
		}
		c.Scopes = append(c.Scopes, scope)
	}
	strip := d.IntN(4) == 0
	for range 1 + d.IntN(4) {
		l := Line{Op(d.IntN(3)), pool[d.IntN(len(pool))]}
		if l.Op != Insert && at < len(lines) && d.IntN(24) > 0 {
			l.Text = lines[at]
			at++
		}
		if strip {
			l.Text = strings.TrimLeft(l.Text, " \t")
		}
		c.Lines = append(c.Lines, l)
	}
	if d.IntN(8) == 0 {
		c.Lines = append(c.Lines, Line{Op(d.IntN(3)), ""})
	}
	return c, at
}

// drawBlocks draws a file of blocks with much the same lines, and chunks that name blocks around them.
func (d *jointDrawer) drawBlocks() (string, []Chunk) {
	var lines []string
	var chunks []Chunk
	for range 2 + d.IntN(3) {
		outer := []string{"class A", "class B", "def f()", "def g()", "f = 1", "def h"}[d.IntN(6)]
		lines = append(lines, outer)
		for range d.IntN(3) {
			inner := []string{"  def f()", "  def g()", "  x = 2"}[d.IntN(3)]
			lines = append(lines, inner)
			for range d.IntN(3) {
				lines = append(lines, []string{"    a", "    b", "    "}[d.IntN(3)])
				if l := lines[len(lines)-1]; l != "    " && len(chunks) < 3 && d.IntN(3) == 0 {
					c := Chunk{Scopes: []string{outer, inner}[d.IntN(2):], Lines: []Line{{Remove, l}, {Insert, l + "!"}}}
					if d.IntN(4) == 0 {
						c.Scopes[len(c.Scopes)-1] = strings.TrimSuffix(c.Scopes[len(c.Scopes)-1], ")")
					}
					chunks = append(chunks, c)
				}
			}
		}
	}
	return strings.Join(lines, "\n") + "\n", chunks
}
