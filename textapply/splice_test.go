package textapply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each row was seen with codex-cli 0.171.0.
func TestSpliceAsCodex(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	tests := map[string]struct {
		file   string
		chunks chunks
		want   string
	}{
		"added lines take the first terminator":       {"a\r\nb\nc\n", chunks{chunk(" b", "+x")}, "a\r\nb\nx\r\nc\n"},
		"the first terminator, though its line goes":  {"a\r\nb\n", chunks{chunk("-a", "+x", " b")}, "x\r\nb\n"},
		"a lone CR first":                             {"a\rb\n", chunks{chunk(" b", "+x")}, "a\rb\nx\r"},
		"LF where there is none":                      {"a", chunks{chunk("-a", "+x", "+y")}, "x\ny\n"},
		"unfinished line behind CRLF":                 {"a\r\nb", chunks{chunk("-a", "+x")}, "x\r\nb\r\n"},
		"context only finishes the last line":         {"a\nb", chunks{chunk(" a")}, "a\nb\n"},
		"everything deleted":                          {"a\nb\n", chunks{chunk("-a", "-b")}, ""},
		"unfinished last line deleted":                {"a\r\nb", chunks{chunk("-b")}, "a\r\n"},
		"addition behind an unfinished line":          {"a\r\nb", chunks{chunk("+x")}, "a\r\nb\r\nx\r\n"},
		"blank lines at the end stay":                 {"a\n\n\n", chunks{chunk("-a", "+b")}, "b\n\n\n"},
		"blank last line is written":                  {"a\n", chunks{chunk(" a", "+")}, "a\n\n"},
		"context keeps the file's spelling":           {"  “a”\r\nb \n", chunks{chunk(` "a"`, "+x", " b")}, "  “a”\r\nx\r\nb \n"},
		"byte-order mark is part of the line":         {utf8BOM + "a\nb\n", chunks{chunk("-b", "+x")}, utf8BOM + "a\nx\n"},
		"added CR inside a line stays":                {"a\n", chunks{chunk(" a", "+x\ry")}, "a\nx\ry\n"},
		"several additions keep their order":          {"a\n", chunks{chunk("+x"), chunk("+y"), chunk("-a", "+z")}, "z\nx\ny\n"},
		"addition under a scope goes to the end":      {"a\nb\n", chunks{chunk("@@ a", "+x")}, "a\nb\nx\n"},
		"addition leaves the cursor":                  {"a\nb\n", chunks{chunk("+x"), chunk("-a")}, "b\nx\n"},
		"scope of an addition moves the cursor":       {"a\nb\na\n", chunks{chunk("@@ b", "+x"), chunk("-a")}, "a\nb\nx\n"},
		"scope is consumed":                           {"a\nb\na\nc\n", chunks{chunk("@@ a", "-a")}, "a\nb\nc\n"},
		"first place behind the chunk before":         {"a\nb\na\n", chunks{chunk("-a", "-b"), chunk("-a", "+c")}, "c\n"},
		"end of file takes the tail":                  {"a\nb\na\n", chunks{chunk("-a", "+x", "$")}, "a\nb\nx\n"},
		"blank end of the pattern is dropped":         {"a\nb\n", chunks{chunk("-a", "+x", " ")}, "x\nb\n"},
		"dropped together with a blank new line":      {"a\nb\n", chunks{chunk("-a", "-", "+x", "+")}, "x\nb\n"},
		"not dropped from the new lines":              {"a\nb\n", chunks{chunk("-a", "-", "+x")}, "x\nb\n"},
		"blank context in the middle of new lines":    {"a\nb\n", chunks{chunk(" a", " ", "+x")}, "a\n\nx\nb\n"},
		"blank pattern without a place is the cursor": {"a\nb\n", chunks{chunk(" ", "+x")}, "\nx\na\nb\n"},
		"... behind the chunk before":                 {"a\nb\n", chunks{chunk("-a", "+y"), chunk("+x", " ")}, "y\nx\nb\n"},
		"... with end of file too":                    {"a\nb\n", chunks{chunk("+x", "-", "$")}, "x\na\nb\n"},
		"blank pattern in an empty file":              {"", chunks{chunk("-", "+x")}, "x\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, edited(t, codexPolicy(), tt.file, tt.chunks...))
		})
	}
}

