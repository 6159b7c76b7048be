package textapply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNearestRegion(t *testing.T) {
	t.Parallel()
	type lines = []string
	tests := map[string]struct {
		file string
		want lines
		from int
		n    *Nearest
	}{
		"one of four lines differs": {"x\nalpha\nbeta\ngamma\ndelta\n", lines{"alpha", "beta", "Gamma!", "delta"}, 0,
			&Nearest{Line: 2, Score: 0.75, DiffLine: 4, Want: "Gamma!", Have: "gamma", Kind: "the text differs", Excerpt: lines{"alpha", "beta"}}},
		"the first differs": {"x\nalpha\nbeta\n", lines{"alfalfa", "beta"}, 0,
			&Nearest{Line: 2, Score: 0.5, DiffLine: 2, Want: "alfalfa", Have: "alpha", Kind: "the text differs", Excerpt: lines{"x"}}},
		"the region would begin before the file": {"beta\ngamma\n", lines{"alpha", "beta", "gamma"}, 0,
			&Nearest{Line: 1, Score: 2.0 / 3, DiffLine: 1, Want: "alpha", Have: "beta", Kind: "the file begins behind that line"}},
		"the file ends inside": {"alpha\nbeta\n", lines{"alpha", "beta", "gamma"}, 0,
			&Nearest{Line: 1, Score: 2.0 / 3, DiffLine: 3, Want: "gamma", AtEnd: true, Kind: "the file ends in front of that line", Excerpt: lines{"alpha", "beta"}}},
		"rare lines outweigh common ones": {"}\n}\nrare\n}\n}\n}\nx\n", lines{"}", "}", "}", "rare", "y"}, 0,
			&Nearest{Line: 1, Score: 0.6, DiffLine: 1, Want: "}", Have: "}", Kind: "the file begins behind that line"}},
		"indentation and punctuation set aside": {"\t“alpha” \nbeta\n", lines{`"alpha"`, "betas"}, 0,
			&Nearest{Line: 1, Score: 0.5, DiffLine: 2, Want: "betas", Have: "beta", Kind: `the patch's line goes on, with "s"`, Excerpt: lines{"\t“alpha” "}}},
		"of two the first": {"alpha\nx\nalpha\ny\n", lines{"alpha", "z"}, 0,
			&Nearest{Line: 1, Score: 0.5, DiffLine: 2, Want: "z", Have: "x", Kind: "the text differs", Excerpt: lines{"alpha"}}},
		"of two, the one told by the first line": {"gamma\nx\nalpha\ny\n", lines{"alpha", "beta", "gamma"}, 0,
			&Nearest{Line: 3, Score: 1.0 / 3, DiffLine: 4, Want: "beta", Have: "y", Kind: "the text differs", Excerpt: lines{"x", "alpha"}}},
		"a line too many": {"alpha\nbeta\n\ngamma\ndelta\n", lines{"alpha", "beta", "", "", "gamma", "delta"}, 0,
			&Nearest{Line: 1, Score: 0.5, DiffLine: 4, Want: "", Have: "gamma", Kind: "the patch has an empty line there", Excerpt: lines{"beta", ""}}},
		"only behind the scope": {"alpha\nx\nalpha\ny\n", lines{"alpha", "z"}, 2,
			&Nearest{Line: 3, Score: 0.5, DiffLine: 4, Want: "z", Have: "y", Kind: "the text differs", Excerpt: lines{"x", "alpha"}}},
		"no line stands there, one is like another": {"x\nreturn compute(a, b)\n", lines{"}", "return compute(a, c)"}, 0,
			&Nearest{Line: 1, DiffLine: 1, Want: "}", Have: "x", Kind: "the text differs"}},
		"nothing alike":            {"alpha\nbeta\n", lines{"12345", "67890"}, 0, nil},
		"blank lines only":         {"a\nb\n", lines{"", " "}, 0, nil},
		"an empty file":            {"", lines{"alpha"}, 0, nil},
		"nothing but common lines": {strings.Repeat("}\n", 300), lines{"}", "alpha"}, 0, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.n == nil {
				assert.Nil(t, nearest(splitText([]byte(tt.file), carefulPolicy()), tt.want, tt.from))
				return
			}
			text := splitText([]byte(tt.file), carefulPolicy())
			got := nearest(text, tt.want, tt.from)
			require.NotNil(t, got)
			for range 20 {
				require.Equal(t, got, nearest(text, tt.want, tt.from), "always the same")
			}
			assert.InDelta(t, tt.n.Score, got.Score, 1e-9)
			tt.n.Score = got.Score
			assert.Equal(t, tt.n, got)
		})
	}
}

