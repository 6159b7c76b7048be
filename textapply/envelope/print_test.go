package envelope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
)

func TestPrintSpellsEveryPart(t *testing.T) {
	t.Parallel()
	text, err := envelope.Print(&textapply.Patch{
		EnvironmentID: "remote",
		Sections: []textapply.Section{
			{Kind: textapply.Add, Path: "a", Content: []string{"x", "", "kept\r"}},
			{Kind: textapply.Delete, Path: " b"},
			{Kind: textapply.Update, Path: "c", MoveTo: "d", Chunks: []textapply.Chunk{
				{Lines: []textapply.Line{{Op: textapply.Context}, {Op: textapply.Remove, Text: "old"}}},
				{Scopes: []string{" f"}, EOF: true, Lines: []textapply.Line{{Op: textapply.Insert, Text: "new"}}},
			}},
		},
	})
	require.NoError(t, err)
	assert.Equal(t, wrap(
		"*** Environment ID: remote",
		"*** Add File: a",
		"+x",
		"+",
		"+kept\r\r\r",
		"*** Delete File:  b",
		"*** Update File: c",
		"*** Move to: d",
		"@@",
		" ",
		"-old",
		"@@  f",
		"+new",
		"*** End of File",
	), text)
}

func TestPrintRefusesWhatWouldNotReadBack(t *testing.T) {
	t.Parallel()
	line := []textapply.Line{{Op: textapply.Insert, Text: "x"}}
	update := func(c textapply.Chunk) textapply.Section {
		return textapply.Section{Kind: textapply.Update, Path: "a", Chunks: []textapply.Chunk{{Lines: line}, c}}
	}
	cases := map[string]struct {
		section textapply.Section
		chunk   int
	}{
		"no path":                     {textapply.Section{Kind: textapply.Delete}, 0},
		"line feed in the path":       {textapply.Section{Kind: textapply.Delete, Path: "a\nb"}, 0},
		"blank at the path's end":     {textapply.Section{Kind: textapply.Delete, Path: "a\u3000"}, 0},
		"path of blanks":              {textapply.Section{Kind: textapply.Delete, Path: "  "}, 0},
		"line feed in the new name":   {textapply.Section{Kind: textapply.Update, Path: "a", MoveTo: "\nb", Chunks: []textapply.Chunk{{Lines: line}}}, 0},
		"line feed in content":        {textapply.Section{Path: "a", Content: []string{"x\n"}}, 0},
		"addition with a new name":    {textapply.Section{Path: "a", MoveTo: "b"}, 0},
		"addition with chunks":        {textapply.Section{Path: "a", Chunks: []textapply.Chunk{{Lines: line}}}, 0},
		"deletion with content":       {textapply.Section{Kind: textapply.Delete, Path: "a", Content: []string{"x"}}, 0},
		"update without chunks":       {textapply.Section{Kind: textapply.Update, Path: "a"}, 0},
		"unknown kind of section":     {textapply.Section{Kind: textapply.Update + 1, Path: "a"}, 0},
		"chunk without lines":         {update(textapply.Chunk{EOF: true}), 2},
		"nested scopes":               {update(textapply.Chunk{Scopes: []string{"f", "g"}, Lines: line}), 2},
		"empty scope":                 {update(textapply.Chunk{Scopes: []string{""}, Lines: line}), 2},
		"blank at the scope's end":    {update(textapply.Chunk{Scopes: []string{"f\r"}, Lines: line}), 2},
		"line feed in a chunk's line": {update(textapply.Chunk{Lines: []textapply.Line{{Text: "x\ny"}}}), 2},
		"unknown kind of line":        {update(textapply.Chunk{Lines: []textapply.Line{{Op: textapply.Insert + 1}}}), 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := textapply.Section{Kind: textapply.Delete, Path: "good"}
			_, err := envelope.Print(&textapply.Patch{Sections: []textapply.Section{good, c.section}})
			require.ErrorIs(t, err, envelope.ErrUnprintable)
			var printErr *envelope.PrintError
			require.ErrorAs(t, err, &printErr)
			assert.Equal(t, 2, printErr.Section)
			assert.Equal(t, c.section.Path, printErr.Path)
			assert.Equal(t, c.chunk, printErr.Chunk)
		})
	}
	for name, id := range map[string]string{"blank in front": " a", "blank behind": "a\t", "line feed": "a\nb"} {
		t.Run("environment ID with "+name, func(t *testing.T) {
			t.Parallel()
			_, err := envelope.Print(&textapply.Patch{EnvironmentID: id})
			assert.ErrorIs(t, err, envelope.ErrUnprintable)
		})
	}
}

func TestPrintedPatchReadsBackEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPatch(t, drawName, drawLine)
		text, err := envelope.Print(p)
		require.NoError(t, err)
		requireReadsBack(t, p, text)
	})
}

// Here names and lines may hold anything, so that Print has to tell what it can write.
func TestPrintNeverWritesAnotherPatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPatch(t, drawText, drawText)
		text, err := envelope.Print(p)
		if err != nil {
			require.ErrorIs(t, err, envelope.ErrUnprintable)
			return
		}
		requireReadsBack(t, p, text)
	})
}

func requireReadsBack(t require.TestingT, p *textapply.Patch, text string) {
	for _, mode := range []envelope.Mode{envelope.Lenient, envelope.Strict} {
		got, err := envelope.Parse(text, mode)
		require.NoError(t, err)
		require.Equal(t, withoutPlaces(p), withoutPlaces(got))
	}
}

// withoutPlaces returns a copy of p without what Print does not carry over.
func withoutPlaces(p *textapply.Patch) *textapply.Patch {
	c := textapply.Patch{Format: envelope.Format, EnvironmentID: p.EnvironmentID}
	for _, s := range p.Sections {
		s.Line = 0
		chunks := s.Chunks
		s.Chunks = nil
		for _, chunk := range chunks {
			chunk.Line = 0
			s.Chunks = append(s.Chunks, chunk)
		}
		c.Sections = append(c.Sections, s)
	}
	return &c
}

// drawText draws text full of what means something to the parser.
func drawText(t *rapid.T, label string) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b/c", "é", " ", "\t", "\r", "\n", "\u00a0", "\u2028", "\u200b", "\xff", "@@", "+", "-",
		"*** End Patch", "*** Add File: ", "*** End of File", "<<EOF",
	}), 0, 4)
	return strings.Join(pieces.Draw(t, label), "")
}

func drawLine(t *rapid.T, label string) string {
	return strings.ReplaceAll(drawText(t, label), "\n", "")
}

// drawName draws text that can stand behind a marker, blanks in front included.
func drawName(t *rapid.T, label string) string {
	return drawLine(t, label) + rapid.SampledFrom([]string{"x", "*", "\u200b"}).Draw(t, label)
}

// drawPatch draws a patch that can be printed if its texts can.
func drawPatch(t *rapid.T, name, line func(*rapid.T, string) string) *textapply.Patch {
	p := &textapply.Patch{Format: envelope.Format}
	if rapid.Bool().Draw(t, "has environment") {
		p.EnvironmentID = strings.TrimSpace(name(t, "environment"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "sections") {
		s := textapply.Section{Path: name(t, "path")}
		s.Kind = rapid.SampledFrom([]textapply.SectionKind{textapply.Add, textapply.Delete, textapply.Update}).Draw(t, "kind")
		switch s.Kind {
		case textapply.Add:
			for range rapid.IntRange(0, 3).Draw(t, "lines") {
				s.Content = append(s.Content, line(t, "content"))
			}
		case textapply.Update:
			if rapid.Bool().Draw(t, "moves") {
				s.MoveTo = name(t, "new name")
			}
			for range rapid.IntRange(1, 3).Draw(t, "chunks") {
				s.Chunks = append(s.Chunks, drawChunk(t, name, line))
			}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

func drawChunk(t *rapid.T, name, line func(*rapid.T, string) string) textapply.Chunk {
	c := textapply.Chunk{EOF: rapid.Bool().Draw(t, "at the end")}
	if rapid.Bool().Draw(t, "has scope") {
		c.Scopes = []string{name(t, "scope")}
	}
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		op := rapid.SampledFrom([]textapply.Op{textapply.Context, textapply.Remove, textapply.Insert}).Draw(t, "op")
		c.Lines = append(c.Lines, textapply.Line{Op: op, Text: line(t, "line")})
	}
	return c
}
