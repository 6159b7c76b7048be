package snapshot

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// literals is the number of symbols in use: the bytes, and the end of a block behind them.
	literals   = 257
	endOfBlock = 256
	// maxCode is the longest code in bits, such that a pairTable can hold two. Deflate allows 15.
	maxCode = 13
	// maxStored is the most that one stored block holds.
	maxStored = 0xffff
)

// appendHuffman writes data, which is not empty, as deflate blocks (RFC 1951) that make use of how
// often each byte occurs and of nothing else. last says whether the stream ends here; if not, an
// empty stored block brings it to the border of a byte. It does the work of package flate's
// HuffmanOnly three times as fast: it looks for nothing, and writes two bytes at a time.
func appendHuffman(dst, data []byte, last bool, pairs *pairTable) []byte {
	freq := byteFrequencies(data)
	lens := codeLengths(freq)
	size := uint64(blockHeadBits)
	for s, l := range lens {
		size += uint64(l) * uint64(freq[s])
	}
	if size/8 >= uint64(len(data)) {
		return appendStored(dst, data, last)
	}
	at := len(dst)
	dst = slices.Grow(dst, int(size/8)+32) // the border, and the width of a write
	w := bitWriter{out: dst[:cap(dst)], at: at}
	w.blockHead(&lens, last)
	codes := canonical(&lens)
	pairs.set(&codes)
	w.literals(data, &codes, pairs)
	if !last {
		w.put(0, 3) // a stored block that is not the last
		w.align()
		w.put(0xffff0000, 32) // of length 0
	}
	w.align()
	return w.out[:w.at]
}

// appendStored writes data as it is.
func appendStored(dst, data []byte, last bool) []byte {
	dst = slices.Grow(dst, len(data)+5*(len(data)/maxStored+1))
	for len(data) > 0 {
		part := data[:min(len(data), maxStored)]
		data = data[len(part):]
		final := byte(0)
		if last && len(data) == 0 {
			final = 1
		}
		dst = binary.LittleEndian.AppendUint16(append(dst, final), uint16(len(part)))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// byteFrequencies counts the bytes, and one end of block.
func byteFrequencies(data []byte) *[literals]uint32 {
	// Several counters, since equal bytes side by side would wait for each other at one.
	var counts [4][256]uint32
	for len(data) >= 8 {
		v := binary.LittleEndian.Uint64(data)
		counts[0][byte(v)]++
		counts[1][byte(v>>8)]++
		counts[2][byte(v>>16)]++
		counts[3][byte(v>>24)]++
		counts[0][byte(v>>32)]++
		counts[1][byte(v>>40)]++
		counts[2][byte(v>>48)]++
		counts[3][byte(v>>56)]++
		data = data[8:]
	}
	for _, b := range data {
		counts[0][b]++
	}
	freq := &[literals]uint32{endOfBlock: 1}
	for b := range 256 {
		freq[b] = counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b]
	}
	return freq
}

// codeLengths returns the lengths of a Huffman code for symbols of which at least two occur; 0 for
// those that do not. Where the best code is too long for rare symbols, the differences between the
// frequencies are made smaller until it is not.
func codeLengths(freq *[literals]uint32) [literals]uint8 {
	f := *freq
	for {
		lens := huffmanLengths(&f)
		if slices.Max(lens[:]) <= maxCode {
			return lens
		}
		for s := range f {
			if f[s] > 0 {
				f[s] = f[s]/2 + 1
			}
		}
	}
}

// huffmanLengths returns the lengths of the best code. Leaves stand in order of their frequency and
// so do the nodes above them, as they come; so the two least are at the head of either row.
func huffmanLengths(freq *[literals]uint32) (lens [literals]uint8) {
	var leaves []int
	for s, n := range freq {
		if n > 0 {
			leaves = append(leaves, s)
		}
	}
	slices.SortFunc(leaves, func(a, b int) int { return cmp.Compare(freq[a], freq[b]) })
	n := len(leaves)
	weight := make([]uint64, 2*n-1) // leaves, then the nodes
	parent := make([]int, 2*n-1)
	for i, s := range leaves {
		weight[i] = uint64(freq[s])
	}
	leaf, node := 0, n
	for next := n; next < len(weight); next++ {
		for range 2 {
			least := &leaf
			if leaf == n || node < next && weight[node] < weight[leaf] {
				least = &node
			}
			weight[next] += weight[*least]
			parent[*least] = next
			*least++
		}
	}
	depth := make([]uint8, 2*n-1)
	for i := len(depth) - 2; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
	}
	for i, s := range leaves {
		lens[s] = depth[i]
	}
	return lens
}

