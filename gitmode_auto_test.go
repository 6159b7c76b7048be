package oxpatch_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// unifiedEdit is a diff that replaces line 10 of a numbered file, as a model writes it: no blob ids.
func unifiedEdit(name, context9, context11 string) string {
	return "--- a/" + name + "\n+++ b/" + name + "\n@@ -9,3 +9,3 @@\n " + context9 + "\n-line 10\n+ten\n " + context11 + "\n"
}

// withIDs puts the ids of blobs that no repository has into a diff.
func withIDs(name, diff string) string {
	return "diff --git a/" + name + " b/" + name + "\nindex 1234567890123456789012345678901234567890..0987654321098765432109876543210987654321 100644\n" + diff
}

// autoCase is a diff that git refuses.
type autoCase struct {
	build func(g *ground)
	patch string
	want  map[string]string // files afterwards, where it is placed by content
	kind  oxpatch.Kind      // of the refusal that stands
	git   bool              // --mode git
	rev   bool
}

func autoCases() map[string]autoCase {
	ten := numbered(20, map[int]string{10: "ten"})
	dirty := map[int]string{2: "two, and not staged"}
	exact := unifiedEdit("f.txt", "line 9", "line 11")
	elsewhere := strings.ReplaceAll(exact, "-9,3 +9,3", "-900,3 +900,3")
	twice := func(g *ground) { g.write("f.txt", numbered(20, nil)+numbered(20, nil)+"dirty\n") }
	blobless := withIDs("f.txt", unifiedEdit("f.txt", "line 9   ", "line 11"))
	return map[string]autoCase{
		// Where git gives up, and the places are certain.
		"corrupt":             {patch: "diff --git a/f.txt b/f.txt\nold mode rw-r--r--\n" + exact, want: map[string]string{"f.txt": ten}},
		"the blob is missing": {patch: blobless, want: map[string]string{"f.txt": ten}},
		"not applying":        {patch: unifiedEdit("f.txt", "line 9   ", "line 11"), want: map[string]string{"f.txt": ten}},
		"not as in the index": {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)) }, patch: exact,
			want: map[string]string{"f.txt": numbered(20, map[int]string{2: dirty[2], 10: "ten"})}},
		"not tracked": {build: func(g *ground) { g.write("untracked.txt", numbered(20, nil)) }, patch: unifiedEdit("untracked.txt", "line 9", "line 11"),
			want: map[string]string{"untracked.txt": ten}},
		"two sections, of which git could take one": {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)) },
			patch: exact + unifiedEdit("other.txt", "line 9", "line 11"),
			want:  map[string]string{"f.txt": numbered(20, map[int]string{2: dirty[2], 10: "ten"}), "other.txt": ten}},

		// All or nothing, and only for certain.
		"one of two sections has no place": {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)) },
			patch: exact + unifiedEdit("other.txt", "line nine", "line eleven"), kind: oxpatch.KindNoMatch},
		"several places":              {build: twice, patch: elsewhere, kind: oxpatch.KindIndexMismatch},
		"several places, in the blob": {build: func(g *ground) { twice(g); g.commit() }, patch: withIDs("f.txt", strings.ReplaceAll(elsewhere, " line 9\n", " line 9  \n")), kind: oxpatch.KindNoMatch},
		"a place that is only guessed": {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)) },
			patch: "--- a/f.txt\n+++ b/f.txt\n@@ -400,0 +401,1 @@\n+at the end\n", kind: oxpatch.KindIndexMismatch},
		"no such file": {patch: unifiedEdit("nowhere.txt", "line 9", "line 11"), kind: oxpatch.KindNoMatch},

		"two files that may be meant": {build: func(g *ground) { g.write("a/f.txt", numbered(20, nil)); g.commit() },
			patch: strings.ReplaceAll(exact, "+++ b/", "+++ a/"), kind: oxpatch.KindAmbiguous},

		// Never.
		"mode git":          {patch: blobless, git: true, kind: oxpatch.KindNoMatch},
		"mode git, corrupt": {patch: "diff --git a/f.txt b/f.txt\nold mode rw-r--r--\n" + exact, git: true, kind: oxpatch.KindMalformed},
		"mode git, dirty":   {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)) }, patch: exact, git: true, kind: oxpatch.KindIndexMismatch},
		"reverse": {build: func(g *ground) { g.write("f.txt", ten); g.commit() },
			patch: unifiedEdit("f.txt", "line 9   ", "line 11"), rev: true, kind: oxpatch.KindNoMatch},
		"out of the tree":      {patch: unifiedEdit("../f.txt", "line 9", "line 11"), kind: oxpatch.KindUnsafePath},
		"into a git directory": {patch: unifiedEdit(".git/f.txt", "line 9", "line 11"), kind: oxpatch.KindUnsafePath},
		"through a link": {build: func(g *ground) { g.write("real/f.txt", numbered(20, nil)); g.link("real", "via") },
			patch: unifiedEdit("via/f.txt", "line 9", "line 11"), kind: oxpatch.KindUnsafePath},
		"binary without data": {patch: "diff --git a/b.bin b/b.bin\nindex 1234567..7654321 100644\nBinary files a/b.bin and b/b.bin differ\n", kind: oxpatch.KindGit},
		"binary beside a section that has a place": {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)) },
			patch: "diff --git a/f.txt b/f.txt\n" + exact + "diff --git a/b.bin b/b.bin\nindex 1234567..7654321 100644\nBinary files a/b.bin and b/b.bin differ\n", kind: oxpatch.KindGit},
		"a mode and nothing else": {build: func(g *ground) { g.write("untracked.sh", "x\n") },
			patch: "diff --git a/untracked.sh b/untracked.sh\nold mode 100644\nnew mode 100755\n", kind: oxpatch.KindGit},
		"a mode beside a section that has a place": {build: func(g *ground) { g.write("f.txt", numbered(20, dirty)); g.write("untracked.sh", "x\n") },
			patch: "diff --git a/f.txt b/f.txt\n" + exact + "diff --git a/untracked.sh b/untracked.sh\nold mode 100644\nnew mode 100755\n", kind: oxpatch.KindGit},
		"an addition over a file": {build: func(g *ground) { g.write("new.txt", "mine\n") },
			patch: "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+theirs\n", kind: oxpatch.KindExists},
	}
}

