package textapply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In a file of mixed terminators whose last line is unfinished, what a hunk at its end leaves depends
// on the other hunks there.
func TestUnfinishedEndIsSharedByHunks(t *testing.T) {
	t.Parallel()
	plan := MakePlan(patchOf(update("f", chunk("-a", "-a", "-a"), chunk("@@ a", "+a"))), files("f", "\r\na\na\na\r\na"), carefulPolicy())
	require.NotEmpty(t, plan.Errors())
	require.ErrorIs(t, plan.Errors()[0], ErrAmbiguous)
}

// What a plan has spent is not spent again.
func TestSpentEffort(t *testing.T) {
	t.Parallel()
	text := splitText([]byte("a\nscope line\n  a\n"), carefulPolicy())
	cut := &Section{Path: "f", Chunks: []Chunk{chunk("@@ scope", "-a")}}
	place := func(s *Section, e *effort) []*Error {
		_, errs := placeJointly(text, s, carefulPolicy(), e)
		return errs
	}
	assert.Empty(t, place(cut, newEffort()))
	spent := newEffort()
	spent.cutScopes = 0
	errs := place(cut, spent)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], ErrAmbiguous)
	assert.Equal(t, "scope line", errs[0].Places[1].Scope)

	spent.lookedBack = 0
	errs = place(cut, spent)
	require.Len(t, errs, 1)
	assert.Empty(t, errs[0].Places[1].Scope)
}

// Many hunks with many places each are listed once and counted in one sweep either way: the places
// of 10,000 hunks with 4096 each would be 40 million.
func TestManyHunksShareTheirPlaces(t *testing.T) {
	t.Parallel()
	const hunks = 10_000
	below, equal := Section{Path: "f"}, Section{Path: "f"}
	for range hunks {
		below.Chunks = append(below.Chunks, chunk("@@ s", "+x"))
		equal.Chunks = append(equal.Chunks, chunk("-s"))
	}
	tests := map[string]struct {
		section Section
		lines   int
		want    error
	}{
		"below a scope":         {below, maxPlaces, ErrAmbiguous},
		"more places than kept": {equal, 2 * hunks, ErrAmbiguous},
		"fewer than hunks":      {equal, maxPlaces, ErrOutOfOrder},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := splitText([]byte(strings.Repeat("s\n", tt.lines)), carefulPolicy())
			j := newJoint(text, &tt.section, carefulPolicy(), newEffort())
			j.run()
			require.NotEmpty(t, j.errs)
			require.ErrorIs(t, j.errs[0], tt.want)
			assert.LessOrEqual(t, mostCandidates-j.x.room, 3*maxPlaces, "places listed")
			lists := map[*int]bool{}
			for _, c := range j.chunks {
				assert.Len(t, c.at, maxPlaces)
				lists[&c.at[0]] = true
			}
			assert.Len(t, lists, 1, "lists held")
			for p := range j.x.pass {
				if j.x.pass[p] != nil {
					assert.LessOrEqual(t, j.x.pass[p].work, (comparisonsPerLine+2)*(tt.lines+16), "comparisons of pass %d", p)
				}
			}
		})
	}
}

// Hunks whose places cannot be shared get only so many together.
func TestPlacesOfASectionAreBounded(t *testing.T) {
	t.Parallel()
	const hunks = 2_000
	s := Section{Path: "f"}
	for i := range hunks {
		c := chunk("-x", "+y")
		c.Scopes = []string{fmt.Sprintf("scope %d", i)}
		s.Chunks = append(s.Chunks, c)
	}
	j := newJoint(splitText([]byte(scopedFile(hunks+2*maxPlaces, hunks)), carefulPolicy()), &s, carefulPolicy(), newEffort())
	j.run()
	require.NotEmpty(t, j.errs)
	require.ErrorIs(t, j.errs[0], ErrAmbiguous)
	held := 0
	for _, c := range j.chunks {
		held += len(c.at)
		assert.True(t, c.more)
	}
	assert.LessOrEqual(t, held, mostCandidates+maxPlaces+hunks*mostOthers)
}
