package textapply

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

func final(f FinalNewline, lines ...string) Chunk {
	c := chunk(append(lines, "$")...)
	c.Final = f
	return c
}

func TestFinalNewlineAsAsked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file, want string
		chunks     []Chunk
	}{
		"removed with the line unchanged":   {"a\nb\n", "a\nb", []Chunk{final(FinalRemoved, "-b", "+b")}},
		"removed with the line changed":     {"a\nb\n", "a\nc", []Chunk{final(FinalRemoved, " a", "-b", "+c")}},
		"removed from a CRLF file":          {"a\r\nb\r\n", "a\r\nc", []Chunk{final(FinalRemoved, "-b", "+c")}},
		"added with the line unchanged":     {"a\nb", "a\nb\n", []Chunk{final(FinalAdded, "-b", "+b")}},
		"added in a CRLF file":              {"a\r\nb", "a\r\nc\r\n", []Chunk{final(FinalAdded, "-b", "+c")}},
		"kept":                              {"a\nb", "a\nc", []Chunk{final(FinalKept, "-b", "+c")}},
		"removed by the last of two chunks": {"a\nb\nc\n", "x\nb\ny", []Chunk{chunk("-a", "+x"), final(FinalRemoved, "-c", "+y")}},
		"nothing is left to end":            {"a\n", "", []Chunk{final(FinalRemoved, "-a")}},
		"removed though it is not there":    {"a\nb", "a\nc", []Chunk{final(FinalRemoved, "-b", "+c")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files("f", tt.file)
			plan := MakePlan(patchOf(update("f", tt.chunks...)), tree, carefulPolicy())
			require.Empty(t, plan.Errors())
			assert.Equal(t, tt.want, carryOut(t, tree, plan).outcome()["f"])
		})
	}
}

func TestWholeFilesWithoutFinalNewline(t *testing.T) {
	t.Parallel()
	add := added("new", "a", "b")
	add.NoFinalNewline = true
	tree := files()
	plan := MakePlan(patchOf(add), tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	assert.Equal(t, "a\nb", carryOut(t, tree, plan).outcome()["new"])

	gone := Section{Kind: Delete, Path: "f", Content: []string{"a", "b"}, Checked: true, NoFinalNewline: true}
	require.Empty(t, MakePlan(patchOf(gone), files("f", "a\nb"), carefulPolicy()).Errors())
	require.Len(t, MakePlan(patchOf(gone), files("f", "a\nb\n"), carefulPolicy()).Errors(), 1)
}

func TestExecutableBits(t *testing.T) {
	t.Parallel()
	policy := carefulPolicy()
	policy.NewExecutable = 0o750
	modeOf := func(before fs.FileMode, s Section) fs.FileMode {
		tree := files()
		if s.Kind == Update {
			tree.at["f"] = change.State{Kind: change.File, Mode: before, Content: []byte("a\n")}
		}
		plan := MakePlan(patchOf(s), tree, policy)
		require.Empty(t, plan.Errors())
		require.Len(t, plan.Changes, 1)
		return plan.Changes[0].After.Mode
	}
	with := func(s Section, e Executable) Section { s.Executable = e; return s }
	edit := update("f", chunk("-a", "+b"))

	assert.Equal(t, fs.FileMode(0o750), modeOf(0, with(added("f", "a"), MakeExecutable)), "a new file gets what the umask leaves")
	assert.Equal(t, fs.FileMode(0), modeOf(0, added("f", "a")))
	assert.Equal(t, fs.FileMode(0o755), modeOf(0o644, with(edit, MakeExecutable)))
	assert.Equal(t, fs.FileMode(0o700), modeOf(0o600, with(update("f"), MakeExecutable)), "a mode alone")
	assert.Equal(t, fs.FileMode(0o644), modeOf(0o755, with(edit, MakePlain)))
	assert.Equal(t, fs.FileMode(0o755), modeOf(0o755, edit))

	same := with(update("f"), MakeExecutable)
	tree := files()
	tree.at["f"] = change.State{Kind: change.File, Mode: 0o755, Content: []byte("a\n")}
	plan := MakePlan(patchOf(same), tree, policy)
	assert.Equal(t, Unchanged, plan.Sections[0].Status, "it has that mode already")
}

// A section that asks for what is there changes nothing, and says so.
func TestSectionsThatChangeNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Chunk{"context alone": chunk(" a"), "a line by itself": chunk("-a", "+a")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(update("f", c)), files("f", "a\nb\n"), carefulPolicy())
			require.Empty(t, plan.Errors())
			assert.Equal(t, Unchanged, plan.Sections[0].Status)
			assert.Equal(t, "already_applied", plan.Sections[0].Warnings[0].Kind)
			assert.Empty(t, plan.Changes)
		})
	}
}

func TestReverseTurnsModesAndFinalNewlinesAround(t *testing.T) {
	t.Parallel()
	section := update("f", final(FinalRemoved, "-b", "+c"))
	section.Executable, section.Blob, section.Chunks[0].Hint = MakeExecutable, "1234567", 4
	back, err := Reverse(patchOf(section))
	require.NoError(t, err)
	s := back.Sections[0]
	assert.Equal(t, []any{MakePlain, "", 0, FinalAdded}, []any{s.Executable, s.Blob, s.Chunks[0].Hint, s.Chunks[0].Final})
	twice, err := Reverse(back)
	require.NoError(t, err)
	assert.Equal(t, MakeExecutable, twice.Sections[0].Executable)
	assert.Equal(t, FinalRemoved, twice.Sections[0].Chunks[0].Final)
}

// The mark stays where it is, whether or not the patch has it too.
func TestByteOrderMarkInThePatch(t *testing.T) {
	t.Parallel()
	for _, c := range []Chunk{chunk("-a", "+x", " b"), chunk("-\ufeffa", "+\ufeffx", " b"), chunk("-\ufeffa", "+x", " b")} {
		tree := files("f", "\ufeffa\nb\n")
		plan := MakePlan(patchOf(update("f", c)), tree, carefulPolicy())
		require.Empty(t, plan.Errors())
		assert.Equal(t, "\ufeffx\nb\n", carryOut(t, tree, plan).outcome()["f"])
	}
}
