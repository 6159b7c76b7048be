package snapshot

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/openoxide/oxpatch/change"
)

const kindUnknown = "unknown"

type stateWire struct {
	Kind string `json:"kind"` // a change.Kind's word, or "unknown"
	Mode string `json:"mode,omitempty"`
	Size int64  `json:"size,omitempty"`
	OID  string `json:"oid,omitempty"`
}

type dirWire struct {
	Path       string `json:"path,omitempty"`
	PathBase64 []byte `json:"path_base64,omitempty"`
	Mode       string `json:"mode"`
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (s StateMeta) MarshalJSON() ([]byte, error) {
	if s.Unknown {
		return json.Marshal(stateWire{Kind: kindUnknown})
	}
	w := stateWire{Kind: s.Kind.String(), Size: s.Size, OID: s.OID}
	if s.Kind == change.File || s.Kind == change.Dir {
		w.Mode = formatMode(s.Mode)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *StateMeta) UnmarshalJSON(data []byte) error {
	var w stateWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*s = StateMeta{Size: w.Size, OID: w.OID}
	if w.Kind == kindUnknown {
		s.Unknown = true
		return nil
	}
	kind, err := parseKind(w.Kind)
	if err != nil {
		return err
	}
	s.Kind = kind
	s.Mode, err = parseMode(w.Mode)
	return err
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (d DirMeta) MarshalJSON() ([]byte, error) {
	w := dirWire{Mode: formatMode(d.Mode)}
	w.Path, w.PathBase64 = splitPath(d.Path)
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *DirMeta) UnmarshalJSON(data []byte) error {
	var w dirWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	mode, err := parseMode(w.Mode)
	*d = DirMeta{Path: joinPath(w.Path, w.PathBase64), Mode: mode}
	return err
}

func parseKind(word string) (change.Kind, error) {
	for _, k := range []change.Kind{change.Absent, change.File, change.Symlink, change.Dir, change.Other} {
		if k.String() == word {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown kind %q", word)
}

// The bits of a Unix mode that fs.FileMode keeps elsewhere.
const (
	unixSetuid = 0o4000
	unixSetgid = 0o2000
	unixSticky = 0o1000
)

// formatMode writes permission bits in octal, as chmod(1) takes them.
func formatMode(m fs.FileMode) string {
	bits := uint64(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= unixSetuid
	}
	if m&fs.ModeSetgid != 0 {
		bits |= unixSetgid
	}
	if m&fs.ModeSticky != 0 {
		bits |= unixSticky
	}
	return fmt.Sprintf("%04o", bits)
}

func parseMode(text string) (fs.FileMode, error) {
	if text == "" {
		return 0, nil
	}
	bits, err := strconv.ParseUint(text, 8, 12)
	if err != nil {
		return 0, err
	}
	m := fs.FileMode(bits & 0o777)
	if bits&unixSetuid != 0 {
		m |= fs.ModeSetuid
	}
	if bits&unixSetgid != 0 {
		m |= fs.ModeSetgid
	}
	if bits&unixSticky != 0 {
		m |= fs.ModeSticky
	}
	return m, nil
}
