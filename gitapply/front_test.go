package gitapply_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	head  = "diff --git a/f.txt b/f.txt\n--- a/f.txt\n+++ b/f.txt\n"
	hunk1 = "@@ -1,4 +1,4 @@\n one\n-two\n+2\n three\n four\n"
	hunk2 = "@@ -6,3 +6,3 @@\n six\n-seven\n+7\n eight\n"
)

// mending are patches that are not as git writes them.
func mending() map[string]struct {
	patch  string
	want   string // f.txt afterwards; "" for a refusal
	repair string
	kind   error
	says   string
	raw    bool // git reads it by itself, so NoRepair gives the same
} {
	two, both := replaced("two", "2"), strings.Replace(replaced("two", "2"), "seven", "7", 1)
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	type m = struct {
		patch  string
		want   string
		repair string
		kind   error
		says   string
		raw    bool
	}
	return map[string]m{
		"as it should be":           {patch: head + hunk1 + hunk2, want: both, raw: true},
		"no diff --git line":        {patch: "--- a/f.txt\n+++ b/f.txt\n" + hunk1, want: two, raw: true},
		"with times":                {patch: "--- a/f.txt\t2024-01-01 10:00:00.000 +0000\n+++ b/f.txt\t2024-01-02 10:00:00.000 +0000\n" + hunk1, want: two, raw: true},
		"other prefixes":            {patch: "diff --git i/f.txt w/f.txt\n--- i/f.txt\n+++ w/f.txt\n" + hunk1, want: two, raw: true},
		"wrong line numbers":        {patch: head + strings.Replace(hunk1, "-1,4 +1,4", "-3,4 +3,4", 1), want: two, raw: true},
		"prose around":              {patch: "I changed this:\n\n" + head + hunk1 + "\nThat is all.\n- really\n", want: two, raw: true},
		"a mail":                    {patch: "From 0123 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: x\n\n---\n f.txt | 2 +-\n 1 file changed\n\n" + head + hunk1 + "-- \n2.39.5\n\n", want: two, raw: true},
		"a fence":                   {patch: "Here:\n```diff\n" + head + hunk1 + "```\nDone.\n", want: two, repair: "fence"},
		"two fences":                {patch: "```diff\n" + head + hunk1 + "```\n\nand\n\n```diff\n" + head + hunk2 + "```\n", want: both, repair: "fence"},
		"a fence of something else": {patch: "```\nls -l\n```\n```patch\n" + head + hunk1 + "```\n", want: two, repair: "fence"},
		"CRLF":                      {patch: crlf(head + hunk1), want: two, repair: "carriage returns"},
		"CRLF in the header":        {patch: crlf(head) + hunk1, want: two, repair: "carriage return off a header"},
		"no line feed at the end":   {patch: strings.TrimSuffix(head+hunk1, "\n"), want: two, repair: "ended the last line"},
		"byte order mark":           {patch: "\xef\xbb\xbf" + head + hunk1, want: two, repair: "byte order mark"},
		"counts too big":            {patch: head + strings.Replace(hunk1, "-1,4 +1,4", "-1,9 +1,9", 1) + hunk2, want: both, repair: "recounted hunk 1"},
		"counts too small":          {patch: head + strings.Replace(hunk1, "-1,4 +1,4", "-1,2 +1,2", 1) + hunk2, want: both, repair: "recounted hunk 1"},
		"counts left out":           {patch: head + strings.Replace(hunk1, "-1,4 +1,4", "-1 +1", 1), want: two, repair: "recounted hunk 1"},
		"counts wrong, no diff --git before the next": {patch: "--- a/f.txt\n+++ b/f.txt\n" + strings.Replace(hunk1, "-1,4 +1,4", "-1,40 +1,40", 1) + "--- a/f.txt\n+++ b/f.txt\n" + hunk2,
			want: both, repair: "recounted hunk 1"},
		"counts too small at the end, lost additions": {patch: head + "@@ -8 +8,2 @@\n eight\n+nine\n+ten\n", want: base + "nine\nten\n", repair: "recounted hunk 1"},
		"no prefixes":                  {patch: "diff --git f.txt f.txt\n--- f.txt\n+++ f.txt\n" + hunk1, want: two, repair: "prefixes"},
		"no prefixes, no diff --git":   {patch: "--- f.txt\n+++ f.txt\n" + hunk1, want: two, repair: "prefixes"},
		"the same file twice":          {patch: head + hunk1 + head + hunk2, want: both, raw: true},
		"blank lines lost their blank": {patch: head + "@@ -1,4 +1,5 @@\n one\n+\n two\n three\n four\n\n", want: "one\n\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n", raw: true},

		"cut off":                        {patch: "diff --git a/f.txt b/f.txt\nindex 1234567..89abcde 100644\n--- a/f.txt\n+++ b/f.txt\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n", kind: gitapply.ErrCorrupt, says: "cut off"},
		"bare hunk":                      {patch: head + "@@\n one\n-two\n+2\n", kind: gitapply.ErrCorrupt, says: "line 4 of the patch: the hunk has no line numbers"},
		"bare hunk behind a good one":    {patch: head + hunk1 + "@@ ... @@\n-seven\n+7\n", kind: gitapply.ErrCorrupt, says: "hunk 2"},
		"surplus lines, then prose":      {patch: head + hunk1 + "+more\nAnd so on.\n", kind: gitapply.ErrCorrupt, says: "no part of a diff"},
		"no hunks":                       {patch: head, kind: gitapply.ErrCorrupt, says: "no hunks"},
		"no hunks before a good section": {patch: head + head + hunk1, kind: gitapply.ErrCorrupt, says: "no hunks"},
		"a hunk without a header":        {patch: hunk1, kind: gitapply.ErrCorrupt, says: "without a file header"},
		"a hunk that changes nothing":    {patch: head + "@@ -1,2 +1,2 @@\n one\n two\n", kind: gitapply.ErrCorrupt, says: "changes nothing"},
		"nothing":                        {patch: "", kind: gitapply.ErrCorrupt, says: "no file section"},
		"prose":                          {patch: "please change two to 2\n", kind: gitapply.ErrCorrupt, says: "no file section"},
		"combined":                       {patch: "diff --cc f.txt\nindex 1,2..3\n--- a/f.txt\n+++ b/f.txt\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", kind: gitapply.ErrCombined, says: "combined"},
		"combined behind a good one":     {patch: head + hunk1 + "diff --combined g.txt\n", kind: gitapply.ErrCombined},
		"binary without data":            {patch: "diff --git a/f.txt b/f.txt\nindex 1..2 100644\nBinary files a/f.txt and b/f.txt differ\n", kind: gitapply.ErrBinary, says: "f.txt"},
		"binary that is broken":          {patch: "diff --git a/f.txt b/f.txt\nindex 1..2 100644\nGIT binary patch\nliteral 3\n!!!\n\n" + head + hunk1, kind: gitapply.ErrBinary, says: "line 5 of the patch"},
		"binary that is cut off":         {patch: "diff --git a/f.txt b/f.txt\nindex 1..2 100644\nGIT binary patch\nliteral 3\n", kind: gitapply.ErrBinary},
		"two names, no rename":           {patch: "diff --git a/f.txt b/g.txt\n--- a/f.txt\n+++ b/g.txt\n" + hunk1, kind: gitapply.ErrCorrupt, says: "two files"},
		"out of the tree":                {patch: strings.ReplaceAll(head+hunk1, "f.txt", "../f.txt"), kind: gitapply.ErrUnsafePath},
		"into .git":                      {patch: strings.ReplaceAll(head+hunk1, "f.txt", ".GIT/config"), kind: gitapply.ErrUnsafePath},
		"into .git of a folder":          {patch: strings.ReplaceAll(head+hunk1, "f.txt", "x/.git/config"), kind: gitapply.ErrUnsafePath},
		"absolute":                       {patch: "--- a//etc/passwd\n+++ b//etc/passwd\n" + hunk1, kind: gitapply.ErrUnsafePath},
		"an envelope":                    {patch: "*** Begin Patch\n*** Update File: f.txt\n@@\n-two\n+2\n*** End Patch\n", kind: gitapply.ErrCorrupt},
		"a count beyond all bounds":      {patch: head + "@@ -1,99999999999999999999 +1 @@\n-two\n", kind: gitapply.ErrCorrupt},
	}
}

