package udiff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/udiff"
)

// outline writes a patch down in a short form: a line for each section, then its chunks.
func outline(p *textapply.Patch) string {
	var b strings.Builder
	for _, s := range p.Sections {
		b.WriteString([]string{"add ", "delete ", "update "}[s.Kind] + s.Path)
		if s.MoveTo != "" {
			b.WriteString(" > " + s.MoveTo)
		}
		b.WriteString([]string{"", " +x", " -x"}[s.Executable])
		if s.Blob != "" {
			b.WriteString(" " + s.Blob)
		}
		b.WriteString("\n")
		for _, l := range s.Content {
			b.WriteString("  | " + l + "\n")
		}
		if s.NoFinalNewline {
			b.WriteString("  | (no newline)\n")
		}
		for _, c := range s.Chunks {
			b.WriteString("  @" + strings.Repeat("#", 0) + " " + strings.Join(c.Scopes, ">") + hintText(c) + "\n")
			for _, l := range c.Lines {
				b.WriteString("  " + []string{" ", "-", "+"}[l.Op] + l.Text + "\n")
			}
		}
	}
	return b.String()
}

func hintText(c textapply.Chunk) string {
	var b strings.Builder
	if c.Hint > 0 {
		b.WriteString(" line " + string(rune('0'+c.Hint%10)))
	}
	if c.EOF {
		b.WriteString(" eof")
	}
	b.WriteString([]string{"", " removed", " added"}[c.Final])
	return b.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"git's own": {
			"diff --git a/f.go b/f.go\nindex 1234567..89abcde 100644\n--- a/f.go\n+++ b/f.go\n@@ -1,3 +1,3 @@ func f() {\n a\n-b\n+B\n c\n",
			"update f.go 1234567\n  @ func f() { line 1\n   a\n  -b\n  +B\n   c\n",
		},
		"without a git line": {
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
			"update f\n  @  line 1\n  -a\n  +b\n",
		},
		"without prefixes": {
			"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n",
			"update f\n  @  line 1\n  -a\n  +b\n",
		},
		"a prefix on one side": {
			"--- a/f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n--- g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
			"update f\n  @  line 1\n  -a\n  +b\nupdate g\n  @  line 1\n  -a\n  +b\n",
		},
		"a folder named like a prefix": {
			"--- b/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
			"update b/f\n  @  line 1\n  -a\n  +b\n",
		},
		"git's mnemonic prefixes": {
			"diff --git i/f w/f\n--- i/f\n+++ w/f\n@@ -1 +1 @@\n-a\n+b\n" +
				"diff --git i/n w/n\nnew file mode 100644\n--- /dev/null\n+++ w/n\n@@ -0,0 +1 @@\n+a\n" +
				"diff --git i/o w/o\ndeleted file mode 100644\n--- i/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
			"update f\n  @  line 1\n  -a\n  +b\nadd n\n  | a\ndelete o\n  | a\n",
		},
		"two copies of a tree": {
			"--- old/d/f\n+++ new/d/f\n@@ -1 +1 @@\n-a\n+b\n",
			"update d/f\n  @  line 1\n  -a\n  +b\n",
		},
		"a copy of the file": {
			"--- f.orig\n+++ f\n@@ -1 +1 @@\n-a\n+b\n--- g\n+++ g.new\n@@ -1 +1 @@\n-a\n+b\n",
			"update f\n  @  line 1\n  -a\n  +b\nupdate g\n  @  line 1\n  -a\n  +b\n",
		},
		"two names with git's prefixes": {
			"--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
			"update f > g\n  @  line 1\n  -a\n  +b\n",
		},
		"with times": {
			"--- f\t2026-01-01 00:00:00\n+++ f\t2026-01-01 00:00:01\n@@ -1 +1 @@\n-a\n+b\n",
			"update f\n  @  line 1\n  -a\n  +b\n",
		},
		"no numbers": {
			"--- a/f\n+++ b/f\n@@ ... @@\n-a\n+b\n@@\n c\n+d\n@@ func g()\n-e\n",
			"update f\n  @ \n  -a\n  +b\n  @ \n   c\n  +d\n  @ func g()\n  -e\n",
		},
		"an addition": {
			"diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n",
			"add n +x\n  | a\n  | b\n",
		},
		"an empty file": {"diff --git a/n b/n\nnew file mode 100644\nindex 0000000..e69de29\n", "add n 0000000\n"},
		"an addition without final newline": {
			"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
			"add n\n  | a\n  | (no newline)\n",
		},
		"a deletion": {
			"diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
			"delete n\n  | a\n  | b\n",
		},
		"a rename with an edit": {
			"diff --git a/o b/n\nsimilarity index 50%\nrename from o\nrename to n\n--- a/o\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n",
			"update o > n\n  @  line 1\n  -a\n  +b\n",
		},
		"a rename alone": {
			"diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n",
			"update o > n\n",
		},
		"a mode alone":      {"diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "update f +x\n"},
		"a mode taken":      {"diff --git a/f b/f\nold mode 100755\nnew mode 100644\n", "update f -x\n"},
		"a name with blank": {"diff --git a/a b c b/a b c\nold mode 100644\nnew mode 100755\n", "update a b c +x\n"},
		"quoted names": {
			"--- \"a/t\\tab\\303\\244\"\n+++ \"b/t\\tab\\303\\244\"\n@@ -1 +1 @@\n-a\n+b\n",
			"update t\tab\u00e4\n  @  line 1\n  -a\n  +b\n",
		},
		"the last line loses its newline": {
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
			"update f\n  @  line 1 eof removed\n  -a\n  +a\n",
		},
		"the last line gets a newline": {
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
			"update f\n  @  line 1 eof added\n  -a\n  +a\n",
		},
		"neither has a newline": {
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n",
			"update f\n  @  line 1 eof\n  -a\n  +b\n   c\n",
		},
		"in a fence": {
			"The fix:\n```diff\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n```\nDone.\n",
			"update f\n  @  line 1\n  -a\n  +b\n   c\n",
		},
		"in a fence without counts": {
			"```diff\n--- a/f\n+++ b/f\n@@ @@\n-a\n+b\n c\n```\nDone.\n",
			"update f\n  @ \n  -a\n  +b\n   c\n",
		},
		"a mailed patch": {
			"Subject: x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n",
			"update f\n  @  line 1\n  -a\n  +b\n",
		},
		"CRLF": {
			"--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n",
			"update f\n  @  line 1\n  -a\n  +b\n",
		},
		"counts too small": {
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n d\n",
			"update f\n  @  line 1\n  -a\n  +b\n  +c\n   d\n",
		},
		"counts too large": {
			"--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n-a\n+b\n@@ -20,5 +20,5 @@\n-c\n+d\n",
			"update f\n  @  line 1\n  -a\n  +b\n  @  line 0\n  -c\n  +d\n",
		},
		"a removed line that looks like a header": {
			"--- a/f.sql\n+++ b/f.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new comment\n x\n",
			"update f.sql\n  @  line 1\n  --- old comment\n  +++ new comment\n   x\n",
		},
		"blank context that lost its blank": {
			"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n",
			"update f\n  @  line 1\n   a\n   \n  -b\n  +c\n",
		},
		"two files": {
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
			"update f\n  @  line 1\n  -a\n  +b\nupdate g\n  @  line 1\n  -a\n  +b\n",
		},
		"blank lines between files without counts": {
			"--- a/f\n+++ b/f\n@@ @@\n-a\n+b\n\n--- a/g\n+++ b/g\n@@ @@\n-a\n+b\n\n",
			"update f\n  @ \n  -a\n  +b\nupdate g\n  @ \n  -a\n  +b\n",
		},
		"an addition behind a line": {
			"--- a/f\n+++ b/f\n@@ -5,0 +6 @@\n+x\n",
			"update f\n  @  line 6\n  +x\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := udiff.Parse(tt.text)
			require.NoError(t, err)
			assert.Equal(t, tt.want, outline(p))
			assert.Equal(t, udiff.Format, p.Format)
			assert.Equal(t, tt.text, p.Text)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want error
		line int
	}{
		"prose":                       {"hello\nworld\n", udiff.ErrNoDiff, 1},
		"a hunk without a file":       {"@@ -1 +1 @@\n-a\n+b\n", udiff.ErrNoName, 1},
		"two names":                   {"--- f\n+++ g\n@@ -1 +1 @@\n-a\n+b\n", udiff.ErrTwoNames, 1},
		"two folders":                 {"--- src/f\n+++ lib/f\n@@ -1 +1 @@\n-a\n+b\n", udiff.ErrTwoNames, 1},
		"a merge":                     {"diff --cc f\n", udiff.ErrUnsupported, 1},
		"a copy":                      {"diff --git a/f b/g\ncopy from f\ncopy to g\n", udiff.ErrUnsupported, 2},
		"binary contents":             {"diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\n", udiff.ErrUnsupported, 3},
		"binary files that differ":    {"diff --git a/f b/f\nBinary files a/f and b/f differ\n", udiff.ErrUnsupported, 2},
		"a link":                      {"diff --git a/f b/f\nnew file mode 120000\n", udiff.ErrUnsupported, 2},
		"a link that goes":            {"diff --git a/f b/f\ndeleted file mode 120000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", udiff.ErrUnsupported, 2},
		"a submodule that goes":       {"diff --git a/f b/f\ndeleted file mode 160000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", udiff.ErrUnsupported, 2},
		"a section that says nothing": {"diff --git a/f b/f\nindex 1234567..89abcde 100644\n", udiff.ErrEmpty, 1},
		"a hunk without lines":        {"--- a/f\n+++ b/f\n@@ -1 +1 @@\n", udiff.ErrEmpty, 3},
		"a line without prefix":       {"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\nb\n", udiff.ErrLine, 5},
		"old lines in a new file":     {"--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", udiff.ErrLine, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := udiff.Parse(tt.text)
			require.ErrorIs(t, err, tt.want)
			var pe *udiff.ParseError
			require.ErrorAs(t, err, &pe)
			assert.Equal(t, tt.line, pe.Line)
		})
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	assert.True(t, udiff.Looks("x\ndiff --git a/f b/f\n"))
	assert.True(t, udiff.Looks("--- a/f\n+++ b/f\n@@ -1 +1 @@\n"))
	assert.False(t, udiff.Looks("--- a/f\n@@\n"))
	assert.False(t, udiff.Looks("a --- b\n+++ c\n"))
	assert.False(t, udiff.Looks("*** Begin Patch\n@@\n-a\n"))
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	assert.True(t, udiff.Numbered("--- a\n+++ b\n@@ -1,2 +3 @@ f()\n x\n"))
	assert.True(t, udiff.Numbered("--- a\r\n+++ b\r\n@@ -1 +1 @@\r\n-x\r\n"))
	assert.True(t, udiff.Numbered("a mode alone"))
	assert.False(t, udiff.Numbered("--- a\n+++ b\n@@ -1 +1 @@\n-x\n@@ ... @@\n-y\n"))
	assert.False(t, udiff.Numbered("--- a\n+++ b\n@@\n-y\n"))
}

func FuzzParse(f *testing.F) {
	f.Add("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ x\n a\n-b\n+c\n\\ No newline at end of file\n")
	f.Add("--- /dev/null\n+++ \"b/\\303\"\n@@ @@\n+a\n\n```\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := udiff.Parse(text)
		if err != nil {
			var pe *udiff.ParseError
			require.ErrorAs(t, err, &pe)
			return
		}
		for _, s := range p.Sections {
			require.NotEmpty(t, s.Path+s.MoveTo)
			for _, c := range s.Chunks {
				require.NotEmpty(t, c.Lines)
			}
		}
	})
}

