package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The refs of a root are refs/oxpatch/WORKTREE/GROUP/ID-PACK. They are ordinary refs, so that git's
// gc keeps the records; but we write the files ourselves: go-git truncates a ref in place, and a
// reader meets it empty.
//
// PACK is the name of the pack that the record was written as, so that one open finds it. (The pack
// cannot be named after the commit: go-git refuses packs that are not named after their checksum.)
// A ref without it is read too; its objects are then looked for in all packs.
const (
	groupOps     = "ops"     // finished operations
	groupPending = "pending" // operations whose files are being written, or were when it was cut off
)

// opRef is the last part of a ref's name.
type opRef struct {
	id   string
	pack string // in hex, or ""
}

func (r opRef) String() string {
	if r.pack == "" {
		return r.id
	}
	return r.id + "-" + r.pack
}

func parseRef(name string) (opRef, bool) {
	id, pack, named := strings.Cut(name, "-")
	if _, err := parseOID(pack); named && err != nil {
		return opRef{}, false
	}
	return opRef{id: id, pack: pack}, validID(id)
}

// groupName is the beginning of the full names of a group's refs.
func groupName(p Place, group string) string {
	return "refs/oxpatch/" + p.Worktree + "/" + group + "/"
}

func groupPath(p Place, group string) string {
	return filepath.Join(p.Dir, filepath.FromSlash(groupName(p, group)))
}

func refPath(p Place, group string, ref opRef) string {
	return filepath.Join(groupPath(p, group), ref.String())
}

// maxListings bounds how often a folder of refs is read while it changes.
const maxListings = 5

// listRefs returns the refs in a group by ascending id, from files and from packed-refs. Where some
// of packed-refs cannot be read, the others come with a *TornError.
//
// Folding a store renames refs, and a folder that is read meanwhile can show a file under neither of
// its names; so one that has just changed is read until two readings agree.
func listRefs(p Place, group string) ([]opRef, error) {
	dir := groupPath(p, group)
	var last []opRef
	for try := 1; ; try++ {
		began := changeTime(dir)
		refs, err := listOnce(p, group)
		ended := changeTime(dir)
		quiet := began.Equal(ended) && time.Since(ended) > 100*time.Millisecond
		if quiet || try == maxListings || try > 1 && slices.Equal(refs, last) {
			return refs, err
		}
		last = refs
	}
}

// changeTime is when a name in a folder last changed; zero where there is no such folder.
func changeTime(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func listOnce(p Place, group string) ([]opRef, error) {
	entries, err := os.ReadDir(groupPath(p, group))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) {
		return nil, err
	}
	var refs []opRef
	for _, e := range entries {
		if ref, ok := parseRef(e.Name()); ok {
			refs = append(refs, ref)
		}
	}
	packed, err := packedRefs(p)
	for name := range packed {
		last, in := strings.CutPrefix(name, groupName(p, group))
		if ref, ok := parseRef(last); in && ok {
			refs = append(refs, ref)
		}
	}
	// A ref may be both in a file and packed.
	slices.SortFunc(refs, func(a, b opRef) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(refs), err
}

// maxMoves bounds how often a reader follows a record that is folded again while it looks for it.
const maxMoves = 20

// movedRef looks for the ref of an operation whose record is in another pack than it was: the store
// was folded since the ref was listed.
func movedRef(p Place, group string, old opRef) (opRef, bool) {
	refs, _ := listRefs(p, group)
	for _, ref := range refs {
		if ref.id == old.id && ref.pack != old.pack {
			return ref, true
		}
	}
	return old, false
}

// readRef returns the commit that a ref names. Without such a ref the error is fs.ErrNotExist; a
// damaged one is a *TornError.
func readRef(p Place, group string, ref opRef) (oid, error) {
	path := refPath(p, group, ref)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		packed, err := packedRefs(p)
		if commit, ok := packed[groupName(p, group)+ref.String()]; ok {
			return commit, nil
		}
		if err != nil {
			return oid{}, err
		}
		return oid{}, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return oid{}, err
	}
	if len(data) == 0 && group == groupPending {
		// The power went before the note was on disk, so before any file of the user changed.
		return oid{}, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	commit, err := parseOID(strings.TrimSuffix(string(data), "\n"))
	if err != nil {
		return oid{}, &TornError{Path: path, Err: fmt.Errorf("not a ref: %.50q", data)}
	}
	return commit, nil
}

// packedRefs reads packed-refs, which only git writes ("git pack-refs" in the store). What can be read
// of a damaged one comes with a *TornError.
func packedRefs(p Place) (map[string]oid, error) {
	path := filepath.Join(p.Dir, "packed-refs")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	refs := make(map[string]oid)
	var torn error
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		whole, ended := strings.CutSuffix(line, "\n")
		hex, name, _ := strings.Cut(whole, " ")
		id, err := parseOID(hex)
		switch {
		case ended && err == nil && strings.HasPrefix(name, "refs/"):
			refs[name] = id
		case ended && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "^")): // a heading, a peeled tag
		default:
			torn = errors.Join(torn, &TornError{Path: path, Err: fmt.Errorf("line %d is not a ref: %.100q", number, whole)})
		}
	}
	return refs, torn
}

// writeRef makes a ref that survives a power loss, unless the store is not synced at all.
func (s *Store) writeRef(group string, ref opRef, commit oid) error {
	dir := s.refDir(group)
	if err := s.disk.mkdirAll(dir); err != nil {
		return err
	}
	f, err := s.disk.createTemp(s.packDir(), "ref")
	if err != nil {
		return err
	}
	if err = s.disk.write(f, []byte(commit.String()+"\n")); err == nil {
		err = s.disk.publish(f, refPath(s.place, group, ref))
	}
	if err != nil {
		s.disk.discard(f, err)
	}
	return err
}

// dropRef removes a ref, whether in a file or packed. A ref that is not there is no error.
func (s *Store) dropRef(group string, ref opRef) error {
	err := s.disk.remove(refPath(s.place, group, ref))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if failed := s.dropPacked(map[string]bool{groupName(s.place, group) + ref.String(): true}); failed != nil {
		return failed
	}
	if s.durability == DurabilityPower && err == nil { // else nothing was removed from it, if it is there at all
		return s.disk.syncDir(s.refDir(group))
	}
	return nil
}

// dropPacked takes refs out of packed-refs, by their full names.
func (s *Store) dropPacked(names map[string]bool) error {
	path := filepath.Join(s.place.Dir, "packed-refs")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept strings.Builder
	found := false
	for line := range strings.Lines(string(data)) {
		if _, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); names[name] {
			found = true
			continue
		}
		kept.WriteString(line)
	}
	if !found {
		return nil
	}
	if err := s.disk.replace(s.packDir(), path, []byte(kept.String()), true); err != nil {
		return err
	}
	return s.disk.syncDir(s.place.Dir)
}
