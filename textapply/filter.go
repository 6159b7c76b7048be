package textapply

import "encoding/binary"

// lineFilter says of most lines that no pattern holds them, much faster than a map can. It goes by
// length, first and last bytes; a text chosen to deceive it costs the look-up in the map.
type lineFilter [1 << 10]uint64

func (f *lineFilter) add(line []byte) {
	h := fingerprint(line)
	f[h>>6] |= 1 << (h & 63)
}

func (f *lineFilter) have(line []byte) bool {
	h := fingerprint(line)
	return f[h>>6]&(1<<(h&63)) != 0
}

// fingerprint returns 16 bits.
func fingerprint(line []byte) uint64 {
	n := len(line)
	var head, tail uint64
	switch {
	case n >= 8:
		head, tail = binary.LittleEndian.Uint64(line), binary.LittleEndian.Uint64(line[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(line)), uint64(binary.LittleEndian.Uint32(line[n-4:]))
	case n > 0:
		head = uint64(line[0])<<16 | uint64(line[n>>1])<<8 | uint64(line[n-1])
	}
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads the bits to the top
	return ((head^uint64(n))*odd ^ tail) * odd >> 48
}
