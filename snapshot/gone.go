package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goneFile, in worktrees/NAME, says what operations took back whose records were dropped while those that
// they took back stay: else what is undone would seem to stand again. It names only paths that the
// records of those hold too.
const goneFile = "gone"

func (p Place) gonePath() string { return filepath.Join(p.Dir, "worktrees", p.Worktree, goneFile) }

// goneWire is one dropped operation as it is written. A path is any bytes.
type goneWire struct {
	ID      string   `json:"id"`
	Kind    Kind     `json:"kind"`
	Reverts []string `json:"reverts"`
	Paths   [][]byte `json:"paths"`
}

// Gone returns what is kept of dropped operations that took others back, newest first: id, kind, Reverts
// and the names of the paths. Where it cannot be read the error is a *TornError, with what the other
// stores have.
func (h *History) Gone() ([]Meta, error) {
	var all []Meta
	var failures []error
	for _, p := range h.places {
		some, err := readGone(p)
		all = append(all, some...)
		failures = append(failures, err)
	}
	slices.SortStableFunc(all, func(a, b Meta) int { return strings.Compare(b.ID, a.ID) })
	return all, errors.Join(failures...)
}

// readGone reads the file of one root, oldest first.
func readGone(p Place) ([]Meta, error) {
	data, err := os.ReadFile(p.gonePath())
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil, nil
	}
	var wire []goneWire
	if err == nil {
		err = json.Unmarshal(data, &wire)
	}
	if err != nil {
		return nil, &TornError{Path: p.gonePath(), Err: err}
	}
	var metas []Meta
	for _, w := range wire {
		m := Meta{ID: w.ID, Kind: w.Kind, Reverts: w.Reverts}
		for _, path := range w.Paths {
			m.Paths = append(m.Paths, PathMeta{Path: string(path)})
		}
		metas = append(metas, m)
	}
	return metas, nil
}

// goneLists returns, for each root where that changes or may be torn, what those took back that are about
// to be dropped, without what concerns only operations that go too.
func (pr *pruning) goneLists() map[Place][]Meta {
	lists := map[Place][]Meta{}
	for root, list := range pr.ops() {
		old, torn := readGone(root)
		now := stillTaken(append(old, dropped(list)...), list)
		if torn != nil || len(now) > 0 || len(old) > 0 {
			lists[root] = now
		}
	}
	return lists
}

func (pr *pruning) writeGoneLists(lists map[Place][]Meta) error {
	var failures []error
	for root, gone := range lists {
		failures = append(failures, pr.writeGone(root, gone))
	}
	return errors.Join(failures...)
}

// dropped returns the operations of a root that go and took others back that may stay. list ascends.
func dropped(list []*kept) []Meta {
	var metas []Meta
	stays := false
	for _, k := range list {
		stays = stays || !k.drop
		if !stays || !k.drop || k.err != nil {
			continue
		}
		if r, err := readRecord(k.place, k.group, k.ref); err == nil && len(r.Meta.Reverts) > 0 {
			metas = append(metas, r.Meta)
		}
	}
	return metas
}

// stillTaken reduces dropped operations to what they took back of operations that stay, or of one another.
func stillTaken(gone []Meta, list []*kept) []Meta {
	slices.SortFunc(gone, func(a, b Meta) int { return strings.Compare(a.ID, b.ID) })
	refs := map[string]*kept{}
	for _, k := range list {
		if !k.drop {
			refs[k.ref.id] = k
		}
	}
	known := map[string]map[string]bool{} // the paths of an operation that matters
	pathsOf := func(id string) map[string]bool {
		if k := refs[id]; k != nil && known[id] == nil {
			if r, err := readRecord(k.place, k.group, k.ref); err == nil {
				known[id] = pathNames(r.Meta)
			}
		}
		return known[id]
	}
	var out []Meta
	for _, m := range gone {
		if refs[m.ID] != nil || len(out) > 0 && out[len(out)-1].ID == m.ID {
			continue // it stays after all, or was written down before
		}
		slim := Meta{ID: m.ID, Kind: m.Kind}
		names := map[string]bool{}
		for _, id := range m.Reverts {
			if paths := pathsOf(id); id < m.ID && len(paths) > 0 {
				slim.Reverts = append(slim.Reverts, id)
				for name := range paths {
					names[name] = true
				}
			}
		}
		for _, p := range m.Paths {
			if names[p.Path] {
				slim.Paths = append(slim.Paths, PathMeta{Path: p.Path})
			}
		}
		if len(slim.Paths) > 0 {
			out = append(out, slim)
			known[slim.ID] = pathNames(slim)
		}
	}
	return out
}

func pathNames(m Meta) map[string]bool {
	names := map[string]bool{}
	for _, p := range m.Paths {
		names[p.Path] = true
	}
	return names
}

func (pr *pruning) writeGone(root Place, gone []Meta) error {
	if len(gone) == 0 {
		return ignoreMissing(pr.disk.remove(root.gonePath()))
	}
	wire := []goneWire{}
	for _, m := range gone {
		w := goneWire{ID: m.ID, Kind: m.Kind, Reverts: m.Reverts}
		for _, p := range m.Paths {
			w.Paths = append(w.Paths, []byte(p.Path))
		}
		wire = append(wire, w)
	}
	data, err := json.Marshal(wire)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := os.ReadFile(root.gonePath()); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := pr.disk.mkdirAll(filepath.Dir(root.gonePath())); err != nil {
		return err
	}
	return pr.disk.replace(pr.store().packDir(), root.gonePath(), data, true)
}
