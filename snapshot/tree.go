package snapshot

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// The record of a whole tree holds, for each folder, a git tree of
//
//	list    a blob that names the entries in order: "KIND MODE SIZE NAME" and a zero byte each
//	NNNN    the content of the file or link, or the git tree of the folder, whose number in the
//	        list this is
//
// Folders are listed only where files are below them. What did not change since an earlier record is
// the same objects, which are not written again: they are reachable from both records.
const listName = "list"

// TreeFile is a file or link of a recorded tree.
type TreeFile struct {
	Path string // as in change.Change
	// State names its content; kind, size and OID are needed, and of a file the mode.
	State StateMeta
}

// TreeDraft is a tree to be recorded.
type TreeDraft struct {
	Files []TreeFile
	// Dirs holds the permission bits of the folders above the files.
	Dirs map[string]fs.FileMode
	// Content returns the content of a file. It is asked only for what the store lacks.
	Content func(f TreeFile) ([]byte, error)
}

// Stored says what a record added to its store.
type Stored struct {
	Objects int
	Bytes   int64 // of the files' contents, not compressed
}

// ErrMoved: what Content returned is not what the draft names, because the file changed meanwhile. It
// comes as a *MovedError.
var ErrMoved = errors.New("changed while it was recorded")

// MovedError names the file that changed.
type MovedError struct{ Path string }

func (e *MovedError) Error() string {
	return change.DisplayPath(e.Path) + ": changed while it was recorded"
}

// Is makes errors.Is(err, ErrMoved) true.
func (e *MovedError) Is(target error) bool { return target == ErrMoved }

// PutTree is Put for a whole tree. have is what Objects gave under the lock that is still held. On
// failure nothing is left behind.
func (s *Store) PutTree(ctx context.Context, meta Meta, t TreeDraft, have *Objects) (*Record, Stored, error) {
	if !validID(meta.ID) {
		return nil, Stored{}, fmt.Errorf("record: %q is not an operation id", meta.ID)
	}
	if err := s.register(); err != nil {
		return nil, Stored{}, err
	}
	s.removeDebris()
	d := treeDraft{draft: newDraft(), have: have, files: t.Files, content: t.Content}
	meta.Paths, meta.Version, meta.Tree = []PathMeta{}, MetaVersion, &TreeMeta{Files: len(t.Files)}
	for _, f := range t.Files {
		meta.Tree.Bytes += f.State.Size
	}
	meta.Root, meta.Worktree, meta.Durability = s.site.Root, s.place.Worktree, s.durability
	top, err := d.folder(group(t.Files, t.Dirs))
	if err != nil {
		return nil, Stored{}, err
	}
	d.tree = []treeEntry{{name: "tree", dir: true, id: top}}
	commit, err := d.seal(meta)
	if err != nil {
		return nil, Stored{}, err
	}
	pack, err := s.newPack(func(w effectWriter) (oid, []byte, error) { return d.write(ctx, w) })
	if err != nil {
		return nil, Stored{}, err
	}
	ref := opRef{id: meta.ID, pack: pack.String()}
	rec := &Record{Meta: meta, place: s.place, ref: ref, commit: commit, source: newSource(s.place, ref)}
	return rec, Stored{Objects: len(d.blobs) + len(d.objects), Bytes: d.size}, nil
}

// treeDraft is a draft of which the contents are not in memory.
type treeDraft struct {
	*draft
	have    *Objects
	files   []TreeFile
	content func(TreeFile) ([]byte, error)
	blobs   []newBlob
	size    int64 // of the blobs
}

type newBlob struct {
	file int
	id   oid
}

// folderDraft is one folder of a tree that is to be recorded.
type folderDraft struct {
	mode  fs.FileMode
	dirs  map[string]*folderDraft
	files map[string]int
}

// group sorts files into their folders.
func group(files []TreeFile, modes map[string]fs.FileMode) *folderDraft {
	top := &folderDraft{}
	known := map[string]*folderDraft{"": top}
	var folder func(path string) *folderDraft
	folder = func(path string) *folderDraft {
		if f, ok := known[path]; ok {
			return f
		}
		f := &folderDraft{mode: modes[path]}
		dir, name := cutPath(path)
		up := folder(dir)
		if up.dirs == nil {
			up.dirs = map[string]*folderDraft{}
		}
		up.dirs[name], known[path] = f, f
		return f
	}
	for i, file := range files {
		dir, name := cutPath(file.Path)
		f := folder(dir)
		if f.files == nil {
			f.files = map[string]int{}
		}
		f.files[name] = i
	}
	return top
}

