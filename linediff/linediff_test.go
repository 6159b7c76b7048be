package linediff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/linediff"
)

// compare returns the changes between two texts, after a check that they keep what the type says.
func compare(t require.TestingT, old, new string) []linediff.Change {
	var table linediff.Table
	a, b := table.Lines([]byte(old)), table.Lines([]byte(new))
	list := table.Compare(a.ID, b.ID)
	var got strings.Builder
	at, behind := 0, 0
	for i, c := range list {
		// Asserting each would take most of the time on large texts.
		if c.OldStart == c.OldEnd && c.NewStart == c.NewEnd || i > 0 && c.OldStart <= at {
			require.Fail(t, "empty, or touches the one before", "%v in %v", c, list)
		}
		got.WriteString(old[a.Start[at]:a.Start[c.OldStart]])
		if b.Start[c.NewStart] != got.Len() {
			require.Fail(t, "at another place in the new text", "%v in %v", c, list)
		}
		got.WriteString(new[b.Start[c.NewStart]:b.Start[c.NewEnd]])
		at, behind = c.OldEnd, c.NewEnd
	}
	got.WriteString(old[a.Start[at]:])
	require.Equal(t, a.Len()-at, b.Len()-behind, "the lines behind %v", list)
	require.True(t, got.String() == new, "%v leads from %q to %q, not to %q", list, old, got.String(), new)
	return list
}

// text is n lines as a function of their index.
func text(n int, line func(i int) int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\n", line(i))
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		old, new string
		want     []linediff.Change
	}{
		"two empty texts":                     {},
		"equal texts":                         {old: "a\nb\n", new: "a\nb\n"},
		"all added":                           {new: "a\nb", want: []linediff.Change{{0, 0, 0, 2}}},
		"all removed":                         {old: "a\nb", want: []linediff.Change{{0, 2, 0, 0}}},
		"a line replaced":                     {old: "a\nb\nc\n", new: "a\nx\nc\n", want: []linediff.Change{{1, 2, 1, 2}}},
		"a final newline is part of its line": {old: "a\nb", new: "a\nb\n", want: []linediff.Change{{1, 2, 1, 2}}},
		"a CR is part of its line":            {old: "a\nb\n", new: "a\r\nb\n", want: []linediff.Change{{0, 1, 0, 1}}},
		"a lone CR ends no line":              {old: "a\rb\n", new: "a\rc\n", want: []linediff.Change{{0, 1, 0, 1}}},
		"an addition among equals is the last": {
			old: "a\na\nb\n", new: "a\na\na\nb\n", want: []linediff.Change{{2, 2, 2, 3}},
		},
		"a function added behind one that ends alike": {
			old: "f\n}\n\ng\n}\n", new: "f\n}\n\nh\n}\n\ng\n}\n", want: []linediff.Change{{3, 3, 3, 6}},
		},
		"a removal goes to where something was added": {
			old: "x\nx\ny\n", new: "z\nx\ny\n", want: []linediff.Change{{0, 1, 0, 1}},
		},
		"a block moved up": {
			old: "1\n2\n3\n4\n5\n", new: "4\n5\n1\n2\n3\n", want: []linediff.Change{{0, 0, 0, 2}, {3, 5, 5, 5}},
		},
		"a frequent line amid others without a counterpart is no match": {
			old:  "a1\na2\na3\na4\n}\na5\na6\na7\na8\n",
			new:  "b1\n}\nb2\n}\nb3\n}\nb4\n}\nb5\n",
			want: []linediff.Change{{0, 9, 0, 9}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, compare(t, c.old, c.new))
		})
	}
}

func TestAnyTwoTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[abc]?[\r]?\n`)
		text := func(name string) string {
			return strings.Join(rapid.SliceOf(line).Draw(t, name), "") + rapid.SampledFrom([]string{"", "a", "\r"}).Draw(t, "end of "+name)
		}
		compare(t, text("old"), text("new"))
	})
}

func TestATableServesManyComparisons(t *testing.T) {
	t.Parallel()
	texts := []string{"a\nb\nc\nd\n", "d\nb\nx\nb\n", "a\nd\nc\n", "x\nx\ny\n"}
	var table linediff.Table
	for _, old := range texts {
		for _, new := range texts {
			a, b := table.Lines([]byte(old)), table.Lines([]byte(new))
			assert.Equal(t, compare(t, old, new), table.Compare(a.ID, b.ID), "%q to %q", old, new)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc")
	f.Add("a\na\na\nb\n", "a\nb\na\n")
	f.Add(strings.Repeat("a\nb\n", 300), strings.Repeat("b\na\na\n", 300))
	f.Fuzz(func(t *testing.T, old, new string) { compare(t, old, new) })
}
