package unified_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/unified"
)

// oddNames are the names of random trees. None is a folder of another.
var oddNames = []string{
	"plain.txt", "a b", " lead", "trail ", "two  blanks", "x b/x", "b/a b/c", "tab\there", "new\nline", "cr\rx",
	`quo"te`, `back\slash`, `"quoted"`, "ünï.txt", "\xff\xfe", "d/e/f/deep", "d/e/f/deeper", "-dash", "dev/null", "a/b", "日本 語",
}

func genText(t *rapid.T) []byte {
	line := rapid.SampledFrom([]string{
		"", "a", "b", "a b ", "\tindented", "-- minus", "++ plus", "@@ -1 +1 @@", "diff --git a/x b/x", `\ No newline at end of file`, "x\r", "\xc3\x28", "é",
	})
	var b bytes.Buffer
	for _, l := range rapid.SliceOfN(line, 0, 40).Draw(t, "lines") {
		b.WriteString(l + "\n")
	}
	if rapid.Bool().Draw(t, "unfinished") {
		b.WriteString("end")
	}
	return b.Bytes()
}

func genContent(t *rapid.T) []byte {
	switch rapid.IntRange(0, 9).Draw(t, "sort of content") {
	case 0:
		return nil
	case 1:
		return append(rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "bytes"), 0)
	case 2: // a NUL byte where git no longer looks for one
		return append(bytes.Repeat([]byte("0123456\n"), 1000), append(genText(t), 0)...)
	}
	return genText(t)
}

func genState(t *rapid.T) change.State {
	switch rapid.IntRange(0, 5).Draw(t, "sort of file") {
	case 0:
		return link(rapid.SampledFrom([]string{"nowhere", "a b", "../up", "line\nbreak"}).Draw(t, "target"))
	case 1:
		return change.State{Kind: change.File, Mode: 0o755, Content: genContent(t)}
	}
	return change.State{Kind: change.File, Mode: 0o644, Content: genContent(t)}
}

// genEdits draws edits that keep the rules: sorted, apart or touching.
func genEdits(t *rapid.T, size int) []change.Edit {
	ends := rapid.SliceOfN(rapid.IntRange(0, size), 0, 8).Draw(t, "ends")
	sort.Ints(ends)
	edits := []change.Edit{}
	for i := 0; i+1 < len(ends); i += 2 {
		text := rapid.SampledFrom([]string{"", "x", "\n", "new\n", "\nnew", "a\nb\nc\n", "a", "\r\n"})
		edits = append(edits, change.Edit{Start: ends[i], End: ends[i+1], New: []byte(text.Draw(t, "new"))})
	}
	return edits
}

// genEdited draws what becomes of a file that stays one, with or without the edits.
func genEdited(t *rapid.T, base change.State) (change.State, []change.Edit) {
	edits := genEdits(t, len(base.Content))
	after := base
	after.Content = change.ApplyEdits(base.Content, edits)
	if base.Kind == change.Symlink && (len(after.Content) == 0 || bytes.IndexByte(after.Content, 0) >= 0) {
		after.Content = []byte("target")
		return after, nil
	}
	if base.Kind == change.File && rapid.IntRange(0, 3).Draw(t, "mode") == 0 {
		after.Mode ^= 0o111
	}
	if rapid.Bool().Draw(t, "edits unknown") {
		edits = nil
	}
	return after, edits
}

// genPlan draws a tree and changes to it.
func genPlan(t *rapid.T) (tree, []change.Change) {
	before, taken := tree{}, map[string]bool{}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(oddNames), 1, 8, rapid.ID[string]).Draw(t, "names")
	for _, name := range names {
		before[name] = genState(t)
		taken[name] = true
	}
	var changes []change.Change
	for _, name := range names {
		old := before[name]
		switch rapid.IntRange(0, 5).Draw(t, "fate") {
		case 0: // stays
		case 1:
			changes = append(changes, change.Change{Path: name, Before: old})
		case 2:
			changes = append(changes, change.Change{Path: name, Before: old, After: genState(t)})
		case 3:
			to := rapid.SampledFrom(oddNames).Draw(t, "new name")
			if taken[to] {
				continue
			}
			taken[to] = true
			after, edits := genEdited(t, old)
			changes = append(changes, change.Change{Path: name, Before: old},
				change.Change{Path: to, OldPath: name, After: after, Edits: edits})
		default:
			after, edits := genEdited(t, old)
			changes = append(changes, change.Change{Path: name, Before: old, After: after, Edits: edits})
		}
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(oddNames), 0, 2, rapid.ID[string]).Draw(t, "added") {
		if !taken[name] {
			changes = append(changes, change.Change{Path: name, After: genState(t)})
		}
	}
	return before, changes
}

