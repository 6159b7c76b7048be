package snapshot

import (
	"encoding/json"
	"io/fs"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/openoxide/oxpatch/change"
)

// Kind says what an operation was.
type Kind string

// The kinds of operations.
const (
	KindApply      Kind = "apply"
	KindUndo       Kind = "undo"
	KindRedo       Kind = "redo"
	KindRecover    Kind = "recover"
	KindCheckpoint Kind = "checkpoint"
	KindRestore    Kind = "restore"
)

// Meta describes an operation. It is kept as JSON; fields that a later version adds without a new
// version number are ignored.
type Meta struct {
	// Version is MetaVersion; Put sets it.
	Version int    `json:"version"`
	ID      string `json:"id"`
	Kind    Kind   `json:"kind"`
	// Reverts are the operations that this one takes back: those undone by an undo, the undo that
	// a redo takes back.
	Reverts []string `json:"reverts,omitempty"`
	// Partial says that only some of the paths of Reverts were taken back.
	Partial bool `json:"partial,omitempty"`
	// Merged says that an undo or redo left conflicts between what it took back and what was changed since.
	Merged  bool   `json:"merged,omitempty"`
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Label   string `json:"label,omitempty"`
	// Time is when the operation began. It is kept in UTC, to the millisecond.
	Time time.Time `json:"-"`
	// Tool is the version of oxpatch.
	Tool string `json:"tool,omitempty"`
	// Root and Worktree are the root's path at the time and its name in the store; Put sets them.
	Root     string `json:"-"`
	Worktree string `json:"worktree"`
	Head     *Head  `json:"head,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Format   string `json:"format,omitempty"`
	Policy   string `json:"policy,omitempty"`
	// Request holds what was asked for beside the patch, so that it can be applied again.
	Request RequestMeta `json:"request,omitzero"`
	// Durability is the one that the record was written with; Put sets it.
	Durability Durability `json:"durability"`
	// Paths are the entries in order; Put sets them.
	Paths []PathMeta `json:"paths"`
	// DirsMade and DirsRemoved are folders, outermost first.
	DirsMade    []DirMeta `json:"dirs_made,omitempty"`
	DirsRemoved []DirMeta `json:"dirs_removed,omitempty"`
	// Patches is the number of inputs; Put sets it.
	Patches int `json:"patches"`
	// Inexact says that what stands at some path after the operation is not known; Put sets it.
	Inexact bool `json:"inexact,omitempty"`
	// Restores is, of a restore, the operation whose state it brings back.
	Restores string `json:"restores,omitempty"`
	// Scopes are, of a checkpoint, the folders of which Paths holds all files, and Dirs further
	// folders above those paths.
	Scopes []DirMeta `json:"scopes,omitempty"`
	Dirs   []DirMeta `json:"dirs,omitempty"`
	// Tree says that the record holds a whole tree; Paths is empty then. PutTree sets it.
	Tree *TreeMeta `json:"tree,omitempty"`
}

// TreeMeta sums up the tree that a record holds.
type TreeMeta struct {
	Files int   `json:"files"` // links too
	Bytes int64 `json:"bytes"`
}

// RequestMeta holds the choices of an apply.
type RequestMeta struct {
	// Base is the folder that the patch's paths counted from, relative to the root; "" is the root.
	Base            string `json:"-"`
	Parse           string `json:"parse,omitempty"`
	Reverse         bool   `json:"reverse,omitempty"`
	Partial         bool   `json:"partial,omitempty"`
	First           bool   `json:"first,omitempty"`
	SkipApplied     bool   `json:"skip_applied,omitempty"`
	NoStage         bool   `json:"no_stage,omitempty"`
	NoRepair        bool   `json:"no_repair,omitempty"`
	RefuseConflicts bool   `json:"refuse_conflicts,omitempty"`
}

// Head is what was checked out: a branch ("" when detached) and a commit ("" before the first).
type Head struct {
	Ref string `json:"ref,omitempty"`
	OID string `json:"oid,omitempty"`
}

// PathMeta describes one path of an operation, without contents.
type PathMeta struct {
	Path, OldPath string // as in change.Change
	Before, After StateMeta
	// InPlace: the file is written in place, so that a cut can leave it in neither state.
	InPlace bool
	// Outside: the path is absolute and outside the root.
	Outside bool
	Index   *change.IndexChange
}

// StateMeta describes a state without its content.
type StateMeta struct {
	Kind change.Kind
	// Unknown: what stands there is not known; the other fields mean nothing. After only.
	Unknown bool
	Mode    fs.FileMode // as in change.State
	Size    int64       // of the content, in bytes
	OID     string      // of the content as a git blob (SHA-1), or "" where there is no content
}

// DirMeta is a folder with its permission bits.
type DirMeta struct {
	Path string
	Mode fs.FileMode
}

// requestWire is RequestMeta as it is written: the base as bytes where needed.
type requestWire struct {
	requestPlain
	Base       string `json:"base,omitempty"`
	BaseBase64 []byte `json:"base_base64,omitempty"`
}

type requestPlain RequestMeta

// MarshalJSON writes the form that UnmarshalJSON reads.
func (r RequestMeta) MarshalJSON() ([]byte, error) {
	w := requestWire{requestPlain: requestPlain(r)}
	w.Base, w.BaseBase64 = splitPath(r.Base)
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *RequestMeta) UnmarshalJSON(data []byte) error {
	var w requestWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*r = RequestMeta(w.requestPlain)
	r.Base = joinPath(w.Base, w.BaseBase64)
	return nil
}

const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// metaWire is Meta as it is written: the time to the millisecond, the root as bytes where needed.
type metaWire struct {
	*metaPlain
	Time       string `json:"time"`
	Root       string `json:"root,omitempty"`
	RootBase64 []byte `json:"root_base64,omitempty"`
}

type metaPlain Meta

// MarshalJSON writes the form that UnmarshalJSON reads.
func (m Meta) MarshalJSON() ([]byte, error) {
	w := metaWire{metaPlain: (*metaPlain)(&m), Time: m.Time.UTC().Format(timeLayout)}
	w.Root, w.RootBase64 = splitPath(m.Root)
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes. It does not look at the version.
func (m *Meta) UnmarshalJSON(data []byte) error {
	w := metaWire{metaPlain: (*metaPlain)(m)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339, w.Time)
	if err != nil {
		return err
	}
	m.Time, m.Root = t, joinPath(w.Root, w.RootBase64)
	return nil
}

type pathWire struct {
	Path          string     `json:"path,omitempty"`
	PathBase64    []byte     `json:"path_base64,omitempty"`
	OldPath       string     `json:"old_path,omitempty"`
	OldPathBase64 []byte     `json:"old_path_base64,omitempty"`
	Before        StateMeta  `json:"before"`
	After         StateMeta  `json:"after"`
	InPlace       bool       `json:"in_place,omitempty"`
	Outside       bool       `json:"outside,omitempty"`
	Index         *indexWire `json:"index,omitempty"`
}

type indexWire struct {
	Before []indexLineWire `json:"before"`
	After  []indexLineWire `json:"after"`
}

type indexLineWire struct {
	Mode  string `json:"mode"` // octal
	OID   string `json:"oid"`
	Stage int    `json:"stage,omitempty"`
	Flags string `json:"flags,omitempty"` // hex
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (p PathMeta) MarshalJSON() ([]byte, error) {
	w := pathWire{Before: p.Before, After: p.After, InPlace: p.InPlace, Outside: p.Outside}
	w.Path, w.PathBase64 = splitPath(p.Path)
	w.OldPath, w.OldPathBase64 = splitPath(p.OldPath)
	if p.Index != nil {
		w.Index = &indexWire{Before: linesToWire(p.Index.Before), After: linesToWire(p.Index.After)}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *PathMeta) UnmarshalJSON(data []byte) error {
	var w pathWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*p = PathMeta{
		Path: joinPath(w.Path, w.PathBase64), OldPath: joinPath(w.OldPath, w.OldPathBase64),
		Before: w.Before, After: w.After, InPlace: w.InPlace, Outside: w.Outside,
	}
	if w.Index == nil {
		return nil
	}
	var err error
	p.Index = &change.IndexChange{}
	if p.Index.Before, err = linesFromWire(w.Index.Before); err != nil {
		return err
	}
	p.Index.After, err = linesFromWire(w.Index.After)
	return err
}

func linesToWire(lines []change.IndexLine) []indexLineWire {
	list := make([]indexLineWire, 0, len(lines))
	for _, l := range lines {
		w := indexLineWire{Mode: strconv.FormatUint(uint64(l.Mode), 8), OID: l.OID, Stage: l.Stage}
		if l.Flags != 0 {
			w.Flags = strconv.FormatUint(uint64(l.Flags), 16)
		}
		list = append(list, w)
	}
	return list
}

func linesFromWire(wires []indexLineWire) ([]change.IndexLine, error) {
	var lines []change.IndexLine
	for _, w := range wires {
		mode, err := strconv.ParseUint(w.Mode, 8, 32)
		if err != nil {
			return nil, err
		}
		l := change.IndexLine{Mode: uint32(mode), OID: w.OID, Stage: w.Stage}
		if w.Flags != "" {
			flags, err := strconv.ParseUint(w.Flags, 16, 32)
			if err != nil {
				return nil, err
			}
			l.Flags = uint32(flags)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// splitPath returns a path as JSON text, or as bytes where JSON text cannot hold it.
func splitPath(path string) (text string, raw []byte) {
	if utf8.ValidString(path) {
		return path, nil
	}
	return "", []byte(path)
}

func joinPath(text string, raw []byte) string {
	if len(raw) > 0 {
		return string(raw)
	}
	return text
}
