package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxPacks is how many packs below the size of a unit a store may have before they become one.
	maxPacks = 50
	// foldBytes and foldObjects are what a folded pack has at most, unless a single pack has more: it is
	// the space that pruning needs beside the store, and each reader of a record reads the index of
	// its pack.
	foldBytes   = 32 << 20
	foldObjects = 8192
)

// carryOut drops refs, then packs that nothing needs, then rewrites those of which a part is needed.
// In this order each step leaves a store that can be read.
func (pr *pruning) carryOut(ctx context.Context) error {
	gone := pr.goneLists()
	unwritten := pr.writeGoneLists(gone)
	if errors.Is(unwritten, ErrKilled) {
		return unwritten
	}
	// What gives space back comes first; on a full disk even before these lists.
	if err := pr.dropRefs(ctx); err != nil {
		return err
	}
	if pr.intact {
		if err := pr.dropPacks(); err != nil {
			return err
		}
	}
	if unwritten != nil {
		if err := pr.writeGoneLists(gone); err != nil {
			return err
		}
	}
	if err := pr.mendRefs(); err != nil {
		return err
	}
	if pr.intact {
		if err := pr.rewrite(ctx, pr.sources()); err != nil {
			return err
		}
	}
	pr.nameRemains()
	return pr.tidy()
}

// mendRefs writes the refs that are torn and whose commit was found all the same.
func (pr *pruning) mendRefs() error {
	for _, k := range pr.records {
		data, err := os.ReadFile(refPath(k.place, k.group, k.ref))
		if err != nil || k.drop || k.err != nil || strings.TrimSuffix(string(data), "\n") == k.commit.String() {
			continue
		}
		s := pr.store()
		s.place = k.place
		if err := s.writeRef(k.group, k.ref, k.commit); err != nil {
			return err
		}
	}
	return nil
}

// dropRefs takes operations out of the history, oldest first, so that a kill leaves no gap in it.
func (pr *pruning) dropRefs(ctx context.Context) error {
	var drop []*kept
	packed := map[string]bool{}
	folders := map[string]bool{}
	for _, k := range pr.records {
		if k.drop {
			drop = append(drop, k)
			packed[groupName(k.place, k.group)+k.ref.String()] = true
			folders[groupPath(k.place, k.group)] = true
		}
	}
	if len(drop) == 0 {
		return nil
	}
	slices.SortFunc(drop, func(a, b *kept) int { return strings.Compare(a.ref.id, b.ref.id) })
	if err := pr.store().dropPacked(packed); err != nil {
		return err
	}
	for _, k := range drop {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := ignoreMissing(pr.disk.remove(refPath(k.place, k.group, k.ref))); err != nil {
			return err
		}
	}
	return pr.syncFolders(folders)
}

func (pr *pruning) store() *Store { return &Store{place: pr.place, disk: *pr.disk} }

