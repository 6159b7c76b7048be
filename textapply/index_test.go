package textapply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// An index serves many patterns in any order; whichever way it searches, the places are those of
// the naive search.
func TestIndexServesManyPatterns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := runs(t, "text", 8, 8)
		patterns := make([][]string, rapid.IntRange(1, 8).Draw(t, "patterns"))
		for i := range patterns {
			patterns[i] = runs(t, "pattern", 3, 5)
		}
		x := newIndex(stringLines(text), patterns)
		if rapid.Bool().Draw(t, "exhausted") {
			x.at(Exact).work = 1 << 30
		}
		for range 12 {
			pattern := rapid.SampledFrom(patterns).Draw(t, "search for")
			start := rapid.IntRange(0, len(text)).Draw(t, "start")
			want, wantOK := naiveSeek(text, pattern, start, false)
			got, ok := x.Seek(pattern, start, false)
			require.Equal(t, wantOK, ok, "%q at %d", pattern, start)
			require.Equal(t, want.Line, got.Line, "%q at %d", pattern, start)
			if !ok {
				continue
			}
			most := rapid.IntRange(1, 5).Draw(t, "most")
			others := x.places(pattern, got.Pass, got.Line+1, most)
			require.Equal(t, want.Others[:min(most, len(want.Others))], others[:len(others):len(others)], "%q at %d", pattern, start)
		}
	})
}

func TestIndexChangesToTheAutomaton(t *testing.T) {
	t.Parallel()
	text := strings.Split(strings.Repeat("a\n", 2000)+"b", "\n")
	pattern := text[len(text)-400:]

	x := newIndex(stringLines(text), [][]string{pattern, {"a", "b"}})
	m, ok := x.Seek([]string{"a", "b"}, 0, false)
	require.True(t, ok)
	assert.Equal(t, 1999, m.Line)
	assert.Nil(t, x.pass[Exact].auto, "a rare line leads there directly")

	equal := text[:2000]
	x = newIndex(stringLines(equal), [][]string{equal[:400]})
	all := x.places(equal[:400], Exact, 0, 5000)
	assert.Len(t, all, 1601)
	assert.NotNil(t, x.pass[Exact].auto, "equal lines lead nowhere")
}

// Long comparisons that fail at their end are counted in full.
func TestComparisonsAreCountedByLine(t *testing.T) {
	t.Parallel()
	text := strings.Split(strings.Repeat("a\nb\n", 1000)+"a", "\n")
	pattern := append(append([]string{}, text[:400]...), "b")
	x := newIndex(stringLines(text), [][]string{pattern})
	_, ok := x.Seek(pattern, 0, false)
	assert.False(t, ok)
	assert.NotNil(t, x.pass[Exact].auto)
}

// The automaton knows only the patterns it was made for; an unknown one is searched plainly.
func TestAutomatonRefusesOtherPatterns(t *testing.T) {
	t.Parallel()
	a := newAutomaton([][]int32{{0, 1, 0}, {1}}, []int32{0, 1, 0, 1})
	never := func(int) bool { t.Fail(); return false }
	assert.False(t, a.each([]int32{0, 1}, 0, never), "the beginning of one")
	assert.False(t, a.each([]int32{2}, 0, never), "an unknown line")
	assert.True(t, a.each([]int32{1}, 4, never), "known, but nowhere any more")
}

// Distinct patterns of two lines that repeat everywhere share no rare line, and almost none of
// them stands in the text: the comparisons must not grow with patterns times text.
func TestSearchIsLinearInHostileText(t *testing.T) {
	t.Parallel()
	const lines, chunks = 20_000, 1_000
	text := make([]string, lines)
	random := uint32(1)
	for i := range text {
		random = random*1664525 + 1013904223
		text[i] = string('a' + rune(random>>31))
	}
	patterns := make([][]string, chunks)
	for i := range patterns {
		for range 24 {
			random = random*1664525 + 1013904223
			patterns[i] = append(patterns[i], string('a'+rune(random>>31)))
		}
	}
	x := newIndex(stringLines(text), patterns)
	for _, p := range patterns {
		x.Seek(p, 0, false)
	}
	for p := Exact; int(p) < passes; p++ {
		assert.LessOrEqual(t, x.at(p).work, (comparisonsPerLine+1)*lines, "%s", p)
		assert.LessOrEqual(t, len(x.at(p).auto.fail), 24*chunks+1)
	}
}

// Patterns that are endings of one another must not be listed at every place for each of them.
func TestAutomatonNotesEachLineOnce(t *testing.T) {
	t.Parallel()
	var patterns [][]int32
	for n := 1; n <= 100; n++ {
		patterns = append(patterns, make([]int32, n))
	}
	text := make([]int32, 5000)
	a := newAutomaton(patterns, text)
	noted := 0
	for _, list := range a.ends {
		noted += len(list)
	}
	assert.Equal(t, len(text), noted)
	found := 0
	a.each(patterns[41], 7, func(at int) bool {
		assert.Equal(t, 7+found, at)
		found++
		return true
	})
	assert.Equal(t, 5000-42-7+1, found)
}

func TestLineFilterNeverHidesALine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f lineFilter
		known := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 20).Draw(t, "lines")
		for _, line := range known {
			f.add(line)
		}
		for _, line := range known {
			assert.True(t, f.have(line))
		}
	})
}

func TestLineFilterHidesMostLines(t *testing.T) {
	t.Parallel()
	var f lineFilter
	seen := 0
	for i := range 20_000 {
		line := []byte(strings.Repeat("\t", i%4) + "value := compute(" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('A'+i/26%26)) + string(rune('0'+i/676)) + ")")
		if i < 500 {
			f.add(line)
		} else if f.have(line) {
			seen++
		}
	}
	assert.Less(t, seen, 2000)
}
