package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/openoxide/oxpatch/change"
)

// readRecord reads the record that a ref names, without contents. Without such a ref the error is
// fs.ErrNotExist; else it is a *TornError or a *NewerFormatError.
func readRecord(p Place, group string, ref opRef) (*Record, error) {
	commit, ref, err := resolveRef(p, group, ref)
	if err != nil {
		return nil, err
	}
	r := &Record{place: p, ref: ref, commit: commit, source: newSource(p, ref)}
	// A list holds many records, of which few are read on: they must not all keep files open.
	defer r.Close()
	root, err := r.tree()
	if errors.Is(err, ErrTorn) {
		// A ref can be torn so that it still reads as one.
		if found, ok := salvageCommit(p, ref); ok && found != commit {
			r.commit = found
			root, err = r.tree()
		}
	}
	if err != nil {
		return nil, err
	}
	data, err := r.source.object(typeBlob, root["meta"])
	if err != nil {
		return nil, err
	}
	if err := r.Meta.decode(data, ref.id); err != nil {
		return nil, err
	}
	if r.Meta.ID != ref.id {
		return nil, &TornError{Path: refPath(p, group, ref), Err: fmt.Errorf("leads to operation %s", r.Meta.ID)}
	}
	return r, nil
}

// resolveRef returns the commit of a ref; and the ref that there is now, where the store was folded
// since it was listed. The commit of a torn ref is looked for in the packs.
func resolveRef(p Place, group string, ref opRef) (oid, opRef, error) {
	commit, err := readRef(p, group, ref)
	for try := 0; errors.Is(err, fs.ErrNotExist) && try < maxMoves; try++ {
		now, moved := movedRef(p, group, ref)
		if !moved {
			break
		}
		ref = now
		commit, err = readRef(p, group, ref)
	}
	if errors.Is(err, ErrTorn) {
		if found, ok := salvageCommit(p, ref); ok {
			return found, ref, nil
		}
	}
	return commit, ref, err
}

// decode reads the JSON of a record. The version is looked at before anything else: the rest may
// be in a form that is not known here.
func (m *Meta) decode(data []byte, id string) error {
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return &TornError{Path: "operation " + id, Err: err}
	}
	if v.Version > MetaVersion {
		return &NewerFormatError{Path: "operation " + id, Version: v.Version, Supported: MetaVersion}
	}
	if err := json.Unmarshal(data, m); err != nil {
		return &TornError{Path: "operation " + id, Err: err}
	}
	return nil
}

// tree returns the record's root tree.
func (r *Record) tree() (map[string]oid, error) {
	commit, err := r.source.object(typeCommit, r.commit)
	if err != nil {
		return nil, err
	}
	id, err := commitTree(commit)
	if err != nil {
		return nil, &TornError{Path: packPath(r.place, r.ref.pack), Err: err}
	}
	return r.subtree(id)
}

func (r *Record) subtree(id oid) (map[string]oid, error) {
	data, err := r.source.object(typeTree, id)
	if err != nil {
		return nil, err
	}
	entries, err := decodeTree(data)
	if err != nil {
		return nil, &TornError{Path: packPath(r.place, r.ref.pack), Err: err}
	}
	return entries, nil
}

// Before returns what stood at the path Meta.Paths[i], content included. A content that cannot be
// had is a *TornError.
func (r *Record) Before(i int) (change.State, error) {
	s, err := r.state(r.Meta.Paths[i].Before)
	return s, r.lost(err, "before", i)
}

// After returns what stands at the path Meta.Paths[i] after the operation. Where that is not known
// the error is ErrUnknownState.
func (r *Record) After(i int) (change.State, error) {
	s, err := r.state(r.Meta.Paths[i].After)
	return s, r.lost(err, "after", i)
}

// ErrUnknownState: the record does not know what the operation left at a path.
var ErrUnknownState = errors.New("what the operation left there is not known")

// lost says of which path a content cannot be had.
func (r *Record) lost(err error, when string, i int) error {
	if !errors.Is(err, ErrTorn) {
		return err
	}
	return &TornError{Path: "operation " + r.Meta.ID, Err: fmt.Errorf("the content %s of %s is lost: %w",
		when, change.DisplayPath(r.Meta.Paths[i].Path), err)}
}

func (r *Record) state(m StateMeta) (change.State, error) {
	if m.Unknown {
		return change.State{}, ErrUnknownState
	}
	s := change.State{Kind: m.Kind, Mode: m.Mode}
	if !hasContent(m.Kind) {
		return s, nil
	}
	id, err := parseOID(m.OID)
	if err != nil {
		return change.State{}, &TornError{Path: "operation " + r.Meta.ID, Err: err}
	}
	s.Content, err = r.source.object(typeBlob, id)
	return s, err
}

// Patch returns the ith of the Meta.Patches inputs.
func (r *Record) Patch(i int) ([]byte, error) {
	root, err := r.tree()
	if err != nil {
		return nil, err
	}
	inputs, err := r.subtree(root["patch"])
	if err != nil {
		return nil, err
	}
	return r.source.object(typeBlob, inputs[number(i)])
}

// Same reports whether s is a state that m describes, as change.State.Equal compares: kind, the
// execute bit of a file, every byte. It needs no content from the store.
func (m StateMeta) Same(s change.State) bool {
	if m.Unknown || m.Kind != s.Kind {
		return false
	}
	if m.Kind == change.File && (change.State{Kind: m.Kind, Mode: m.Mode}).Executable() != s.Executable() {
		return false
	}
	if !hasContent(m.Kind) {
		return true
	}
	return m.Size == int64(len(s.Content)) && m.OID == hashObject(typeBlob, s.Content).String()
}
