package snapshot

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/adler32"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// inflate reads a deflate stream that must end where the bytes do.
func inflate(t require.TestingT, stream []byte) []byte {
	in := bytes.NewReader(stream)
	got, err := io.ReadAll(flate.NewReader(in))
	require.NoError(t, err)
	require.Zero(t, in.Len(), "bytes behind the end of the stream")
	return got
}

// fibonacci repeats bytes so that the best code for them is as long as can be.
func fibonacci(symbols int) []byte {
	var data []byte
	a, b := 1, 1
	for s := range symbols {
		data = append(data, bytes.Repeat([]byte{byte(s)}, a)...)
		a, b = b, a+b
	}
	return data
}

func TestHuffmanBlocksAreDeflate(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 200_000)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(noise)
	skewed := make([]byte, 100_003)
	for i := range skewed {
		skewed[i] = noise[i] & noise[i+1] & noise[i+2]
	}
	for name, data := range map[string][]byte{
		"one byte": {7}, "one value": make([]byte, 70_000), "two values": bytes.Repeat([]byte{0, 255}, 1000),
		"text":                        bytes.Repeat([]byte("some text, and a number: 1234567890\n"), 500),
		"noise":                       noise,
		"a stored block and one byte": noise[:maxStored+1],
		"skewed":                      skewed,
		"deep code":                   fibonacci(24),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := appendHuffman(nil, data, true, new(pairTable))
			require.True(t, bytes.Equal(data, inflate(t, whole)))
			assert.LessOrEqual(t, len(whole), len(data)+5*(len(data)/maxStored+1), "larger than stored")
			// In parts, behind other bytes.
			half := len(data) / 2
			parts := []byte("x")
			if half > 0 {
				parts = appendHuffman(parts, data[:half], false, new(pairTable))
			}
			parts = appendHuffman(parts, data[half:], true, new(pairTable))
			assert.Equal(t, byte('x'), parts[0])
			assert.True(t, bytes.Equal(data, inflate(t, parts[1:])))
		})
	}
}

func TestHuffmanBlocksOfAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		symbols := rapid.IntRange(1, 256).Draw(t, "symbols")
		data := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) byte {
			return byte(rapid.IntRange(0, symbols-1).Draw(t, "byte"))
		}), 1, 600).Draw(t, "data")
		data = bytes.Repeat(data, rapid.IntRange(1, 30).Draw(t, "times"))
		var out []byte
		pairs := new(pairTable) // as the blocks of one content share it
		for rest := data; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "block")
			out = appendHuffman(out, rest[:n], n == len(rest), pairs)
			rest = rest[n:]
		}
		if !bytes.Equal(data, inflate(t, out)) {
			t.Fatal("another content came back")
		}
	})
}

func TestCodesAreCompleteAndShort(t *testing.T) {
	t.Parallel()
	for _, symbols := range []int{1, 2, 3, 16, 17, 24, 30} {
		freq := &[literals]uint32{endOfBlock: 1}
		a, b := uint32(1), uint32(1)
		for s := range symbols {
			freq[s] = a
			a, b = b, a+b
		}
		sum := 0
		for s, l := range codeLengths(freq) {
			require.Equal(t, freq[s] > 0, l > 0)
			require.LessOrEqual(t, l, uint8(maxCode))
			if l > 0 {
				sum += 1 << (maxCode - l)
			}
		}
		assert.Equal(t, 1<<maxCode, sum, "%d symbols", symbols)
	}
}

// What is given up against the library's own encoder is less than one in a hundred.
func TestHuffmanBlocksAreAsSmallAsTheLibrarys(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&text, "\tline %d: %x;\n", i, i*2654435761)
	}
	var theirs bytes.Buffer
	w, err := flate.NewWriter(&theirs, flate.HuffmanOnly)
	require.NoError(t, err)
	_, err = w.Write(text.Bytes())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Less(t, len(appendHuffman(nil, text.Bytes(), true, new(pairTable))), theirs.Len()*101/100)
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

func BenchmarkHuffman(b *testing.B) {
	var text bytes.Buffer
	for i := 0; text.Len() < deflateBlock; i++ {
		fmt.Fprintf(&text, "    entry[%07d] = \"value %08x\"\n", i, uint32(i*2654435761))
	}
	b.SetBytes(int64(text.Len()))
	out := make([]byte, 0, text.Len())
	pairs := new(pairTable)
	for b.Loop() {
		out = appendHuffman(out[:0], text.Bytes(), false, pairs)
	}
}
