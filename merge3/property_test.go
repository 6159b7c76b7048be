package merge3_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/linediff"
	"github.com/openoxide/oxpatch/merge3"
)

// anyText is lines that repeat, with ends of all kinds.
func anyText(t *rapid.T, name string) []byte {
	line := rapid.StringMatching(`[abc]?\r?\n`)
	return []byte(strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, name), "") +
		rapid.SampledFrom([]string{"", "", "a", "\r"}).Draw(t, "end of "+name))
}

func anyOptions(t *rapid.T) merge3.Options {
	return merge3.Options{
		Style:  rapid.SampledFrom([]merge3.Style{merge3.StyleMerge, merge3.StyleDiff3}).Draw(t, "style"),
		Labels: merge3.Labels{Ours: "ours", Base: "base", Theirs: "theirs"},
	}
}

// checkMerge holds a merge against what must be so for any texts and options.
func checkMerge(t require.TestingT, base, ours, theirs []byte, o merge3.Options) {
	got := merge3.Merge(base, ours, theirs, o)
	require.True(t, got.Clean() == merge3.Merge(base, theirs, ours, o).Clean(), "clean one way only")
	for _, x := range [][]byte{ours, theirs} {
		requireClean(t, x, merge3.Merge(base, base, x, o))
		requireClean(t, x, merge3.Merge(base, x, base, o))
		requireClean(t, x, merge3.Merge(base, x, x, o))
	}
	if got.Binary {
		return
	}
	if got.Clean() {
		require.Equal(t, string(together(t, base, ours, theirs)), string(got.Content), "the changes of both sides, applied")
		require.Equal(t, string(together(t, base, theirs, ours)), string(got.Content), "the changes of both sides, applied")
		return
	}
	for _, sides := range []struct {
		want []byte
		keep byte
	}{{ours, '<'}, {theirs, '>'}} {
		requireSide(t, sides.want, got, sides.keep)
	}
}

func requireClean(t require.TestingT, want []byte, got merge3.Result) {
	require.True(t, got.Clean())
	require.Equal(t, string(want), string(got.Content))
}

// together applies the changes of both sides to base, a line at a time and with no knowledge of the
// merge: what stands in front of each base line, and whether the line stays. A change of the second
// side that touches one of the first is left out, so whoever merged them has to have seen both say the same.
func together(t require.TestingT, base, first, second []byte) []byte {
	var table linediff.Table
	b := table.Lines(base)
	type place struct {
		gone    bool
		added   []byte
		claimed bool
	}
	places := make([]place, b.Len()+1)
	merged := map[int]bool{}
	x, y := table.Lines(first), table.Lines(second)
	put := func(c linediff.Change, text []byte, l linediff.Lines) {
		places[c.OldStart].added = text[l.Start[c.NewStart]:l.Start[c.NewEnd]]
		places[c.OldStart].claimed = true
		for i := c.OldStart; i < c.OldEnd; i++ {
			places[i].gone = true
		}
	}
	touches := func(c, d linediff.Change) bool { return c.OldStart <= d.OldEnd && d.OldStart <= c.OldEnd }
	others := table.Compare(b.ID, y.ID)
	for _, c := range table.Compare(b.ID, x.ID) {
		put(c, first, x)
		for _, d := range others {
			if touches(c, d) {
				merged[d.OldStart] = true
			}
		}
	}
	for _, d := range others {
		if !merged[d.OldStart] {
			require.False(t, places[d.OldStart].claimed)
			put(d, second, y)
		}
	}
	var out []byte
	for i, p := range places {
		out = append(out, p.added...)
		if i < b.Len() && !p.gone {
			out = append(out, base[b.Start[i]:b.Start[i+1]]...)
		}
	}
	return out
}

// requireSide takes one side of each conflict and checks that nothing of it is missing: each
// conflict's lines are where the result says, and in the text they come from.
func requireSide(t require.TestingT, side []byte, got merge3.Result, keep byte) {
	lines := bytes.SplitAfter(got.Content, []byte("\n"))
	source := bytes.SplitAfter(side, []byte("\n"))
	behind := 0
	for _, c := range got.Conflicts {
		require.Greater(t, c.Lines.First, behind)
		behind = c.Lines.First + c.Lines.Count - 1
		block := lines[c.Lines.First-1 : behind]
		r := c.Ours
		body := block[1 : 1+r.Count]
		if keep == '>' {
			r = c.Theirs
			body = block[len(block)-1-r.Count : len(block)-1]
		}
		require.Equal(t, strings.Repeat("<", got.MarkerSize)+" ours", strings.TrimRight(string(block[0]), "\r\n"))
		require.Equal(t, strings.Repeat(">", got.MarkerSize)+" theirs", strings.TrimRight(string(block[len(block)-1]), "\r\n"))
		for i, line := range body {
			want := source[r.First-1+i]
			if bytes.HasSuffix(want, []byte("\n")) {
				require.Equal(t, string(want), string(line))
			} else {
				require.Contains(t, []string{string(want) + "\n", string(want) + "\r\n"}, string(line))
			}
		}
	}
}

func TestAnyThreeTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkMerge(t, anyText(t, "base"), anyText(t, "ours"), anyText(t, "theirs"), anyOptions(t))
	})
}

// On distinct lines it is known which lines a side changed, and so what has to come out.
func TestChangesApartAreBothTaken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var base, ours, theirs, want strings.Builder
		all := []*strings.Builder{&base, &ours, &theirs, &want}
		for i := range rapid.IntRange(0, 20).Draw(t, "places") {
			for _, b := range all {
				fmt.Fprintf(b, "kept %d\n", i)
			}
			old := strings.Repeat(fmt.Sprintf("old %d\n", i), rapid.IntRange(0, 2).Draw(t, "old"))
			new := strings.Repeat(fmt.Sprintf("new %d\n", i), rapid.IntRange(0, 2).Draw(t, "new"))
			base.WriteString(old)
			want.WriteString(new)
			mine, other := &ours, &theirs
			if rapid.Bool().Draw(t, "by theirs") {
				mine, other = other, mine
			}
			mine.WriteString(new)
			if rapid.IntRange(0, 3).Draw(t, "by both") == 0 {
				other.WriteString(new)
			} else {
				other.WriteString(old)
			}
		}
		got := merge3.Merge([]byte(base.String()), []byte(ours.String()), []byte(theirs.String()), anyOptions(t))
		requireClean(t, []byte(want.String()), got)
	})
}

func FuzzMerge(f *testing.F) {
	f.Add("1\n2\n3\n", "a\n2\n3\n", "1\n2\nc", false)
	f.Add("1\r\n2\r\n", "1\r\nx", "y\r\n2\r\n", true)
	f.Add("a\na\nb\na\n", "a\nb\na\na\n", "b\na\n", false)
	f.Add("=======\n1\n>>>>>>> a\n", "<<<<<<< a\n", "\x00", true)
	f.Fuzz(func(t *testing.T, base, ours, theirs string, diff3 bool) {
		o := merge3.Options{Labels: merge3.Labels{Ours: "ours", Base: "base", Theirs: "theirs"}}
		if diff3 {
			o.Style = merge3.StyleDiff3
		}
		checkMerge(t, []byte(base), []byte(ours), []byte(theirs), o)
	})
}
