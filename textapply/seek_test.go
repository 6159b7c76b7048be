package textapply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The rows are what codex-cli 0.171.0 was seen to do.
func TestSeek(t *testing.T) {
	t.Parallel()
	type lines = []string
	tests := map[string]struct {
		text, pattern lines
		start         int
		eof           bool
		want          Match
		missing       bool
	}{
		"exact":                                {text: lines{"a", "b", "c"}, pattern: lines{"b", "c"}, want: Match{Line: 1}},
		"blanks at the end ignored":            {text: lines{"a", "b \t"}, pattern: lines{"b"}, want: Match{Line: 1, Pass: TrailingSpace}},
		"blanks at the end of the pattern":     {text: lines{"a", "b"}, pattern: lines{"b  "}, want: Match{Line: 1, Pass: TrailingSpace}},
		"indentation ignored":                  {text: lines{"a", "\tb"}, pattern: lines{"  b"}, want: Match{Line: 1, Pass: Indent}},
		"punctuation folded":                   {text: lines{"“a” – b"}, pattern: lines{`"a" - b`}, want: Match{Pass: Punctuation}},
		"punctuation folded in the pattern":    {text: lines{`"a" - b`}, pattern: lines{"“a” – b"}, want: Match{Pass: Punctuation}},
		"exact later beats trailing earlier":   {text: lines{"a ", "a"}, pattern: lines{"a"}, want: Match{Line: 1}},
		"trailing later beats indent earlier":  {text: lines{" a", "a "}, pattern: lines{"a"}, want: Match{Line: 1, Pass: TrailingSpace}},
		"indent later beats folding earlier":   {text: lines{"x–y", " x-y"}, pattern: lines{"x-y"}, want: Match{Line: 1, Pass: Indent}},
		"exact later beats folding earlier":    {text: lines{"x–y", "x-y"}, pattern: lines{"x-y"}, want: Match{Line: 1}},
		"one pass for the whole pattern":       {text: lines{"a", "b ", " a", "b"}, pattern: lines{"a", "b"}, want: Match{Pass: TrailingSpace}},
		"no mixing of places":                  {text: lines{"a", "x", "b"}, pattern: lines{"a", "b"}, missing: true},
		"inner blanks count":                   {text: lines{"a  b"}, pattern: lines{"a b"}, missing: true},
		"case counts":                          {text: lines{"A"}, pattern: lines{"a"}, missing: true},
		"start is kept":                        {text: lines{"a", "b", "a"}, pattern: lines{"a"}, start: 1, want: Match{Line: 2}},
		"start hides a stricter place":         {text: lines{"a", "a "}, pattern: lines{"a"}, start: 1, want: Match{Line: 1, Pass: TrailingSpace}},
		"start at the end":                     {text: lines{"a"}, pattern: lines{"a"}, start: 1, missing: true},
		"start behind the end":                 {text: lines{"a"}, pattern: lines{"a"}, start: 9, missing: true},
		"start below zero":                     {text: lines{"a"}, pattern: lines{"a"}, start: -1, missing: true},
		"pattern longer than the rest":         {text: lines{"a", "a"}, pattern: lines{"a", "a"}, start: 1, missing: true},
		"pattern longer than the text":         {text: lines{"a"}, pattern: lines{"a", "b"}, missing: true},
		"no text":                              {pattern: lines{"a"}, missing: true},
		"empty pattern":                        {text: lines{"a", "b"}, start: 1, want: Match{Line: 1}},
		"empty pattern at the end of file":     {text: lines{"a", "b"}, start: 1, eof: true, want: Match{Line: 1}},
		"blank line is a line":                 {text: lines{"a", "", "b"}, pattern: lines{""}, want: Match{Line: 1}},
		"blank pattern matches a white line":   {text: lines{"a", "\u3000"}, pattern: lines{""}, want: Match{Line: 1, Pass: TrailingSpace}},
		"others":                               {text: lines{"a", "b", "a", "a "}, pattern: lines{"a"}, want: Match{Others: []int{2}}},
		"others at a looser pass":              {text: lines{" a", "a", "  a"}, pattern: lines{"\ta"}, want: Match{Pass: Indent, Others: []int{1, 2}}},
		"others from the start on":             {text: lines{"a", "a", "a"}, pattern: lines{"a"}, start: 1, want: Match{Line: 1, Others: []int{2}}},
		"others overlap":                       {text: lines{"a", "a", "a", "a"}, pattern: lines{"a", "a"}, want: Match{Others: []int{1, 2}}},
		"tail":                                 {text: lines{"a", "b", "a"}, pattern: lines{"a"}, eof: true, want: Match{Line: 2}},
		"tail only":                            {text: lines{"a", "b"}, pattern: lines{"a"}, eof: true, missing: true},
		"tail at a looser pass, exact earlier": {text: lines{"a", " a"}, pattern: lines{"a"}, eof: true, want: Match{Line: 1, Pass: Indent}},
		"tail folded":                          {text: lines{"x–y"}, pattern: lines{"x-y"}, eof: true, want: Match{Pass: Punctuation}},
		"tail before the start":                {text: lines{"a", "a"}, pattern: lines{"a", "a"}, start: 1, eof: true, missing: true},
		"tail at the start":                    {text: lines{"x", "a", "a"}, pattern: lines{"a", "a"}, start: 1, eof: true, want: Match{Line: 1}},
		"blank line behind the tail":           {text: lines{"a", ""}, pattern: lines{"a"}, eof: true, missing: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := Seek(tt.text, tt.pattern, tt.start, tt.eof)
			assert.Equal(t, !tt.missing, ok)
			assert.Equal(t, tt.want, got)
		})
	}
}

