package snapshot

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/change"
)

// drawEdits draws a valid list of edits of base.
func drawEdits(t *rapid.T, base []byte) []change.Edit {
	cuts := rapid.SliceOfN(rapid.IntRange(0, len(base)), 0, 12).Draw(t, "cuts")
	slices.Sort(cuts)
	edits := []change.Edit{}
	for i := 0; i+1 < len(cuts); i += 2 {
		n := rapid.SampledFrom([]int{0, 1, 5, 127, 128, 300}).Draw(t, "length")
		edits = append(edits, change.Edit{Start: cuts[i], End: cuts[i+1], New: bytes.Repeat([]byte{byte('A' + i)}, n)})
	}
	return edits
}

func TestDeltaOfRandomEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "base")
		edits := drawEdits(t, base)
		after := change.ApplyEdits(base, edits)
		delta := encodeDelta(base, after, edits, 1<<20)
		if delta == nil {
			t.Fatal("no delta")
		}
		got, ok := applyDelta(base, delta)
		if !ok || !bytes.Equal(got, after) {
			t.Fatalf("delta gives %q, want %q", got, after)
		}
	})
}

// The store must give back the same, whatever the edits, and git must agree on the names.
func TestRecordsOfRandomEdits(t *testing.T) {
	t.Parallel()
	_, store := plainStore(t, Options{Durability: DurabilityProcess})
	rapid.Check(t, func(rt *rapid.T) {
		base := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(rt, "base"), rapid.IntRange(1, 40).Draw(rt, "times"))
		edits := drawEdits(rt, base)
		e := modify("a", string(base), string(change.ApplyEdits(base, edits)))
		e.Edits = edits
		r := publish(t, store, Meta{}, e)
		got, err := Operation{ID: r.Meta.ID, Place: store.place, ref: r.ref}.Read()
		require.NoError(t, err)
		requireStates(t, got, []Entry{e})
	})
	fsck(t, store.place.Dir)
}

func TestDeltaCopiesMoreThanOneInstructionHolds(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("0123456789abcdef"), (2*maxCopy+100)/16)
	edits := []change.Edit{{Start: maxCopy + 7, End: maxCopy + 9, New: []byte("!")}}
	after := change.ApplyEdits(base, edits)
	e := modify("a", string(base), string(after))
	e.Edits = edits
	_, store := plainStore(t, Options{Durability: DurabilityProcess})
	r := publish(t, store, Meta{}, e)
	requireStates(t, r, []Entry{e})
	fsck(t, store.place.Dir)
	out := git(t, store.place.Dir, "cat-file", "blob", r.Meta.Paths[0].After.OID)
	assert.True(t, out == string(after))
}

func TestDamagedDeltasAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		delta := rapid.SliceOf(rapid.Byte()).Draw(t, "delta")
		if out, ok := applyDelta([]byte("0123456789"), delta); ok && len(out) > 1<<20 {
			t.Fatal("a few bytes cannot make so much of ten")
		}
	})
	for name, delta := range map[string][]byte{
		"empty": {}, "other base": {9, 1, 1, 'x'}, "size without content": {10, 200, 1},
		"copy beyond the base": {10, 5, 0x91, 8, 5}, "copy cut short": {10, 5, 0x91}, "insert cut short": {10, 5, 5, 'a'},
		"reserved instruction": {10, 1, 0, 'a'}, "too much": {10, 1, 2, 'a', 'b'}, "endless size": bytes.Repeat([]byte{0xff}, 20),
	} {
		_, ok := applyDelta([]byte("0123456789"), delta)
		assert.False(t, ok, name)
	}
}
