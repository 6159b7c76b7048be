package textapply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestSplitText(t *testing.T) {
	t.Parallel()
	careful, codex := Policy{SkipBOM: true}, Policy{LoneCR: LoneCRAlways}
	type pieces = [][2]string // line, terminator
	tests := map[string]struct {
		policy Policy
		data   string
		want   pieces
	}{
		"empty":                              {careful, "", nil},
		"no newline":                         {careful, "a", pieces{{"a", ""}}},
		"one line":                           {careful, "a\n", pieces{{"a", "\n"}}},
		"blank lines":                        {careful, "\n\n", pieces{{"", "\n"}, {"", "\n"}}},
		"unfinished last line":               {careful, "a\nb", pieces{{"a", "\n"}, {"b", ""}}},
		"CRLF":                               {careful, "a\r\nb\r\n", pieces{{"a", "\r\n"}, {"b", "\r\n"}}},
		"mixed":                              {codex, "a\r\nb\nc\rd", pieces{{"a", "\r\n"}, {"b", "\n"}, {"c", "\r"}, {"d", ""}}},
		"CR CR LF is an empty line":          {codex, "a\r\r\nb", pieces{{"a", "\r"}, {"", "\r\n"}, {"b", ""}}},
		"CR CR LF in a file with LF":         {careful, "a\r\r\nb", pieces{{"a\r", "\r\n"}, {"b", ""}}},
		"lone CR in a file with LF":          {careful, "a\rb\n", pieces{{"a\rb", "\n"}}},
		"CR at the end of a file with LF":    {careful, "a\nb\r", pieces{{"a", "\n"}, {"b\r", ""}}},
		"lone CR in a file without LF":       {careful, "a\rb\r", pieces{{"a", "\r"}, {"b", "\r"}}},
		"lone CR, unfinished":                {careful, "a\rb", pieces{{"a", "\r"}, {"b", ""}}},
		"CR at the end, always":              {codex, "a\nb\r", pieces{{"a", "\n"}, {"b", "\r"}}},
		"other separators are characters":    {codex, "a\vb\fc\u0085d\u2028e\n", pieces{{"a\vb\fc\u0085d\u2028e", "\n"}}},
		"byte-order mark skipped":            {careful, utf8BOM + "a\n", pieces{{"a", "\n"}}},
		"byte-order mark alone":              {careful, utf8BOM, nil},
		"byte-order mark as text":            {codex, utf8BOM + "a\n", pieces{{utf8BOM + "a", "\n"}}},
		"byte-order mark inside is text":     {careful, "a" + utf8BOM, pieces{{"a" + utf8BOM, ""}}},
		"second byte-order mark is text":     {careful, utf8BOM + utf8BOM + "\r\n", pieces{{utf8BOM, "\r\n"}}},
		"byte-order mark before a lone CR":   {careful, utf8BOM + "\ra", pieces{{"", "\r"}, {"a", ""}}},
		"byte-order mark before a blank end": {careful, utf8BOM + "\n", pieces{{"", "\n"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := splitText([]byte(tt.data), tt.policy)
			var got pieces
			for i := range text.Len() {
				got = append(got, [2]string{string(text.Line(i)), text.terminator(i)})
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestSplitTextLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(drawText(t))
		policy := Policy{SkipBOM: rapid.Bool().Draw(t, "skip BOM"), LoneCR: LoneCR(rapid.IntRange(0, 1).Draw(t, "lone CR"))}
		text := splitText(data, policy)
		whole := append([]byte{}, data[:text.starts[0]]...)
		assert.Contains(t, []string{"", utf8BOM}, string(whole))
		for i := range text.Len() {
			assert.NotEqual(t, text.starts[i], text.starts[i+1], "every line has a byte")
			if i < text.Len()-1 {
				assert.NotEmpty(t, text.terminator(i))
			}
			assert.NotContains(t, string(text.Line(i)), "\n")
			if text.loneCR {
				assert.NotContains(t, string(text.Line(i)), "\r")
			}
			whole = append(append(whole, text.Line(i)...), text.terminator(i)...)
		}
		assert.Equal(t, data, whole)
	})
}

// drawText draws bytes in which terminators, byte-order marks and bad bytes are frequent.
func drawText(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc", "\n", "\r\n", "\r", "\r\r\n", utf8BOM, "\xff", "–"}), 0, 20).Draw(t, "pieces")
	out := ""
	for _, p := range pieces {
		out += p
	}
	return out
}

func TestFirstTerminator(t *testing.T) {
	t.Parallel()
	tests := map[string]string{"": "\n", "a": "\n", "a\r\nb\n": "\r\n", "a\rb\n": "\r", "\n\r\n": "\n"}
	for data, want := range tests {
		assert.Equal(t, want, splitText([]byte(data), Policy{LoneCR: LoneCRAlways}).firstTerminator(), "%q", data)
	}
}
