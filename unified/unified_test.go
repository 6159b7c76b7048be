package unified_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/unified"
)

// edit replaces the one occurrence of old in base.
func edit(base, old, new string) change.Edit {
	at := strings.Index(base, old)
	if at < 0 || strings.Count(base, old) != 1 {
		panic(fmt.Sprintf("%q does not stand once in %q", old, base))
	}
	return change.Edit{Start: at, End: at + len(old), New: []byte(new)}
}

// edited is the change of a file by edits.
func edited(path, base string, edits ...change.Edit) change.Change {
	after := change.ApplyEdits([]byte(base), edits)
	return change.Change{Path: path, Before: file(base), After: file(string(after)), Edits: edits}
}

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestWrite(t *testing.T) {
	t.Parallel()
	long := numbered(1, 30)
	cases := map[string]struct {
		changes []change.Change
		options unified.Options
		want    string
	}{
		"no changes give nothing": {want: ""},
		"an unchanged file gives nothing": {
			changes: []change.Change{{Path: "a", Before: file("x\n"), After: file("x\n")}},
		},
		"one edit has three lines of context": {
			changes: []change.Change{edited("a.txt", long, edit(long, "line 10\n", "ten\n"))},
			want: "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -7,7 +7,7 @@\n" +
				" line 7\n line 8\n line 9\n-line 10\n+ten\n line 11\n line 12\n line 13\n",
		},
		"an edit inside a line shows the whole line": {
			changes: []change.Change{edited("a.txt", "one\ntwo\n", edit("one\ntwo\n", "w", "W"))},
			options: unified.Options{Context: -1},
			want:    "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+tWo\n",
		},
		"unchanged lines inside an edit are context": {
			changes: []change.Change{edited("a", "1\n2\n3\n", edit("1\n2\n3\n", "1\n2\n3\n", "1\nx\n3\n"))},
			want:    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n",
		},
		"six lines between edits are one hunk": {
			changes: []change.Change{edited("a", long, edit(long, "line 10\n", ""), edit(long, "line 17\n", "x\n"))},
			want: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -7,14 +7,13 @@\n line 7\n line 8\n line 9\n-line 10\n" +
				" line 11\n line 12\n line 13\n line 14\n line 15\n line 16\n-line 17\n+x\n line 18\n line 19\n line 20\n",
		},
		"seven lines between edits are two hunks, the second shifted": {
			changes: []change.Change{edited("a", long, edit(long, "line 10\n", "a\nb\n"), edit(long, "line 18\n", "x\n"))},
			want: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+a\n+b\n" +
				" line 11\n line 12\n line 13\n@@ -15,7 +16,7 @@\n line 15\n line 16\n line 17\n-line 18\n+x\n line 19\n line 20\n line 21\n",
		},
		"two texts without edits are compared": {
			changes: []change.Change{{Path: "a", Before: file(long), After: file(strings.Replace(long, "line 30\n", "end", 1))}},
			options: unified.Options{Context: 1},
			want: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -29,2 +29,2 @@\n line 29\n-line 30\n+end\n" +
				"\\ No newline at end of file\n",
		},
		"a common last line without newline is context": {
			changes: []change.Change{{Path: "a", Before: file("a\nb"), After: file("c\nb")}},
			want:    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n",
		},
		"a new final newline shows both": {
			changes: []change.Change{edited("a", "b", change.Edit{Start: 1, End: 1, New: []byte("\n")})},
			want:    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+b\n",
		},
		"carriage returns stay": {
			changes: []change.Change{{Path: "a", Before: file("a\r\nb\r\n"), After: file("a\r\nc\rd\r\n")}},
			want:    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\rd\r\n",
		},
		"a new program": {
			changes: []change.Change{{Path: "d/run", After: program("x\n")}},
			want:    "diff --git a/d/run b/d/run\nnew file mode 100755\n--- /dev/null\n+++ b/d/run\n@@ -0,0 +1 @@\n+x\n",
		},
		"a new empty file has a header only": {
			changes: []change.Change{{Path: "e", After: change.State{Kind: change.File}}},
			want:    "diff --git a/e b/e\nnew file mode 100644\n",
		},
		"a deletion": {
			changes: []change.Change{{Path: "a", Before: file("x\ny\n")}},
			want:    "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n",
		},
		"a mode alone": {
			changes: []change.Change{{Path: "a b", Before: file("x\n"), After: program("x\n")}},
			want:    "diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n",
		},
		"a rename is one section at the new name": {
			changes: []change.Change{
				{Path: "old", Before: file("same\n")},
				{Path: "z", After: file("")},
				{Path: "new", OldPath: "old", After: file("same\n")},
			},
			want: "diff --git a/z b/z\nnew file mode 100644\n" +
				"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n",
		},
		"a rename with an edit and a mode": {
			changes: []change.Change{
				{Path: "old", Before: file("1\n2\n3\n4\n")},
				{
					Path: "new", OldPath: "old", After: program("1\n2\nx\n4\n"),
					Edits: []change.Edit{edit("1\n2\n3\n4\n", "3", "x")},
				},
			},
			options: unified.Options{Context: 1},
			want: "diff --git a/old b/new\nold mode 100644\nnew mode 100755\nsimilarity index 75%\nrename from old\nrename to new\n" +
				"--- a/old\n+++ b/new\n@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n",
		},
		"a rename over a file is a removal and an edit": {
			changes: []change.Change{
				{Path: "old", Before: file("1\n")},
				{Path: "new", OldPath: "old", Before: file("2\n"), After: file("1\n"), Edits: []change.Edit{}},
			},
			want: "diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" +
				"diff --git a/new b/new\n--- a/new\n+++ b/new\n@@ -1 +1 @@\n-2\n+1\n",
		},
		"a copy is a new file": {
			changes: []change.Change{{Path: "new", OldPath: "old", After: file("1\n"), Edits: []change.Edit{}}},
			want:    "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n",
		},
		"a link that moves its target names its mode": {
			changes: []change.Change{{Path: "l", Before: link("a"), After: link("b")}},
			want: "diff --git a/l b/l\n" +
				"index 2e65efe2a145dda7ee51d1741299f848e5bf752e..63d8dbd40c23542e740659a7168a0ce3138ea748 120000\n" +
				"--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
		},
		"a file that becomes a link is two sections": {
			changes: []change.Change{{Path: "l", Before: file("x\n"), After: link("t")}},
			want: "diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
				"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+t\n\\ No newline at end of file\n",
		},
		"a directory is not shown": {
			changes: []change.Change{{Path: "d", Before: change.State{Kind: change.Dir}}},
		},
		"names with blanks end in a tab, odd ones are quoted": {
			changes: []change.Change{
				{Path: "a b", Before: file("x\n"), After: file("y\n")},
				{Path: "t\tü \"", Before: file("x\n"), After: file("y\n")},
			},
			want: "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+y\n" +
				`diff --git "a/t\t\303\274 \"" "b/t\t\303\274 \""` + "\n" + `--- "a/t\t\303\274 \""` + "\t\n" +
				`+++ "b/t\t\303\274 \""` + "\t\n@@ -1 +1 @@\n-x\n+y\n",
		},
		"an absolute path stands as it is": {
			changes: []change.Change{{Path: "/etc/x", Before: file("x\n"), After: file("y\n")}},
			want:    "diff --git /etc/x /etc/x\n--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-x\n+y\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, string(render(t, c.changes, c.options)))
		})
	}
}