func TestSpliceCarefully(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	tests := map[string]struct {
		file   string
		chunks chunks
		want   string
	}{
		"ending of the line before":                {"a\nb\r\nc\n", chunks{chunk(" b", "+x", " c")}, "a\nb\r\nx\r\nc\n"},
		"ending of a removed line":                 {"a\nb\r\nc\n", chunks{chunk(" a", "-b", "+x", " c")}, "a\nx\r\nc\n"},
		"each removed line has its own":            {"a\r\nb\n", chunks{chunk("-a", "+x", "-b", "+y")}, "x\r\ny\n"},
		"ending of the last removed line":          {"a\r\nb\nc\r\n", chunks{chunk("-a", "-b", "+x", "+y", " c")}, "x\ny\nc\r\n"},
		"ending of the line after a leading one":   {"a\nb\r\nc\n", chunks{chunk("+x", " b", "-c")}, "a\nx\r\nb\r\n"},
		"leading before a removed line":            {"a\nb\r\nc\n", chunks{chunk("+x", "-b", "+y", " c")}, "a\nx\r\ny\r\nc\n"},
		"leading before the unfinished last line":  {"a\r\nb", chunks{chunk("+x", " b")}, "a\r\nx\r\nb"},
		"... is that of the line before":           {"a\nb\r\nc", chunks{chunk("+x", " c")}, "a\nb\r\nx\r\nc"},
		"second chunk right behind the first":      {"a\r\nb\nc\r\n", chunks{chunk("-a", "+x"), chunk("+y", " b")}, "x\r\ny\nb\nc\r\n"},
		"addition below a scope takes its ending":  {"a\nb\r\nc\n", chunks{chunk("@@ b", "+x")}, "a\nb\r\nx\r\nc\n"},
		"addition below nested scopes":             {"b\na\nb\nc\n", chunks{chunk("@@ a", "@@ b", "+x")}, "b\na\nb\nx\nc\n"},
		"addition below a scope, blank line after": {"a\nb\n", chunks{chunk("@@ a", "+x", " ")}, "a\nx\nb\n"},
		"addition with end of file, scope or not":  {"a\nb\n", chunks{chunk("@@ a", "+x", "$")}, "a\nb\nx\n"},
		"addition below the unfinished last line":  {"a\r\nb", chunks{chunk("@@ b", "+x")}, "a\r\nb\r\nx"},
		"lone CR is text beside LF":                {"a\rb\nc\n", chunks{chunk("-c", "+x")}, "a\rb\nx\n"},
		"line with a lone CR is found":             {"a\rb\nc\n", chunks{chunk("-a\rb", "+x")}, "x\nc\n"},
		"lone CR ends lines where no LF is":        {"a\rb\rc\r", chunks{chunk(" b", "+x")}, "a\rb\rx\rc\r"},
		"lone CR, unfinished":                      {"a\rb", chunks{chunk(" b", "+x")}, "a\rb\rx"},

		"final newline kept":                       {"a\nb\n", chunks{chunk("-b", "+x")}, "a\nx\n"},
		"none: last line replaced":                 {"a\nb", chunks{chunk("-b", "+x")}, "a\nx"},
		"none: last line replaced by two":          {"a\r\nb", chunks{chunk("-b", "+x", "+y")}, "a\r\nx\r\ny"},
		"none: only line replaced by two":          {"a", chunks{chunk("-a", "+x", "+y")}, "x\ny"},
		"none: last line removed":                  {"a\nb", chunks{chunk("-b")}, "a"},
		"none: last lines removed, CRLF":           {"a\r\nb\r\nc", chunks{chunk(" a", "-b", "-c")}, "a"},
		"none: lines removed before the last":      {"a\nb\nc", chunks{chunk("-b", " c")}, "a\nc"},
		"none: added behind the last line":         {"a\r\nb", chunks{chunk(" b", "+x")}, "a\r\nb\r\nx"},
		"none: added behind the only line":         {"a", chunks{chunk(" a", "+x", "+y")}, "a\nx\ny"},
		"none: added without context":              {"a\nb", chunks{chunk("+x")}, "a\nb\nx"},
		"none: added in front of the last line":    {"a\nb", chunks{chunk("+x", " b")}, "a\nx\nb"},
		"none: first line edited":                  {"a\nb", chunks{chunk("-a", "+x", " b")}, "x\nb"},
		"none: replaced and added by two chunks":   {"a\nb", chunks{chunk("-b", "+x"), chunk("+y")}, "a\nx\ny"},
		"none: context only changes nothing":       {"a\nb", chunks{chunk(" b")}, "a\nb"},
		"all removed":                              {"a\nb\n", chunks{chunk("-a", "-b")}, ""},
		"none: all removed":                        {"a\nb", chunks{chunk("-a", "-b")}, ""},
		"empty file gets a final newline":          {"", chunks{chunk("+x", "+y")}, "x\ny\n"},
		"file of a blank line":                     {"\n", chunks{chunk(" ", "+x")}, "\nx\n"},
		"blank lines at the end stay":              {"a\n\n\n", chunks{chunk("-a", "+b")}, "b\n\n\n"},
		"none: the end is the joining of lines":    {"a\n\nb", chunks{chunk("-b")}, "a\n"},
		"byte-order mark stays":                    {utf8BOM + "a\nb\n", chunks{chunk("-a", "+x", " b")}, utf8BOM + "x\nb\n"},
		"byte-order mark stays, first line gone":   {utf8BOM + "a\nb\n", chunks{chunk("-a", " b")}, utf8BOM + "b\n"},
		"byte-order mark stays, addition in front": {utf8BOM + "a\n", chunks{chunk("+x", " a")}, utf8BOM + "x\na\n"},
		"byte-order mark stays, all removed":       {utf8BOM + "a\r\n", chunks{chunk("-a")}, utf8BOM},
		"byte-order mark alone":                    {utf8BOM, chunks{chunk("+x")}, utf8BOM + "x\n"},
		"other encodings survive":                  {"caf\xe9\nb\n\xff\xfe\x00", chunks{chunk("-b", "+x")}, "caf\xe9\nx\n\xff\xfe\x00"},
		"bad bytes can be matched and written":     {"caf\xe9\n", chunks{chunk("-caf\xe9", "+th\xe9")}, "th\xe9\n"},
		"NUL bytes are bytes":                      {"a\x00b\nc\n", chunks{chunk(" a\x00b", "-c", "+\x00")}, "a\x00b\n\x00\n"},
		"context keeps the file's bytes":           {"  “a” \nb\n", chunks{chunk(` "a"`, "-b", "+x")}, "  “a” \nx\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, edited(t, carefulPolicy(), tt.file, tt.chunks...))
		})
	}
}

