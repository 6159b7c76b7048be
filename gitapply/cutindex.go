package gitapply

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// Most of what git does with an index of many entries is reading and writing it, while "git apply"
// looks up no entries but those of the paths that the patch names: the entries themselves, what
// stands above and below them, and the attributes that hold for them. So the scratch gets an index
// of these alone. It does not where others may be looked up: names are compared without regard to
// case, or commands of the user run, which may look at anything.

// userIndex is the repository's index on its way into the scratch.
type userIndex struct {
	whole []byte
	cut   []byte   // what git apply may look up of it, for names; nil where that is not known
	names []string // sorted
	given bool     // the scratch has what it needs
}

// readLines reads the lines of the named paths out of the index. Where only git can, the scratch gets
// the whole of it.
func (p *planner) readLines(ctx context.Context, at place) (err error) {
	if !p.print.exists || len(p.names) == 0 {
		p.lines = map[string][]change.IndexLine{}
		return nil
	}
	var ok bool
	if p.lines, p.index.cut, ok = cutIndex(p.index.whole, p.run.idLength()/2, p.names); ok {
		p.index.names = p.names
		return nil
	}
	p.index.cut = nil
	if err := p.giveIndex(); err != nil {
		return err
	}
	p.lines, err = p.run.ask(ctx, at, p.names)
	return err
}

// giveIndex gives the scratch as much of the index as git needs there, once.
func (p *planner) giveIndex() error {
	if p.index.given {
		return nil
	}
	p.index.given = true
	data := p.index.whole
	if p.index.cut != nil && !p.config.ignoreCase && len(p.config.drivers) == 0 &&
		!slices.ContainsFunc(p.names, func(n string) bool { return !contains(p.index.names, n) }) {
		data = p.index.cut
	}
	p.index.whole, p.index.cut = nil, nil
	return p.scratch.giveIndex(data, p.print)
}

// contains reports whether a sorted list holds a name.
func contains(sorted []string, name string) bool {
	_, ok := slices.BinarySearch(sorted, name)
	return ok
}

// reach walks along the entries of an index, which are sorted by name, and picks those of some paths.
type reach struct {
	exact []string // names, sorted
	below []string // folders, each with a slash behind it, sorted; none is in another
}

// reachOf returns the reach of a patch that names these paths.
func reachOf(names []string) *reach {
	var r reach
	for _, name := range names {
		r.exact = append(r.exact, name)
		r.below = append(r.below, name+"/")
		for dir := name; dir != ""; {
			dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
			if dir == "" {
				r.exact = append(r.exact, ".gitattributes")
			} else {
				r.exact = append(r.exact, dir, dir+"/.gitattributes")
			}
		}
	}
	slices.Sort(r.exact)
	r.exact = slices.Compact(r.exact)
	slices.Sort(r.below)
	outer := r.below[:0]
	for _, dir := range r.below {
		if len(outer) == 0 || !strings.HasPrefix(dir, outer[len(outer)-1]) {
			outer = append(outer, dir)
		}
	}
	r.below = outer
	return &r
}

// takes reports whether an entry is within reach. The names must come in order.
func (r *reach) takes(name []byte) bool {
	for len(r.exact) > 0 && r.exact[0] < string(name) {
		r.exact = r.exact[1:]
	}
	if len(r.exact) > 0 && r.exact[0] == string(name) {
		return true
	}
	for len(r.below) > 0 && r.below[0] < string(name) {
		if bytes.HasPrefix(name, []byte(r.below[0])) {
			return true
		}
		r.below = r.below[1:]
	}
	return false
}

// cutIndex reads the lines of some paths out of the bytes of an index file, as scanIndex does, and
// writes an index of the entries that git may look up for a patch that names the paths. ok is as
// scanIndex has it.
func cutIndex(data []byte, hashLen int, paths []string) (lines map[string][]change.IndexLine, cut []byte, ok bool) {
	c := indexCut{hashLen: hashLen, out: make([]byte, 12), version: 2}
	lines, ok = readEntries(data, hashLen, paths, reachOf(paths), c.add)
	return lines, c.finish(), ok
}

// indexCut is an index being written, of version 2, or 3 where an entry needs that.
type indexCut struct {
	out     []byte
	hashLen int
	version uint32
	count   uint32
}

// add writes one entry, as readEntries gives it.
func (c *indexCut) add(fixed []byte, flags uint32, name []byte) {
	start := len(c.out)
	c.out = append(c.out, fixed...)
	if flags&extended != 0 {
		c.version = 3
		c.out = binary.BigEndian.AppendUint16(c.out, uint16(flags>>16))
	}
	c.out = append(c.out, name...)
	size := (len(c.out) - start + 8) &^ 7
	c.out = append(c.out, make([]byte, start+size-len(c.out))...)
	c.count++
}

// finish completes the file.
func (c *indexCut) finish() []byte {
	copy(c.out, "DIRC")
	binary.BigEndian.PutUint32(c.out[4:], c.version)
	binary.BigEndian.PutUint32(c.out[8:], c.count)
	if c.hashLen == sha256.Size {
		sum := sha256.Sum256(c.out)
		return append(c.out, sum[:]...)
	}
	sum := sha1.Sum(c.out)
	return append(c.out, sum[:]...)
}