func TestWriteNamesBinaryContents(t *testing.T) {
	t.Parallel()
	const (
		none = "0000000000000000000000000000000000000000"
		nul  = "f76dd238ade08917e6712764a16a22005a50573d" // git hash-object of one NUL byte
	)
	cases := map[string]struct {
		change change.Change
		want   string
	}{
		"added": {
			change.Change{Path: "b", After: file("\x00")},
			"new file mode 100644\nindex " + none + ".." + nul + "\nGIT binary patch\nliteral 1\n",
		},
		"removed": {
			change.Change{Path: "b", Before: file("\x00")},
			"deleted file mode 100644\nindex " + nul + ".." + none + "\nGIT binary patch\nliteral 0\n",
		},
		"modified": {
			change.Change{Path: "b", Before: program("\x00"), After: program("")},
			"index " + nul + "..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 100755\nGIT binary patch\nliteral 0\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(render(t, []change.Change{c.change}, unified.Options{}))
			want := "diff --git a/b b/b\n" + c.want
			assert.Equal(t, want, got[:min(len(want), len(got))])
		})
	}
}

func TestWriteDoesNotBelieveWrongEdits(t *testing.T) {
	t.Parallel()
	const want = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+x\n 2\n"
	cases := map[string][]change.Edit{
		"other text":     {{Start: 0, End: 1, New: []byte("y")}},
		"out of bounds":  {{Start: 0, End: 90, New: []byte("x")}},
		"backwards":      {{Start: 1, End: 0}},
		"negative":       {{Start: -1, End: 1, New: []byte("x")}},
		"overlapping":    {{Start: 0, End: 2, New: []byte("x\n")}, {Start: 1, End: 2}},
		"too little":     {},
		"too much added": {{Start: 0, End: 1, New: []byte("x\n2\nand more than there is")}},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := change.Change{Path: "a", Before: file("1\n2\n"), After: file("x\n2\n"), Edits: edits}
			assert.Equal(t, want, string(render(t, []change.Change{c}, unified.Options{})))
		})
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	base := "1\n2\n3\n"
	changes := []change.Change{
		edited("a", base, edit(base, "2\n", "x\ny")),
		{Path: "old", Before: file(base)},
		{Path: "new", OldPath: "old", After: file("1\n3\n"), Edits: []change.Edit{edit(base, "2\n", "")}},
		{Path: "bin", Before: file("\x00"), After: file("1\n")},
		{Path: "gone", Before: file("no newline")},
		{Path: "turned", Before: file("1\n2\n"), After: link("t")},
		{Path: "mode", Before: file("1\n"), After: program("1\n")},
	}
	want := []unified.Count{
		{Added: 2, Removed: 2}, // the missing newline drags the third line in
		{},
		{Removed: 1},
		{Binary: true},
		{Removed: 1},
		{Added: 1, Removed: 2},
		{},
	}
	assert.Equal(t, want, unified.Stats(changes))

	added, removed := unified.Stat(changes[0])
	assert.Equal(t, 2, added)
	assert.Equal(t, 2, removed)
	added, removed = unified.Stat(changes[2])
	assert.Equal(t, 2, added, "a move on its own is an addition")
	assert.Zero(t, removed)
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestWriteReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	for name, size := range map[string]int{"small": 1, "larger than the buffer": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := change.Change{Path: "a", After: file(strings.Repeat("x\n", size))}
			require.ErrorIs(t, unified.Write(brokenWriter{full}, []change.Change{c}, unified.Options{}), full)
		})
	}
}
