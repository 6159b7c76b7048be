package textapply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hinted gives a chunk the 1-based line of a numbered header.
func hinted(line int, c Chunk) Chunk {
	c.Hint = line
	return c
}

// unprefixed marks a chunk some of whose lines had no prefix.
func unprefixed(c Chunk) Chunk {
	c.Unprefixed = true
	return c
}

// jointCase is a file, hunks for it, and either the file after them or the refusal of one hunk.
type jointCase struct {
	file   string
	chunks []Chunk
	want   string
	err    error
	refuse string // the text of the one refusal
	places []int  // of the refusal
}

func (tt jointCase) run(t *testing.T, policy Policy) *Plan {
	t.Helper()
	tree := files("f", tt.file)
	plan := MakePlan(patchOf(update("f", tt.chunks...)), tree, policy)
	if tt.err == nil {
		require.Empty(t, plan.Errors())
		assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])
		return plan
	}
	require.Len(t, plan.Errors(), 1)
	err := plan.Errors()[0]
	require.ErrorIs(t, err, tt.err)
	assert.Equal(t, tt.refuse, err.Error())
	assert.Equal(t, tt.places, lineNumbers(err.Places))
	assert.Empty(t, plan.Changes)
	return plan
}

func runJoint(t *testing.T, tests map[string]jointCase) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, carefulPolicy())
		})
	}
}

// class is a file in which every line but the headings stands twice.
const class = "class A\n  def f\n    x\n  def g\n    x\nclass B\n  def f\n    x\n  def g\n    x\n"

// classWith is class with another text in one of its lines (1-based).
func classWith(line int, text string) string {
	lines := strings.SplitAfter(class, "\n")
	lines[line-1] = text + "\n"
	return strings.Join(lines, "")
}