func (pr *pruning) syncFolders(dirs map[string]bool) error {
	for dir := range dirs {
		if err := ignoreMissing(pr.disk.syncDir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// dropPacks removes the packs, and the loose objects, that nothing needs.
func (pr *pruning) dropPacks() error {
	for _, p := range pr.packs {
		if p.needed == 0 && !p.pinned {
			if err := pr.removePack(p); err != nil {
				return err
			}
		}
	}
	return pr.dropLoose()
}

// removePack removes a pack. Its index goes last: a reader that finds the pack without it would make a
// new one.
func (pr *pruning) removePack(p *packFile) error {
	for _, stale := range []string{"pack/multi-pack-index", "info/commit-graph"} {
		// They name objects and packs, and git believes them.
		path := filepath.Join(pr.place.Dir, "objects", filepath.FromSlash(stale))
		if _, err := os.Lstat(path); err == nil {
			if err := pr.disk.remove(path); err != nil {
				return err
			}
		}
	}
	pack := packPath(pr.place, p.name)
	if err := pr.disk.remove(pack); err != nil {
		return err
	}
	p.gone = true
	for _, beside := range []string{".rev", ".bitmap", ".mtimes"} {
		if path := pack[:len(pack)-len(".pack")] + beside; !missing(path) {
			if err := pr.disk.remove(path); err != nil {
				return err
			}
		}
	}
	return ignoreMissing(pr.disk.remove(idxPath(pack)))
}

// dropLoose removes loose objects that nothing needs; git makes some of packs.
func (pr *pruning) dropLoose() error {
	folders, err := os.ReadDir(filepath.Join(pr.place.Dir, "objects"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if len(folder.Name()) != 2 || !folder.IsDir() {
			continue
		}
		dir := filepath.Join(pr.place.Dir, "objects", folder.Name())
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			id, err := parseOID(folder.Name() + f.Name())
			if err != nil || pr.loose[id] {
				continue
			}
			if err := pr.disk.remove(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sources returns the packs to be rewritten, oldest first: those with something in them that nothing
// needs, and small ones, where there are many.
func (pr *pruning) sources() []*packFile {
	least := maxPacks
	if !pr.auto || pr.eager {
		least = 1
	}
	fold := chooseFold(pr.packs, least)
	var out []*packFile
	for _, p := range pr.packs {
		if p.needed == 0 || p.pinned || p.gone {
			continue
		}
		dead := p.dead()
		if fold[p] || dead > 0 && (!pr.auto || dead*slack >= p.needed+dead) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *packFile) int {
		if c := strings.Compare(a.first, b.first); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// dead is how many bytes of a pack nothing needs.
func (p *packFile) dead() int64 {
	if len(p.objects) == 0 {
		return 0
	}
	last := p.objects[len(p.objects)-1]
	return last.offset + last.length - packHeader - p.needed
}

// chooseFold says which packs become one where more than least are below the size of a unit: the small
// ones, and of the larger each that is less than twice all smaller ones together, so that what was
// folded once is copied again only when as much has come.
func chooseFold(packs []*packFile, least int) map[*packFile]bool {
	var small []*packFile
	for _, p := range packs {
		if !p.pinned && !p.gone && p.size < foldBytes && len(p.objects) < foldObjects {
			small = append(small, p)
		}
	}
	fold := map[*packFile]bool{}
	if len(small) <= least {
		return fold
	}
	slices.SortFunc(small, func(a, b *packFile) int { return int(a.size - b.size) })
	var sum int64
	for i, p := range small {
		if p.size >= 2*sum && i >= 2 && i >= least {
			break
		}
		fold[p] = true
		sum += p.size
	}
	return fold
}

// rewrite writes what is needed of packs into new ones, a unit at a time, and removes them.
func (pr *pruning) rewrite(ctx context.Context, sources []*packFile) error {
	for len(sources) > 0 {
		if pr.auto && time.Now().After(pr.deadline) {
			return nil
		}
		var unit []*packFile
		unit, sources = takeUnit(sources)
		if len(unit) == 1 && unit[0].dead() == 0 {
			continue // it would become itself
		}
		name, err := pr.fold(ctx, unit)
		var bad *damagedPack
		if errors.As(err, &bad) {
			pr.torn("", bad.err)
			bad.pack.pinned = true
			sources = append(slices.DeleteFunc(unit, func(p *packFile) bool { return p == bad.pack }), sources...)
			continue
		}
		if err != nil {
			return err
		}
		if err := pr.replace(unit, name); err != nil {
			return err
		}
	}
	return nil
}

// takeUnit takes from the front what goes into one pack.
func takeUnit(sources []*packFile) (unit, rest []*packFile) {
	var size int64
	objects := 0
	for i, p := range sources {
		size += p.needed
		objects += len(p.objects)
		if i > 0 && (size > foldBytes || objects > foldObjects) {
			return sources[:i:i], sources[i:]
		}
	}
	return sources, nil
}

// replace puts a new pack in the place of others: their refs name it, then they go.
func (pr *pruning) replace(unit []*packFile, name oid) error {
	packed := map[string]bool{}
	folders := map[string]bool{}
	for _, k := range pr.records {
		if k.drop || k.group != groupOps || !slices.Contains(unit, k.home) || k.ref.pack == name.String() {
			continue
		}
		now := opRef{id: k.ref.id, pack: name.String()}
		if err := pr.moveRef(k, now); err != nil {
			return err
		}
		packed[groupName(k.place, k.group)+k.ref.String()] = true
		folders[groupPath(k.place, k.group)] = true
		k.ref = now
	}
	if len(packed) > 0 {
		if err := pr.store().dropPacked(packed); err != nil {
			return err
		}
	}
	if err := pr.syncFolders(folders); err != nil {
		return err
	}
	for _, p := range unit {
		if p.name == name.String() {
			continue
		}
		if err := pr.removePack(p); err != nil {
			return err
		}
	}
	return nil
}

// moveRef renames a ref, in one step where it is a file. One that is packed is written as a file.
func (pr *pruning) moveRef(k *kept, now opRef) error {
	err := pr.disk.rename(refPath(k.place, k.group, k.ref), refPath(k.place, k.group, now))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s := pr.store()
	s.place = k.place
	return s.writeRef(k.group, now, k.commit)
}

// nameRemains reports the packs that hold what was to be gone.
func (pr *pruning) nameRemains() {
	if pr.auto {
		return
	}
	for _, p := range pr.packs {
		if !p.gone && p.dead() > 0 && (p.pinned || !pr.intact) && slices.ContainsFunc(pr.records, func(k *kept) bool { return k.drop && !k.twin && k.home == p }) {
			pr.torn("", &TornError{Path: packPath(pr.place, p.name), Err: errors.New("it still holds what was dropped, for it cannot be rewritten")})
		}
	}
}

// estimate is about what the store will take up.
func (pr *pruning) estimate() int64 {
	size := pr.out.Before
	if !pr.intact {
		return size
	}
	rewritten := map[*packFile]bool{}
	for _, p := range pr.sources() {
		rewritten[p] = true
	}
	for _, p := range pr.packs {
		switch {
		case p.pinned:
		case p.needed == 0:
			size -= p.size
		case rewritten[p]:
			size -= p.dead()
		}
	}
	return max(size, 0)
}
