package snapshot

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/openoxide/oxpatch/change"
)

const (
	maxCopy   = 0xffffff // a copy's length has three bytes
	maxInsert = 0x7f     // an insertion's length has seven bits
)

// encodeDelta writes how to make after from base with the edits, in git's delta format. It returns
// nil if the edits do not lead from base to after, if a delta cannot express it, or if the delta
// would be larger than limit.
func encodeDelta(base, after []byte, edits []change.Edit, limit int) []byte {
	if uint64(len(base)) > math.MaxUint32 {
		return nil // a copy's offset has four bytes
	}
	d := binary.AppendUvarint(nil, uint64(len(base)))
	d = binary.AppendUvarint(d, uint64(len(after)))
	at, rest := 0, after
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(base) {
			return nil
		}
		var ok bool
		// Comparing as it goes costs little, and an edit list that is wrong must never become a
		// record that gives back wrong bytes.
		if rest, ok = bytes.CutPrefix(rest, base[at:e.Start]); !ok {
			return nil
		}
		if rest, ok = bytes.CutPrefix(rest, e.New); !ok {
			return nil
		}
		d = appendCopy(d, at, e.Start-at)
		d = appendInsert(d, e.New)
		at = e.End
		if len(d) > limit {
			return nil
		}
	}
	if !bytes.Equal(rest, base[at:]) {
		return nil
	}
	if d = appendCopy(d, at, len(base)-at); len(d) > limit {
		return nil
	}
	return d
}

// encodeAdded writes how to make after from a patch that holds it as a run of lines with a plus
// sign in front of each, as patches hold the text of a new file. It returns nil if the patch does
// not, or if the delta would be larger than limit.
func encodeAdded(patch, after []byte, limit int) []byte {
	const most = 16 // places that begin like the text and are not it
	first, _, ok := bytes.Cut(after, []byte{'\n'})
	if !ok || uint64(len(patch)) > math.MaxUint32 {
		return nil
	}
	begin := append(append([]byte("\n+"), first...), '\n')
	for at, tries := 0, 0; tries < most; tries++ {
		i := bytes.Index(patch[at:], begin)
		if i < 0 {
			return nil
		}
		at += i + 1
		if d := encodeRun(patch, at, after, limit); d != nil {
			return d
		}
	}
	return nil
}

// encodeRun is encodeAdded for a run that begins at an offset of the patch, with its plus sign.
func encodeRun(patch []byte, at int, after []byte, limit int) []byte {
	d := binary.AppendUvarint(nil, uint64(len(patch)))
	d = binary.AppendUvarint(d, uint64(len(after)))
	for len(after) > 0 {
		end := bytes.IndexByte(after, '\n') + 1
		if end == 0 || at >= len(patch) || patch[at] != '+' || !bytes.HasPrefix(patch[at+1:], after[:end]) {
			return nil
		}
		d = appendCopy(d, at+1, end)
		if len(d) > limit {
			return nil
		}
		at, after = at+1+end, after[end:]
	}
	return d
}

func appendCopy(d []byte, at, n int) []byte {
	for n > 0 {
		size := min(n, maxCopy)
		op := len(d)
		d = append(d, 0x80)
		for i := range 4 {
			if b := byte(at >> (8 * i)); b != 0 {
				d[op] |= 1 << i
				d = append(d, b)
			}
		}
		for i := range 3 {
			if b := byte(size >> (8 * i)); b != 0 {
				d[op] |= 0x10 << i
				d = append(d, b)
			}
		}
		at, n = at+size, n-size
	}
	return d
}

func appendInsert(d, text []byte) []byte {
	for len(text) > 0 {
		n := min(len(text), maxInsert)
		d = append(d, byte(n))
		d = append(d, text[:n]...)
		text = text[n:]
	}
	return d
}

// applyDelta makes the content that a delta describes. ok is false if the delta is damaged or is
// for another base.
func applyDelta(base, delta []byte) (out []byte, ok bool) {
	baseSize, n := binary.Uvarint(delta)
	if n <= 0 || baseSize != uint64(len(base)) {
		return nil, false
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 {
		return nil, false
	}
	delta = delta[n:]
	// The instructions are added up before memory is claimed on the word of a number.
	if total, ok := deltaTotal(base, delta); !ok || total != size {
		return nil, false
	}
	out = make([]byte, 0, size)
	for len(delta) > 0 {
		var part []byte
		part, delta, _ = deltaStep(base, delta)
		out = append(out, part...)
	}
	return out, true
}

// deltaTotal returns how many bytes the instructions make.
func deltaTotal(base, delta []byte) (total uint64, ok bool) {
	for len(delta) > 0 {
		var part []byte
		if part, delta, ok = deltaStep(base, delta); !ok {
			return 0, false
		}
		total += uint64(len(part))
	}
	return total, true
}

// deltaStep reads one instruction: the bytes it adds, and the rest of the delta.
func deltaStep(base, delta []byte) (part, rest []byte, ok bool) {
	op := delta[0]
	delta = delta[1:]
	if op&0x80 == 0 {
		n := int(op)
		if n == 0 || n > len(delta) {
			return nil, nil, false
		}
		return delta[:n], delta[n:], true
	}
	var at, size uint64
	for i := range 7 {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		if i < 4 {
			at |= uint64(delta[0]) << (8 * i)
		} else {
			size |= uint64(delta[0]) << (8 * (i - 4))
		}
		delta = delta[1:]
	}
	if size == 0 {
		size = 0x10000
	}
	if at > uint64(len(base)) || size > uint64(len(base))-at {
		return nil, nil, false
	}
	return base[at : at+size], delta, true
}