func TestModeAutoPlacesByContentOnlyWhereItMay(t *testing.T) {
	t.Parallel()
	for name, tt := range autoCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBareGround(t)
			g.write("f.txt", numbered(20, nil))
			g.write("other.txt", numbered(20, nil))
			g.write("b.bin", "\x00\x01")
			g.commit()
			if tt.build != nil {
				tt.build(g)
			}
			req := request(tt.patch)
			req.Reverse = tt.rev
			if tt.git {
				req.Mode = oxpatch.ModeGit
			}
			if tt.want == nil {
				res := g.refused(req, nil)
				assert.True(t, hasProblem(res, tt.kind, ""), "%v", res.Problems)
				assert.Equal(t, oxpatch.ModeGit, res.Mode, "git's refusal stands")
				g.nothingToUndo()
				return
			}
			before := g.twin()
			strict := req
			strict.Mode = oxpatch.ModeGit
			g.refused(strict, nil) // so it is git that gives up
			check := req
			check.Check = true
			foretold, err := g.run(check)
			require.NoError(t, err)
			requireTwin(t, before, g.twin(), "the check changed something")
			res := g.must(req)
			assert.Equal(t, foretold.Files, res.Files)
			assert.Equal(t, oxpatch.ModeText, res.Mode)
			assert.True(t, warned(res, oxpatch.KindRepaired), "the result does not say so: %v", res.Problems)
			for file, text := range tt.want {
				assert.Equal(t, text, g.read(file), file)
			}
			assert.Equal(t, before.index, g.index(), "something was staged")
			g.undo()
			requireTwin(t, before, g.twin(), "after undo")
		})
	}
}

