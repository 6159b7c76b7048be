package snapshot

import (
	"errors"
	"strings"
)

// salvageCommit finds the commit of an operation whose ref is torn: in the pack that the ref is named
// after, else in any. A record's commit says which operation it is of.
func salvageCommit(p Place, ref opRef) (oid, bool) {
	names := packNames(p)
	if ref.pack != "" {
		names = append([]string{ref.pack}, names...)
	}
	for _, name := range names {
		pack, err := openPack(packPath(p, name))
		if err != nil {
			continue
		}
		id, ok := pack.commitOf(ref.id)
		pack.Close()
		if ok {
			return id, true
		}
	}
	return oid{}, false
}

// commitOf returns the commit in the pack that records an operation.
func (p *packReader) commitOf(operation string) (oid, bool) {
	entries, err := p.index.EntriesByOffset()
	if err != nil {
		return oid{}, false
	}
	defer entries.Close()
	for {
		e, err := entries.Next()
		if err != nil {
			return oid{}, false
		}
		h, err := p.header(int64(e.Offset))
		if err != nil || h.t != typeCommit {
			continue
		}
		if _, data, err := p.object(oid(e.Hash)); err == nil && recordedBy(data) == operation {
			return oid(e.Hash), true
		}
	}
}

// recordedBy returns the id of the operation that a commit records, as seal wrote it; "" for others.
func recordedBy(commit []byte) string {
	_, message, _ := strings.Cut(string(commit), "\n\n")
	line, _, _ := strings.Cut(message, "\n")
	words := strings.Fields(line)
	if len(words) != 3 || words[0] != "oxpatch" || !validID(words[2]) {
		return ""
	}
	return words[2]
}

// header reads the header of the entry at an offset.
func (p *packReader) header(offset int64) (entryHeader, error) {
	if offset < packHeader || offset >= p.size {
		return entryHeader{}, errors.New("outside of the pack")
	}
	in := p.from(offset)
	e, size, err := readEntryHeader(in)
	return entryHeader{t: e.t, size: size, distance: e.distance, length: in.n}, err
}

// entryHeader is what stands before the content of an entry.
type entryHeader struct {
	t        objType
	size     uint64 // of the content, or of the delta, uncompressed
	distance int64  // of a delta
	length   int64  // of the header, in bytes
}
