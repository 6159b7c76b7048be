package udiff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/udiff"
)

// git writes a tab behind a name with blanks, so that one at its end can be told from white space
// that somebody added.
func TestBlanksAtTheEndOfAName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ patch, path, moveTo string }{
		"a tab ends it": {"diff --git a/end  b/end \n--- a/end \t\n+++ b/end \t\n@@ -1 +1 @@\n-x\n+y\n", "end ", ""},
		"no tab":        {"--- a/end \n+++ b/end \n@@ -1 +1 @@\n-x\n+y\n", "end", ""},
		"a time":        {"--- a/end\t2020-01-01\n+++ b/end\t2020-01-02\n@@ -1 +1 @@\n-x\n+y\n", "end", ""},
		"a move":        {"diff --git a/x  b/y \nsimilarity index 100%\nrename from x \nrename to y \n", "x ", "y "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := udiff.Parse(c.patch)
			require.NoError(t, err)
			require.Len(t, p.Sections, 1)
			assert.Equal(t, c.path, p.Sections[0].Path)
			assert.Equal(t, c.moveTo, p.Sections[0].MoveTo)
		})
	}
}

// Behind numbers stands the function that git found above the hunk, which may be far above it.
func TestAHeadingIsNoPlaceForAdditions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hunk   string
		scopes []string
	}{
		"only additions":              {"@@ -12,0 +13,2 @@ func f() {\n+x\n+y\n", nil},
		"old lines too":               {"@@ -12 +13,2 @@ func f() {\n x\n+y\n", []string{"func f() {"}},
		"only additions, not counted": {"@@ func f() {\n+x\n", []string{"func f() {"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := udiff.Parse("--- a/f\n+++ b/f\n" + c.hunk)
			require.NoError(t, err)
			assert.Equal(t, c.scopes, p.Sections[0].Chunks[0].Scopes)
		})
	}
}

func TestTheByteOrderMarkIsNoPartOfTheFirstLine(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	for name, c := range map[string]struct {
		hunk string
		want []textapply.Line
	}{
		"on both sides": {"@@ -1 +1 @@\n-" + mark + "x\n+" + mark + "y\n", []textapply.Line{{Op: textapply.Remove, Text: "x"}, {Op: textapply.Insert, Text: "y"}}},
		"of context":    {"@@ -1 +1,2 @@\n " + mark + "x\n+y\n", []textapply.Line{{Text: "x"}, {Op: textapply.Insert, Text: "y"}}},
		"taken away":    {"@@ -1 +1 @@\n-" + mark + "x\n+x\n", []textapply.Line{{Op: textapply.Remove, Text: mark + "x"}, {Op: textapply.Insert, Text: "x"}}},
		"further down":  {"@@ -5 +5 @@\n-" + mark + "x\n+" + mark + "y\n", []textapply.Line{{Op: textapply.Remove, Text: mark + "x"}, {Op: textapply.Insert, Text: mark + "y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := udiff.Parse("--- a/f\n+++ b/f\n" + c.hunk)
			require.NoError(t, err)
			assert.Equal(t, c.want, p.Sections[0].Chunks[0].Lines)
		})
	}
}
