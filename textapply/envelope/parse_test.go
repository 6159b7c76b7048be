package envelope_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
)

// wrap puts the lines between Begin and End line.
func wrap(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(append(lines, "*** End Patch"), "\n") + "\n"
}

func TestParseFillsEveryField(t *testing.T) {
	t.Parallel()
	text := wrap(
		"*** Environment ID:  far away ",
		"*** Add File: new.txt ",
		"+one",
		"+",
		"+ +two",
		"*** Delete File:  old.txt",
		"*** Update File: a.txt",
		"*** Move to: b.txt",
		"-first",
		"@@   indented\t",
		" context",
		"",
		"-old",
		"+new",
		"*** End of File",
		"",
		"@@",
		"+last",
	)
	patch, err := envelope.Parse("\n\u00a0<<'EOF'\r\n"+text+"EOF \n", envelope.Lenient)
	require.NoError(t, err)
	assert.Equal(t, &textapply.Patch{
		Format:        "envelope",
		Text:          strings.TrimSuffix(text, "\n"),
		EnvironmentID: "far away",
		Sections: []textapply.Section{
			{Kind: textapply.Add, Path: "new.txt", Content: []string{"one", "", " +two"}, Line: 3},
			{Kind: textapply.Delete, Path: " old.txt", Line: 7},
			{Kind: textapply.Update, Path: "a.txt", MoveTo: "b.txt", Line: 8, Chunks: []textapply.Chunk{
				{Line: 10, Lines: []textapply.Line{{Op: textapply.Remove, Text: "first"}}},
				{Line: 11, Scopes: []string{"  indented"}, EOF: true, Lines: []textapply.Line{
					{Op: textapply.Context, Text: "context"},
					{Op: textapply.Context},
					{Op: textapply.Remove, Text: "old"},
					{Op: textapply.Insert, Text: "new"},
				}},
				{Line: 18, Lines: []textapply.Line{{Op: textapply.Insert, Text: "last"}}},
			}},
		},
	}, patch)
}

func TestParseErrorsHaveKindAndLine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		kind error
		line int
	}{
		"blank text misses the End line":               {" \n", envelope.ErrEnd, 0},
		"other text misses the Begin line":             {"hello", envelope.ErrBegin, 0},
		"missing Begin beats a missing End":            {"hello\nworld", envelope.ErrBegin, 0},
		"missing End beats a bad header":               {"*** Begin Patch\nbad\n", envelope.ErrEnd, 0},
		"bad header beats what is wrong later":         {wrap("bad", "*** Update File: a"), envelope.ErrHeader, 2},
		"text after End beats a bad header":            {wrap("bad") + "more", envelope.ErrEnd, 0},
		"bad header beats text between two Ends":       {wrap("bad", "*** End Patch", "more"), envelope.ErrHeader, 2},
		"blank line before the first section":          {wrap(""), envelope.ErrHeader, 2},
		"header without path":                          {wrap("*** Delete File: "), envelope.ErrHeader, 2},
		"three End lines":                              {wrap("*** End Patch", "*** End Patch"), envelope.ErrEnd, 0},
		"padded End line before two blank ones":        {wrap("*** End Patch", " *** End Patch", "", ""), envelope.ErrEnd, 0},
		"update without chunks":                        {wrap("*** Update File: a", "*** Move to: b", "*** End of File"), envelope.ErrEmptySection, 2},
		"update without chunks, not the last":          {wrap("*** Delete File: b", "*** Update File: a", "*** Add File: c"), envelope.ErrEmptySection, 3},
		"chunk without lines at the end":               {wrap("*** Update File: a", "@@"), envelope.ErrEmptyChunk, 4},
		"chunk without lines before End of File":       {wrap("*** Update File: a", "@@", "*** End of File"), envelope.ErrEmptyChunk, 4},
		"chunk without lines before a header":          {wrap("*** Update File: a", "@@", "*** Delete File: b"), envelope.ErrLine, 4},
		"chunk without lines before another":           {wrap("*** Update File: a", "@@ x", "@@ y", "-z"), envelope.ErrLine, 4},
		"no prefix at the beginning":                   {wrap("*** Update File: a", "x"), envelope.ErrLine, 3},
		"no prefix after a line":                       {wrap("*** Update File: a", "-x", "y"), envelope.ErrMarker, 4},
		"line after End of File":                       {wrap("*** Update File: a", "-x", "*** End of File", "-y"), envelope.ErrMarker, 5},
		"environment ID empty":                         {wrap("*** Environment ID: \u3000"), envelope.ErrEnvironmentID, 0},
		"environment ID twice":                         {wrap("*** Environment ID: a", "*** Environment ID:"), envelope.ErrEnvironmentID, 0},
		"environment ID behind a section":              {wrap("*** Delete File: a", "*** Environment ID: b"), envelope.ErrHeader, 3},
		"byte order mark in front":                     {"\ufeff" + wrap(), envelope.ErrBegin, 0},
		"heredoc of one line":                          {"<<EOF\n*** Begin Patch\nEOF", envelope.ErrBegin, 0},
		"heredoc whose inside misses its last line":    {"<<EOF\n*** Begin Patch\n*** Delete File: a\nEOF", envelope.ErrEnd, 0},
		"heredoc in a heredoc":                         {"<<EOF\n<<EOF\n" + wrap() + "EOF\nEOF", envelope.ErrBegin, 0},
		"heredoc with a line counted from Begin":       {"\n<<EOF\n" + wrap("*** Delete File: a", "x") + "EOF", envelope.ErrHeader, 3},
		"carriage returns alone do not separate lines": {strings.ReplaceAll(wrap(), "\n", "\r"), envelope.ErrBegin, 0},
	}
	kinds := []error{envelope.ErrBegin, envelope.ErrEnd, envelope.ErrHeader, envelope.ErrEmptySection,
		envelope.ErrEmptyChunk, envelope.ErrLine, envelope.ErrMarker, envelope.ErrEnvironmentID}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := envelope.Parse(c.text, envelope.Lenient)
			var parseErr *envelope.ParseError
			require.ErrorAs(t, err, &parseErr)
			assert.Equal(t, c.line, parseErr.Line)
			for _, kind := range kinds {
				if errors.Is(kind, c.kind) {
					assert.ErrorIs(t, err, kind)
				} else {
					assert.NotErrorIs(t, err, kind)
				}
			}
		})
	}
}

