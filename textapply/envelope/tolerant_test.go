package envelope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
)

// plainEnvelope is what every dressed-up form in these tests holds.
const plainEnvelope = "*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n-\told()\n+\tnew()\n*** End Patch\n"

func TestTolerantReadsAnEnvelopeIn(t *testing.T) {
	t.Parallel()
	want, err := envelope.Parse(plainEnvelope, envelope.Lenient)
	require.NoError(t, err)
	indented := "    " + strings.ReplaceAll(strings.TrimSuffix(plainEnvelope, "\n"), "\n", "\n    ") + "\n"
	tests := map[string]string{
		"nothing":                       plainEnvelope,
		"a code fence":                  "```\n" + plainEnvelope + "```\n",
		"a named code fence":            "```patch\n" + plainEnvelope + "```",
		"prose":                         "Here is the fix:\n\n" + plainEnvelope + "\nIt renames the call.\n",
		"prose with CRLF":               strings.ReplaceAll("Here:\n"+plainEnvelope+"Done.\n", "\n", "\r\n"),
		"a block quote's indentation":   "The fix:\n\n" + indented + "\nDone.\n",
		"indentation alone":             indented,
		"a shell command":               "apply_patch <<'PATCH'\n" + plainEnvelope + "PATCH\n",
		"a JSON array":                  `["apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n-\told()\n+\tnew()\n*** End Patch\n"]`,
		"a JSON object":                 `{"input": "*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n-\told()\n+\tnew()\n*** End Patch"}`,
		"a fence without an End line":   "```\n" + strings.TrimSuffix(plainEnvelope, "*** End Patch\n") + "```\n",
		"a heredoc without an End line": "apply_patch <<EOF\n" + strings.TrimSuffix(plainEnvelope, "*** End Patch\n") + "EOF\n",
		"nothing, and no End line":      strings.TrimSuffix(plainEnvelope, "*** End Patch\n"),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := envelope.Parse(text, envelope.Tolerant)
			require.NoError(t, err)
			assert.Equal(t, want.Sections, got.Sections)
			assert.True(t, strings.HasPrefix(got.Text, "*** Begin Patch\n"), got.Text)
			ended := strings.Contains(text, "*** End Patch")
			assert.Equal(t, !ended, strings.Contains(notesOf(got), "*** End Patch is missing"), "notes: %s", notesOf(got))
		})
	}
}

func notesOf(p *textapply.Patch) string {
	var all []string
	for _, n := range p.Notes {
		all = append(all, n.Message)
	}
	return strings.Join(all, "; ")
}

func TestTolerantReadsAllEnvelopesOfAText(t *testing.T) {
	t.Parallel()
	second := "*** Begin Patch\n*** Delete File: b.go\n*** End Patch\n"
	direct, err := envelope.Parse(plainEnvelope+second, envelope.Tolerant)
	require.NoError(t, err)
	require.Len(t, direct.Sections, 2, "one right behind the other")
	got, err := envelope.Parse("First:\n"+plainEnvelope+"Then:\n"+second, envelope.Tolerant)
	require.NoError(t, err)
	require.Len(t, got.Sections, 2)
	assert.Equal(t, "a.go", got.Sections[0].Path)
	assert.Equal(t, "b.go", got.Sections[1].Path)
	lines := strings.Split(got.Text, "\n")
	for _, s := range got.Sections {
		assert.Contains(t, lines[s.Line-1], s.Path, "the header's line counts in Text")
	}
}

