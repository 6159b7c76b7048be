package snapshot

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// Objects tells which objects the packs of a store hold, and reads them. It knows the packs that were
// there when it was made. It is for one goroutine.
type Objects struct {
	packs []*knownPack // the one that was of use last comes first
}

type knownPack struct {
	path   string
	index  *idxfile.MemoryIndex
	reader *packReader
	broken bool
}

// Objects lists the packs by their indexes. Who relies on an object to stay holds the store's lock. A
// pack whose index cannot be read counts as not there: what it holds is then written again.
func (s *Store) Objects() (*Objects, error) { return objectsAt(s.place) }

func objectsAt(p Place) (*Objects, error) {
	dir := filepath.Join(p.Dir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	o := &Objects{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pack")
		if !ok || !strings.HasPrefix(name, "pack-") || !there[name+".idx"] {
			continue
		}
		path := filepath.Join(dir, e.Name())
		index, err := readIndex(idxPath(path))
		if err != nil {
			continue
		}
		o.packs = append(o.packs, &knownPack{path: path, index: index})
	}
	// Checkpoints are large, and what is looked for is mostly in one.
	slices.SortStableFunc(o.packs, func(a, b *knownPack) int { return cmp.Compare(b.count(), a.count()) })
	return o, nil
}

func (k *knownPack) count() int64 {
	n, _ := k.index.Count() // never fails: it is in memory
	return n
}

// Has reports whether a pack holds the object with this id, in hex.
func (o *Objects) Has(id string) bool {
	parsed, err := parseOID(id)
	return err == nil && o.has(parsed)
}

func (o *Objects) has(id oid) bool { return o.find(id) != nil }

func (o *Objects) find(id oid) *knownPack {
	for i, k := range o.packs {
		if ok, err := k.index.Contains(plumbing.Hash(id)); err == nil && ok && !k.broken {
			copy(o.packs[1:i+1], o.packs[:i])
			o.packs[0] = k
			return k
		}
	}
	return nil
}

// object reads an object; ok is false where no pack gives it.
func (o *Objects) object(want objType, id oid) (data []byte, ok bool) {
	for k := o.find(id); k != nil; k = o.find(id) {
		if k.reader == nil {
			r, err := openPack(k.path)
			if err != nil {
				k.broken = true
				continue
			}
			k.reader = r
		}
		t, data, err := k.reader.object(id)
		if err != nil || t != want {
			return nil, false
		}
		return data, true
	}
	return nil, false
}

// Close closes the packs that reading opened.
func (o *Objects) Close() {
	for _, k := range o.packs {
		if k.reader != nil {
			k.reader.Close()
			k.reader = nil
		}
	}
}