// The two rules are independent: a policy may mix them.
func TestSpliceMixedRules(t *testing.T) {
	t.Parallel()
	first := Policy{Ending: EndingOfFirstLine}
	assert.Equal(t, "a\r\nb\nx", edited(t, first, "a\r\nb\nc", chunk("-c", "+x")))
	assert.Equal(t, "a\r\nb\nx\r\ny", edited(t, first, "a\r\nb\nc", chunk("-c", "+x", "+y")))
	forced := Policy{ForceFinalNewline: true}
	assert.Equal(t, "a\r\nb\nx\n", edited(t, forced, "a\r\nb\nc", chunk("-c", "+x")))
}

func TestSpliceChangesLineEndings(t *testing.T) {
	t.Parallel()
	to := func(e LineEnding, c Chunk) Chunk { c.Ending = e; return c }
	for name, c := range map[string]struct {
		file  string
		chunk Chunk
		want  string
	}{
		"to CRLF":                   {"a\nb\nc\n", to(ToCRLF, chunk(" a", "-b", "-c", "+b", "+c")), "a\nb\r\nc\r\n"},
		"to LF":                     {"a\r\nb\r\nc\r\n", to(ToLF, chunk(" a", "-b", "+b", " c")), "a\r\nb\nc\r\n"},
		"and none of the last line": {"a\nb", to(ToCRLF, chunk("-a", "-b", "+a", "+b")), "a\r\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, edited(t, carefulPolicy(), c.file, c.chunk))
			back, err := Reverse(patchOf(update("f", c.chunk)))
			require.NoError(t, err)
			assert.Equal(t, c.file, edited(t, carefulPolicy(), c.want, back.Sections[0].Chunks[0]))
		})
	}
}
