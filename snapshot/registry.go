package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// identity tells one folder from another on the same file system. Inodes are used again after a
// folder is gone, so it takes both numbers; where either is unknown, it is 0 and tells nothing.
type identity struct {
	Inode uint64 `json:"inode,omitempty"`
	Birth int64  `json:"birth_ns,omitempty"` // Unix time in ns
}

func (id identity) known() bool { return id.Inode != 0 && id.Birth != 0 }

// rootEntry is the content of worktrees/NAME/root in a shared store.
type rootEntry struct {
	Path []byte `json:"path_base64"` // absolute, links resolved; base64 since a path need not be UTF-8
	// Shown is the path for people who read the file.
	Shown string `json:"path"`
	identity

	name string
}

// registry is the list of the roots that a shared store knows.
type registry struct {
	dir     string
	loaded  bool
	entries []rootEntry
}

// nameFor returns the name of a root in the store: that of the entry which is this folder, else a
// new one.
func (r *registry) nameFor(root string) string {
	id := identify(root)
	if e, ok := r.readEntry(pathName(root)); ok && string(e.Path) == root && e.identity == id {
		return e.name
	}
	r.load()
	if e, ok := r.match(root, id); ok {
		return e.name
	}
	return r.newName(root)
}

// match finds the entry of a folder. Its path counts even if the inode is another one, since a
// folder restored from a backup has a new inode and undo compares contents anyway; but an entry
// that was moved here, with the inode that it had, comes first.
func (r *registry) match(root string, id identity) (rootEntry, bool) {
	var byPath, byID *rootEntry
	for i := range r.entries {
		e := &r.entries[i]
		same := id.known() && e.identity == id
		switch {
		case string(e.Path) == root && (same || !id.known() || !e.known()):
			return *e, true
		case string(e.Path) == root:
			byPath = e
		case same && identify(string(e.Path)) != id:
			// The check that the old path leads elsewhere keeps apart a file system's snapshots,
			// which carry the inodes and times of the original.
			byID = e
		}
	}
	if byID != nil {
		return *byID, true
	}
	if byPath != nil {
		return *byPath, true
	}
	return rootEntry{}, false
}

// registeredAbove returns the nearest folder at or above dir that one of the stores knows as a
// root, else dir.
func registeredAbove(dir string, stores []*registry) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, r := range stores {
			r.load()
			if len(r.entries) == 0 {
				continue
			}
			if _, ok := r.match(at, identify(at)); ok {
				return at
			}
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// load reads all entries, once. Damaged ones are passed over: their refs are left alone, and their
// folder is found no more.
func (r *registry) load() {
	if r.loaded {
		return
	}
	r.loaded = true
	names, _ := os.ReadDir(filepath.Join(r.dir, "worktrees"))
	for _, n := range names {
		if e, ok := r.readEntry(n.Name()); ok {
			r.entries = append(r.entries, e)
		}
	}
}

func (r *registry) readEntry(name string) (rootEntry, bool) {
	data, err := os.ReadFile(filepath.Join(r.dir, "worktrees", name, "root"))
	if err != nil {
		return rootEntry{}, false
	}
	e := rootEntry{name: name}
	if json.Unmarshal(data, &e) != nil || !filepath.IsAbs(string(e.Path)) {
		return rootEntry{}, false
	}
	return e, true
}

// newName returns a free name. It is derived from the path, so that the usual look-up reads one
// file; a name may be taken by a folder that has since moved away.
func (r *registry) newName(root string) string {
	base := pathName(root)
	name := base
	taken := func(e rootEntry) bool { return e.name == name }
	for i := 2; slices.ContainsFunc(r.entries, taken); i++ {
		name = base + "-" + strconv.Itoa(i)
	}
	return name
}

func pathName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return "root-" + hex.EncodeToString(sum[:8])
}

// register writes a root's entry if it is new or no longer right.
func (s *Store) register() error {
	if !s.place.Shared || s.registered {
		return nil
	}
	e := rootEntry{Path: []byte(s.site.Root), Shown: s.site.Root, identity: identify(s.site.Root), name: s.place.Worktree}
	r := registry{dir: s.place.Dir}
	old, ok := r.readEntry(e.name)
	if ok && string(old.Path) == s.site.Root && old.identity == e.identity {
		s.registered = true
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.place.Dir, "worktrees", e.name)
	if err := s.disk.mkdirAll(dir); err != nil {
		return err
	}
	if err := s.disk.replace(s.packDir(), filepath.Join(dir, "root"), append(data, '\n'), true); err != nil {
		return err
	}
	s.registered = true
	return s.disk.syncDir(dir)
}
