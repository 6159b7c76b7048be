package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// survey is all that is in a store: its objects, and the refs that they are kept for. It is taken
// while the store's lock is held alone, so that nothing comes or goes meanwhile; for a forecast also
// without.
type survey struct {
	place   Place
	packs   []*packFile
	byName  map[string]*packFile
	records []*kept
	roots   []oid // of refs that are none of ours
	damage  []Damage
	// intact: all refs are known and can be followed. Else nothing may be removed, since nobody knows
	// what is still needed.
	intact bool

	open      *packReader // of opened
	opened    *packFile
	elsewhere *source // for objects in no pack that is written as ours are
	loose     map[oid]bool
	// everywhere finds objects in any pack; nil until one is wanted.
	everywhere map[oid]location
}

// Damage is what cannot be read in a store.
type Damage struct {
	ID  string // the operation, or "" where it is none
	Err error  // mostly a *TornError
}

// packFile is a pack.
type packFile struct {
	name    string
	size    int64 // with its index and what else git keeps beside it
	objects []packedObject
	at      map[oid]int
	needed  int64 // bytes of the objects that are needed
	// pinned: the pack must stay as it is.
	pinned bool
	gone   bool   // removed since
	first  string // the lowest id of an operation that is in it
}

// packedObject is an object in a pack; need says that a ref that stays leads to it.
type packedObject struct {
	id             oid
	offset, length int64
	crc            uint32
	need           bool
}

type location struct {
	pack *packFile
	i    int
}

func (l location) object() *packedObject { return &l.pack.objects[l.i] }

// kept is the ref of one operation.
type kept struct {
	place  Place
	group  string
	ref    opRef
	commit oid
	home   *packFile // that the commit is in; nil for none
	err    error     // why the commit is not known
	drop   bool
	// twin: the operation has another ref, for renaming one that git had packed was cut off.
	twin bool
}

// What is taken up besides objects: in an index by each object, by the index itself, and by the ref of
// a record.
const (
	indexShare = 28
	packShare  = 1100
	refShare   = 41
)

// takeSurvey reads the names, indexes and refs of a store.
func takeSurvey(p Place) (*survey, error) {
	s := &survey{
		place: p, byName: map[string]*packFile{}, loose: map[oid]bool{}, intact: true,
		elsewhere: newSource(p, opRef{}),
	}
	if err := s.readPacks(); err != nil {
		return nil, err
	}
	return s, s.readRefs()
}

func (s *survey) close() {
	s.elsewhere.close()
	if s.open != nil {
		s.open.Close()
		s.open, s.opened = nil, nil
	}
}

func (s *survey) torn(id string, err error) { s.damage = append(s.damage, Damage{ID: id, Err: err}) }

func (s *survey) readPacks() error {
	dir := filepath.Join(s.place.Dir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name, ok := packName(e.Name()); ok {
			p := &packFile{name: name, at: map[oid]int{}}
			s.packs = append(s.packs, p)
			s.byName[name] = p
		}
	}
	for _, e := range entries {
		base, ext, _ := strings.Cut(strings.TrimPrefix(e.Name(), "pack-"), ".")
		p := s.byName[base]
		if info, err := e.Info(); err == nil && p != nil {
			p.size += info.Size()
			p.pinned = p.pinned || ext == "keep"
		}
	}
	for _, p := range s.packs {
		if err := s.readPack(p); err != nil {
			// Who knows what is in it.
			s.torn("", err)
			p.pinned = true
		}
	}
	return nil
}

func (s *survey) readPack(p *packFile) error {
	pack, err := openPack(packPath(s.place, p.name))
	if err != nil {
		return err
	}
	defer pack.Close()
	entries, err := pack.index.EntriesByOffset()
	if err != nil {
		return err
	}
	defer entries.Close()
	for {
		e, err := entries.Next()
		if err != nil {
			break
		}
		p.objects = append(p.objects, packedObject{id: oid(e.Hash), offset: int64(e.Offset), crc: e.CRC32})
	}
	end := pack.size
	for i := len(p.objects) - 1; i >= 0; i-- {
		o := &p.objects[i]
		o.length, end = end-o.offset, o.offset
		p.at[o.id] = i
		if o.length <= 0 {
			return &TornError{Path: pack.f.Name(), Err: errors.New("shorter than its index says")}
		}
	}
	if pack.damaged != nil {
		return &TornError{Path: pack.f.Name(), Err: pack.damaged}
	}
	return nil
}

// readRefs lists the refs: pending ones first, so that one that is published meanwhile, which takes no
// lock on the store, is seen at least once.
func (s *survey) readRefs() error {
	if _, err := packedRefs(s.place); err != nil {
		s.torn("", err)
		s.intact = false
	}
	roots, err := storeRoots(s.place)
	if err != nil {
		return err
	}
	for _, group := range []string{groupPending, groupOps} {
		for _, p := range roots {
			refs, err := listRefs(p, group)
			if err != nil && !errors.Is(err, ErrTorn) {
				return err
			}
			for _, ref := range refs {
				s.addRecord(&kept{place: p, group: group, ref: ref})
			}
		}
	}
	s.findTwins()
	return s.foreignRefs()
}