func TestKindsOfDifference(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ want, have, kind string }{
		"blanks inside":        {"f(a,  b)", "f(a, b)", "blanks inside the line differ"},
		"tab for a blank":      {"int  x", "int\tx", "tabs and blanks inside the line differ"},
		"line number, colon":   {"12: return x", "return x", "a line number was copied into the patch"},
		"line number, tab":     {"   12\treturn x", "return x", "a line number was copied into the patch"},
		"line number, bar":     {"12 | return x", "    return x", "a line number was copied into the patch"},
		"line number, arrow":   {"12→return x", "return x", "a line number was copied into the patch"},
		"quotes escaped":       {`print(\"a\")`, `print("a")`, "the patch escapes characters that the file has plain"},
		"backslashes doubled":  {`re("\\d")`, `re("\d")`, "the patch escapes characters that the file has plain"},
		"dollar escaped":       {`cost \$5`, `cost $5`, "the patch escapes characters that the file has plain"},
		"file escapes":         {`re("\d")`, `re("\\d")`, "the file escapes characters that the patch has plain"},
		"both escape":          {`a\"b'`, `a"b\'`, "the patch and the file escape different characters"},
		"the file goes on":     {"return x", "return x + y", `the file's line goes on, with " + y"`},
		"the patch goes on":    {"return x + y", "return x", `the patch's line goes on, with " + y"`},
		"a long rest is cut":   {"a", "a" + strings.Repeat("é", 40), `the file's line goes on, with "` + strings.Repeat("é", 30) + `…"`},
		"case":                 {"Return X", "return x", "upper and lower case differ"},
		"empty in the patch":   {"", "return x", "the patch has an empty line there"},
		"empty in the file":    {"return x", "  ", "the file has an empty line there"},
		"another text":         {"return x", "yield x", "the text differs"},
		"a number and no more": {"12", "13", "the text differs"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.kind, differenceKind(tt.want, tt.have))
		})
	}
}

// hardRegions are a large file and lines that make looking for their region dear.
func hardRegions() (file string, wants map[string][]string) {
	const n = 300_000
	var b strings.Builder
	for i := range n {
		switch i % 3 {
		case 0:
			b.WriteString("\t\t}\n")
		case 1:
			fmt.Fprintf(&b, "    value_%06d := compute(%06d) – “some more text”\n", i, i*7%n)
		default:
			fmt.Fprintf(&b, "\treturn same_%04d\n", i%1500)
		}
	}
	common := make([]string, 5000)
	for i := range common {
		common[i] = []string{"}", fmt.Sprintf("return same_%04d", i%1500)}[i%2]
	}
	equal := make([]string, 5000)
	for i := range equal {
		equal[i] = "return same_0002"
	}
	return b.String(), map[string][]string{
		"one line differs":     {"\t\t}", `    value_150001 := compute(150007) – “some more text”`, "gone"},
		"a line with a typo":   {`    value_150002 := compute(150008) – “some more text”!`},
		"nothing is like it":   {"0123456789", "##########"},
		"common lines":         common,
		"one line, many times": equal,
		"a very long line":     {strings.Repeat("value", 100_000)},
	}
}

// The bound is generous: the machine may have other work.
func TestNearestIsBounded(t *testing.T) {
	t.Parallel()
	file, wants := hardRegions()
	text := splitText([]byte(file), carefulPolicy())
	for name, want := range wants {
		start := time.Now()
		nearest(text, want, 0)
		assert.Less(t, time.Since(start), 5*time.Second, name)
	}
}

func BenchmarkNearest(b *testing.B) {
	file, wants := hardRegions()
	text := splitText([]byte(file), carefulPolicy())
	for name, want := range wants {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				nearest(text, want, 0)
			}
		})
	}
}
