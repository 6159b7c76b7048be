package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// reindex makes the index of a pack from the pack itself, after it was lost or torn: it is not
// synced when a record is written. The index is also put in its place, for git; where that cannot
// be done, every reader makes its own.
func (p *packReader) reindex() (*idxfile.MemoryIndex, error) {
	data, err := p.rebuildIndex()
	if err != nil {
		return nil, err
	}
	d := disk{}
	_ = d.replace(filepath.Dir(p.f.Name()), idxPath(p.f.Name()), data, false)
	if _, err := os.Lstat(p.f.Name()); errors.Is(err, fs.ErrNotExist) {
		_ = d.remove(idxPath(p.f.Name())) // the store was folded meanwhile, and the pack is gone
	}
	return decodeIndex(data)
}

func decodeIndex(data []byte) (*idxfile.MemoryIndex, error) {
	index := idxfile.NewMemoryIndex()
	return index, idxfile.NewDecoder(bytes.NewReader(data)).Decode(index)
}

// indexBeginning indexes what can be read at the beginning of a pack that was cut off or is damaged
// further on. The index is not written: it would hide the damage from git.
func (p *packReader) indexBeginning() (*idxfile.MemoryIndex, error) {
	var w idxfile.Writer
	if err := w.OnHeader(0); err != nil {
		return nil, err
	}
	found := 0
	for offset := int64(packHeader); ; found++ {
		next, err := p.indexOne(&w, offset)
		if err != nil {
			break
		}
		offset = next
	}
	if found == 0 {
		return nil, errors.New("nothing in the pack can be read")
	}
	data, err := encodeIndex(&w, oid{})
	if err != nil {
		return nil, err
	}
	return decodeIndex(data)
}

// rebuildIndex returns the .idx file for the pack. The pack must be whole: its checksum is looked
// at first.
func (p *packReader) rebuildIndex() ([]byte, error) {
	trailer, err := p.verify()
	if err != nil {
		return nil, err
	}
	var head [packHeader]byte
	if _, err := p.f.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if string(head[:4]) != packMagic || binary.BigEndian.Uint32(head[4:]) != packVersion {
		return nil, errors.New("not a pack of version 2")
	}
	count := binary.BigEndian.Uint32(head[8:])
	var w idxfile.Writer
	// The count is not passed on: it is only a hint there, and the memory would be claimed at once.
	if err := w.OnHeader(0); err != nil {
		return nil, err
	}
	offset := int64(packHeader)
	for range count {
		if offset, err = p.indexOne(&w, offset); err != nil {
			return nil, err
		}
	}
	if offset != p.size {
		return nil, errors.New("more in the pack than it claims")
	}
	return encodeIndex(&w, trailer)
}

// indexOne enters the object at an offset and returns where the next one begins.
func (p *packReader) indexOne(w *idxfile.Writer, offset int64) (int64, error) {
	e, err := p.entry(offset)
	if err != nil {
		return 0, fmt.Errorf("object at %d: %w", offset, err)
	}
	t, data, err := p.at(offset, maxDeltaChain)
	if err != nil {
		return 0, fmt.Errorf("object at %d: %w", offset, err)
	}
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, io.NewSectionReader(p.f, offset, e.end-offset)); err != nil {
		return 0, err
	}
	id := hashObject(t, data)
	w.Add([20]byte(id), uint64(offset), crc.Sum32())
	return e.end, nil
}

// verify checks the pack's own checksum and returns it.
func (p *packReader) verify() (oid, error) {
	sum := sha1.New()
	if _, err := io.Copy(sum, bufio.NewReaderSize(io.NewSectionReader(p.f, 0, p.size), packBuffer)); err != nil {
		return oid{}, err
	}
	var trailer oid
	if _, err := p.f.ReadAt(trailer[:], p.size); err != nil {
		return oid{}, err
	}
	if oid(sum.Sum(nil)) != trailer {
		return oid{}, errors.New("checksum is wrong")
	}
	return trailer, nil
}