// blockHeadBits is the size of what blockHead writes.
const blockHeadBits = 3 + 14 + 19*3 + (literals+1)*4

// bitWriter writes bits, lowest first. Its buffer is large enough, by eight bytes and more.
type bitWriter struct {
	out  []byte
	at   int
	bits uint64
	n    uint // how many bits wait, at most 7 between calls
}

// put writes the lowest n bits of v, at most 56.
func (w *bitWriter) put(v uint64, n uint) {
	w.bits |= v << w.n
	w.n += n
	binary.LittleEndian.PutUint64(w.out[w.at:], w.bits)
	w.at += int(w.n >> 3)
	w.bits >>= w.n &^ 7
	w.n &= 7
}

// align goes on to the border of a byte.
func (w *bitWriter) align() { w.put(0, -w.n&7) }

// blockHead begins a block with a code of its own. The lengths are themselves given in a code, in
// which every length from 0 to 15 has four bits here: all blocks together lose less by that than
// looking for a better one would cost.
func (w *bitWriter) blockHead(lens *[literals]uint8, last bool) {
	final := uint64(0)
	if last {
		final = 1
	}
	w.put(final|2<<1, 3)
	w.put(literals-257, 5)
	w.put(0, 5)    // one code for distances, as there must be
	w.put(19-4, 4) // lengths for the code of lengths:
	w.put(0, 3*3)  // of the repetitions 16, 17 and 18, not in use
	for range 16 { // of 0 to 15
		w.put(4, 3)
	}
	for _, l := range lens {
		w.put(uint64(bits.Reverse8(l)>>4), 4)
	}
	w.put(uint64(bits.Reverse8(1)>>4), 4) // the distance that is never used
}

// pairTable holds the codes of two bytes, one behind the other, the first byte in the lower half of the
// index: the number of their bits in the lowest five bits of an element and the codes above. Only
// the elements of bytes that occur in a block are set for it.
type pairTable [1 << 16]uint32

// set makes the table for a block.
func (p *pairTable) set(codes *[literals]code) {
	var bytes []uint8
	for s := range 256 {
		if codes[s].n > 0 {
			bytes = append(bytes, uint8(s))
		}
	}
	for _, high := range bytes {
		second := codes[high]
		row := p[int(high)<<8:][:256]
		for _, low := range bytes {
			first := codes[low]
			row[low] = (first.bits|second.bits<<first.n)<<5 | uint32(first.n+second.n)
		}
	}
}

// literals writes the codes of data and the end of the block.
func (w *bitWriter) literals(data []byte, codes *[literals]code, pairs *pairTable) {
	out, at, acc, n := w.out, w.at, w.bits, w.n
	for ; len(data) >= 4; data = data[4:] {
		four := binary.LittleEndian.Uint32(data)
		a, b := pairs[uint16(four)], pairs[four>>16]
		acc |= uint64(a>>5) << (n & 63)
		n += uint(a & 31)
		acc |= uint64(b>>5) << (n & 63)
		n += uint(b & 31)
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(n >> 3)
		acc >>= n & 0x38
		n &= 7
	}
	w.at, w.bits, w.n = at, acc, n
	for _, s := range data {
		w.code(codes[s])
	}
	w.code(codes[endOfBlock])
}

func (w *bitWriter) code(c code) { w.put(uint64(c.bits), c.n) }

// code is the code of one symbol: its bits in the order in which they are written, and their number.
type code struct {
	bits uint32
	n    uint
}

// canonical returns the codes that belong to the lengths.
func canonical(lens *[literals]uint8) (codes [literals]code) {
	var count, next [maxCode + 2]uint16
	for _, l := range lens {
		count[l]++
	}
	count[0] = 0
	for l := 1; l <= maxCode; l++ {
		next[l+1] = (next[l] + count[l]) << 1
	}
	for s, l := range lens {
		if l > 0 {
			codes[s] = code{uint32(bits.Reverse16(next[l]) >> (16 - l)), uint(l)}
			next[l]++
		}
	}
	return codes
}
