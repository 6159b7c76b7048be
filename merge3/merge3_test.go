package merge3_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openoxide/oxpatch/merge3"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	labels := merge3.Labels{Ours: "now", Base: "then", Theirs: "before"}
	cases := map[string]struct {
		base, ours, theirs string
		options            merge3.Options
		want               string
		conflicts          []merge3.Conflict
	}{
		"three empty texts":            {},
		"changes apart are both taken": {base: "1\n2\n3\n", ours: "a\n2\n3\n", theirs: "1\n2\nc\n", want: "a\n2\nc\n"},
		"an addition at each end":      {base: "1\n", ours: "0\n1\n", theirs: "1\n2\n", want: "0\n1\n2\n"},
		"equal changes are taken once": {base: "1\n2\n3\n4\n", ours: "x\n2\n3\n4\n", theirs: "x\n2\n3\nd\n", want: "x\n2\n3\nd\n"},
		"equal new files":              {ours: "a\n", theirs: "a\n", want: "a\n"},
		"both emptied":                 {base: "a\n", want: ""},
		"a side that changed nothing is passed over, whatever the other holds": {
			base: "a\x00\n", ours: "a\x00\n", theirs: "<<<<<<< \x00\r", want: "<<<<<<< \x00\r",
		},
		"changes that touch conflict": {
			base: "1\n2\n3\n4\n", ours: "1\nb\n3\n4\n", theirs: "1\n2\nc\n4\n",
			want: "1\n<<<<<<<\nb\n3\n=======\n2\nc\n>>>>>>>\n4\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 2, Count: 7}, Base: merge3.Range{First: 2, Count: 2},
				Ours: merge3.Range{First: 2, Count: 2}, Theirs: merge3.Range{First: 2, Count: 2},
			}},
		},
		"a changed line against its removal": {
			base: "1\n2\n3\n", ours: "1\n3\n", theirs: "1\nx\n3\n", options: merge3.Options{Labels: labels},
			want: "1\n<<<<<<< now\n=======\nx\n>>>>>>> before\n3\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 2, Count: 4}, Base: merge3.Range{First: 2, Count: 1},
				Ours: merge3.Range{First: 2}, Theirs: merge3.Range{First: 2, Count: 1},
			}},
		},
		"the merge style leaves out what both sides have": {
			base: "1\n2\n3\n", ours: "1\nsame\nx\nsame too\n3\n", theirs: "1\nsame\ny\nsame too\n3\n",
			want: "1\nsame\n<<<<<<<\nx\n=======\ny\n>>>>>>>\nsame too\n3\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 3, Count: 5}, Base: merge3.Range{First: 2, Count: 1},
				Ours: merge3.Range{First: 3, Count: 1}, Theirs: merge3.Range{First: 3, Count: 1},
			}},
		},
		"the diff3 style shows all of it and base": {
			base: "1\n2\n3\n", ours: "1\nsame\nx\n3\n", theirs: "1\nsame\ny\n3\n",
			options: merge3.Options{Style: merge3.StyleDiff3, Labels: labels},
			want:    "1\n<<<<<<< now\nsame\nx\n||||||| then\n2\n=======\nsame\ny\n>>>>>>> before\n3\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 2, Count: 9}, Base: merge3.Range{First: 2, Count: 1},
				Ours: merge3.Range{First: 2, Count: 2}, Theirs: merge3.Range{First: 2, Count: 2},
			}},
		},
		"a final newline changed on one side": {base: "1\n2\n3\n", ours: "a\n2\n3\n", theirs: "1\n2\n3", want: "a\n2\n3"},
		"a final newline added on both":       {base: "1\n2\n3", ours: "a\n2\n3\n", theirs: "1\n2\n3\n", want: "a\n2\n3\n"},
		"a final newline against a new text": {
			base: "1\n2", ours: "1\n2\n", theirs: "1\nx",
			want: "1\n<<<<<<<\n2\n=======\nx\n>>>>>>>\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 2, Count: 5}, Base: merge3.Range{First: 2, Count: 1},
				Ours: merge3.Range{First: 2, Count: 1}, Theirs: merge3.Range{First: 2, Count: 1},
			}},
		},
		"a CRLF text keeps its ends and gets markers alike": {
			base: "1\r\n2\r\n", ours: "1\r\nx", theirs: "1\r\ny\r\n",
			want: "1\r\n<<<<<<<\r\nx\r\n=======\r\ny\r\n>>>>>>>\r\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 2, Count: 5}, Base: merge3.Range{First: 2, Count: 1},
				Ours: merge3.Range{First: 2, Count: 1}, Theirs: merge3.Range{First: 2, Count: 1},
			}},
		},
		"new files in CRLF get markers alike": {
			ours: "x\r\n", theirs: "y\r\n", want: "<<<<<<<\r\nx\r\n=======\r\ny\r\n>>>>>>>\r\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 1, Count: 5}, Base: merge3.Range{First: 1},
				Ours: merge3.Range{First: 1, Count: 1}, Theirs: merge3.Range{First: 1, Count: 1},
			}},
		},
		"a lone CR is part of its line": {base: "a\rb\n2\n3\n", ours: "a\rB\n2\n3\n", theirs: "a\rb\n2\nc\n", want: "a\rB\n2\nc\n"},
		"an end of line in a label is a blank": {
			ours: "x\n", theirs: "y\n", options: merge3.Options{Labels: merge3.Labels{Ours: "a\r\nb", Theirs: "c\nd"}},
			want: "<<<<<<< a b\nx\n=======\ny\n>>>>>>> c d\n",
			conflicts: []merge3.Conflict{{
				Lines: merge3.Range{First: 1, Count: 5}, Base: merge3.Range{First: 1},
				Ours: merge3.Range{First: 1, Count: 1}, Theirs: merge3.Range{First: 1, Count: 1},
			}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := merge3.Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs), c.options)
			assert.Equal(t, c.want, string(got.Content))
			assert.Equal(t, c.conflicts, got.Conflicts)
			assert.Equal(t, len(c.conflicts) == 0, got.Clean())
			assert.False(t, got.Binary)
		})
	}
}