// findTwins marks all but one of several refs of an operation, so that they go and nothing else does.
func (s *survey) findTwins() {
	type name struct {
		place     Place
		group, id string
		commit    oid
	}
	seen := map[name]bool{}
	for _, k := range s.records {
		n := name{k.place, k.group, k.ref.id, k.commit}
		k.twin = seen[n] && k.err == nil
		k.drop = k.twin
		seen[n] = true
	}
}

func (s *survey) addRecord(k *kept) {
	commit, ref, err := resolveRef(k.place, k.group, k.ref)
	if err != nil {
		if k.group == groupPending && errors.Is(err, os.ErrNotExist) {
			return // an empty note, or published meanwhile
		}
		k.err = err
		s.records = append(s.records, k)
		return
	}
	if s.home(ref, commit) == nil && len(s.elsewhereBytes(commit)) == 0 {
		if found, ok := salvageCommit(k.place, ref); ok {
			commit = found
		}
	}
	k.ref, k.commit, k.home = ref, commit, s.home(ref, commit)
	s.records = append(s.records, k)
}

// home returns the pack that a record is in: that of its ref, or where git has repacked the store
// since, the one that has its commit.
func (s *survey) home(ref opRef, commit oid) *packFile {
	if p := s.byName[ref.pack]; p != nil {
		if _, ok := p.at[commit]; ok {
			return p
		}
	}
	if l, ok := s.find(commit); ok {
		return l.pack
	}
	return nil
}

// find looks for an object in all packs.
func (s *survey) find(id oid) (location, bool) {
	if s.everywhere == nil {
		s.everywhere = map[oid]location{}
		for _, p := range slices.Backward(s.packs) {
			for i, o := range p.objects {
				s.everywhere[o.id] = location{p, i}
			}
		}
	}
	l, ok := s.everywhere[id]
	return l, ok
}

// elsewhereBytes returns an object that is in no pack that could be read here, or nothing.
func (s *survey) elsewhereBytes(id oid) []byte {
	_, data, err := s.elsewhere.elsewhere(id)
	if err != nil {
		return nil
	}
	return data
}

// read returns an object, its content checked against its name.
func (s *survey) read(l location) (objType, []byte, error) {
	pack, err := s.reader(l.pack)
	if err != nil {
		return 0, nil, err
	}
	o := l.object()
	t, data, err := pack.at(o.offset, maxDeltaChain)
	if err == nil && hashObject(t, data) == o.id {
		return t, data, nil
	}
	t, data, elsewhere := s.elsewhere.elsewhere(o.id)
	if elsewhere != nil {
		return 0, nil, &TornError{Path: packPath(s.place, l.pack.name), Err: fmt.Errorf("object %s is damaged: %w", o.id, errors.Join(err, elsewhere))}
	}
	return t, data, nil
}

// reader returns a reader of a pack without its index, which was read before. The one opened last
// stays open.
func (s *survey) reader(p *packFile) (*packReader, error) {
	if s.opened == p {
		return s.open, nil
	}
	pack, err := openPackFile(packPath(s.place, p.name))
	if err != nil {
		return nil, err
	}
	if s.open != nil {
		s.open.Close()
	}
	s.open, s.opened = pack, p
	pack.index = idxfile.NewMemoryIndex()
	return pack, nil
}

// storeRoots returns the places of all roots that a store has refs of.
func storeRoots(p Place) ([]Place, error) {
	names := map[string]bool{p.Worktree: true}
	entries, err := os.ReadDir(filepath.Join(p.Dir, "refs", "oxpatch"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		names[e.Name()] = names[e.Name()] || e.IsDir()
	}
	packed, _ := packedRefs(p)
	for name := range packed {
		if parts := strings.Split(name, "/"); len(parts) == 5 && parts[1] == "oxpatch" {
			names[parts[2]] = true
		}
	}
	var places []Place
	for name, is := range names {
		if is {
			places = append(places, Place{Dir: p.Dir, Worktree: name, Shared: p.Shared})
		}
	}
	slices.SortFunc(places, func(a, b Place) int { return strings.Compare(a.Worktree, b.Worktree) })
	return places, nil
}

// foreignRefs finds refs that somebody else has made in the store; what they lead to is kept.
func (s *survey) foreignRefs() error {
	top := filepath.Join(s.place.Dir, "refs")
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(s.place.Dir, path)
		if oursRef(filepath.ToSlash(rel)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if id, err := parseOID(strings.TrimSpace(string(data))); err == nil {
			s.roots = append(s.roots, id)
		}
		return nil
	})
	packed, _ := packedRefs(s.place)
	for name, id := range packed {
		if !oursRef(name) {
			s.roots = append(s.roots, id)
		}
	}
	return err
}

// oursRef reports whether a ref's full name is one of ours.
func oursRef(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) != 5 || parts[1] != "oxpatch" || parts[3] != groupOps && parts[3] != groupPending {
		return false
	}
	_, ok := parseRef(parts[4])
	return ok
}
