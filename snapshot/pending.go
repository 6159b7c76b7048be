package snapshot

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// SetPending notes that the record's files are about to be written. Only when it has returned may
// the first of them change: from then on a process that finds the note can finish the operation or
// take it back. Several operations may be pending, since one that could not be settled stays so
// while later ones go on.
func (s *Store) SetPending(r *Record) error {
	return s.writeRef(groupPending, r.ref, r.commit)
}

// Publish makes the record a finished operation. In one rename the note that it is pending becomes
// the ref to a finished operation, so there is no moment at which both or neither are there. It
// needs no sync: if a power loss brings back the note, recovery finds all files written and
// publishes it again.
//
// A record that was never pending is published too; that is synced.
func (s *Store) Publish(r *Record) error {
	ref := r.ref
	dir := s.refDir(groupOps)
	if err := s.disk.mkdirAll(dir); err != nil {
		return err
	}
	pending, err := readRef(s.place, groupPending, ref)
	never := errors.Is(err, fs.ErrNotExist)
	if err == nil && pending == r.commit {
		err = s.disk.rename(refPath(s.place, groupPending, ref), refPath(s.place, groupOps, ref))
		if err == nil && s.durability == DurabilityPower {
			err = errors.Join(s.disk.syncDir(dir), s.disk.syncDir(s.refDir(groupPending)))
		}
		// git may have packed the note meanwhile: then there was no file to rename.
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			return s.dropPacked(map[string]bool{groupName(s.place, groupPending) + ref.String(): true})
		}
	}
	if err := s.writeRef(groupOps, ref, r.commit); err != nil || never {
		return err
	}
	return s.dropRef(groupPending, ref)
}

// ClearPending drops the note for an operation that came to nothing. The record is then no part of
// the history.
func (s *Store) ClearPending(r *Record) error {
	return s.dropRef(groupPending, r.ref)
}

// Pending returns the records of operations in this store that were begun and not finished, oldest
// first. One that cannot be read is left out and its error joined to the result's: a *TornError or
// a *NewerFormatError. To list all stores use History.Pending.
func (s *Store) Pending() ([]*Record, error) {
	return pendingAt(s.place)
}

func pendingAt(p Place) ([]*Record, error) {
	if _, err := checkFormat(p.Dir); err != nil {
		return nil, err
	}
	refs, err := listRefs(p, groupPending)
	var records []*Record
	failures := []error{err}
	for _, ref := range refs {
		r, err := readRecord(p, groupPending, ref)
		if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrTorn) {
			continue // settled since it was listed
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		records = append(records, r)
	}
	return records, errors.Join(failures...)
}

// packPath returns the path of a pack.
func packPath(p Place, name string) string {
	return filepath.Join(p.Dir, "objects", "pack", "pack-"+name+".pack")
}

func idxPath(pack string) string { return pack[:len(pack)-len(".pack")] + ".idx" }
