package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/klauspost/compress/zlib"
)

const (
	packMagic   = "PACK"
	packVersion = 2
	packHeader  = 12

	// largeRecord is the size of all content from which speed counts more than space: the fastest
	// level of deflate takes a quarter of the time of the default one.
	largeRecord = 1 << 20
	// smallObject is the size below which the fastest level does nearly as well (8 % more for source
	// text) as the default one, which clears 640 KiB of tables for each object, however small.
	smallObject = 4 << 10
	// packBuffer is the size of the writes to a pack.
	packBuffer = 256 << 10
)

// packWriter streams a pack: each object is named, compressed and written once. go-git's writer
// would keep every object in memory and hash it with the slow, collision-detecting SHA-1.
type packWriter struct {
	out     *bufio.Writer
	sum     hash.Hash
	crc     uint32
	offset  int64
	index   idxfile.Writer
	offsets map[oid]int64
	level   int                  // of deflate, for all but small objects
	deflate map[int]*zlib.Writer // by level, made when they are needed
	ahead   *Ahead               // may be nil
}

// effectWriter asks before each write to a file.
type effectWriter struct {
	d *disk
	f *os.File
}

func (w effectWriter) Write(data []byte) (int, error) {
	if err := w.d.write(w.f, data); err != nil {
		return 0, err
	}
	return len(data), nil
}

// newPackWriter begins a pack of exactly count objects, which have size bytes together.
func newPackWriter(w io.Writer, count, size int) (*packWriter, error) {
	level := zlib.DefaultCompression
	if size > largeRecord {
		level = zlib.BestSpeed
	}
	p := &packWriter{
		out:     bufio.NewWriterSize(w, min(packBuffer, size+count*64+packHeader+sha1.Size)),
		sum:     sha1.New(),
		offsets: make(map[oid]int64, count),
		level:   level,
		deflate: map[int]*zlib.Writer{},
	}
	if err := p.index.OnHeader(uint32(count)); err != nil {
		return nil, err
	}
	head := binary.BigEndian.AppendUint32([]byte(packMagic), packVersion)
	_, err := p.Write(binary.BigEndian.AppendUint32(head, uint32(count)))
	return p, err
}

// Write puts raw bytes into the pack.
func (p *packWriter) Write(data []byte) (int, error) {
	p.sum.Write(data)
	p.crc = crc32.Update(p.crc, crc32.IEEETable, data)
	p.offset += int64(len(data))
	return p.out.Write(data)
}

// object writes a whole object.
func (p *packWriter) object(t objType, id oid, data []byte) error {
	return p.entry(t, id, nil, data)
}

// delta writes a blob as a delta on one that is in the pack already.
func (p *packWriter) delta(id, base oid, delta []byte) error {
	return p.entry(typeDelta, id, appendDistance(nil, p.offset-p.offsets[base]), delta)
}

func (p *packWriter) entry(t objType, id oid, distance, data []byte) error {
	start := p.offset
	p.crc = 0
	head := append(appendEntryHeader(nil, t, len(data)), distance...)
	if _, err := p.Write(head); err != nil {
		return err
	}
	if err := p.compress(data); err != nil {
		return err
	}
	p.offsets[id] = start
	p.index.Add(plumbing.Hash(id), uint64(start), p.crc)
	return nil
}

func (p *packWriter) compress(data []byte) error {
	if work := p.ahead.take(data); work != nil {
		return writeAhead(p, work)
	}
	if len(data) >= minParallel {
		return deflateParallel(p, data)
	}
	level := p.level
	if len(data) < smallObject {
		level = zlib.BestSpeed
	}
	w := p.deflate[level]
	if w == nil {
		var err error
		if w, err = zlib.NewWriterLevel(p, level); err != nil {
			return err
		}
		p.deflate[level] = w
	} else {
		w.Reset(p)
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}

// finish writes the trailer, which is the pack's name, and returns it with the pack's index.
func (p *packWriter) finish() (name oid, idx []byte, err error) {
	name = oid(p.sum.Sum(nil))
	if _, err := p.out.Write(name[:]); err != nil {
		return name, nil, err
	}
	if err := p.out.Flush(); err != nil {
		return name, nil, err
	}
	idx, err = encodeIndex(&p.index, name)
	return name, idx, err
}

// encodeIndex returns the .idx file (version 2) of a pack with the given trailer.
func encodeIndex(w *idxfile.Writer, trailer oid) ([]byte, error) {
	if err := w.OnFooter(plumbing.Hash(trailer)); err != nil {
		return nil, err
	}
	index, err := w.Index()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	_, err = idxfile.NewEncoder(&buf).Encode(index)
	return buf.Bytes(), err
}

// appendEntryHeader writes type and size: three bits of type and four of size, then seven bits of
// size a byte, lowest first.
func appendEntryHeader(b []byte, t objType, size int) []byte {
	c := byte(t)<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

// appendDistance writes the distance to a delta's base: seven bits a byte, highest first, each
// further byte counting from one, so that no number has two spellings.
func appendDistance(b []byte, n int64) []byte {
	var buf [10]byte
	i := len(buf) - 1
	buf[i] = byte(n & 0x7f)
	for n >>= 7; n > 0; n >>= 7 {
		n--
		i--
		buf[i] = 0x80 | byte(n&0x7f)
	}
	return append(b, buf[i:]...)
}
