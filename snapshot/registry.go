package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// registry answers which roots a shared store knows. An entry is found by two names, so that looking
// for a root costs the same however many there are: by one made from its path (worktrees/NAME/root),
// and by its identity (roots/INODE-BIRTH, which holds NAME).
type registry struct {
	dir string
}

// nameFor returns the name of a root in the store: that of the entry which is this folder, else a
// new one.
func (r *registry) nameFor(root string) string {
	if e, ok := r.match(root); ok {
		return e.name
	}
	return r.newName(root)
}

// match finds the entry of a folder. Its path counts even if the inode is another one, since a
// folder restored from a backup has a new inode and undo compares contents anyway; but an entry
// that was moved here, with the inode that it had, comes first.
func (r *registry) match(root string) (rootEntry, bool) {
	id := identify(root)
	byPath, ok := r.byPath(root)
	if ok && (byPath.identity == id || !id.known() || !byPath.known()) {
		return byPath, true
	}
	// The check that the old path leads elsewhere keeps apart a file system's snapshots, which carry
	// the inodes and times of the original.
	if e, found := r.byIdentity(id); found && (string(e.Path) == root || identify(string(e.Path)) != id) {
		return e, true
	}
	return byPath, ok
}

// byPath returns the entry that was made for a path.
func (r *registry) byPath(root string) (rootEntry, bool) {
	for i := 1; ; i++ {
		e, ok := r.readEntry(nthName(pathName(root), i))
		if !ok || string(e.Path) == root {
			return e, ok
		}
	}
}

// byIdentity returns the entry of a folder with an identity.
func (r *registry) byIdentity(id identity) (rootEntry, bool) {
	if !id.known() {
		return rootEntry{}, false
	}
	name, err := os.ReadFile(r.identityPath(id))
	if err != nil {
		return rootEntry{}, false
	}
	e, ok := r.readEntry(strings.TrimSuffix(string(name), "\n"))
	return e, ok && e.identity == id
}

func (r *registry) identityPath(id identity) string {
	return filepath.Join(r.dir, "roots", fmt.Sprintf("%d-%d", id.Inode, id.Birth))
}

// registeredAbove returns the nearest folder at or above dir that one of the stores knows as a
// root, else dir. The home folder and the top of the file system are roots only for themselves: one
// operation there must not open all that lies below to every later patch.
func registeredAbove(dir, home string, stores []*registry) string {
	for at := dir; ; at = filepath.Dir(at) {
		top := filepath.Dir(at) == at
		if at != dir && (at == home || top) {
			return dir
		}
		for _, r := range stores {
			if _, ok := r.match(at); ok {
				return at
			}
		}
		if top {
			return dir
		}
	}
}

func (r *registry) readEntry(name string) (rootEntry, bool) {
	data, err := os.ReadFile(filepath.Join(r.dir, "worktrees", filepath.Base(name), "root"))
	if err != nil {
		return rootEntry{}, false
	}
	e := rootEntry{name: name}
	if json.Unmarshal(data, &e) != nil || !filepath.IsAbs(string(e.Path)) {
		return rootEntry{}, false
	}
	return e, true
}

// newName returns a free name. It is derived from the path; a name may be taken by a folder that has
// since moved away.
func (r *registry) newName(root string) string {
	for i := 1; ; i++ {
		name := nthName(pathName(root), i)
		if _, taken := r.readEntry(name); !taken {
			return name
		}
	}
}

// nthName returns the ith name made from a base, which is the first.
func nthName(base string, i int) string {
	if i == 1 {
		return base
	}
	return base + "-" + strconv.Itoa(i)
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
	if e.known() {
		path := r.identityPath(e.identity)
		if err := s.disk.mkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		// Not synced: it only helps to find a folder that is moved.
		if err := s.disk.replace(s.packDir(), path, []byte(e.name+"\n"), false); err != nil {
			return err
		}
	}
	s.registered = true
	s.site.noteHolder() // which had no folder when the lock was taken
	if fileSyncKeepsName {
		return nil
	}
	return s.disk.syncDir(dir)
}