func TestScopes(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"narrows to what follows it": {file: class, chunks: chunks{chunk("@@ class B", "   def f", "-    x", "+    y")}, want: classWith(8, "    y")},
		"nested, in turn":            {file: class, chunks: chunks{chunk("@@ class B", "@@   def g", "-    x", "+    y")}, want: classWith(10, "    y")},
		"nested, written without indentation": {file: class, chunks: chunks{chunk("@@ class B", "@@ def g", "-    x", "+    y")},
			want: classWith(10, "    y")},
		"nested, the block of the inner one in that of the outer": {file: class, chunks: chunks{chunk("@@ class A", "@@   def g", "-    x", "+    y")},
			want: classWith(5, "    y")},
		"nested, not narrow enough": {file: class, chunks: chunks{chunk("@@ class A", "-    x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 3, 5, 8 and 10", places: []int{3, 5, 8, 10}},
		"in the file twice: the first leaves all behind it": {file: class, chunks: chunks{chunk("@@   def g", "-    x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 5, 8 and 10", places: []int{5, 8, 10}},
		"in the file twice, the hunk once behind": {file: "s\na\nb\ns\nb\nc\n", chunks: chunks{chunk("@@ s", "-c")}, want: "s\na\nb\ns\nb\n"},
		"behind the place of an earlier hunk": {file: "s\na\nb\nc\n", chunks: chunks{chunk("-a", "+x"), chunk("@@ s", "-c", "+y")},
			want: "s\nx\nb\ny\n"},
		"inside the lines of an earlier hunk": {file: "a\ns\nb\nc\n", chunks: chunks{chunk(" a", " s", "-b"), chunk("@@ s", "-c")},
			want: "a\ns\n"},
		"the order settles what the scope leaves open": {file: class,
			chunks: chunks{chunk("@@ class B", "   def g", "-    x", "+    y")}, want: classWith(10, "    y")},
		"compared as loosely as lines are":  {file: "  “s” \na\na\n", chunks: chunks{chunk("@@ \"s\"", "-a", " a")}, want: "  “s” \na\n"},
		"not in the file, the hunk is once": {file: "a\nb\n", chunks: chunks{chunk("@@ nowhere", "-b")}, want: "a\n"},
		"not in the file, the hunk is twice": {file: "a\nb\na\n", chunks: chunks{chunk("@@ nowhere", "-a")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1 and 3", places: []int{1, 3}},
		"cut short, one place behind it":  {file: "a\ndef long(name)\nb\na\n", chunks: chunks{chunk("@@ def long(na", "-a")}, want: "a\ndef long(name)\nb\n"},
		"cut short, indented in the file": {file: "a\n  def long(name)\nb\na\n", chunks: chunks{chunk("@@ def long(na", "-a")}, want: "a\n  def long(name)\nb\n"},
		"cut short, two places behind it": {file: "a\ndef long(name)\na\na\n", chunks: chunks{chunk("@@ def long(na", "-a", "+x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1, 3 and 4", places: []int{1, 3, 4}},
		"cut short, no place behind it": {file: "a\na\nb\ndef long(name)\n", chunks: chunks{chunk("@@ def long(na", "-a", "+x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1 and 2", places: []int{1, 2}},
		"cut short, two such lines, the first counts": {file: "a\ndef long(one)\na\nb\ndef long(two)\na\n", chunks: chunks{chunk("@@ def long(", "-a", "+x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1, 3 and 6", places: []int{1, 3, 6}},
		"cut short, only in the middle of a line": {file: "a\nmy def long(name)\na\n", chunks: chunks{chunk("@@ def long(na", "-a", "+x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1 and 3", places: []int{1, 3}},
		"the same lines stand in front only": {file: "a\nb\ns\nc\n", chunks: chunks{chunk("@@ s", "-a", " b")}, err: ErrNoMatch,
			refuse: `f: hunk 1: the old lines stand at line 1, in front of the scope line "s" (line 3)`, places: []int{1}},
		"is the first line of its own hunk":           {file: "a\ns\nb\n", chunks: chunks{chunk("@@ s", " s", "-b")}, want: "a\ns\n"},
		"is a line of its own hunk":                   {file: "a\ns\nb\n", chunks: chunks{chunk("@@ s", " a", " s", "-b")}, want: "a\ns\n"},
		"is the line that its hunk takes out":         {file: "a\ns\nb\n", chunks: chunks{chunk("@@ s", "-s", "+S")}, want: "a\nS\nb\n"},
		"is a line of its own hunk, twice":            {file: "s\nb\ns\nb\nc\n", chunks: chunks{chunk("@@ s", " s", "-b")}, want: "s\nb\ns\nc\n"},
		"is a line of its own hunk, the inner one":    {file: "k\ns\nb\nl\ns\nb\n", chunks: chunks{chunk("@@ l", "@@ s", " s", "-b")}, want: "k\ns\nb\nl\ns\n"},
		"is not taken for a looser match of the hunk": {file: "a\ns\n  a\n", chunks: chunks{chunk("@@ s", "-a")}, want: "a\ns\n"},
	})
}

func TestAdditionsBelowTheirScope(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"right below": {file: "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return a - b\n", chunks: chunks{chunk("@@ def add(a, b):", "+    # sums")},
			want: "def add(a, b):\n    # sums\n    return a + b\n\ndef sub(a, b):\n    return a - b\n"},
		"below the inner one": {file: class, chunks: chunks{chunk("@@ class B", "@@   def f", "+    y")},
			want: "class A\n  def f\n    x\n  def g\n    x\nclass B\n  def f\n    y\n    x\n  def g\n    x\n"},
		"the scope stands twice": {file: class, chunks: chunks{chunk("@@   def g", "+    y")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 5 and 10", places: []int{5, 10}},
		"the scope stands twice, order settles it": {file: class, chunks: chunks{chunk("-class B"), chunk("@@   def g", "+    y")},
			want: "class A\n  def f\n    x\n  def g\n    x\n  def f\n    x\n  def g\n    y\n    x\n"},
		"the scope is only cut short": {file: "def long(name)\n", chunks: chunks{chunk("@@ def long(na", "+x")}, err: ErrNoContext,
			refuse: "f: hunk 1: the scope line was not found"},
		"the scope is in front of an earlier hunk": {file: "s\na\n", chunks: chunks{chunk("-a"), chunk("@@ s", "+x")}, err: ErrOutOfOrder,
			refuse: "f: hunk 2: the hunk fits line 2, but hunk 1 before it is at line 2", places: []int{2}},
		"in front of the lines of a later hunk": {file: "s\na\n", chunks: chunks{chunk("@@ s", "+x"), chunk("-a", "+b")}, want: "s\nx\nb\n"},
		"with a blank line that is not there":   {file: "s\na\n", chunks: chunks{chunk("@@ s", "+x", " ")}, want: "s\nx\na\n"},
		"below the last line":                   {file: "a\ns\n", chunks: chunks{chunk("@@ s", "+x")}, want: "a\ns\nx\n"},
	})
}

func TestHints(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	const file = "a\nb\na\nc\na\n"
	tests := map[string]jointCase{
		"certain with another hunk at its number": {file: file, chunks: chunks{hinted(2, chunk("-b", "+x")), hinted(5, chunk("-a", "+y"))}, want: "a\nx\na\nc\ny\n"},
		"the number in front of the certain one":  {file: file, chunks: chunks{hinted(1, chunk("-a", "+y")), hinted(4, chunk("-c", "+x"))}, want: "y\nb\na\nx\na\n"},
		"a number alone proves nothing": {file: file, chunks: chunks{hinted(3, chunk("-a", "+y"))}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1, 3 and 5", places: []int{1, 3, 5}},
		"the other hunk's number is wrong": {file: file, chunks: chunks{hinted(1, chunk("-b", "+x")), hinted(5, chunk("-a", "+y"))}, err: ErrAmbiguous,
			refuse: "f: hunk 2: the hunk fits more than one place: lines 3 and 5", places: []int{3, 5}},
		"no place at the number": {file: file, chunks: chunks{hinted(2, chunk("-b", "+x")), hinted(4, chunk("-a", "+y"))}, err: ErrAmbiguous,
			refuse: "f: hunk 2: the hunk fits more than one place: lines 3 and 5", places: []int{3, 5}},
		"one number right, one wrong": {file: "d\n" + file, chunks: chunks{hinted(1, chunk("-d")), hinted(2, chunk("-b", "+x")), hinted(6, chunk("-a", "+y"))}, err: ErrAmbiguous,
			refuse: "f: hunk 3: the hunk fits more than one place: lines 4 and 6", places: []int{4, 6}},
		"a wrong number does not matter where the place is certain": {file: file, chunks: chunks{hinted(40, chunk("-b", "+x"))}, want: "a\nx\na\nc\na\n"},
		"the number does not outweigh a scope": {file: "b\ns\na\nt\na\nu\na\n", chunks: chunks{hinted(1, chunk("-b")), hinted(3, chunk("@@ t", "-a", "+y"))}, err: ErrAmbiguous,
			refuse: "f: hunk 2: the hunk fits more than one place: lines 5 and 7", places: []int{5, 7}},
		"never at lines that fit only after trimming, where others fit exactly": {file: "b\n  a\ns\na\n", chunks: chunks{hinted(1, chunk("-b")), hinted(2, chunk("-a", "+y"))}, err: ErrAmbiguous,
			refuse: "f: hunk 2: the hunk fits more than one place: lines 2 and 4", places: []int{2, 4}},
		"at the lines that fit exactly": {file: "b\n  a\ns\na\n", chunks: chunks{hinted(1, chunk("-b")), hinted(4, chunk("-a", "+y"))}, want: "  a\ns\ny\n"},
	}
	runJoint(t, tests)
	plan := tests["certain with another hunk at its number"].run(t, carefulPolicy())
	assert.Equal(t, "exact", plan.Sections[0].Chunks[0].Match)
	assert.Equal(t, "line-hint", plan.Sections[0].Chunks[1].Match)
	assert.Empty(t, plan.Sections[0].Warnings)
}

// Line numbers are right for the text that the patch was made from, which its blob id names.
func TestHintsOfAPatchMadeFromThisText(t *testing.T) {
	t.Parallel()
	const file = "a\nb\na\n"
	for name, tc := range map[string]struct {
		blob    string
		certain bool
	}{
		"its blob":                   {"8f468ef678268fa42466d9b2158b57b8b3cdfb7f", true},
		"abbreviated":                {"8f468ef", true},
		"in capitals":                {"8F468EF", true},
		"its blob under sha256":      {"64e590ee2f7dbfcb2c54063be8dd96649fa2f66bcbfee30b0a70e7b8825a5d76", true},
		"too short to tell":          {"8f468e", false},
		"another":                    {"8f468e0", false},
		"the id of a file not there": {"0000000", false},
		"none":                       {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			section := update("f", hinted(3, chunk("-a", "+x")))
			section.Blob = tc.blob
			plan := MakePlan(patchOf(section), files("f", file), carefulPolicy())
			if !tc.certain {
				require.Len(t, plan.Errors(), 1)
				require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
				return
			}
			require.Empty(t, plan.Errors())
			assert.Equal(t, "line-hint", plan.Sections[0].Chunks[0].Match)
			assert.Equal(t, 3, plan.Sections[0].Chunks[0].Line)
		})
	}
}

func TestEndOfFile(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"the tail, though it stands before": {file: "m\ne\nx\nm\ne\n", chunks: chunks{chunk(" m", "-e", "+n", "$")}, want: "m\ne\nx\nm\nn\n"},
		"the tail, though looser":           {file: "e\nx\n  e \n", chunks: chunks{chunk("-e", "$")}, want: "e\nx\n"},
		"nowhere": {file: "a\nb\n", chunks: chunks{chunk("-c", "$")}, err: ErrNoMatch,
			refuse: `f: hunk 1: the hunk's old lines are not in the file, and nothing like them; they begin with "c"`},
		"not the tail, two other places": {file: "e\nx\ne\ny\n", chunks: chunks{chunk("-e", "$")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the lines do not end the file, as the hunk says, and stand in several other places: lines 1 and 3", places: []int{1, 3}},
		"not the tail, two other places after trimming": {file: "\te\nx\n  e\ny\n", chunks: chunks{chunk("-e", "$")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the lines do not end the file, as the hunk says, and stand in several other places: lines 1 and 3", places: []int{1, 3}},
		"not the tail, once exactly, but unindented and once indented": {file: "e\nx\n  e\ny\n", chunks: chunks{chunk("-e", "$")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the lines do not end the file, as the hunk says, and stand in several other places: lines 1 and 3", places: []int{1, 3}},
		"the tail is taken by an earlier hunk": {file: "a\nb\n", chunks: chunks{chunk(" a", "-b"), chunk("-b", "$")}, err: ErrOutOfOrder,
			refuse: "f: hunk 2: the hunk fits line 2, but hunk 1 before it is at line 1", places: []int{2}},
		"an addition needs no other anchor":     {file: "a\nb\n", chunks: chunks{chunk("@@ a", "+x", "$")}, want: "a\nb\nx\n"},
		"the whole file":                        {file: "a\n", chunks: chunks{chunk("-a", "+b", "$")}, want: "b\n"},
		"a blank line behind it is not skipped": {file: "a\nb\n\n", chunks: chunks{chunk("-b", "+c", "$"), chunk("+d", "$")}, want: "a\nc\n\nd\n"},
	})
}

func TestUnprefixedHunks(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"exactly and once": {file: "a\n  b\nc\n", chunks: chunks{unprefixed(chunk(" a", "-  b", "+  x"))}, want: "a\n  x\nc\n"},
		"twice, even where the order would settle it": {file: "b\na\nb\na\n", chunks: chunks{chunk(" b", " a", "-b"), unprefixed(chunk("-a"))}, err: ErrAmbiguous,
			refuse: "f: hunk 2: the hunk fits more than one place: lines 2 and 4", places: []int{2, 4}},
		"only after trimming": {file: "  a\n", chunks: chunks{unprefixed(chunk("-a"))}, err: ErrNoMatch,
			refuse: "f: hunk 1: some lines of the hunk have no prefix, and read as context the hunk does not stand in the file exactly"},
		"only without blanks at the ends": {file: "a \n", chunks: chunks{unprefixed(chunk("-a"))}, err: ErrNoMatch,
			refuse: "f: hunk 1: some lines of the hunk have no prefix, and read as context the hunk does not stand in the file exactly"},
		"once exactly, but it may have lost its indentation": {file: "a\n  a\n", chunks: chunks{unprefixed(chunk("-a"))}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1 and 2", places: []int{1, 2}},
		"the tail only after trimming": {file: "  a\n", chunks: chunks{unprefixed(chunk("-a", "$"))}, err: ErrNoMatch,
			refuse: "f: hunk 1: some lines of the hunk have no prefix, and read as context the hunk does not stand in the file exactly"},
	})
	plan := MakePlan(patchOf(update("f", unprefixed(chunk("-a")))), files("f", "a\na\n"), firstPolicy())
	require.Len(t, plan.Errors(), 1, "also where the first of several is taken")
	assert.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
}

func TestOrder(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"a later hunk settles an earlier one": {file: "a\nb\na\n", chunks: chunks{chunk("-a", "+x"), chunk("-b")}, want: "x\na\n"},
		"a hunk between two":                  {file: "a\nb\na\nc\na\n", chunks: chunks{chunk("-b"), chunk("-a", "+x"), chunk("-c")}, want: "a\nx\na\n"},
		"settled from both sides only":        {file: "a\na\nb\na\nb\n", chunks: chunks{chunk("-a", " a"), chunk("-a", "+x")}, want: "a\nb\nx\nb\n"},
		"no overlap":                          {file: "a\na\na\n", chunks: chunks{chunk(" a", "-a"), chunk(" a", "+x")}, want: "a\na\nx\n"},
		"the wrong way round": {file: "a\nb\n", chunks: chunks{chunk("-b"), chunk("-a")}, err: ErrOutOfOrder,
			refuse: "f: hunk 2: the hunk fits line 1, but hunk 1 before it is at line 2", places: []int{1}},
		"the wrong way round, several places": {file: "a\na\nb\n", chunks: chunks{chunk("-b"), chunk("-a")}, err: ErrOutOfOrder,
			refuse: "f: hunk 2: the hunk fits lines 1 and 2, but hunk 1 before it is at line 3", places: []int{1, 2}},
		"overlapping": {file: "a\nb\nc\n", chunks: chunks{chunk(" a", "-b"), chunk(" b", "-c")}, err: ErrOutOfOrder,
			refuse: "f: hunk 2: the hunk fits line 2, but hunk 1 before it is at line 1", places: []int{2}},
		"the hunk before is named past an addition without a place": {file: "a\nb\n", chunks: chunks{chunk("-b"), chunk("+x", "$"), chunk("-a")}, err: ErrOutOfOrder,
			refuse: "f: hunk 3: the hunk fits line 1, but hunk 1 before it is at line 2", places: []int{1}},
		"never looser for another hunk's sake": {file: "  a\nb\n a\n", chunks: chunks{chunk("-b"), chunk("-  a")}, err: ErrOutOfOrder,
			refuse: "f: hunk 2: the hunk fits line 1, but hunk 1 before it is at line 2", places: []int{1}},
		"additions that nothing anchors take no part": {file: "a\n", chunks: chunks{chunk("+x", "$"), chunk("-a", "+b")}, want: "b\nx\n"},
	})
}

func TestBlankLinesAndTabs(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"a blank line with blanks":    {file: "a\n\t \nb\n", chunks: chunks{chunk(" a", " ", "-b")}, want: "a\n\t \n"},
		"blank end dropped":           {file: "a\nb\n", chunks: chunks{chunk("-a", "+x", " ")}, want: "x\nb\n"},
		"not dropped where it stands": {file: "a\nb\na\n\n", chunks: chunks{chunk("-a", "+x", " ")}, want: "a\nb\nx\n\n"},
		"a blank line alone, twice": {file: "a\n\nb\n\nc\n", chunks: chunks{chunk(" ", "+x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 2 and 4", places: []int{2, 4}},
		"blank lines only do not count as unindented": {file: "\n \nb\n", chunks: chunks{chunk("-", "+ x")}, want: " x\n \nb\n"},
		"a tab for blanks":                            {file: "\ta\n", chunks: chunks{chunk("-        a")}, want: ""},
		"a tab is not exactly blanks":                 {file: "\ta\nb\n        a\n", chunks: chunks{chunk("-        a")}, want: "\ta\nb\n"},
		"inside a line a tab is no blank": {file: "a\tb\n", chunks: chunks{chunk("-a b")}, err: ErrNoMatch,
			refuse: "f: hunk 1: the hunk's old lines are not in the file; nearest is line 1 (0% of the lines agree): tabs and blanks inside the line differ"},
	})
}

// Numbers that contradict the order of the hunks settle nothing.
func TestHintsAgainstTheOrder(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(update("f", hinted(1, chunk("-s")), hinted(4, chunk("-a", "+x")), hinted(3, chunk("-b", "+y")))),
		files("f", "s\na\nb\na\nb\n"), carefulPolicy())
	assert.Equal(t, []string{
		"f: hunk 2: the hunk fits more than one place: lines 2 and 4",
		"f: hunk 3: the hunk fits more than one place: lines 3 and 5",
	}, refusals(plan))
	assert.Equal(t, []int{2, 4}, lineNumbers(plan.Errors()[0].Places))
}

// Outcomes are compared only so often, and only of places that are all known.
func TestManyPlacesThatGiveTheSame(t *testing.T) {
	t.Parallel()
	removed := strings.Repeat("x\n", maxCompared-1)
	assert.Equal(t, removed, edited(t, carefulPolicy(), "x\n"+removed, chunk("-x")))
	for _, n := range []int{maxCompared + 1, maxPlaces, maxPlaces + 1} {
		plan := MakePlan(patchOf(update("f", chunk("-x"))), files("f", strings.Repeat("x\n", n)), carefulPolicy())
		require.Len(t, plan.Errors(), 1)
		require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
	}
}

// Nor is one of very many places taken where the order seems to leave no other.
func TestTooManyPlacesAreNeverTaken(t *testing.T) {
	t.Parallel()
	file := "x\ns\n" + strings.Repeat("x\n", maxPlaces)
	plan := MakePlan(patchOf(update("f", chunk("-x", "+y"), chunk("-s"))), files("f", file), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
	assert.Contains(t, plan.Errors()[0].Detail, "lines 1, 3, 4, 5 and many more")
}

// A scope that is cut short does not narrow places that are not all known.
func TestCutScopeAndTooManyPlaces(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("x\n", maxPlaces-1) + "scope line\n" + strings.Repeat("x\n", 2)
	plan := MakePlan(patchOf(update("f", chunk("@@ scope", "-x", "+y"))), files("f", file), carefulPolicy())
	require.Len(t, plan.Errors(), 1)
	require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
	assert.Len(t, plan.Errors()[0].Places, mostOthers)
}

// A shallowest line without indentation says that the hunk may have lost it, added lines included.
func TestUnindentedHunks(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"no further place":           {file: "a\nb\n", chunks: chunks{chunk("-a", "+x")}, want: "x\nb\n"},
		"all old lines are indented": {file: " a\n  a\n", chunks: chunks{chunk("- a", "+ x")}, want: " x\n  a\n"},
		"an added line is not": {file: " a\n  a\n", chunks: chunks{chunk("- a", "+x")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1 and 2", places: []int{1, 2}},
		"blanks at the ends were lost": {file: "a \n  a\n", chunks: chunks{chunk("-a")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 1 and 2", places: []int{1, 2}},
		"the further place is not behind the scope": {file: "  a\ns\na\n", chunks: chunks{chunk("@@ s", "-a", "+x")}, want: "  a\ns\nx\n"},
		"the order settles it":                      {file: "a\ns\n  a\n", chunks: chunks{chunk("-s"), chunk("-a", "+x")}, want: "a\n  x\n"},
	})
}

// Edits that other tools were reported to get wrong.
func TestReportedEdits(t *testing.T) {
	t.Parallel()
	type chunks = []Chunk
	runJoint(t, map[string]jointCase{
		"openai/codex#30946: an addition belongs below its scope line": {
			file:   "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n",
			chunks: chunks{chunk("@@ def add(a, b):", "+    # sums two numbers")},
			want:   "def add(a, b):\n    # sums two numbers\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"},
		"openai/codex#35789: the file's CRLF is kept": {
			file:   "Imports System\r\n\r\nModule Main\r\n    Sub Run()\r\n        Start()\r\n    End Sub\r\nEnd Module\r\n",
			chunks: chunks{chunk("     Sub Run()", "-        Start()", "+        Prepare()", "+        Start()", "     End Sub")},
			want:   "Imports System\r\n\r\nModule Main\r\n    Sub Run()\r\n        Prepare()\r\n        Start()\r\n    End Sub\r\nEnd Module\r\n"},
		"anomalyco/opencode#45912: no final newline is forced": {
			file: "alpha\nbeta\ngamma", chunks: chunks{chunk("-alpha", "+ALPHA", " beta")}, want: "ALPHA\nbeta\ngamma"},
		"anomalyco/opencode#25953: added lines are shifted with the old ones": {
			file: "f() {\n        a\n}\n", chunks: chunks{chunk("-a", "+b")}, want: "f() {\n        b\n}\n"},
		"Aider-AI/aider#2050: of two equal pairs none is taken": {
			file: "white {\n  tries\n}\nblack {\n  tries\n}\n", chunks: chunks{chunk("-  tries", "+  black.tries")}, err: ErrAmbiguous,
			refuse: "f: hunk 1: the hunk fits more than one place: lines 2 and 5", places: []int{2, 5}},
	})
}