func cutPath(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

// folder adds a folder with all below it and returns its git tree.
func (d *treeDraft) folder(f *folderDraft) (oid, error) {
	names := make([]string, 0, len(f.files)+len(f.dirs))
	for name := range f.files {
		names = append(names, name)
	}
	for name := range f.dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	var list bytes.Buffer
	entries := make([]treeEntry, 0, len(names)+1)
	for i, name := range names {
		if sub, ok := f.dirs[name]; ok {
			id, err := d.folder(sub)
			if err != nil {
				return oid{}, err
			}
			fmt.Fprintf(&list, "%s %s 0 %s\x00", change.Dir, formatMode(sub.mode), name)
			entries = append(entries, treeEntry{name: number(i), dir: true, id: id})
			continue
		}
		n := f.files[name]
		s := d.files[n].State
		id, err := parseOID(s.OID)
		if err != nil {
			return oid{}, err
		}
		d.blob(n, id)
		fmt.Fprintf(&list, "%s %s %d %s\x00", s.Kind, formatMode(s.Mode), s.Size, name)
		entries = append(entries, treeEntry{name: number(i), id: id})
	}
	entries = append(entries, treeEntry{name: listName, id: d.object(typeBlob, list.Bytes())})
	return d.object(typeTree, encodeTree(entries)), nil
}

// object adds a list or tree, unless the store has it.
func (d *treeDraft) object(t objType, data []byte) oid {
	id := hashObject(t, data)
	if d.have.has(id) {
		return id
	}
	return d.add(draftObject{t: t, id: id, data: data})
}

// blob notes that a file's content is to be written, unless the store has it.
func (d *treeDraft) blob(file int, id oid) {
	if d.known[id] || d.have.has(id) {
		return
	}
	d.known[id] = true
	d.blobs = append(d.blobs, newBlob{file: file, id: id})
	d.size += d.files[file].State.Size
}

// write streams the contents and then the objects as a pack.
func (d *treeDraft) write(ctx context.Context, w effectWriter) (oid, []byte, error) {
	p, err := newPackWriter(w, len(d.blobs)+len(d.objects), int(min(d.size, 1<<30)))
	if err != nil {
		return oid{}, nil, err
	}
	for _, b := range d.blobs {
		if err := ctx.Err(); err != nil {
			return oid{}, nil, err
		}
		f := d.files[b.file]
		data, err := d.content(f)
		if err != nil {
			return oid{}, nil, err
		}
		if hashObject(typeBlob, data) != b.id {
			return oid{}, nil, &MovedError{Path: f.Path}
		}
		if err := p.object(typeBlob, b.id, data); err != nil {
			return oid{}, nil, err
		}
	}
	for _, o := range d.objects {
		if err := p.object(o.t, o.id, o.data); err != nil {
			return oid{}, nil, err
		}
	}
	return p.finish()
}

// WalkTree calls each for what the record of a whole tree holds: files and links, and a folder before
// what is in it, each once, with its path. A part that cannot be read is a *TornError.
func (r *Record) WalkTree(ctx context.Context, each func(path string, s StateMeta) error) error {
	root, err := r.tree()
	if err != nil {
		return err
	}
	top, ok := root["tree"]
	if r.Meta.Tree == nil || !ok {
		return r.torn(errors.New("it holds no tree"))
	}
	have, err := objectsAt(r.place)
	if err != nil {
		return err
	}
	defer have.Close()
	w := treeWalk{ctx: ctx, r: r, have: have, each: each}
	return w.folder(top, "")
}

func (r *Record) torn(err error) error { return &TornError{Path: "operation " + r.Meta.ID, Err: err} }

type treeWalk struct {
	ctx  context.Context
	r    *Record
	have *Objects
	each func(string, StateMeta) error
}

// object reads a part of the tree, which may be in the pack of another record.
func (w *treeWalk) object(t objType, id oid) ([]byte, error) {
	if data, ok := w.have.object(t, id); ok {
		return data, nil
	}
	return w.r.source.object(t, id)
}

func (w *treeWalk) folder(id oid, path string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	data, err := w.object(typeTree, id)
	if err != nil {
		return err
	}
	entries, err := decodeTree(data)
	if err != nil {
		return w.r.torn(err)
	}
	list, err := w.object(typeBlob, entries[listName])
	if err != nil {
		return err
	}
	for i := 0; len(list) > 0; i++ {
		line, rest, ok := bytes.Cut(list, []byte{0})
		name, s, err := parseListed(string(line))
		content, there := entries[number(i)]
		if !ok || err != nil || !there {
			return w.r.torn(errors.Join(errors.New("damaged list of a folder"), err))
		}
		list = rest
		if path != "" {
			name = path + "/" + name
		}
		if s.Kind != change.Dir {
			s.OID = content.String()
		}
		if err := w.each(name, s); err != nil {
			return err
		}
		if s.Kind == change.Dir {
			if err := w.folder(content, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseListed reads "KIND MODE SIZE NAME".
func parseListed(line string) (name string, s StateMeta, err error) {
	f := strings.SplitN(line, " ", 4)
	if len(f) != 4 || f[3] == "" || f[3] == "." || f[3] == ".." || strings.Contains(f[3], "/") {
		return "", s, errors.New("not an entry")
	}
	if s.Kind, err = parseKind(f[0]); err != nil {
		return "", s, err
	}
	if s.Mode, err = parseMode(f[1]); err != nil {
		return "", s, err
	}
	s.Size, err = strconv.ParseInt(f[2], 10, 64)
	return f[3], s, err
}

// State returns a state that the record describes, with its content. Errors are those of After.
func (r *Record) State(m StateMeta) (change.State, error) { return r.state(m) }

// Reader returns State for many states: it opens the packs of the store once. close is to be called in
// the end.
func (r *Record) Reader() (read func(StateMeta) (change.State, error), closePacks func()) {
	have, err := objectsAt(r.place)
	if err != nil {
		return r.state, func() {}
	}
	read = func(m StateMeta) (change.State, error) {
		if raw, err := hex.DecodeString(m.OID); err == nil && len(raw) == sha1.Size && !m.Unknown && hasContent(m.Kind) {
			if data, ok := have.object(typeBlob, oid(raw)); ok {
				return change.State{Kind: m.Kind, Mode: m.Mode, Content: data}, nil
			}
		}
		return r.state(m)
	}
	return read, have.Close
}