func TestPatchesNotAsGitWritesThem(t *testing.T) {
	t.Parallel()
	git := anyGit(t)
	for name, m := range mending() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, git)
			r.write("f.txt", base)
			r.commit()
			res, err := r.plan(m.patch, gitapply.Options{})
			if m.want == "" {
				require.ErrorIs(t, err, m.kind)
				assert.Contains(t, err.Error(), m.says)
				assert.Empty(t, res.Applied)
				_, err = r.plan(m.patch, gitapply.Options{NoRepair: true})
				assert.Error(t, err, "without repairs")
				return
			}
			require.NoError(t, err, string(res.Stderr))
			assert.Equal(t, m.repair == "", len(res.Repairs) == 0, "%v", res.Repairs)
			assert.Contains(t, fmt.Sprint(res.Repairs), m.repair)
			require.NoError(t, r.apply(res))
			assert.Equal(t, m.want, r.read("f.txt"))
			r.undo(res)
			plain, err := r.plan(m.patch, gitapply.Options{NoRepair: true})
			assert.Empty(t, plain.Repairs)
			if m.raw {
				assert.NoError(t, err, "without repairs")
			} else if err == nil { // what git reads by itself has the same outcome
				require.NoError(t, r.apply(plain))
				assert.Equal(t, m.want, r.read("f.txt"))
			}
		})
	}
}

