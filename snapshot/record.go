package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/openoxide/oxpatch/change"
)

// Record is an operation as it was recorded. Contents are read when asked for.
type Record struct {
	Meta   Meta
	place  Place
	ref    opRef
	commit oid
	source *source
}

// Commit returns the id of the ghost commit, in hex.
func (r *Record) Commit() string { return r.commit.String() }

// Place returns where the record is.
func (r *Record) Place() Place { return r.place }

// Close closes the files that reading contents opened. The record stays usable. It is for those who
// hold many records; else the files are closed when the record is garbage.
func (r *Record) Close() { r.source.close() }

// Entry is one path of an operation to be recorded.
type Entry struct {
	change.Change
	// InPlace: the file will be written in place.
	InPlace bool
	// Outside: Path is absolute and outside the root.
	Outside bool
	// AfterUnknown: what the operation will leave is not known; After is not looked at.
	AfterUnknown bool
}

// Put writes a record: what the operation is, what it found and will leave at each path, and its
// inputs. When it returns, the record is on disk (with DurabilityProcess: with the kernel), but no
// part of the history before SetPending or Publish. The fields of meta that are said to be set by
// Put are overwritten; its id is one of NewID's.
//
// The caller holds the root's lock and Store.Lock. ctx is looked at between objects. On failure
// nothing is left behind.
func (s *Store) Put(ctx context.Context, meta Meta, entries []Entry, patches [][]byte) (*Record, error) {
	if !validID(meta.ID) {
		return nil, fmt.Errorf("record: %q is not an operation id", meta.ID)
	}
	d := newDraft()
	d.ahead = s.ahead
	d.addPatches(patches)
	meta.Paths = d.addEntries(entries)
	if err := d.within(s.maxRecord, entries); err != nil {
		return nil, err
	}
	if err := s.register(); err != nil {
		return nil, err
	}
	s.removeDebris()
	meta.Version, meta.Patches = MetaVersion, len(patches)
	meta.Root, meta.Worktree, meta.Durability = s.site.Root, s.place.Worktree, s.durability
	meta.Inexact = slices.ContainsFunc(entries, func(e Entry) bool { return e.AfterUnknown })
	commit, err := d.seal(meta)
	if err != nil {
		return nil, err
	}
	pack, err := s.writePack(ctx, d)
	if err != nil {
		return nil, err
	}
	ref := opRef{id: meta.ID, pack: pack.String()}
	return &Record{Meta: meta, place: s.place, ref: ref, commit: commit, source: newSource(s.place, ref)}, nil
}

// draft is a record in memory: its objects in the order in which they will be written.
type draft struct {
	objects []draftObject
	known   map[oid]bool // equal content is one object
	before  []treeEntry
	after   []treeEntry
	patch   []treeEntry
	tree    []treeEntry   // of a record of a whole tree
	inputs  []draftObject // the patches, for deltas on them
	weights []int64       // what the contents of each entry take up, uncompressed
	ahead   *Ahead        // may be nil
}

type draftObject struct {
	t    objType
	id   oid
	data []byte
	// base and delta say how to make data from another object, written before; delta is nil for
	// an object that is written whole.
	base  oid
	delta []byte
}

// stored returns what is written of the object.
func (o draftObject) stored() []byte {
	if o.delta != nil {
		return o.delta
	}
	return o.data
}

func newDraft() *draft { return &draft{known: make(map[oid]bool)} }

// add puts an object into the draft once.
func (d *draft) add(o draftObject) oid {
	if !d.known[o.id] {
		d.known[o.id] = true
		d.objects = append(d.objects, o)
	}
	return o.id
}

func (d *draft) addWhole(t objType, data []byte) oid {
	return d.add(draftObject{t: t, id: hashObject(t, data), data: data})
}

// addPatches adds the inputs. They come first, so that an after can be a delta on one of them.
func (d *draft) addPatches(patches [][]byte) {
	names := hashBlobs(patches, d.ahead)
	for i, p := range patches {
		o := draftObject{t: typeBlob, id: names[i], data: p}
		d.inputs = append(d.inputs, o)
		d.patch = append(d.patch, treeEntry{name: number(i), id: d.add(o)})
	}
}

// addEntries adds the contents of all states. All befores come first, so that an after can be a
// delta on any of them: on its own, or on that of the name that it was moved from.
func (d *draft) addEntries(entries []Entry) []PathMeta {
	paths := make([]PathMeta, len(entries))
	ids := make([]oid, len(entries))
	byName := make(map[string]int, len(entries))
	d.weights = make([]int64, len(entries))
	contents := make([][]byte, 0, 2*len(entries))
	for _, e := range entries {
		contents = append(contents, e.Before.Content, e.After.Content)
	}
	names := hashBlobs(contents, d.ahead)
	for i, e := range entries {
		byName[e.Path] = i
		paths[i] = PathMeta{Path: e.Path, OldPath: e.OldPath, InPlace: e.InPlace, Outside: e.Outside, Index: e.Index}
		paths[i].Before = stateMeta(e.Before)
		if hasContent(e.Before.Kind) {
			ids[i] = d.weigh(i, func() oid { return d.add(draftObject{t: typeBlob, id: names[2*i], data: e.Before.Content}) })
			paths[i].Before.OID = ids[i].String()
			d.before = append(d.before, treeEntry{name: number(i), id: ids[i]})
		}
	}
	for i, e := range entries {
		if e.AfterUnknown {
			paths[i].After = StateMeta{Unknown: true}
			continue
		}
		paths[i].After = stateMeta(e.After)
		if !hasContent(e.After.Kind) {
			continue
		}
		base := i
		if e.OldPath != "" {
			if from, ok := byName[e.OldPath]; ok {
				base = from
			}
		}
		id := d.weigh(i, func() oid { return d.addAfter(e, names[2*i+1], entries[base].Before, ids[base]) })
		paths[i].After.OID = id.String()
		d.after = append(d.after, treeEntry{name: number(i), id: id})
	}
	return paths
}