func TestModesDifferOnlyAroundTheEnvelope(t *testing.T) {
	t.Parallel()
	add := []string{"*** Add File: a", "+x"}
	plain := wrap(add...)
	bare := strings.TrimSuffix(plain, "\n")
	cases := map[string]struct {
		text            string
		lenient, strict error
	}{
		"no newline at the end":            {text: bare},
		"one newline at the end":           {text: plain},
		"CRLF throughout":                  {text: strings.ReplaceAll(plain, "\n", "\r\n")},
		"no sections":                      {text: wrap()},
		"padded header":                    {text: wrap("  *** Delete File: a  ")},
		"two newlines at the end":          {text: plain + "\n", strict: envelope.ErrEnd},
		"blank at the end":                 {text: bare + " ", strict: envelope.ErrEnd},
		"carriage return at the end":       {text: bare + "\r", strict: envelope.ErrEnd},
		"newline in front":                 {text: "\n" + plain, strict: envelope.ErrBegin},
		"no-break space in front":          {text: "\u00a0" + plain, strict: envelope.ErrBegin},
		"blank behind Begin":               {text: strings.Replace(plain, "\n", " \n", 1), strict: envelope.ErrBegin},
		"indented End":                     {text: "*** Begin Patch\n*** Update File: a\n-x\n *** End Patch", strict: envelope.ErrEnd},
		"heredoc":                          {text: "<<EOF\n" + plain + "EOF\n", strict: envelope.ErrBegin},
		"second End":                       {text: plain + "*** End Patch", strict: envelope.ErrEnd},
		"blank line between two Ends":      {text: plain + "\n*** End Patch\n", strict: envelope.ErrEnd},
		"text in front":                    {"Patch:\n" + plain, envelope.ErrBegin, envelope.ErrBegin},
		"text behind":                      {plain + "done", envelope.ErrEnd, envelope.ErrEnd},
		"empty text":                       {"", envelope.ErrEnd, envelope.ErrEnd},
		"a newline and nothing else":       {"\n", envelope.ErrEnd, envelope.ErrEnd},
		"a bad header, with blanks around": {" " + wrap("x"), envelope.ErrHeader, envelope.ErrBegin},
		"a bad header":                     {wrap("x"), envelope.ErrHeader, envelope.ErrHeader},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lenient, err := envelope.Parse(c.text, envelope.Lenient)
			assert.ErrorIs(t, err, c.lenient)
			strict, strictErr := envelope.Parse(c.text, envelope.Strict)
			assert.ErrorIs(t, strictErr, c.strict)
			if c.strict == nil {
				assert.Equal(t, lenient, strict)
			}
		})
	}
}

func TestTextIsThePatchWithoutItsWrappers(t *testing.T) {
	t.Parallel()
	bare := strings.TrimSuffix(wrap("*** Add File: a", "+x\r\r"), "\n")
	for name, text := range map[string]string{
		"nothing around":    bare,
		"blank lines":       "\n\n" + bare + "\n \n",
		"heredoc":           "<<EOF\n" + bare + "\nEOF\n",
		"heredoc with CRLF": "<<\"EOF\"\r\n" + bare + "\r\nthe EOF",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patch, err := envelope.Parse(text, envelope.Lenient)
			require.NoError(t, err)
			assert.Equal(t, bare, patch.Text)
			assert.Equal(t, []string{"x"}, patch.Sections[0].Content, "two carriage returns are dropped")
		})
	}
}

func TestBytesThatAreNotUTF8PassThrough(t *testing.T) {
	t.Parallel()
	patch, err := envelope.Parse(wrap("*** Add File: \xff\x85", "+\xa0\xfe"), envelope.Strict)
	require.NoError(t, err)
	assert.Equal(t, "\xff\x85", patch.Sections[0].Path)
	assert.Equal(t, []string{"\xa0\xfe"}, patch.Sections[0].Content)
}
