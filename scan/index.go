package scan

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/worktree"
)

// OID is the SHA-1 name of a file's bytes, or of a link's target, as a git blob.
type OID [sha1.Size]byte

// Index remembers what the files had in them when they were last read. An entry holds as long as the
// file's size, times and inode are the same, provided that it was not changed right before it was
// looked at: the rule by which git trusts its own index, except that what is too young is not noted
// at all.
type Index struct {
	entries map[string]indexEntry
}

type indexEntry struct {
	kind    change.Kind
	version worktree.Version
	oid     OID
}

// NewIndex returns one that knows nothing.
func NewIndex() *Index { return &Index{entries: map[string]indexEntry{}} }

// Len returns the number of files that it knows.
func (x *Index) Len() int { return len(x.entries) }

// Lookup returns what is in a file that looks like s, if that is known.
func (x *Index) Lookup(path string, s worktree.Sight) (OID, bool) {
	e, ok := x.entries[path]
	if !ok || e.kind != s.Kind || e.version != s.Version {
		return OID{}, false
	}
	return e.oid, true
}

// Note remembers what is in a file.
func (x *Index) Note(path string, s worktree.Sight, id OID) {
	if s.Fresh {
		delete(x.entries, path)
		return
	}
	x.entries[path] = indexEntry{kind: s.Kind, version: s.Version, oid: id}
}

const indexMagic = "oxpatch scan 1\n"

var errIndex = errors.New("damaged index of files")

// DecodeIndex reads what Encode wrote. Damage of any kind, or another version, is an error.
func DecodeIndex(data []byte) (*Index, error) {
	body := len(data) - crc32.Size
	if body < len(indexMagic) || string(data[:len(indexMagic)]) != indexMagic ||
		crc32.ChecksumIEEE(data[:body]) != binary.BigEndian.Uint32(data[body:]) {
		return nil, errIndex
	}
	d := decoder{data: data[len(indexMagic):body]}
	x := NewIndex()
	for len(d.data) > 0 && !d.bad {
		name := d.bytes(int(d.uint()))
		e := indexEntry{kind: change.Kind(d.uint())}
		e.version = worktree.Version{Size: d.int(), Mtime: d.int(), Ctime: d.int(), Dev: d.uint(), Inode: d.uint()}
		copy(e.oid[:], d.bytes(len(e.oid)))
		x.entries[string(name)] = e
	}
	if d.bad {
		return nil, errIndex
	}
	return x, nil
}

type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.data)
	d.skip(n)
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.data)
	d.skip(n)
	return v
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.bad, d.data = true, nil
		return
	}
	d.data = d.data[n:]
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.bad, d.data = true, nil
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

// Encode returns a form that DecodeIndex reads.
func (x *Index) Encode() []byte {
	var b bytes.Buffer
	b.Grow(len(x.entries) * 96)
	b.WriteString(indexMagic)
	var buf []byte
	for path, e := range x.entries {
		buf = binary.AppendUvarint(buf[:0], uint64(len(path)))
		buf = append(buf, path...)
		buf = binary.AppendUvarint(buf, uint64(e.kind))
		for _, v := range []int64{e.version.Size, e.version.Mtime, e.version.Ctime} {
			buf = binary.AppendVarint(buf, v)
		}
		buf = binary.AppendUvarint(buf, e.version.Dev)
		buf = binary.AppendUvarint(buf, e.version.Inode)
		b.Write(append(buf, e.oid[:]...))
	}
	return binary.BigEndian.AppendUint32(b.Bytes(), crc32.ChecksumIEEE(b.Bytes()))
}
