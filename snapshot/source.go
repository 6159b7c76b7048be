package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// goGitCache is how much go-git may keep in memory: the small objects that all reading begins with.
const goGitCache = cache.MiByte

// source finds the objects of one record: in its own pack; in the one that it was folded into since;
// or, where it shares objects with others, or git has repacked the store, in any other pack, and at
// last wherever go-git finds them. What it opens stays open for the next object, until close, or
// until the record is garbage.
type source struct {
	place Place
	id    string // the record's
	own   string // its own pack, or "" if that is not known

	mu    sync.Mutex
	pack  *packReader
	other others
	store *filesystem.Storage
}

func newSource(p Place, ref opRef) *source { return &source{place: p, id: ref.id, own: ref.pack} }

// close closes what reading opened; the next object opens it again.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pack != nil {
		s.pack.Close()
		s.pack = nil
	}
	s.other.close()
	if s.store != nil {
		s.store.Close()
		s.store = nil
	}
}

// object returns an object's content. An object that is nowhere, or damaged, is a *TornError.
func (s *source) object(want objType, id oid) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, data, err := s.inOwn(id)
	if err != nil {
		var elsewhere error
		if t, data, elsewhere = s.elsewhere(id); elsewhere != nil {
			return nil, s.missing(id, err, elsewhere)
		}
	}
	if t != want {
		return nil, &TornError{Path: s.place.Dir, Err: fmt.Errorf("object %s: is a %s, not a %s", id, t, want)}
	}
	return data, nil
}

// missing chooses the error that says more: the fault of the own pack if there is one.
func (s *source) missing(id oid, own, elsewhere error) error {
	if errors.Is(own, ErrTorn) {
		return own
	}
	if errors.Is(own, fs.ErrNotExist) || errors.Is(own, plumbing.ErrObjectNotFound) {
		return &TornError{Path: packPath(s.place, s.own), Err: fmt.Errorf("object %s is missing: %w", id, elsewhere)}
	}
	return &TornError{Path: packPath(s.place, s.own), Err: own}
}

func (s *source) inOwn(id oid) (objType, []byte, error) {
	if s.pack == nil {
		p, err := openPack(packPath(s.place, s.own))
		for try := 0; errors.Is(err, fs.ErrNotExist) && try < maxMoves && s.moved(); try++ {
			p, err = openPack(packPath(s.place, s.own))
		}
		if err != nil {
			return 0, nil, err
		}
		s.pack = p
	}
	return s.pack.object(id)
}

// moved looks for the pack that the record is in now.
func (s *source) moved() bool {
	for _, group := range []string{groupOps, groupPending} {
		if ref, ok := movedRef(s.place, group, opRef{id: s.id, pack: s.own}); ok {
			s.own = ref.pack
			return true
		}
	}
	return false
}

// elsewhere looks in all other packs, and at last asks go-git, which knows loose objects and packs
// that are written otherwise than ours.
func (s *source) elsewhere(id oid) (objType, []byte, error) {
	if t, data, ok := s.other.object(s.place, s.own, id); ok {
		return t, data, nil
	}
	if s.store != nil {
		s.store.Close() // it knows only the packs that there were when it was opened
	}
	s.store = filesystem.NewStorage(osfs.New(s.place.Dir), cache.NewObjectLRU(goGitCache))
	o, err := s.store.EncodedObject(plumbing.AnyObject, plumbing.Hash(id))
	if err != nil {
		return 0, nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	buf := bytes.NewBuffer(make([]byte, 0, min(o.Size(), 1<<30)+bytes.MinRead))
	if _, err := io.Copy(buf, r); err != nil {
		return 0, nil, err
	}
	t := objType(o.Type())
	if hashObject(t, buf.Bytes()) != id {
		return 0, nil, fmt.Errorf("object %s: content does not fit its name", id)
	}
	return t, buf.Bytes(), nil
}
