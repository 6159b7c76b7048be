package snapshot

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

func newAhead(t testing.TB) *Ahead {
	t.Helper()
	a := NewAhead()
	if runtime.GOMAXPROCS(0) < 2 {
		require.Nil(t, a)
		a = &Ahead{works: map[contentKey]*aheadWork{}}
	}
	require.NotNil(t, a)
	return a
}

// manyLines is a text of a size.
func manyLines(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\tline %d: %x\n", i, i*2654435761)
	}
	return b.Bytes()[:size]
}

// What was begun ahead, and to whatever point it came, ends as what is done at once.
func TestWorkAheadEndsAsWorkAtOnce(t *testing.T) {
	t.Parallel()
	for _, size := range []int{largeContent, largeContent + 1, 9*deflateBlock + 77} {
		for _, stop := range []bool{false, true} {
			t.Run(fmt.Sprint(size, stop), func(t *testing.T) {
				t.Parallel()
				data := manyLines(size)
				a := newAhead(t)
				a.Add(data)
				if stop {
					a.Stop()
				}
				assert.Equal(t, []oid{hashObject(typeBlob, data)}, hashBlobs([][]byte{data}, a))
				w := a.take(data)
				require.NotNil(t, w)
				var got, want bytes.Buffer
				require.NoError(t, writeAhead(&got, w))
				require.NoError(t, deflateParallel(&want, data))
				assert.True(t, bytes.Equal(want.Bytes(), got.Bytes()))
				r, err := zlib.NewReader(&got)
				require.NoError(t, err)
				back, err := io.ReadAll(r)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(data, back))
			})
		}
	}
}

func TestWhatIsNotDoneAhead(t *testing.T) {
	t.Parallel()
	var none *Ahead
	data := manyLines(largeContent)
	none.Add(data)
	none.Stop()
	assert.Nil(t, none.of(data))
	assert.Nil(t, none.take(data))

	a := newAhead(t)
	a.Add(nil)
	a.Add(data[:largeContent-1])
	assert.Empty(t, a.works, "small contents")
	a.Add(data)
	a.Add(data)
	assert.Len(t, a.works, 1, "the same again")
	assert.Nil(t, a.of(bytes.Clone(data)), "the same bytes elsewhere")
	assert.NotNil(t, a.take(data))
	assert.Nil(t, a.take(data), "what is taken is gone: it can be written once")
	assert.Zero(t, a.size)
	a.Add(make([]byte, maxAhead+1))
	assert.Empty(t, a.works, "more than is kept in memory")
}

func TestWriteAheadReportsWriteErrors(t *testing.T) {
	t.Parallel()
	for _, room := range []int{1, 5000} {
		data := manyLines(largeContent)
		a := newAhead(t)
		a.Add(data)
		require.ErrorIs(t, writeAhead(&failingWriter{left: room}, a.take(data)), errFull)
	}
}

// A record is the same one, byte for byte, whatever of it was begun ahead; and git can read it.
func TestRecordsOfWorkAhead(t *testing.T) {
	t.Parallel()
	before := manyLines(5 << 20)
	after := append(append(bytes.Clone(before[:1<<20]), "new\n"...), before[1<<20:]...)
	entry := Entry{Change: change.Change{Path: "f", Edits: []change.Edit{{Start: 1 << 20, End: 1 << 20, New: []byte("new\n")}},
		Before: change.State{Kind: change.File, Mode: 0o644, Content: before}, After: change.State{Kind: change.File, Mode: 0o644, Content: after}}}
	patch := manyLines(6 << 20)
	var packs []string
	for _, ahead := range []*Ahead{nil, newAhead(t)} {
		ahead.Add(before)
		ahead.Add(patch)
		site, store := plainStore(t, Options{Ahead: ahead})
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		d := newDraft()
		d.ahead = ahead
		d.addPatches([][]byte{patch})
		d.addEntries([]Entry{entry})
		name, err := store.writePack(t.Context(), d)
		require.NoError(t, err)
		packs = append(packs, name.String())

		ahead.Add(before)
		r, err := store.Put(t.Context(), Meta{ID: store.NewID(now), Kind: KindApply, Time: now}, []Entry{entry}, [][]byte{patch})
		require.NoError(t, err)
		require.NoError(t, store.Publish(r))
		back, err := site.History().Read(r.Meta.ID)
		require.NoError(t, err)
		requireStates(t, back, []Entry{entry})
		fsck(t, store.Place().Dir)
	}
	assert.Equal(t, packs[0], packs[1], "the name is the checksum")
}
