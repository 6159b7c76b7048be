package textapply

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// whiteSpace is the Unicode property White_Space, code point by code point.
var whiteSpace = []rune{
	0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680,
	0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
	0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
}

// folded are the code points that the last pass takes for ASCII.
var folded = map[byte][]rune{
	'-':  {0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212},
	'\'': {0x2018, 0x2019, 0x201a, 0x201b},
	'"':  {0x201c, 0x201d, 0x201e, 0x201f},
	' ':  {0xa0, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x202f, 0x205f, 0x3000},
}

func TestTrimmedRunes(t *testing.T) {
	t.Parallel()
	var space []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if isSpace(r) {
			space = append(space, r)
		}
	}
	assert.Equal(t, whiteSpace, space)
	for _, r := range whiteSpace {
		line := []byte(string(r) + "x" + string(r) + string(r))
		assert.Equal(t, string(line), string(normalize(line, Exact)), "%U", r)
		assert.Equal(t, string(r)+"x", string(normalize(line, TrailingSpace)), "%U", r)
		assert.Equal(t, "x", string(normalize(line, Indent)), "%U", r)
	}
	for _, r := range []rune{0x1c, 0x1d, 0x1e, 0x1f, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x3164, 0xfeff} {
		line := []byte(string(r) + "x" + string(r))
		assert.Equal(t, string(line), string(normalize(line, Indent)), "%U", r)
	}
}

func TestFoldedRunes(t *testing.T) {
	t.Parallel()
	got := map[byte][]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if c := foldRune(r); c != 0 {
			got[c] = append(got[c], r)
		}
	}
	assert.Equal(t, folded, got)
	for c, runes := range folded {
		for _, r := range runes {
			line := []byte("x" + string(r) + "x" + string(r) + "x")
			want := "x" + string(rune(c)) + "x" + string(rune(c)) + "x"
			assert.Equal(t, want, string(normalize(line, Punctuation)), "%U", r)
			assert.Equal(t, string(line), string(normalize(line, Indent)), "%U", r)
		}
	}
	for _, r := range []rune{0x1680, 0x2000, 0x2001, 0x2016, 0x2017, 0x2028, 0x2029, 0x2032, 0x2033, 0x2043, 0x00ab, 0x00b4, 0x0060, 0x2026, 0xfe58, 0xff0d, 0xff02, 0x200b, 0x00ad} {
		line := []byte("x" + string(r) + "x")
		assert.Equal(t, string(line), string(normalize(line, Punctuation)), "%U", r)
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pass     Pass
		in, want string
	}{
		"only white space":              {TrailingSpace, " \t\u00a0\u3000", ""},
		"only white space, both sides":  {Indent, " \t\u00a0\u3000", ""},
		"indentation stays":             {TrailingSpace, "\t a ", "\t a"},
		"inner blanks stay":             {Punctuation, " a  b ", "a  b"},
		"first trimmed, then folded":    {Punctuation, "\u00a0–x\u2001", "-x"},
		"control separators stay":       {Indent, "\x1c\x1fa\x1c", "\x1c\x1fa\x1c"},
		"zero width space stays":        {Punctuation, "\u200ba\u200b", "\u200ba\u200b"},
		"byte-order mark stays":         {Punctuation, "\ufeffa", "\ufeffa"},
		"several folded in a long line": {Punctuation, "a long line – with “many” words — and more", `a long line - with "many" words - and more`},
		"not folded inside":             {Punctuation, "a\u1680b\u2000c\u2001d\u2028e\u2032f\uff0dg", "a\u1680b\u2000c\u2001d\u2028e\u2032f\uff0dg"},
		"invalid at the end":            {TrailingSpace, "a \x80", "a \x80"},
		"invalid at the start":          {Indent, "\xff a", "\xff a"},
		"half a no-break space":         {Indent, "\xa0a\xc2", "\xa0a\xc2"},
		"bare 0x85":                     {Indent, "a\x85", "a\x85"},
		"invalid beside folded":         {Punctuation, "\xe2\x80–\xe2\x80", "\xe2\x80-\xe2\x80"},
		"replacement character":         {Punctuation, "\ufffd", "\ufffd"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, string(normalize([]byte(tt.in), tt.pass)))
		})
	}
}

// Bytes are tested eight at a time; a rune must be seen wherever it begins.
func TestFoldAtEveryOffset(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		head, tail := strings.Repeat("x", n), strings.Repeat("y", 40-n)
		assert.Equal(t, head+"-"+tail, string(normalize([]byte(head+"–"+tail), Punctuation)))
		assert.Equal(t, head+"é-"+tail, string(normalize([]byte(head+"é–"+tail), Punctuation)))
	}
}

// What a stricter pass takes for equal, a looser one does too.
func TestPassesGrowLooser(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := []byte(rapid.StringOf(rapid.SampledFrom([]rune("ab \t\u00a0\u2001–“\u0085\ufffd"))).Draw(t, "line"))
		for p := TrailingSpace; int(p) < passes; p++ {
			assert.Equal(t, normalize(line, p), normalize(normalize(line, p-1), p), p.String())
			assert.Equal(t, normalize(line, p), normalize(normalize(line, p), p), "twice is once")
		}
	})
}

func TestNormalizeKeepsInvalidBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.SliceOf(rapid.ByteRange(0x80, 0xbf)).Draw(t, "stray continuation bytes")
		line := append(append([]byte("x"), inner...), 'x')
		for p := Exact; int(p) < passes; p++ {
			assert.Equal(t, line, normalize(line, p))
		}
	})
}

func ExamplePass_String() {
	fmt.Println(Exact, TrailingSpace, Indent, Punctuation)
	// Output: exact trailing-space indent punctuation
}
