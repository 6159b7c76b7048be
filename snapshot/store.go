package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Options say how a store is written.
type Options struct {
	// Durability is DurabilityRecord if empty.
	Durability Durability
	// Effects, if set, is called before each change on disk, with the path that is about to
	// change; its error stops the change. ErrKilled also stops the cleaning up.
	Effects func(e Effect, path string) error
	// MaxRecord is the most that the contents of one record may take up, see Fits; 0 is no limit.
	MaxRecord int64
	// Ahead, if set, may have begun with what is to be recorded.
	Ahead *Ahead
}

// Store is a place opened for writing. Its methods may be used by one operation at a time: the one
// that holds the root's lock.
type Store struct {
	site       *Site
	place      Place
	skipped    []Unusable
	disk       disk
	durability Durability
	maxRecord  int64
	ahead      *Ahead
	lastID     string
	registered bool
}

// Place returns where the store is.
func (s *Store) Place() Place { return s.place }

// Skipped returns the better places that could not be used. As long as they cannot be written,
// what they hold can be read, but its pending operations cannot be settled.
func (s *Store) Skipped() []Unusable { return s.skipped }

// Open returns the store at the first place of Write that can be written, made if need be. Whether
// it can is found out by writing, since mode bits say little in a sandbox.
//
// Errors: *NoStoreError if there is none; *NewerFormatError or *TornError if a store is there that
// must be left alone, for its operations would be passed over by using another.
func (s *Site) Open(o Options) (*Store, error) {
	if o.Durability == "" {
		o.Durability = DurabilityRecord
	}
	var tried []Unusable
	for _, p := range s.Write {
		store, err := s.OpenPlace(p, o)
		if err == nil {
			store.skipped = tried
			return store, nil
		}
		if errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrTorn) || errors.Is(err, ErrKilled) {
			return nil, err
		}
		tried = append(tried, Unusable{Place: p, Err: err})
	}
	return nil, &NoStoreError{Tried: tried}
}

// OpenPlace opens one place for writing, as recovery needs it for a record that is pending in
// another store than the one that new records go to.
func (s *Site) OpenPlace(p Place, o Options) (*Store, error) {
	if o.Durability == "" {
		o.Durability = DurabilityRecord
	}
	store := &Store{site: s, place: p, durability: o.Durability, maxRecord: o.MaxRecord, ahead: o.Ahead,
		disk: disk{hook: o.Effects, synced: o.Durability != DurabilityProcess}}
	if err := s.stillRepo(p); err != nil {
		return nil, err
	}
	known, err := checkFormat(p.Dir)
	if err != nil {
		return nil, err
	}
	if !known {
		if err := vacant(p.Dir); err != nil {
			return nil, err
		}
		if err := store.create(); err != nil {
			return store, err
		}
		s.noteHolder() // there was no store for the note when the lock was taken
		return store, nil
	}
	return store, store.probe()
}

func (s *Store) packDir() string { return filepath.Join(s.place.Dir, "objects", "pack") }

func (s *Store) refDir(group string) string { return groupPath(s.place, group) }

// Exists returns an error unless there is a store at a place that this code can read: fs.ErrNotExist where
// there is none, *NewerFormatError, *TornError, or one of the file system.
func Exists(p Place) error {
	known, err := checkFormat(p.Dir)
	if err == nil && !known {
		err = &fs.PathError{Op: "open", Path: p.Dir, Err: fs.ErrNotExist}
	}
	return err
}

const formatPrefix = "oxpatch store "

// checkFormat reads a store's version. known is false where there is no store yet.
func checkFormat(dir string) (known bool, err error) {
	path := filepath.Join(dir, "format")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text, ok := strings.CutPrefix(string(data), formatPrefix)
	version, err := strconv.Atoi(strings.TrimSuffix(text, "\n"))
	if !ok || err != nil || version < 1 {
		return false, &TornError{Path: path, Err: fmt.Errorf("not the version of a store: %.40q", data)}
	}
	if version > StoreVersion {
		return false, &NewerFormatError{Path: path, Version: version, Supported: StoreVersion}
	}
	return true, nil
}

// storeConfig makes git treat the store as ours: private files when git repacks it, and no
// repacking unless somebody asks for it.
const storeConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	sharedRepository = 0600
[gc]
	auto = 0
	packRefs = false
[maintenance]
	auto = false
`

// storeHead is no branch of anybody: HEAD has to be there for git to take the store for a repository.
const storeHead = "ref: refs/heads/none\n"

// vacant returns an error where making a store in dir would write over files of somebody else: a
// folder that OXPATCH_STORE names by mistake can be a repository, whose HEAD and config a store has
// too. A folder that is missing or empty will do, and so will a store that was cut off while it was
// made.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil // making it says what is in the way
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "objects", "refs", "worktrees", "config":
		case "HEAD":
			if head, err := os.ReadFile(filepath.Join(dir, "HEAD")); err != nil || string(head) != storeHead {
				return errors.New("the folder is a git repository, not a store")
			}
		default:
			return fmt.Errorf("the folder is neither empty nor a store: it holds %q", e.Name())
		}
	}
	return nil
}

// create makes a store. The version comes last: a store without it is one that was cut off while
// it was made, and making it again completes it.
func (s *Store) create() error {
	dir := s.place.Dir
	for _, sub := range []string{"objects/pack", "objects/info", "refs/heads", "worktrees"} {
		if err := s.disk.mkdirAll(filepath.Join(dir, filepath.FromSlash(sub))); err != nil {
			return err
		}
	}
	files := []struct{ name, text string }{
		{"HEAD", storeHead},
		{"config", storeConfig},
		{"format", formatPrefix + strconv.Itoa(StoreVersion) + "\n"},
	}
	for _, f := range files {
		// Only the version decides whether this is a store; what git wants besides is not worth a sync.
		if err := s.disk.replace(s.packDir(), filepath.Join(dir, f.name), []byte(f.text), f.name == "format"); err != nil {
			return err
		}
	}
	if fileSyncKeepsName {
		return nil
	}
	return s.disk.syncDir(dir)
}

// probe finds out whether the store can be written, by opening its lock for writing. It makes and
// removes no file: on ext4 each inode freed slows down the next ones made for a while.
func (s *Store) probe() error {
	if err := s.disk.allow(EffectCreate, s.lockPath()); err != nil {
		return err
	}
	f, err := os.OpenFile(s.lockPath(), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

func (s *Store) lockPath() string { return filepath.Join(s.place.Dir, "lock") }