func TestBinaryTextsAreNotMerged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{
		"base": {"1\n2\n3\x00\n", "a\n2\n", "1\nb\n"}, "ours": {"1\n2\n", "a\x00\n2\n", "1\nb\n"}, "theirs": {"1\n2\n", "a\n2\n", "1\nb\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := merge3.Merge([]byte(c[0]), []byte(c[1]), []byte(c[2]), merge3.Options{})
			assert.True(t, got.Binary)
			assert.False(t, got.Clean())
			assert.Equal(t, c[1], string(got.Content))
			assert.Len(t, got.Conflicts, 1)
			assert.Zero(t, got.MarkerSize)
			assert.Equal(t, merge3.Range{First: 1, Count: 2}, got.Conflicts[0].Theirs)
		})
	}
	far := strings.Repeat("x\n", 4000) + "\x00\n"
	got := merge3.Merge([]byte(far), []byte("a\n"+far), []byte(far+"b\n"), merge3.Options{})
	assert.Equal(t, "a\n"+far+"b\n", string(got.Content), "a NUL that far away does not count")
	assert.True(t, got.Clean())
}

func TestMarkerSize(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ours, theirs string
		ask, want    int
	}{
		"usual":                               {ours: "x\n", theirs: "y\n", want: 7},
		"asked for":                           {ours: "<<<<<<<<< a\n", theirs: "y\n", ask: 9, want: 9},
		"short rows are no markers":           {ours: "<<<<<< a\n", theirs: "======\n", want: 7},
		"long rows are no markers of seven":   {ours: "<<<<<<<<< a\n", theirs: "========\n", want: 7},
		"a row with text on it is no marker":  {ours: "<<<<<<<a\n", theirs: " =======\n", want: 7},
		"an old marker":                       {ours: "<<<<<<< a\n", theirs: "y\n", want: 8},
		"old markers of two sizes":            {ours: "<<<<<<<\r\n", theirs: ">>>>>>>> a", want: 9},
		"a row of equals signs in a conflict": {ours: "title\n=======\n", theirs: "y\n", want: 8},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := merge3.Merge(nil, []byte(c.ours), []byte(c.theirs), merge3.Options{MarkerSize: c.ask})
			assert.Equal(t, c.want, got.MarkerSize)
			assert.Regexp(t, `\A`+strings.Repeat("<", c.want)+`\r?\n`, string(got.Content))
			assert.Regexp(t, `\n`+strings.Repeat(">", c.want)+`\r?\n\z`, string(got.Content))
		})
	}
	got := merge3.Merge([]byte("title\n=======\n1\n"), []byte("title\n=======\nx\n"), []byte("title\n=======\ny\n"), merge3.Options{})
	assert.Equal(t, 7, got.MarkerSize, "an underline outside the conflicts does not count")
	got = merge3.Merge([]byte(">>>>>>> a\n1\n"), []byte(">>>>>>> a\nx\n"), []byte(">>>>>>> a\ny\n"), merge3.Options{})
	assert.Equal(t, 8, got.MarkerSize, "an old marker outside the conflicts does")
}

// Here the two sides change different base lines to the same effect.
func TestTheStyleDoesNotDecideWhetherItIsClean(t *testing.T) {
	t.Parallel()
	lines := func(s string) []byte { return []byte(strings.Join(strings.Split(s, ""), "\n") + "\n") }
	base, ours, theirs := lines("ccbbacacaccbaca"), lines("ccbbbaabab"), lines("cbbbaabab")
	for _, style := range []merge3.Style{merge3.StyleMerge, merge3.StyleDiff3} {
		got := merge3.Merge(base, ours, theirs, merge3.Options{Style: style})
		assert.True(t, got.Clean())
		assert.Equal(t, string(lines("cbbbbaabab")), string(got.Content))
	}
}
