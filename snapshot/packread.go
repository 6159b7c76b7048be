package snapshot

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// maxDeltaChain bounds how many deltas may stand on one another. Ours stand alone; the bound keeps
// a damaged pack from leading in circles.
const maxDeltaChain = 50

// maxDeflate is the most that deflate can shrink anything: a larger claim is damage.
const maxDeflate = 1032

// readBuffer is the size of the reads from a pack.
const readBuffer = 32 << 10

// packReader reads objects out of one pack that was written here. go-git's own reader is not used
// for it because it holds an object several times over; an object here is held once.
type packReader struct {
	f     *os.File
	size  int64 // of the objects: the file without its trailer
	index *idxfile.MemoryIndex
	in    countingReader
	zlib  io.ReadCloser
	// damaged says why the index lists only the beginning of the pack.
	damaged error
}

// openPack opens a pack by its index. Whoever opened it closes it.
func openPack(path string) (*packReader, error) {
	p, err := openPackFile(path)
	if err != nil {
		return nil, err
	}
	if p.index, err = readIndex(idxPath(path)); err != nil {
		if p.index, err = p.reindex(); err != nil {
			p.damaged = err
			if p.index, err = p.indexBeginning(); err != nil {
				p.Close()
				return nil, &TornError{Path: path, Err: p.damaged}
			}
		}
	}
	return p, nil
}

// openPackFile opens a pack for reading by offsets alone.
func openPackFile(path string) (*packReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	p := &packReader{f: f, size: info.Size() - sha1.Size}
	if p.size < packHeader {
		f.Close()
		return nil, &TornError{Path: path, Err: errors.New("too short for a pack")}
	}
	p.in.r = bufio.NewReaderSize(nil, readBuffer)
	return p, nil
}

func (p *packReader) Close() error { return p.f.Close() }

// readIndex reads an .idx file and checks its own checksum.
func readIndex(path string) (*idxfile.MemoryIndex, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	body := len(data) - sha1.Size
	if body < 0 || sha1.Sum(data[:body]) != [sha1.Size]byte(data[body:]) {
		return nil, &TornError{Path: path, Err: errors.New("checksum is wrong")}
	}
	index := idxfile.NewMemoryIndex()
	return index, idxfile.NewDecoder(bytes.NewReader(data)).Decode(index)
}

// object returns an object of the pack, its content checked against its name. Without such an
// object the error is plumbing.ErrObjectNotFound.
func (p *packReader) object(id oid) (objType, []byte, error) {
	at, err := p.index.FindOffset(plumbing.Hash(id))
	if err != nil {
		return 0, nil, err
	}
	t, data, err := p.at(at, maxDeltaChain)
	if err == nil && hashObject(t, data) != id {
		err = errors.New("content does not fit its name")
	}
	if err != nil {
		return 0, nil, &TornError{Path: p.f.Name(), Err: fmt.Errorf("object %s: %w", id, err)}
	}
	return t, data, nil
}

// at reads the object at an offset, making it from its base where it is a delta.
func (p *packReader) at(offset int64, chain int) (objType, []byte, error) {
	e, err := p.entry(offset)
	if err != nil || e.t != typeDelta {
		return e.t, e.data, err
	}
	if chain == 0 {
		return 0, nil, errors.New("too many deltas on one another")
	}
	t, base, err := p.at(offset-e.distance, chain-1)
	if err != nil {
		return 0, nil, err
	}
	data, ok := applyDelta(base, e.data)
	if !ok {
		return 0, nil, errors.New("damaged delta")
	}
	return t, data, nil
}

// packEntry is an object as it stands in a pack.
type packEntry struct {
	t        objType
	distance int64  // of a delta: how far before this one its base begins
	data     []byte // content, or the delta
	end      int64  // offset behind it
}

// entry reads what stands at an offset.
func (p *packReader) entry(offset int64) (packEntry, error) {
	if offset < packHeader || offset >= p.size {
		return packEntry{}, errors.New("outside of the pack")
	}
	in := p.from(offset)
	e, size, err := readEntryHeader(in)
	if err != nil {
		return packEntry{}, err
	}
	if e.t == typeDelta && (e.distance <= 0 || e.distance > offset-packHeader) {
		return packEntry{}, errors.New("base outside of the pack")
	}
	if size > uint64(p.size-offset)*maxDeflate {
		return packEntry{}, errors.New("impossible size")
	}
	if e.data, err = p.inflate(int(size)); err != nil {
		return packEntry{}, err
	}
	e.end = offset + in.n
	return e, nil
}

// from puts the reader at an offset.
func (p *packReader) from(offset int64) *countingReader {
	p.in.r.Reset(io.NewSectionReader(p.f, offset, p.size-offset))
	p.in.n = 0
	return &p.in
}

// inflate reads a zlib stream of exactly size bytes, its checksum included.
func (p *packReader) inflate(size int) ([]byte, error) {
	var err error
	if p.zlib == nil {
		p.zlib, err = zlib.NewReader(&p.in)
	} else {
		err = p.zlib.(zlib.Resetter).Reset(&p.in, nil)
	}
	if err != nil {
		return nil, err
	}
	z, data := p.zlib, make([]byte, size)
	if _, err := io.ReadFull(z, data); err != nil {
		return nil, err
	}
	// Reading on makes zlib check its checksum, and shows content beyond the size.
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, errors.Join(errors.New("content is not of the size that it claims"), err)
	}
	return data, nil
}

func readEntryHeader(in *countingReader) (e packEntry, size uint64, err error) {
	c, err := in.ReadByte()
	if err != nil {
		return e, 0, err
	}
	e.t = objType(c >> 4 & 7)
	size = uint64(c & 0x0f)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil {
			return e, 0, err
		}
		if shift > 56 {
			return e, 0, errors.New("impossible size")
		}
		size |= uint64(c&0x7f) << shift
	}
	switch e.t {
	case typeCommit, typeTree, typeBlob:
		return e, size, nil
	case typeDelta:
		e.distance, err = readDistance(in)
		return e, size, err
	}
	return e, 0, fmt.Errorf("unexpected %s", e.t)
}

func readDistance(in *countingReader) (int64, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	n := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = in.ReadByte(); err != nil {
			return 0, err
		}
		if n > 1<<48 {
			return 0, errors.New("impossible distance")
		}
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, nil
}

// countingReader counts what was taken from it. Being a ByteReader too, it keeps the inflater from
// reading past the end of its stream, which tells where the next object begins.
type countingReader struct {
	r *bufio.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
