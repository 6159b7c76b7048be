package textapply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestApplyThenReverseIsIdentity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawTrueEdit(t)
		tree := files("f", e.before, "other", "o\n")
		s := update("f", e.chunks...)
		if rapid.Bool().Draw(t, "move") {
			s.MoveTo = "d/g"
		}
		sections := []Section{s}
		if rapid.Bool().Draw(t, "add") {
			sections = append(sections, added("new", "x", "y"), update("new", chunk(" x", "+z")))
		}
		patch := patchOf(sections...)
		plan := MakePlan(patch, tree, carefulPolicy())
		require.Empty(t, plan.Errors())
		after := carryOut(t, tree, plan)

		reversed, err := Reverse(patch)
		if err != nil {
			require.ErrorIs(t, err, ErrUnsupported)
			require.True(t, oneSided(e.chunks), "refused without need")
			return
		}
		plan = MakePlan(reversed, after, carefulPolicy())
		require.Empty(t, plan.Errors())
		assert.Equal(t, tree.outcome(), carryOut(t, after, plan).outcome())
	})
}

// oneSided reports whether a chunk has lines on one side only.
func oneSided(chunks []Chunk) bool {
	for _, c := range chunks {
		if len(c.Old()) == 0 || len(c.New()) == 0 {
			return true
		}
	}
	return false
}

func TestReverseTwiceIsThePatch(t *testing.T) {
	t.Parallel()
	patch := patchOf(added("new", "x"), moved("f", "g", chunk("@@ s", "-a", "+x", " b", "$"), chunk(" c", "+y")), update("h", chunk(" d", "-e")))
	once, err := Reverse(patch)
	require.NoError(t, err)
	twice, err := Reverse(once)
	require.NoError(t, err)
	assert.Equal(t, patch, twice)
	assert.NotEqual(t, patch, once)
}

func TestReverseLeavesThePatchAlone(t *testing.T) {
	t.Parallel()
	make := func() *Patch { return patchOf(added("new", "x"), moved("f", "g", chunk("-a", "+x"))) }
	patch := make()
	_, err := Reverse(patch)
	require.NoError(t, err)
	assert.Equal(t, make(), patch)
}

func TestReverseRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		section Section
		want    string
	}{
		"delete":         {deleted("f"), "f: a Delete File section does not hold the file's text, so it cannot be reversed"},
		"only additions": {update("f", chunk(" a", "-b"), chunk("+x")), "f: hunk 2: a hunk that only adds or only removes lines, without context, cannot be reversed"},
		"only removals":  {update("f", chunk("-x")), "f: hunk 1: a hunk that only adds or only removes lines, without context, cannot be reversed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Reverse(patchOf(tt.section))
			require.ErrorIs(t, err, ErrUnsupported)
			assert.EqualError(t, err, tt.want)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.NotEmpty(t, e.Hint)
			assert.NotZero(t, e.PatchLine)
		})
	}
}

// The reverse of an addition deletes only what the addition wrote.
func TestReversedAddIsChecked(t *testing.T) {
	t.Parallel()
	reversed, err := Reverse(patchOf(added("new", "x", "y")))
	require.NoError(t, err)

	tree := files("new", "x\ny\n")
	plan := MakePlan(reversed, tree, carefulPolicy())
	require.Empty(t, plan.Errors())
	assert.Empty(t, carryOut(t, tree, plan).outcome())

	for _, content := range []string{"x\ny", "x\ny\nz\n", "", "x\r\ny\r\n"} {
		plan = MakePlan(reversed, files("new", content), carefulPolicy())
		require.Len(t, plan.Errors(), 1, "%q", content)
		assert.ErrorIs(t, plan.Errors()[0], ErrNoMatch)
		assert.Empty(t, plan.Changes)
	}
	plan = MakePlan(reversed, files("real", "x\ny\n").link("new", "real"), carefulPolicy())
	require.Len(t, plan.Errors(), 1, "a link was not written by the patch")
	plan = MakePlan(reversed, files().link("new", "x\ny\n"), carefulPolicy())
	require.Len(t, plan.Errors(), 1, "nor a link whose target reads like the file")
}