// What keeps git from working is no reason to place by content.
func TestModeAutoReportsWhatGoesWrong(t *testing.T) {
	t.Parallel()
	patch := unifiedEdit("f.txt", "line 9", "line 11")
	t.Run("the index is locked", func(t *testing.T) {
		t.Parallel()
		g := newBareGround(t)
		g.write("f.txt", numbered(20, nil))
		g.commit()
		g.write(".git/index.lock", "")
		res, err := g.run(request(patch), oxpatch.WithLockTimeout(-1))
		require.ErrorIs(t, err, oxpatch.ErrBusy)
		assert.Equal(t, oxpatch.ModeGit, res.Mode)
		assert.True(t, hasProblem(res, oxpatch.KindBusy, ""))
		assert.Equal(t, numbered(20, nil), g.read("f.txt"))
		require.FileExists(t, g.path(".git/index.lock"))
	})
	t.Run("the index is broken", func(t *testing.T) {
		t.Parallel()
		g := newBareGround(t)
		g.write("f.txt", numbered(20, nil))
		g.commit()
		g.write(".git/index", "no index at all")
		res, err := g.run(request(patch))
		require.Error(t, err)
		assert.Equal(t, oxpatch.ModeGit, res.Mode)
		assert.False(t, res.Applied)
		assert.Equal(t, numbered(20, nil), g.read("f.txt"))
		assert.Equal(t, "no index at all", g.read(".git/index"))
	})
}

// Paths count from the top whether git takes the diff or its text decides: the file of the same name
// in the folder that one happens to be in is another one.
func TestModeAutoCountsFromTheTopInAFolder(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	for _, name := range []string{"f.txt", "sub/f.txt", "sub/sub/f.txt"} {
		g.write(name, numbered(20, nil))
	}
	g.commit()
	g.write("sub/f.txt", numbered(20, map[int]string{2: "dirty"}))
	diff := "diff --git a/sub/f.txt b/sub/f.txt\n" + unifiedEdit("sub/f.txt", "line 9", "line 11")
	res, err := g.openAt(g.path("sub")).Apply(t.Context(), request(diff))
	require.NoError(t, err)
	assert.Equal(t, oxpatch.ModeText, res.Mode)
	assert.Equal(t, []string{"sub/f.txt"}, res.AppliedPaths)
	assert.Equal(t, numbered(20, map[int]string{2: "dirty", 10: "ten"}), g.read("sub/f.txt"))
	assert.Equal(t, numbered(20, nil), g.read("sub/sub/f.txt"))
	assert.Equal(t, numbered(20, nil), g.read("f.txt"))
}

// Git says only that a diff does not apply. Where its text has no certain place either, the result
// says why, as for a patch that git has never seen.
func TestARefusalByGitIsExplained(t *testing.T) {
	t.Parallel()
	g := newBareGround(t)
	g.write("f.txt", numbered(20, nil))
	g.write("twice.txt", numbered(20, nil)+numbered(20, nil))
	g.commit()
	before := "line 9   " // not as in the file, so that git refuses

	res := g.refused(request(withIDs("f.txt", unifiedEdit("f.txt", before, "line 12"))), oxpatch.ErrNoMatch)
	require.Len(t, res.Problems, 2)
	assert.Equal(t, [2]string{"f.txt", ""}, [2]string{res.Problems[0].Path, res.Problems[0].Hint}, "git's own")
	require.NotNil(t, res.Problems[1].Nearest)
	assert.Equal(t, 11, res.Problems[1].Nearest.FirstDifference.Line)
	assert.Equal(t, "line 12", res.Problems[1].Nearest.FirstDifference.Want)

	far := strings.ReplaceAll(unifiedEdit("twice.txt", before, "line 11"), "-9,3 +9,3", "-900,3 +900,3")
	res = g.refused(request(far), oxpatch.ErrAmbiguous)
	require.Len(t, res.Problems, 2)
	require.Len(t, res.Problems[1].Candidates, 2)
	assert.Equal(t, []int{9, 29}, []int{res.Problems[1].Candidates[0].Line, res.Problems[1].Candidates[1].Line})

	req := request(far)
	req.Mode = oxpatch.ModeGit
	assert.Len(t, g.refused(req, oxpatch.ErrNoMatch).Problems, 1, "git alone")
}
