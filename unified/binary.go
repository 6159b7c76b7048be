package unified

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// hasher returns the hash that names objects in a repository of the given format.
func hasher(sha256Format bool) func() hash.Hash {
	if sha256Format {
		return sha256.New
	}
	return sha1.New
}

// index prints the line with the full names of both contents, and the mode where it stays.
func (p *printer) index(s section) {
	p.put("index ", p.objectID(s.old), "..", p.objectID(s.new))
	if s.old.Kind != change.Absent && s.new.Kind != change.Absent && gitMode(s.old) == gitMode(s.new) {
		p.put(" ", gitMode(s.new))
	}
	p.put("\n")
}

// objectID names a content as git names its blob; nothing at all has the name of zeros.
func (p *printer) objectID(s change.State) string {
	h := p.newHash()
	if s.Kind == change.Absent {
		return strings.Repeat("0", 2*h.Size())
	}
	h.Write([]byte("blob " + strconv.Itoa(len(s.Content)) + "\x00"))
	h.Write(s.Content)
	return hex.EncodeToString(h.Sum(nil))
}

// binary prints the new content and, for the way back, the old one.
func (p *printer) binary(s section) {
	p.put("GIT binary patch\n")
	p.literal(s.new.Content)
	p.literal(s.old.Content)
}

// literalLine is the number of bytes that one line of a binary patch holds.
const literalLine = 52

func (p *printer) literal(content []byte) {
	p.put("literal ", strconv.Itoa(len(content)), "\n")
	data := deflate(content)
	for len(data) > 0 {
		n := min(len(data), literalLine)
		_ = p.w.WriteByte(lengthLetter(n))
		p.base85(data[:n])
		p.put("\n")
		data = data[n:]
	}
	p.put("\n")
}

func deflate(content []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// lengthLetter says how many bytes a line holds: A to Z for 1 to 26, a to z for 27 to 52.
func lengthLetter(n int) byte {
	if n <= 26 {
		return byte('A' + n - 1)
	}
	return byte('a' + n - 27)
}

// base85Digits are git's; the order differs from Ascii85 and leaves out what mail would damage.
const base85Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// base85 prints each four bytes as five digits; a last group that is short is filled with zeros.
func (p *printer) base85(data []byte) {
	for len(data) > 0 {
		var group [4]byte
		n := copy(group[:], data)
		data = data[n:]
		var digits [5]byte
		v := binary.BigEndian.Uint32(group[:])
		for i := 4; i >= 0; i-- {
			digits[i] = base85Digits[v%85]
			v /= 85
		}
		_, _ = p.w.Write(digits[:])
	}
}
