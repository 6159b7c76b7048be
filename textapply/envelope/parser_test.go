package envelope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
)

func TestPushShowsWhatHasArrived(t *testing.T) {
	t.Parallel()
	var p envelope.Parser
	steps := []struct {
		delta string
		want  []textapply.Section
	}{
		{"*** Begin Patch\n*** Add File: a", nil},
		{"\r\n", []textapply.Section{{Kind: textapply.Add, Path: "a", Line: 2}}},
		{"+one\n+tw", []textapply.Section{{Kind: textapply.Add, Path: "a", Line: 2, Content: []string{"one"}}}},
		{"o\n*** Update File: b\n@@ f\n", []textapply.Section{
			{Kind: textapply.Add, Path: "a", Line: 2, Content: []string{"one", "two"}},
			{Kind: textapply.Update, Path: "b", Line: 5, Chunks: []textapply.Chunk{{Scopes: []string{"f"}, Line: 6}}},
		}},
		{"-x\n  *** End Patch", []textapply.Section{
			{Kind: textapply.Add, Path: "a", Line: 2, Content: []string{"one", "two"}},
			{Kind: textapply.Update, Path: "b", Line: 5, Chunks: []textapply.Chunk{
				{Scopes: []string{"f"}, Line: 6, Lines: []textapply.Line{{Op: textapply.Remove, Text: "x"}}},
			}},
		}},
	}
	var all string
	for _, step := range steps {
		sections, err := p.Push(step.delta)
		require.NoError(t, err)
		assert.Equal(t, step.want, append([]textapply.Section(nil), sections...), "after %q", step.delta)
		all += step.delta
	}
	patch, err := p.Finish()
	require.NoError(t, err)
	assert.Equal(t, all, patch.Text)
	assert.Equal(t, steps[len(steps)-1].want, patch.Sections)
}

func TestErrorComesWithThePushThatCompletesTheLine(t *testing.T) {
	t.Parallel()
	var p envelope.Parser
	_, err := p.Push("*** Begin Patch\n*** Delete File: a\nbad")
	require.NoError(t, err)
	sections, err := p.Push("\n*** Delete File: b\n")
	require.ErrorIs(t, err, envelope.ErrHeader)
	assert.Len(t, sections, 1)

	sections, again := p.Push("*** End Patch\n")
	assert.Same(t, err, again)
	assert.Len(t, sections, 1)
	patch, again := p.Finish()
	assert.Same(t, err, again)
	assert.Nil(t, patch)
}

func TestFinishJudgesTheLastLine(t *testing.T) {
	t.Parallel()
	update := "*** Begin Patch\n*** Update File: a\n-x\n"
	cases := map[string]struct {
		text string
		want error
	}{
		"nothing at all":                     {"", envelope.ErrEnd},
		"no Begin line":                      {"hello", envelope.ErrBegin},
		"End line alone":                     {"*** End Patch", envelope.ErrBegin},
		"no End line":                        {update, envelope.ErrEnd},
		"bad line":                           {update + "bad", envelope.ErrMarker},
		"line cut short":                     {update + "*** End Pat", envelope.ErrMarker},
		"End line without line feed":         {update + "*** End Patch", nil},
		"End line with line feed":            {update + "*** End Patch\n", nil},
		"indented End line":                  {update + "\t*** End Patch ", nil},
		"indented End line with line feed":   {update + " *** End Patch\n", envelope.ErrEnd},
		"End line twice":                     {update + "*** End Patch\n\n*** End Patch", nil},
		"End line twice with line feed":      {update + "*** End Patch\n*** End Patch\n", envelope.ErrEnd},
		"blanks behind the End line":         {update + "*** End Patch\n \n\t", nil},
		"text behind the End line":           {update + "*** End Patch\nx", envelope.ErrEnd},
		"blank line before the Begin line":   {"\n" + update + "*** End Patch", envelope.ErrBegin},
		"heredoc":                            {"<<EOF\n" + update + "*** End Patch\nEOF", envelope.ErrBegin},
		"empty chunk before an indented End": {"*** Begin Patch\n*** Update File: a\n@@\n *** End Patch", envelope.ErrEmptyChunk},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p envelope.Parser
			_, pushErr := p.Push(c.text)
			patch, err := p.Finish()
			require.ErrorIs(t, err, c.want)
			if pushErr != nil {
				assert.Same(t, pushErr, err)
			}
			assert.Equal(t, c.want == nil, patch != nil)
		})
	}
}

func TestAppendingToPushedSectionsLeavesTheParserAlone(t *testing.T) {
	t.Parallel()
	var p envelope.Parser
	sections, err := p.Push("*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** Delete File: c\n")
	require.NoError(t, err)
	_, err = p.Push("*** Delete File: d\n")
	require.NoError(t, err)
	_ = append(sections, textapply.Section{Path: "stray"})
	sections, err = p.Push("")
	require.NoError(t, err)
	assert.Equal(t, "d", sections[3].Path)
}

// A quadratic parser would need hours for this.
func TestSingleBytesArePushedInLinearTime(t *testing.T) {
	t.Parallel()
	text := wrap("*** Add File: a", strings.Repeat("+x\n", 1<<19)+"+"+strings.Repeat("y", 1<<20))
	var p envelope.Parser
	for i := range len(text) {
		_, err := p.Push(text[i : i+1])
		require.NoError(t, err)
	}
	patch, err := p.Finish()
	require.NoError(t, err)
	assert.Equal(t, 1<<19+1, len(patch.Sections[0].Content))
}