func TestGitAppliesEveryDiffBothWays(t *testing.T) {
	t.Parallel()
	needGit(t)
	rapid.Check(t, func(t *rapid.T) {
		before, changes := genPlan(t)
		options := unified.Options{Context: rapid.SampledFrom([]int{0, 0, 1, 10, -1}).Draw(t, "context")}
		diff := roundTrip(t, before, changes, options)
		requireParses(t, diff, changes)
	})
}

// requireParses has go-gitdiff read the diff and compares what it makes of it with the changes.
func requireParses(tb require.TestingT, diff []byte, changes []change.Change) {
	files, _, err := gitdiff.Parse(bytes.NewReader(diff))
	require.NoError(tb, err, "%s", diff)
	counts := map[string]unified.Count{}
	for _, f := range files {
		name := f.NewName
		if f.IsDelete {
			name = f.OldName
		}
		n := counts[name]
		n.Binary = n.Binary || f.IsBinary
		for _, h := range f.TextFragments {
			n.Added += int(h.LinesAdded)
			n.Removed += int(h.LinesDeleted)
		}
		counts[name] = n
	}
	for i, n := range unified.Stats(changes) {
		got := counts[changes[i].Path]
		require.Equal(tb, n.Binary, got.Binary, "%q in\n%s", changes[i].Path, diff)
		require.Equal(tb, n, got, "%q in\n%s", changes[i].Path, diff)
	}
}

func TestGitAppliesRealCases(t *testing.T) {
	t.Parallel()
	needGit(t)
	big := strings.Repeat("0123456789 some text that deflates\n", 4000)
	cases := map[string]struct {
		before  tree
		changes []change.Change
	}{
		"a file makes room for a folder": {
			before:  tree{"d": file("x\n")},
			changes: []change.Change{{Path: "d", Before: file("x\n")}, {Path: "d/x", After: file("y\n")}},
		},
		"two names change places": {
			before: tree{"a": file("1\n"), "b": file("2\n")},
			changes: []change.Change{
				{Path: "a", OldPath: "b", Before: file("1\n"), After: file("2\n"), Edits: []change.Edit{}},
				{Path: "b", OldPath: "a", Before: file("2\n"), After: file("1\n"), Edits: []change.Edit{}},
			},
		},
		"one file moves to two names": {
			before: tree{"a": file("1\n")},
			changes: []change.Change{
				{Path: "a", Before: file("1\n")},
				{Path: "b", OldPath: "a", After: file("1\n"), Edits: []change.Edit{}},
				{Path: "c", OldPath: "a", After: file("1\n"), Edits: []change.Edit{}},
			},
		},
		"a binary file moves and changes": {
			before: tree{"a": file("\x00" + big)},
			changes: []change.Change{
				{Path: "a", Before: file("\x00" + big)},
				{Path: "b", OldPath: "a", After: file("\x01\x00" + big)},
			},
		},
		"a binary file becomes empty": {
			before:  tree{"a": file("\x00" + big)},
			changes: []change.Change{{Path: "a", Before: file("\x00" + big), After: file("")}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.NotEmpty(t, roundTrip(t, c.before, c.changes, unified.Options{}))
		})
	}
}

func TestBinaryPatchesFitTheRepositorysFormat(t *testing.T) {
	t.Parallel()
	needGit(t)
	for name, sha256 := range map[string]bool{"sha1": false, "sha256": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			git(t, dir, nil, "init", "-q", "--object-format="+name)
			tree{"a": file("\x00one")}.write(t, dir)
			git(t, dir, nil, "add", "a")
			c := change.Change{Path: "a", Before: file("\x00one"), After: file("\x00two")}
			git(t, dir, render(t, []change.Change{c}, unified.Options{SHA256: sha256}), "apply", "--index")
			got, err := os.ReadFile(filepath.Join(dir, "a"))
			require.NoError(t, err)
			assert.Equal(t, "\x00two", string(got))
		})
	}
}
