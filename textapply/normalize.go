package textapply

import (
	"encoding/binary"
	"unicode/utf8"
)

// Pass is one level of tolerance at which lines are compared. A pass holds for a whole pattern: a
// stricter pass anywhere beats a looser one (measured on codex-cli 0.171.0).
type Pass uint8

const (
	Exact         Pass = iota // byte for byte
	TrailingSpace             // white space at the end of lines is ignored
	Indent                    // white space at both ends of lines is ignored
	Punctuation               // and typographic dashes, quotes and spaces equal their ASCII forms
	passes        = int(Punctuation) + 1
)

// String returns the word used in results: exact, trailing-space, indent, punctuation.
func (p Pass) String() string {
	return [...]string{"exact", "trailing-space", "indent", "punctuation"}[p]
}

// normalize returns the form of a line that pass p compares. It copies only where punctuation
// has to be folded.
func normalize(line []byte, p Pass) []byte {
	n := normalizer{pass: p}
	return n.bytes(line)
}

// normalizer brings many lines into the form of one pass without allocating for each: a result
// is valid until the next call.
type normalizer struct {
	pass Pass
	text []byte // the last string
	fold []byte // the last folded line
}

func (n *normalizer) string(line string) []byte {
	n.text = append(n.text[:0], line...)
	return n.bytes(n.text)
}

func (n *normalizer) bytes(line []byte) []byte {
	switch n.pass {
	case TrailingSpace:
		return trimRight(line)
	case Indent:
		return trimLeft(trimRight(line))
	case Punctuation:
		line = trimLeft(trimRight(line))
		first := firstFold(line)
		if first < 0 {
			return line
		}
		n.fold = appendFolded(append(n.fold[:0], line[:first]...), line[first:])
		return n.fold
	}
	return line
}

// isSpace reports whether r has the Unicode property White_Space, which is what Codex trims
// (measured): U+0009–000D, 0020, 0085, 00A0, 1680, 2000–200A, 2028, 2029, 202F, 205F, 3000.
func isSpace(r rune) bool {
	switch {
	case r >= 0x09 && r <= 0x0d, r == ' ', r == 0x85, r == 0xa0:
		return true
	case r < 0x1680:
		return false
	case r == 0x1680, r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

func trimRight(b []byte) []byte {
	for len(b) > 0 {
		c := b[len(b)-1]
		if c < utf8.RuneSelf {
			if !isSpace(rune(c)) {
				return b
			}
			b = b[:len(b)-1]
			continue
		}
		r, size := utf8.DecodeLastRune(b)
		if r == utf8.RuneError || !isSpace(r) {
			return b
		}
		b = b[:len(b)-size]
	}
	return b
}

func trimLeft(b []byte) []byte {
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			if !isSpace(rune(c)) {
				return b
			}
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError || !isSpace(r) {
			return b
		}
		b = b[size:]
	}
	return b
}

// foldRune maps typographic punctuation to ASCII by the table of the envelope format: hyphens and
// dashes, single and double quotes, and the no-break and typographic spaces. 0 means "as it is".
func foldRune(r rune) byte {
	switch {
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-'
	case r >= 0x2018 && r <= 0x201b:
		return '\''
	case r >= 0x201c && r <= 0x201f:
		return '"'
	case r == 0xa0, r >= 0x2002 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' '
	}
	return 0
}

// firstFold returns the index of the first rune that is folded, or -1.
func firstFold(b []byte) int {
	for i := 0; i < len(b); {
		// Lines without any such rune are the rule; their bytes are tested eight at a time.
		if i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:])&0x8080808080808080 == 0 {
			i += 8
			continue
		}
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if foldRune(r) != 0 {
			return i
		}
		i += size
	}
	return -1
}

// appendFolded appends b to dst with its runes folded; bytes that are not UTF-8 stay.
func appendFolded(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			dst = append(dst, b[i])
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if c := foldRune(r); c != 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, b[i:i+size]...)
		}
		i += size
	}
	return dst
}
