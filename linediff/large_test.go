//go:build !race

// The race detector would make these tests take ten times as long, and nothing in them runs side by side.

package linediff_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openoxide/oxpatch/linediff"
)

const manyLines = 200_000

// hostile are pairs of texts of which some ways of comparing would take quadratic time.
func hostile() map[string]func() [2]string {
	same := func(i int) int { return i }
	noise := func(seed uint64, kinds int) string {
		r := rand.New(rand.NewPCG(seed, 1))
		return text(manyLines, func(int) int { return r.IntN(kinds) })
	}
	shuffled := rand.New(rand.NewPCG(1, 2)).Perm(manyLines)
	return map[string]func() [2]string{
		"all lines equal": func() [2]string {
			return [2]string{text(manyLines, func(int) int { return 1 }), text(manyLines/2, func(int) int { return 1 })}
		},
		"all lines equal, other ends": func() [2]string {
			return [2]string{text(manyLines, func(int) int { return 1 }) + "a\n", "b\n" + text(manyLines/2, func(int) int { return 1 })}
		},
		"nothing in common": func() [2]string {
			return [2]string{text(manyLines, same), text(manyLines, func(i int) int { return i + manyLines })}
		},
		"turned around": func() [2]string {
			return [2]string{text(manyLines, same), text(manyLines, func(i int) int { return manyLines - 1 - i })}
		},
		"halves exchanged": func() [2]string {
			return [2]string{text(manyLines, same), text(manyLines, func(i int) int { return (i + manyLines/2) % manyLines })}
		},
		"shuffled": func() [2]string {
			return [2]string{text(manyLines, same), text(manyLines, func(i int) int { return shuffled[i] })}
		},
		"shuffled, every line twice": func() [2]string {
			return [2]string{text(manyLines, func(i int) int { return i / 2 }), text(manyLines, func(i int) int { return shuffled[i] / 2 })}
		},
		"noise of two lines":              func() [2]string { return [2]string{noise(1, 2), noise(2, 2)} },
		"noise of many lines":             func() [2]string { return [2]string{noise(1, 3000), noise(2, 3000)} },
		"noise of lines that occur twice": func() [2]string { return [2]string{noise(1, manyLines), noise(2, manyLines)} },
		"two periods": func() [2]string {
			return [2]string{text(manyLines, func(i int) int { return i % 2 }), text(manyLines, func(i int) int { return i % 3 })}
		},
		"every third of a period missing": func() [2]string {
			return [2]string{text(manyLines, func(i int) int { return i % 7 * min(1, i%997) }), text(manyLines, func(i int) int { return i % 7 })}
		},
	}
}

// Each takes a second or two; without a limit to the search it would be half a minute and more.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for name, texts := range hostile() {
		t.Run(name, func(t *testing.T) {
			pair := texts()
			start := time.Now()
			compare(t, pair[0], pair[1])
			assert.Less(t, time.Since(start), 20*time.Second)
		})
	}
}

// A block that moved is found as one even where it is far too large for the search, and though every
// second line occurs often.
func TestALargeBlockMoved(t *testing.T) {
	t.Parallel()
	const block = manyLines / 4
	line := func(i int) int {
		if i%2 == 0 {
			return i
		}
		return manyLines + i/2%1000
	}
	old, new := text(manyLines, line), text(manyLines, func(i int) int { return line((i + manyLines - block) % manyLines) })
	want := []linediff.Change{{0, 0, 0, block}, {manyLines - block, manyLines, manyLines, manyLines}}
	assert.Equal(t, want, compare(t, old, new))
}

func BenchmarkCompare(b *testing.B) {
	for name, texts := range hostile() {
		b.Run(name, func(b *testing.B) {
			pair := texts()
			for b.Loop() {
				var table linediff.Table
				x, y := table.Lines([]byte(pair[0])), table.Lines([]byte(pair[1]))
				table.Compare(x.ID, y.ID)
			}
		})
	}
}
