package outputparse_test

import (
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/outputparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseWords(t *testing.T) {
	t.Parallel()
	type lists = outputparse.Result
	cases := map[string]struct {
		out   string
		known []string
		want  lists
	}{
		"applied, old wording":             {out: "Applied patch f.txt cleanly.", want: lists{Applied: []string{"f.txt"}}},
		"applied, new wording":             {out: "Applied patch to 'f.txt' cleanly.", want: lists{Applied: []string{"f.txt"}}},
		"conflicted":                       {out: "Applied patch to 'f.txt' with conflicts.", want: lists{Conflicted: []string{"f.txt"}}},
		"rejects":                          {out: "Applying patch f.txt with 2 rejects...", want: lists{Conflicted: []string{"f.txt"}}},
		"one reject":                       {out: "Applying patch f.txt with 1 reject...", want: lists{Conflicted: []string{"f.txt"}}},
		"unmerged":                         {out: "U f.txt", want: lists{Conflicted: []string{"f.txt"}}},
		"binary conflict":                  {out: "warning: Cannot merge binary files: i.bin (ours vs. theirs)", want: lists{Conflicted: []string{"i.bin"}}},
		"hunk failed":                      {out: "error: patch failed: f.txt:10", want: lists{Skipped: []string{"f.txt"}}},
		"does not apply":                   {out: "error: f.txt: patch does not apply", want: lists{Skipped: []string{"f.txt"}}},
		"does not match index":             {out: "error: f.txt: does not match index", want: lists{Skipped: []string{"f.txt"}}},
		"not in index":                     {out: "error: f.txt: does not exist in index", want: lists{Skipped: []string{"f.txt"}}},
		"exists":                           {out: "error: f.txt: already exists in working directory", want: lists{Skipped: []string{"f.txt"}}},
		"exists, without the colon":        {out: "error: f.txt already exists in working directory", want: lists{Skipped: []string{"f.txt"}}},
		"exists in index":                  {out: "error: f.txt: already exists in index", want: lists{Skipped: []string{"f.txt"}}},
		"renamed away":                     {out: "error: path f.txt has been renamed/deleted", want: lists{Skipped: []string{"f.txt"}}},
		"binary without index line":        {out: "error: cannot apply binary patch to 'i.bin' without full index line", want: lists{Skipped: []string{"i.bin"}}},
		"binary does not apply":            {out: "error: binary patch does not apply to 'i.bin'", want: lists{Skipped: []string{"i.bin"}}},
		"binary result":                    {out: "error: binary patch to 'i.bin' creates incorrect result (expecting 12ab, got 34cd)", want: lists{Skipped: []string{"i.bin"}}},
		"cannot read":                      {out: "error: cannot read the current contents of 'f.txt'", want: lists{Skipped: []string{"f.txt"}}},
		"skipped":                          {out: "Skipped patch 'f.txt'.", want: lists{Skipped: []string{"f.txt"}}},
		"wrong type":                       {out: "error: f.txt: wrong type", want: lists{Skipped: []string{"f.txt"}}},
		"invalid path":                     {out: "error: invalid path '../f.txt'", want: lists{Skipped: []string{"../f.txt"}}},
		"case does not matter":             {out: "ERROR: f.txt: Patch Does Not Apply", want: lists{Skipped: []string{"f.txt"}}},
		"CRLF":                             {out: "U f.txt\r\n", want: lists{Conflicted: []string{"f.txt"}}},
		"conflicted wins over applied":     {out: "Applied patch to 'f' cleanly.\nU f", want: lists{Conflicted: []string{"f"}}},
		"applied wins over skipped":        {out: "error: patch failed: f:1\nApplied patch to 'f' cleanly.", want: lists{Applied: []string{"f"}}},
		"conflicted wins over skipped":     {out: "U f\nerror: f: patch does not apply", want: lists{Conflicted: []string{"f"}}},
		"last seen by checking":            {out: "Checking patch f.txt...\nFailed to perform three-way merge...", want: lists{Skipped: []string{"f.txt"}}},
		"last seen, missing blob, old git": {out: "Checking patch f.txt...\nerror: repository lacks the necessary blob to fall back on 3-way merge.", want: lists{Skipped: []string{"f.txt"}}},
		"missing blob is narration since":  {out: "Checking patch f.txt...\nerror: repository lacks the necessary blob to perform 3-way merge.", want: lists{}},
		"last seen by an error":            {out: "error: patch failed: f.txt:1\nFailed to fall back on three-way merge...", want: lists{Skipped: []string{"f.txt"}}},
		"nothing seen":                     {out: "Failed to perform three-way merge...", want: lists{}},
		"narration":                        {out: "Checking patch f.txt...\nPerforming three-way merge...\nFalling back to three-way merge...\nFalling back to direct application...", want: lists{}},
		"quoted, letters":                  {out: `Applied patch "t\tab\nq\"b\\" cleanly.`, want: lists{Applied: []string{"t\tab\nq\"b\\"}}},
		"quoted, octal bytes":              {out: `Applied patch "\303\244\377" cleanly.`, want: lists{Applied: []string{"ä\xff"}}},
		"rename names both":                {out: "Applied patch a => b cleanly.", want: lists{Applied: []string{"a", "b"}}},
		"sorted":                           {out: "U b\nU a\nU c", want: lists{Conflicted: []string{"a", "b", "c"}}},
		"blank in a name":                  {out: "error: patch failed: a b.txt:3", want: lists{Skipped: []string{"a b.txt"}}},
		"known: raw bytes":                 {out: "U \xff.txt", known: []string{"\xff.txt"}, want: lists{Conflicted: []string{"\xff.txt"}}},
		"known: trailing blank":            {out: "error: x : does not match index", known: []string{"x "}, want: lists{Skipped: []string{"x "}}},
		"known: other names are nothing":   {out: "U other", known: []string{"x"}, want: lists{}},
		"known: line feed":                 {out: "U a\nU k.txt\nU z", known: []string{"a\nU k.txt", "k.txt", "z"}, want: lists{Conflicted: []string{"a\nU k.txt", "z"}}},
		"known: arrow in a name":           {out: "Checking patch a => b...\nApplied patch a => b cleanly.", known: []string{"a => b", "a", "b"}, want: lists{Applied: []string{"a => b"}}},
		"known: name like a message":       {out: "error: x: patch does not apply: does not match index", known: []string{"x: patch does not apply", "x"}, want: lists{Skipped: []string{"x: patch does not apply"}}},
		"forged by an added line":          {out: "<stdin>:5: trailing whitespace.\nU other.txt \nU f", known: []string{"other.txt", "f"}, want: lists{Conflicted: []string{"f"}}},
		"forged by searched text":          {out: "error: while searching for:\nU other.txt\nApplied patch to 'z' cleanly.\n\nerror: patch failed: f:1", want: lists{Skipped: []string{"f"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for stream, o := range map[string]outputparse.Output{
				"stdout": {Stdout: []byte(c.out), Known: c.known}, "stderr": {Stderr: []byte(c.out), Known: c.known},
			} {
				assert.Equal(t, c.want, outputparse.Parse(o), stream)
			}
		})
	}
}

func TestParseWithExitCode(t *testing.T) {
	t.Parallel()
	known := []string{"a", "b"}
	cases := map[string]struct {
		out  string
		exit int
		want outputparse.Result
	}{
		"silence and 0":           {exit: 0, want: outputparse.Result{Applied: known}},
		"silence and 1":           {exit: 1, want: outputparse.Result{Skipped: known}},
		"a forecast that failed":  {out: "Applied patch to 'a' with conflicts.\nerror: b: patch does not apply", exit: 1, want: outputparse.Result{Skipped: known}},
		"unmerged beside applied": {out: "Applied patch to 'a' with conflicts.\nU a", exit: 1, want: outputparse.Result{Applied: []string{"b"}, Conflicted: []string{"a"}}},
		"passed over":             {out: "Skipped patch 'b'.", exit: 0, want: outputparse.Result{Applied: []string{"a"}, Skipped: []string{"b"}}},
		"no hunk fitted":          {out: "Applied patch a cleanly.\nApplying patch b with 1 reject...\nRejected hunk #1.", exit: 1, want: outputparse.Result{Applied: []string{"a"}, Skipped: []string{"b"}}},
		"a hunk fitted":           {out: "Applying patch b with 1 reject...\nHunk #1 applied cleanly.\nRejected hunk #2.", exit: 1, want: outputparse.Result{Applied: []string{"a"}, Conflicted: []string{"b"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, outputparse.Parse(outputparse.Output{Stderr: []byte(c.out), Known: known, Exit: &c.exit}))
		})
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	out := "Checking patch a...\nerror: repository lacks the necessary blob to perform 3-way merge.\n" +
		"error: patch failed: a:7\nerror: a: patch does not apply\nApplied patch to 'b' cleanly.\nerror: corrupt patch at <stdin>:9\n"
	paths, whole := outputparse.Reasons([]byte(out), []string{"a", "b"})
	require.Len(t, paths["a"], 3)
	assert.Equal(t, "error: patch failed: a:7", paths["a"][1].Line)
	assert.Equal(t, "a hunk does not fit", paths["a"][1].Meaning)
	assert.Contains(t, paths["a"][0].Meaning, "lacks the blob")
	assert.Empty(t, paths["b"])
	require.Len(t, whole, 1)
	assert.Equal(t, "the patch is corrupt", whole[0].Meaning)
}

// Each row reads the message it describes, and no row before it takes that message away.
func TestEveryRowIsReached(t *testing.T) {
	t.Parallel()
	fill := strings.NewReplacer("<path>", "dir/some name", "<n>", "3", "<oid>", "0a1b", "<mode>", "100644", "<where>", "line 5", "<text>", "something")
	for _, m := range outputparse.Messages() {
		for _, known := range [][]string{nil, {"dir/some name"}} {
			found := outputparse.Read([]byte(fill.Replace(m.Text)+"\n"), known)
			if assert.Len(t, found, 1, m.Text) {
				assert.Equal(t, m.Class, found[0].Class, m.Text)
				assert.Equal(t, m.Meaning, found[0].Meaning, m.Text)
			}
		}
		assert.True(t, m.Meaning != "" || m.Class == outputparse.Narration, m.Text)
	}
}

func TestUnquote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`plain`: "plain", `"plain"`: "plain", `"a\\"`: `a\`, `"\a\b\t\n\v\f\r\"\'"`: "\a\b\t\n\v\f\r\"'", `"\000\377"`: "\x00\xff",
		`"bad\q"`: `"bad\q"`, `"bad\47"`: `"bad\47"`, `"`: `"`, `""`: "",
	} {
		assert.Equal(t, want, outputparse.Unquote(in), in)
	}
}

func FuzzReadIsLinearAndSafe(f *testing.F) {
	f.Add([]byte("U a\nerror: patch failed: a:1\n"), "a")
	f.Fuzz(func(t *testing.T, out []byte, name string) {
		for _, known := range [][]string{nil, {name}} {
			for _, found := range outputparse.Read(out, known) {
				for _, p := range found.Paths {
					assert.True(t, known == nil || p == name)
				}
			}
		}
	})
}
