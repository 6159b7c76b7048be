package gitapply

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/openoxide/oxpatch/change"
)

// extended is the flag of an entry that has two more bytes of flags.
const extended = 0x4000

// scanIndex reads the lines of some paths out of the bytes of an index file, versions 2 to 4. It
// only looks; the file's checksum is for git to verify. ok is false where the file is not the whole
// story (a split or a sparse index) or of a form that is not known: then git has to be asked.
func scanIndex(data []byte, hashLen int, paths []string) (lines map[string][]change.IndexLine, ok bool) {
	exact := slices.Clone(paths)
	slices.Sort(exact)
	return readEntries(data, hashLen, paths, &reach{exact: exact}, func([]byte, uint32, []byte) {})
}

// readEntries is scanIndex, and calls take with every entry that is within reach: its part of fixed
// length, all its flags, and its name.
func readEntries(data []byte, hashLen int, paths []string, within *reach, take func(fixed []byte, flags uint32, name []byte)) (lines map[string][]change.IndexLine, ok bool) {
	if len(data) < 12+hashLen || string(data[:4]) != "DIRC" {
		return nil, false
	}
	s := indexScan{data: data[:len(data)-hashLen], at: 12, hashLen: hashLen, version: binary.BigEndian.Uint32(data[4:])}
	if s.version < 2 || s.version > 4 {
		return nil, false
	}
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[p] = true
	}
	lines = map[string][]change.IndexLine{}
	var last []byte
	for range binary.BigEndian.Uint32(data[8:]) {
		fixed, flags, ok := s.entry()
		if !ok || bytes.Compare(last, s.name) > 0 {
			return nil, false // no index is out of order
		}
		last = s.name
		if !within.takes(s.name) {
			continue
		}
		take(fixed, flags, s.name)
		if wanted[string(s.name)] {
			lines[string(s.name)] = append(lines[string(s.name)], s.line(fixed, flags))
		}
	}
	return lines, s.extensions()
}

// indexScan stands at one place of an index.
type indexScan struct {
	data    []byte
	at      int
	hashLen int
	version uint32
	name    []byte // of the entry read last
}

// entry steps over one entry. It returns the part of fixed length and all its flags, as "git
// ls-files --debug" puts them together.
func (s *indexScan) entry() (fixed []byte, flags uint32, ok bool) {
	start := s.at
	size := 40 + s.hashLen + 2
	if len(s.data)-start < size+2 {
		return nil, 0, false
	}
	fixed = s.data[start : start+size]
	flags = uint32(binary.BigEndian.Uint16(fixed[size-2:]))
	s.at += size
	if flags&extended != 0 {
		if s.version < 3 {
			return nil, 0, false
		}
		flags |= uint32(binary.BigEndian.Uint16(s.data[s.at:])) << 16
		s.at += 2
	}
	if s.version == 4 {
		return fixed, flags, s.shortened()
	}
	end := bytes.IndexByte(s.data[s.at:], 0)
	if end < 0 {
		return nil, 0, false
	}
	s.name = s.data[s.at : s.at+end]
	// One to eight zero bytes end the entry, so that the next begins at a multiple of eight.
	s.at = start + (s.at+end-start+8)&^7
	return fixed, flags, s.at <= len(s.data)
}

// shortened reads a name of version 4: how many bytes to drop from the end of the name before it,
// and what to put there.
func (s *indexScan) shortened() bool {
	drop, n := 0, s.at
	for more := true; more; n++ {
		if n >= len(s.data) {
			return false
		}
		c := s.data[n]
		if n > s.at {
			drop++
		}
		drop = drop<<7 | int(c&0x7f)
		more = c&0x80 != 0
		if drop > 1<<20 {
			return false
		}
	}
	end := bytes.IndexByte(s.data[n:], 0)
	if end < 0 || drop > len(s.name) {
		return false
	}
	s.name = append(s.name[:len(s.name)-drop:len(s.name)-drop], s.data[n:n+end]...)
	s.at = n + end + 1
	return true
}

func (s *indexScan) line(fixed []byte, flags uint32) change.IndexLine {
	return change.IndexLine{
		Mode:  binary.BigEndian.Uint32(fixed[24:]),
		OID:   hex.EncodeToString(fixed[40 : 40+s.hashLen]),
		Stage: int(flags >> 12 & 3),
		Flags: flags & keptFlags,
	}
}

// extensions steps over what follows the entries. One whose name does not begin with a capital must
// be understood to read the index: "link" is the other half of a split one, "sdir" says that whole
// folders may be one entry.
func (s *indexScan) extensions() bool {
	for s.at < len(s.data) {
		if len(s.data)-s.at < 8 {
			return false
		}
		if c := s.data[s.at]; c < 'A' || c > 'Z' {
			return false
		}
		size := int(binary.BigEndian.Uint32(s.data[s.at+4:]))
		if size > len(s.data)-s.at-8 {
			return false
		}
		s.at += 8 + size
	}
	return true
}
