package snapshot

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxFoldChain is how many deltas may stand on one another in a folded pack. Each operation on a file
// brings a delta on the content that the one before it left, and each has to be worked out to read the
// last.
const maxFoldChain = 16

// damagedPack is a pack that cannot be copied from.
type damagedPack struct {
	pack *packFile
	err  error
}

func (d *damagedPack) Error() string { return d.err.Error() }

// folding is a pack under way that takes up what is needed of others.
type folding struct {
	pr    *pruning
	w     *packWriter
	depth map[oid]int // how many deltas an object in the new pack stands on
}

// fold writes a pack of all that is needed of others, each object once, and returns its name. Contents
// are copied as they are compressed. Only a content whose delta stands on one that goes, or on too many
// others, is worked out and compressed anew. On failure nothing is left behind; the error is a
// *damagedPack where one of the packs is to blame.
func (pr *pruning) fold(ctx context.Context, unit []*packFile) (oid, error) {
	count, size := 0, int64(0)
	seen := map[oid]bool{}
	for _, p := range unit {
		for _, o := range p.objects {
			if o.need && !seen[o.id] {
				seen[o.id] = true
				count++
				size += o.length
			}
		}
	}
	s := pr.store()
	f, err := s.disk.createTemp(s.packDir(), "pack")
	if err != nil {
		return oid{}, err
	}
	w, err := newPackWriter(effectWriter{&s.disk, f}, count, int(size))
	if err != nil {
		s.disk.discard(f, err)
		return oid{}, err
	}
	fold := folding{pr: pr, w: w, depth: map[oid]int{}}
	for _, p := range unit {
		if err = fold.take(ctx, p); err != nil {
			s.disk.discard(f, err)
			return oid{}, err
		}
	}
	name, idx, err := w.finish()
	if err != nil {
		s.disk.discard(f, err)
		return oid{}, err
	}
	if same := pr.byName[name.String()]; same != nil && !same.gone {
		// One of them holds all that the others do.
		s.disk.discard(f, nil)
		return name, nil
	}
	return name, s.publishPack(f, name, idx)
}

// take copies what is needed of one pack.
func (f *folding) take(ctx context.Context, p *packFile) error {
	pack, err := f.pr.reader(p)
	if err != nil {
		return &damagedPack{p, err}
	}
	for i := range p.objects {
		o := &p.objects[i]
		if _, there := f.w.offsets[o.id]; !o.need || there {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := pack.header(o.offset)
		if err == nil && h.t != typeDelta {
			err = f.copy(pack, o, h, nil)
		} else if base, ok := f.base(p, o, h); ok && err == nil {
			f.depth[o.id] = f.depth[base] + 1
			err = f.copy(pack, o, h, &base)
		} else {
			err = f.whole(location{p, i})
		}
		var torn *TornError
		if errors.As(err, &torn) {
			return &damagedPack{p, err}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// base returns the object that a delta stands on, if it may stand on it in the new pack too.
func (f *folding) base(p *packFile, o *packedObject, h entryHeader) (oid, bool) {
	at := o.offset - h.distance
	for i := p.at[o.id] - 1; i >= 0 && p.objects[i].offset >= at; i-- {
		if p.objects[i].offset == at {
			id := p.objects[i].id
			_, there := f.w.offsets[id]
			return id, there && f.depth[id] < maxFoldChain
		}
	}
	return oid{}, false
}

// copy copies an entry as it is compressed, and looks at its checksum on the way.
func (f *folding) copy(pack *packReader, o *packedObject, h entryHeader, base *oid) error {
	w := f.w
	start := w.offset
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, io.NewSectionReader(pack.f, o.offset, h.length)); err != nil {
		return err
	}
	w.crc = 0
	head := appendEntryHeader(nil, h.t, int(h.size))
	if base != nil {
		head = appendDistance(head, start-w.offsets[*base])
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	body := io.NewSectionReader(pack.f, o.offset+h.length, o.length-h.length)
	if _, err := io.Copy(w, io.TeeReader(body, crc)); err != nil {
		return err
	}
	if crc.Sum32() != o.crc {
		return &TornError{Path: pack.f.Name(), Err: fmt.Errorf("object %s is damaged: checksum is wrong", o.id)}
	}
	w.offsets[o.id] = start
	w.index.Add(plumbing.Hash(o.id), uint64(start), w.crc)
	return nil
}

// whole writes an object without a delta.
func (f *folding) whole(l location) error {
	t, data, err := f.pr.read(l)
	if err != nil {
		return err
	}
	return f.w.object(t, l.object().id, data)
}
