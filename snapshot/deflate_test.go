package snapshot

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/change"
)

func TestDeflateParallelIsOneZlibStream(t *testing.T) {
	t.Parallel()
	line := []byte("some text that repeats, and number ")
	for _, size := range []int{1, deflateBlock - 1, deflateBlock, deflateBlock + 1, 3*deflateBlock + 7, largeContent + 5} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			data := bytes.Repeat(line, size/len(line)+1)[:size]
			var out bytes.Buffer
			require.NoError(t, deflateParallel(&out, data))
			r, err := zlib.NewReader(bytes.NewReader(out.Bytes()))
			require.NoError(t, err)
			got, err := io.ReadAll(r)
			require.NoError(t, err, "the checksum at the end is compared too")
			assert.True(t, bytes.Equal(data, got))
		})
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestDeflateParallelReportsWriteErrors(t *testing.T) {
	t.Parallel()
	data := make([]byte, 20*deflateBlock)
	require.ErrorIs(t, deflateParallel(&failingWriter{left: 1}, data), errFull)
	require.ErrorIs(t, deflateParallel(&failingWriter{left: 5000}, data), errFull)
}

func TestDeltaOnThePatchThatHoldsAFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "+a", "", "bb", "a a a a a a a a a a"}), 1, 60).Draw(t, "lines")
		after := strings.Join(lines, "\n") + "\n"
		patch := "*** Begin Patch\n*** Add File: other\n+a\n+bb\n*** Add File: f\n+" + strings.Join(lines, "\n+") + "\n*** End Patch\n"
		delta := encodeAdded([]byte(patch), []byte(after), 1<<20)
		if delta == nil {
			t.Fatal("no delta")
		}
		got, ok := applyDelta([]byte(patch), delta)
		if !ok || string(got) != after {
			t.Fatalf("delta gives %q, want %q", got, after)
		}
	})
}

func TestNoDeltaOnAPatchThatDoesNotHoldTheFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line that is long enough to be worth it\n", 10)
	for name, c := range map[string]struct{ patch, after string }{
		"other text":            {"\n+x\n+y\n", "x\nz\n"},
		"cut short":             {"\n+x\n", "x\ny\n"},
		"no line feed":          {"\n+x\n", "x"},
		"last line unfinished":  {"\n+x\n+y", "x\ny"},
		"a line without a plus": {"\n+x\n y\n", "x\ny\n"},
		"over the limit":        {"\n+" + strings.ReplaceAll(long, "\n", "\n+"), strings.Repeat("\n", 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Nil(t, encodeAdded([]byte(c.patch), []byte(c.after), len(c.after)/2))
		})
	}
}

// A large new file is kept as a delta on the patch, which git and go-git read.
func TestLargeAdditionsAreKeptOnce(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&text, "line %d: %x\n", i, i*2654435761)
	}
	patch := "*** Begin Patch\n*** Add File: f\n+" + strings.ReplaceAll(strings.TrimSuffix(text.String(), "\n"), "\n", "\n+") + "\n*** End Patch\n"
	entry := Entry{Change: change.Change{Path: "f", After: file(text.String())}}
	d := newDraft()
	d.addPatches([][]byte{[]byte(patch)})
	d.addEntries([]Entry{entry})
	require.NotNil(t, d.objects[len(d.objects)-1].delta)

	site, store := plainStore(t, Options{})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	meta := Meta{ID: store.NewID(now), Kind: KindApply, Time: now}
	r, err := store.Put(t.Context(), meta, []Entry{entry}, [][]byte{[]byte(patch)})
	require.NoError(t, err)
	require.NoError(t, store.Publish(r))
	back, err := site.History().Read(r.Meta.ID)
	require.NoError(t, err)
	after, err := back.After(0)
	require.NoError(t, err)
	assert.Equal(t, text.String(), string(after.Content))
	fsck(t, store.Place().Dir)
}

func TestJoinedChecksumIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string) []byte {
			return bytes.Repeat(rapid.SliceOf(rapid.Byte()).Draw(t, name), rapid.SampledFrom([]int{1, 1000, 9000}).Draw(t, "times"))
		}
		a, b := part("a"), part("b")
		got := joinAdler32(adler32.Checksum(a), adler32.Checksum(b), len(b))
		if want := adler32.Checksum(append(a, b...)); got != want {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}