// naiveSeek tries every pass at every place, comparing every line.
func naiveSeek(text, pattern []string, start int, eof bool) (Match, bool) {
	if start < 0 {
		return Match{}, false
	}
	if len(pattern) == 0 {
		return Match{Line: start}, true
	}
	for p := Exact; int(p) < passes; p++ {
		var all []int
		for at := start; at+len(pattern) <= len(text); at++ {
			if (!eof || at+len(pattern) == len(text)) && naiveMatch(text[at:], pattern, p) {
				all = append(all, at)
			}
		}
		if len(all) == 1 {
			return Match{Line: all[0], Pass: p}, true
		}
		if len(all) > 1 {
			return Match{Line: all[0], Pass: p, Others: all[1:]}, true
		}
	}
	return Match{}, false
}

func naiveMatch(text, pattern []string, p Pass) bool {
	for i, s := range pattern {
		if string(normalize([]byte(s), p)) != string(normalize([]byte(text[i]), p)) {
			return false
		}
	}
	return true
}

func TestSeekIsTheNaiveSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "", "a ", " a", "“”", `""`, "x-y", "x–y"}[:rapid.IntRange(1, 9).Draw(t, "kinds")])
		text := rapid.SliceOfN(line, 0, 40).Draw(t, "text")
		pattern := rapid.SliceOfN(line, 0, 5).Draw(t, "pattern")
		if from := rapid.IntRange(0, len(text)).Draw(t, "from"); rapid.Bool().Draw(t, "taken from the text") {
			pattern = text[from:min(len(text), from+len(pattern))]
		}
		start := rapid.IntRange(-1, len(text)+1).Draw(t, "start")
		eof := rapid.Bool().Draw(t, "eof")
		want, wantOK := naiveSeek(text, pattern, start, eof)
		got, ok := Seek(text, pattern, start, eof)
		assert.Equal(t, wantOK, ok)
		assert.Equal(t, want, got)
	})
}

// Runs of equal lines make the search change to the automaton, which must not be seen.
func TestSeekInLongRuns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := runs(t, "text", 12, 60)
		pattern := runs(t, "pattern", 4, 30)
		start := rapid.IntRange(0, len(text)).Draw(t, "start")
		want, wantOK := naiveSeek(text, pattern, start, false)
		got, ok := Seek(text, pattern, start, false)
		assert.Equal(t, wantOK, ok)
		assert.Equal(t, want, got)
	})
}

// runs draws a text of some runs of one line each.
func runs(t *rapid.T, label string, most, length int) []string {
	var text []string
	for range rapid.IntRange(1, most).Draw(t, label) {
		line := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "line")
		for range rapid.IntRange(1, length).Draw(t, "length") {
			text = append(text, line)
		}
	}
	return text
}