func TestTolerantScopes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		markers string
		scopes  []string
		hint    int
	}{
		"none":                        {markers: "@@\n"},
		"one":                         {markers: "@@ def f():\n", scopes: []string{"def f():"}},
		"nested":                      {markers: "@@ class A:\n@@   def f():\n", scopes: []string{"class A:", "  def f():"}},
		"a bare one among others":     {markers: "@@\n@@ class A:\n@@\n", scopes: []string{"class A:"}},
		"closed by at signs":          {markers: "@@ def f(): @@\n", scopes: []string{"def f():"}},
		"dots":                        {markers: "@@ ... @@\n"},
		"numbers":                     {markers: "@@ -12,3 +14,5 @@\n", hint: 12},
		"numbers without counts":      {markers: "@@ -7 +7 @@\n", hint: 7},
		"numbers and a heading":       {markers: "@@ -12,3 +14,5 @@ def f():\n", scopes: []string{"def f():"}, hint: 12},
		"a scope that only looks so":  {markers: "@@ -x +y @@\n", scopes: []string{"-x +y"}},
		"text that ends in at signs":  {markers: "@@ a@@\n", scopes: []string{"a"}},
		"a scope, then numbers below": {markers: "@@ class A:\n@@ -3,1 +3,1 @@\n", scopes: []string{"class A:"}, hint: 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := envelope.Parse("*** Begin Patch\n*** Update File: a\n"+tt.markers+"-x\n+y\n*** End Patch", envelope.Tolerant)
			require.NoError(t, err)
			require.Len(t, got.Sections[0].Chunks, 1)
			c := got.Sections[0].Chunks[0]
			assert.Equal(t, tt.scopes, c.Scopes)
			assert.Equal(t, tt.hint, c.Hint)
		})
	}
}

func TestTolerantTakesLinesWithoutPrefixForContext(t *testing.T) {
	t.Parallel()
	got, err := envelope.Parse("*** Begin Patch\n*** Update File: a\n@@\ncontext\n-x\n+y\nmore\n*** End Patch", envelope.Tolerant)
	require.NoError(t, err)
	c := got.Sections[0].Chunks[0]
	assert.True(t, c.Unprefixed)
	assert.Equal(t, []string{"context", "x", "more"}, c.Old())
	assert.Len(t, got.Notes, 1, "one note for each such chunk")
	assert.Equal(t, 4, got.Notes[0].Line)
}

func TestTolerantStillRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want error
	}{
		"prose alone":                          {"hello", envelope.ErrBegin},
		"nothing":                              {" \n", envelope.ErrEnd},
		"a section cut off behind its header":  {"*** Begin Patch\n*** Update File: a\n", envelope.ErrEmptySection},
		"a chunk cut off behind its marker":    {"*** Begin Patch\n*** Update File: a\n@@\n-x\n@@ y\n", envelope.ErrEmptyChunk},
		"an added line without plus":           {"*** Begin Patch\n*** Add File: a\nx\n*** End Patch", envelope.ErrHeader},
		"a section behind the End line":        {plainEnvelope + "*** Delete File: b\n", envelope.ErrEnd},
		"a section amid the prose behind it":   {"Fix:\n" + plainEnvelope + "and\n*** Delete File: b\ntoo\n", envelope.ErrEnd},
		"a stray End line":                     {plainEnvelope + "text\n*** End Patch\nmore\n", envelope.ErrEnd},
		"an unknown marker":                    {"*** Begin Patch\n*** Update File: a\n@@\n-x\n*** Frobnicate\n*** End Patch", envelope.ErrMarker},
		"a line without prefix before a chunk": {"*** Begin Patch\n*** Update File: a\nx\n-y\n*** End Patch", envelope.ErrLine},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := envelope.Parse(tt.text, envelope.Tolerant)
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

// TestTolerantReadsWhatLenientReads holds the two readings together on the whole corpus, but for
// the texts behind "@@".
func TestTolerantReadsWhatLenientReads(t *testing.T) {
	t.Parallel()
	for _, r := range recordings(t) {
		text := r.Patch.Text
		want, err := envelope.Parse(text, envelope.Lenient)
		if err != nil {
			continue
		}
		got, err := envelope.Parse(text, envelope.Tolerant)
		require.NoError(t, err, "%q", text)
		require.Len(t, got.Sections, len(want.Sections))
		for i := range want.Sections {
			for k := range want.Sections[i].Chunks {
				want.Sections[i].Chunks[k].Scopes = got.Sections[i].Chunks[k].Scopes
				want.Sections[i].Chunks[k].Hint = got.Sections[i].Chunks[k].Hint
			}
		}
		assert.Equal(t, want.Sections, got.Sections, "%q", text)
		assert.Empty(t, got.Notes, "%q", text)
	}
}