// weigh counts what an object of entry i takes up that add adds, unless it is there already.
func (d *draft) weigh(i int, add func() oid) oid {
	had := len(d.objects)
	id := add()
	if len(d.objects) > had {
		d.weights[i] += int64(len(d.objects[had].stored()))
	}
	return id
}

// minDelta is the size below which a delta saves nothing worth having.
const minDelta = 512

// addAfter adds the content after the operation, which has the name id: as a delta on the content before if the edits are
// known, or on the patch that holds it line by line, where that is half the size or less.
func (d *draft) addAfter(e Entry, id oid, base change.State, baseID oid) oid {
	o := draftObject{t: typeBlob, id: id, data: e.After.Content, base: baseID}
	if e.Edits != nil && base.Kind == change.File && len(o.data) >= minDelta && !d.known[o.id] {
		o.delta = encodeDelta(base.Content, o.data, e.Edits, len(o.data)/2)
	}
	if o.delta == nil && len(o.data) >= minFromPatch && !d.known[o.id] {
		for _, in := range d.inputs {
			if delta := encodeAdded(in.data, o.data, len(o.data)/2); delta != nil {
				o.base, o.delta = in.id, delta
				break
			}
		}
	}
	return d.add(o)
}

// minFromPatch is the size from which a new file is looked for in the patch.
const minFromPatch = 64 << 10

// seal adds meta, trees and the commit, whose id it returns.
func (d *draft) seal(meta Meta) (oid, error) {
	text, err := json.Marshal(meta)
	if err != nil {
		return oid{}, err
	}
	root := append([]treeEntry{{name: "meta", id: d.addWhole(typeBlob, append(text, '\n'))}}, d.tree...)
	groups := []struct {
		name    string
		entries []treeEntry
	}{{"before", d.before}, {"after", d.after}, {"patch", d.patch}}
	for _, g := range groups {
		if len(g.entries) > 0 {
			root = append(root, treeEntry{name: g.name, dir: true, id: d.addWhole(typeTree, encodeTree(g.entries))})
		}
	}
	tree := d.addWhole(typeTree, encodeTree(root))
	message := fmt.Sprintf("oxpatch %s %s\n\nPaths: %d", meta.Kind, meta.ID, len(meta.Paths))
	return d.addWhole(typeCommit, encodeCommit(tree, meta.Time, message)), nil
}

// number is the name of the nth entry in a tree.
func number(n int) string { return fmt.Sprintf("%04d", n) }

func hasContent(k change.Kind) bool { return k == change.File || k == change.Symlink }

func stateMeta(s change.State) StateMeta {
	m := StateMeta{Kind: s.Kind, Mode: s.Mode}
	if hasContent(s.Kind) {
		m.Size = int64(len(s.Content))
	}
	return m
}

// writePack writes the draft as a pack with its index and returns the pack's name.
func (s *Store) writePack(ctx context.Context, d *draft) (oid, error) {
	return s.newPack(func(w effectWriter) (oid, []byte, error) { return d.write(ctx, w) })
}

// newPack makes a pack of what write writes; write returns the pack's name and index.
func (s *Store) newPack(write func(w effectWriter) (oid, []byte, error)) (oid, error) {
	f, err := s.disk.createTemp(s.packDir(), "pack")
	if err != nil {
		return oid{}, err
	}
	name, idx, err := write(effectWriter{&s.disk, f})
	if err != nil {
		s.disk.discard(f, err)
		return oid{}, err
	}
	return name, s.publishPack(f, name, idx)
}

// publishPack gives a pack that was written, and its index, their names. What a user's file held must be
// safe before it changes, so when it returns the pack is on disk.
func (s *Store) publishPack(f *os.File, name oid, idx []byte) error {
	pack := packPath(s.place, name.String())
	if err := s.disk.publish(f, pack); err != nil {
		s.disk.discard(f, err)
		return err
	}
	// The index comes last, as git does it: git looks for packs by their indexes. It is not synced,
	// since a torn one is made again from the pack.
	err := s.disk.replace(s.packDir(), idxPath(pack), idx, false)
	if err != nil && !errors.Is(err, ErrKilled) {
		_ = s.disk.remove(pack)
	}
	return err
}

// write streams the draft's objects as a pack and returns its name and index.
func (d *draft) write(ctx context.Context, w effectWriter) (oid, []byte, error) {
	size := 0
	for _, o := range d.objects {
		size += len(o.stored())
	}
	p, err := newPackWriter(w, len(d.objects), size)
	if err != nil {
		return oid{}, nil, err
	}
	p.ahead = d.ahead
	for _, o := range d.objects {
		if err := ctx.Err(); err != nil {
			return oid{}, nil, err
		}
		if o.delta != nil {
			err = p.delta(o.id, o.base, o.delta)
		} else {
			err = p.object(o.t, o.id, o.data)
		}
		if err != nil {
			return oid{}, nil, err
		}
	}
	return p.finish()
}