// A diff whose own lines end in LF gives every byte of a file that is new or gone; one that was converted as
// a whole says nothing about the file's line endings.
func TestLineEndingsOfWholeFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"new, CRLF":              {"--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n", []string{"a\r", "b\r"}},
		"new, mixed":             {"--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\r\n+b\n", []string{"a\r", "b"}},
		"new, by its mode":       {"diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\r\n", []string{"a\r"}},
		"gone, CRLF":             {"--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\r\n-b\r\n", []string{"a\r", "b\r"}},
		"gone, CR at the end":    {"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\rb\r\n\\ No newline at end of file\n", []string{"a\rb\r"}},
		"new, a converted diff":  {"--- /dev/null\r\n+++ b/f\r\n@@ -0,0 +1,2 @@\r\n+a\r\n+b\r\n", []string{"a", "b"}},
		"gone, a converted diff": {"--- a/f\r\n+++ /dev/null\r\n@@ -1 +0,0 @@\r\n-a\r\n", []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := udiff.Parse(c.text)
			require.NoError(t, err)
			require.Len(t, p.Sections, 1)
			assert.Equal(t, c.want, p.Sections[0].Content)
		})
	}
}

// A hunk that changes nothing but line endings changes them; what others seem to say of them is by chance.
func TestHunksThatChangeLineEndings(t *testing.T) {
	t.Parallel()
	const head = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n"
	for name, c := range map[string]struct {
		text string
		want textapply.LineEnding
	}{
		"to CRLF":                {head + " a\n-b\n-c\n+b\r\n+c\r\n", textapply.ToCRLF},
		"to LF":                  {head + " a\r\n-b\r\n-c\r\n+b\n+c\n", textapply.ToLF},
		"of each line by itself": {head + "-a\n+a\r\n-b\n+b\r\n c\n", textapply.ToCRLF},
		"of some only":           {head + " a\n-b\n-c\n+b\r\n+c\n", textapply.KeepEnding},
		"and more":               {head + " a\r\n-b\r\n+b\n+x\n", textapply.KeepEnding},
		"only others":            {head + " a\r\n-b\r\n+x\n", textapply.KeepEnding},
		"none":                   {head + " a\n-b\n+b\n", textapply.KeepEnding},
		"a converted diff":       {strings.ReplaceAll(head+" a\n-b\n+b\n", "\n", "\r\n"), textapply.KeepEnding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := udiff.Parse(c.text)
			require.NoError(t, err)
			require.Len(t, p.Sections, 1)
			require.Len(t, p.Sections[0].Chunks, 1)
			assert.Equal(t, c.want, p.Sections[0].Chunks[0].Ending)
			for _, l := range p.Sections[0].Chunks[0].Lines {
				assert.NotContains(t, l.Text, "\r")
			}
		})
	}
}