func TestMissingPrefixesAreSeenByTheTree(t *testing.T) {
	t.Parallel()
	git := anyGit(t)
	cases := map[string]struct {
		files []string
		patch string
		path  string // where it lands
		kind  error
	}{
		"the folder exists":         {files: []string{"src/f.txt"}, patch: "--- src/f.txt\n+++ src/f.txt\n" + hunk1, path: "src/f.txt"},
		"both exist":                {files: []string{"src/f.txt", "f.txt"}, patch: "--- src/f.txt\n+++ src/f.txt\n" + hunk1, kind: gitapply.ErrWhichFile},
		"both sides say a/":         {files: []string{"f.txt"}, patch: "diff --git a/f.txt a/f.txt\n--- a/f.txt\n+++ a/f.txt\n" + hunk1, path: "f.txt"},
		"a folder named a":          {files: []string{"a/f.txt"}, patch: "diff --git a/a/f.txt b/a/f.txt\n--- a/a/f.txt\n+++ b/a/f.txt\n" + hunk1, path: "a/f.txt"},
		"a new file":                {files: []string{"g"}, patch: "--- /dev/null\n+++ src/new/f.txt\n@@ -0,0 +1 @@\n+x\n", path: "src/new/f.txt"},
		"a new file, diff --git":    {files: []string{"g"}, patch: "diff --git src/f.txt src/f.txt\nnew file mode 100644\n--- /dev/null\n+++ src/f.txt\n@@ -0,0 +1 @@\n+x\n", path: "src/f.txt"},
		"a new file with a prefix":  {files: []string{"g"}, patch: "--- /dev/null\n+++ b/src/f.txt\n@@ -0,0 +1 @@\n+x\n", path: "src/f.txt"},
		"a rename without prefixes": {files: []string{"src/f.txt"}, patch: "diff --git src/f.txt src/g.txt\nsimilarity index 100%\nrename from src/f.txt\nrename to src/g.txt\n", path: "src/g.txt"},
		"a mode without prefixes":   {files: []string{"src/f.txt"}, patch: "diff --git src/f.txt src/f.txt\nold mode 100644\nnew mode 100755\n", path: "src/f.txt"},
		"a deletion":                {files: []string{"src/f.txt"}, patch: "--- src/f.txt\n+++ /dev/null\n@@ -1,8 +0,0 @@\n-one\n-two\n-three\n-four\n-five\n-six\n-seven\n-eight\n", path: "src/f.txt"},
		"with a blank in the name":  {files: []string{"my src/f 1.txt"}, patch: "diff --git my src/f 1.txt my src/f 1.txt\n--- my src/f 1.txt\t\n+++ my src/f 1.txt\t\n" + hunk1, path: "my src/f 1.txt"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, git)
			for _, f := range c.files {
				r.write(f, base)
			}
			r.commit()
			before := r.files()
			res, err := r.plan(c.patch, gitapply.Options{})
			if c.kind != nil {
				require.ErrorIs(t, err, c.kind)
				return
			}
			require.NoError(t, err, string(res.Stderr))
			require.NoError(t, r.apply(res))
			assert.Contains(t, res.Applied, c.path)
			var changed []string
			after := r.files()
			for p := range after {
				if before[p] != after[p] && before[p]+after[p] != "" && !strings.HasPrefix(after[p], "d") {
					changed = append(changed, p)
				}
			}
			if _, err := os.Lstat(filepath.Join(r.top, c.path)); err == nil {
				assert.Equal(t, []string{c.path}, changed)
			}
		})
	}
}

func TestTheLineEndingsOfTheFileDecide(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	crlf := strings.ReplaceAll(base, "\n", "\r\n")
	r.write("f.txt", crlf)
	r.write("g.txt", base)
	r.commit()
	patch := head + hunk1 + strings.ReplaceAll(head, "f.txt", "g.txt") + hunk1
	res, err := r.plan(strings.ReplaceAll(patch, "\n", "\r\n"), gitapply.Options{})
	require.NoError(t, err, string(res.Stderr))
	require.NoError(t, r.apply(res))
	assert.Equal(t, strings.Replace(crlf, "two", "2", 1), r.read("f.txt"))
	assert.Equal(t, replaced("two", "2"), r.read("g.txt"))
}

func TestNamesOfEveryKind(t *testing.T) {
	t.Parallel()
	git := anyGit(t)
	for _, name := range []string{"with blank", "tab\tname", `quo"te`, `back\slash`, `ends in \`, "line\nfeed", "\xff\xfe", "ümlaut", "-dash", " lead", "a => b", ": (glob)*", "x: does not exist in index", "U k.txt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, git)
			full := filepath.Join("d", name)
			r.write(full, base)
			r.commit()
			patch := edit(r, full, base, replaced("two", "2"))
			r.write(full, replaced("two", "zwei"))
			r.run("add", "-A")
			files, index := r.files(), r.lines()
			res, err := r.plan(patch, gitapply.Options{})
			require.NoError(t, err, string(res.Stderr))
			assert.Equal(t, []string{"d/" + name}, res.Conflicted)
			require.NoError(t, r.apply(res))
			assert.Contains(t, r.read(full), "<<<<<<< ours")
			r.undo(res)
			requireSame(t, files, r.files(), "files")
			assert.Equal(t, index, r.lines())
		})
	}
}
