package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// trail is what one walk marked as needed, so that it can be taken back.
type trail struct {
	packed []location
	loose  []oid
	bytes  int64 // what they take up
	// broken: some of what a commit or a folder leads to could not be found out.
	broken error
	lost   []error // contents that are missing
}

// walk marks what a commit leads to, itself and all folders and contents below it, as needed, and
// returns what was not marked before. An object that is in the home pack is needed there, so that a
// record stays whole in its own pack; any other in whichever pack it is found.
func (s *survey) walk(root oid, home *packFile) trail {
	t := trail{bytes: refShare}
	type step struct {
		id   oid
		blob bool
	}
	for todo := []step{{id: root}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		kind, data, marked, err := s.mark(&t, at.id, home, at.blob)
		if err != nil && at.blob {
			t.lost = append(t.lost, err)
			continue
		}
		if err == nil && (marked || at.blob) {
			continue
		}
		if err == nil {
			err = eachChild(kind, data, func(id oid, blob bool) { todo = append(todo, step{id, blob}) })
		}
		if err != nil {
			t.broken = errors.Join(t.broken, fmt.Errorf("object %s: %w", at.id, err))
		}
	}
	return t
}

// mark marks one object and, unless it is a content, returns what it holds. already says that it was
// marked before, and so is all below it.
func (s *survey) mark(t *trail, id oid, home *packFile, blob bool) (kind objType, data []byte, already bool, err error) {
	l, packed := s.locate(id, home)
	if !packed {
		return s.markLoose(t, id)
	}
	o := l.object()
	if o.need {
		return 0, nil, true, nil
	}
	if l.pack.needed == 0 {
		t.bytes += packShare
	}
	o.need = true
	l.pack.needed += o.length
	t.packed = append(t.packed, l)
	t.bytes += o.length + indexShare
	if blob {
		return typeBlob, nil, false, nil
	}
	kind, data, err = s.read(l)
	return kind, data, false, err
}

func (s *survey) locate(id oid, home *packFile) (location, bool) {
	if home != nil {
		if i, ok := home.at[id]; ok {
			return location{home, i}, true
		}
	}
	return s.find(id)
}

func (s *survey) markLoose(t *trail, id oid) (objType, []byte, bool, error) {
	if s.loose[id] {
		return 0, nil, true, nil
	}
	kind, data, err := s.elsewhere.elsewhere(id)
	if err != nil {
		return 0, nil, false, &TornError{Path: s.place.Dir, Err: fmt.Errorf("object %s is missing: %w", id, err)}
	}
	s.loose[id] = true
	t.loose = append(t.loose, id)
	if info, err := os.Stat(loosePath(s.place, id)); err == nil {
		t.bytes += info.Size()
	}
	return kind, data, false, nil
}

func loosePath(p Place, id oid) string {
	hex := id.String()
	return filepath.Join(p.Dir, "objects", hex[:2], hex[2:])
}

// takeBack undoes what a walk marked.
func (s *survey) takeBack(t trail) {
	for _, l := range t.packed {
		o := l.object()
		o.need = false
		l.pack.needed -= o.length
	}
	for _, id := range t.loose {
		delete(s.loose, id)
	}
}

// eachChild calls found for all that an object leads to: a commit to its folder and its parents, a
// folder to what is in it, a tag to what it names.
func eachChild(kind objType, data []byte, found func(id oid, blob bool)) error {
	switch kind {
	case typeBlob:
		return nil
	case typeTree:
		return eachEntry(data, found)
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name == "" || name != "tree" && name != "parent" && name != "object" {
			return nil // the headers that matter come first
		}
		id, err := parseOID(value)
		if err != nil {
			return err
		}
		found(id, false)
	}
	return nil
}

func eachEntry(data []byte, found func(id oid, blob bool)) error {
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, _, blank := bytes.Cut(head, []byte{' '})
		if !ok || !blank || len(rest) < len(oid{}) {
			return errors.New("not a tree, or cut short")
		}
		switch string(mode) {
		case "160000": // a commit of another repository
		case "40000":
			found(oid(rest[:len(oid{})]), false)
		default:
			found(oid(rest[:len(oid{})]), true)
		}
		data = rest[len(oid{}):]
	}
	return nil
}
