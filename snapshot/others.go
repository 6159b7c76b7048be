package snapshot

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// others looks for objects in the packs of a store. It keeps the indexes that it has read, and open
// only those packs in which something was found.
type others struct {
	indexes map[string]*idxfile.MemoryIndex
	packs   map[string]*packReader
}

func (o *others) close() {
	for _, p := range o.packs {
		p.Close()
	}
	o.packs = nil
}

// object returns an object from any pack but one; false where none has it whole.
func (o *others) object(p Place, but string, id oid) (objType, []byte, bool) {
	for _, name := range packNames(p) {
		if name == but {
			continue
		}
		if t, data, err := o.in(p, name, id); err == nil {
			return t, data, true
		}
	}
	return 0, nil, false
}

func (o *others) in(p Place, name string, id oid) (objType, []byte, error) {
	if pack := o.packs[name]; pack != nil {
		return pack.object(id)
	}
	if index := o.indexes[name]; index != nil {
		if _, err := index.FindOffset(plumbing.Hash(id)); err != nil {
			return 0, nil, err
		}
	}
	pack, err := openPack(packPath(p, name))
	if err != nil {
		return 0, nil, err
	}
	if o.indexes == nil {
		o.indexes = map[string]*idxfile.MemoryIndex{}
	}
	if o.packs == nil {
		o.packs = map[string]*packReader{}
	}
	o.indexes[name] = pack.index
	t, data, err := pack.object(id)
	if err != nil {
		pack.Close()
		return 0, nil, err
	}
	o.packs[name] = pack
	return t, data, nil
}

// packNames returns the names of the packs in a store, in hex.
func packNames(p Place) []string {
	entries, _ := os.ReadDir(filepath.Join(p.Dir, "objects", "pack"))
	var names []string
	for _, e := range entries {
		if name, ok := packName(e.Name()); ok {
			names = append(names, name)
		}
	}
	return names
}

// packName returns the name of a pack from that of its file.
func packName(file string) (string, bool) {
	name, pack := strings.CutPrefix(file, "pack-")
	name, ext := strings.CutSuffix(name, ".pack")
	_, err := parseOID(name)
	return name, pack && ext && err == nil
}
