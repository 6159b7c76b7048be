package scan

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/worktree"
)

// File is a file or link that stands in the tree.
type File struct {
	Path  string // key
	Sight worktree.Sight
}

// LeftOut is something that is not recorded, and why.
type LeftOut struct {
	Path   string
	Reason string
}

// Listing is what stands in a tree.
type Listing struct {
	Files []File // by path
	// Dirs are the folders above the files, with their permission bits.
	Dirs    map[string]fs.FileMode
	LeftOut []LeftOut
}

// Bytes is the size of all files.
func (l *Listing) Bytes() int64 {
	var n int64
	for _, f := range l.Files {
		n += f.Sight.Version.Size
	}
	return n
}

// Walk lists all files below the folders at some keys; a key may be that of a file or of nothing too.
// What is below a repository of another kind, and what is neither file, link nor folder, is skipped.
// More than most files are a *LimitError.
func Walk(ctx context.Context, t *worktree.Tree, keys []string, most int) (*Listing, error) {
	w := newWalker(ctx, t, most)
	for _, key := range keys {
		if err := w.visit(key); err != nil {
			return nil, err
		}
	}
	return w.done()
}

// Look lists those of the keys at which a file or link stands. A folder among them, or a name that
// ends in a slash, is skipped by name if it is a repository of its own; files inside of one are
// skipped with it.
func Look(ctx context.Context, t *worktree.Tree, keys []string, most int) (*Listing, error) {
	w := newWalker(ctx, t, most)
	for _, key := range keys {
		if err := w.look(strings.TrimSuffix(key, "/")); err != nil {
			return nil, err
		}
	}
	return w.done()
}

type walker struct {
	ctx  context.Context
	t    *worktree.Tree
	most int
	list Listing
	// barred holds for each folder met whether nothing in it is recorded; of files and folders alike
	// it says that they were met.
	barred map[string]bool
	met    map[string]bool
}

func newWalker(ctx context.Context, t *worktree.Tree, most int) *walker {
	return &walker{ctx: ctx, t: t, most: most, barred: map[string]bool{}, met: map[string]bool{},
		list: Listing{Dirs: map[string]fs.FileMode{}}}
}

func (w *walker) skip(path, reason string) {
	w.list.LeftOut = append(w.list.LeftOut, LeftOut{Path: path, Reason: reason})
}

// enters reports whether what is in a folder is recorded; a folder that is not says why, once.
func (w *walker) enters(dir string) bool {
	if dir == "" {
		return true
	}
	barred, known := w.barred[dir]
	if known {
		return !barred
	}
	parent := ""
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		parent = dir[:i]
	}
	if !w.enters(parent) {
		barred = true
	} else if why := w.t.Barred(dir); why != "" {
		barred = true
		if why != worktree.BarredStore { // nobody misses that
			w.skip(dir, why)
		}
	}
	w.barred[dir] = barred
	return !barred
}

// visit adds what stands at a key, with all below it.
func (w *walker) visit(key string) error {
	s, err := w.t.Look(key)
	if err != nil {
		return err
	}
	if s.Kind != change.Dir {
		return w.add(key, s)
	}
	if w.met[key] || !w.enters(key) {
		return w.ctx.Err()
	}
	w.met[key] = true
	names, err := w.t.Names(key)
	if err != nil {
		return err
	}
	for _, name := range names {
		if key != "" {
			name = key + "/" + name
		} else if name == ".git" {
			continue // the tree's own
		}
		if err := w.visit(name); err != nil {
			return err
		}
	}
	return nil
}

// look adds what stands at a key if it is a file or link.
func (w *walker) look(key string) error {
	s, err := w.t.Look(key)
	if err != nil {
		return err
	}
	if s.Kind == change.Dir {
		w.enters(key) // says so if it is a repository
		return nil
	}
	return w.add(key, s)
}

func (w *walker) add(key string, s worktree.Sight) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	dir, name := "", key
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		dir, name = key[:i], key[i+1:]
	}
	if s.Kind == change.Absent || w.met[key] || !w.enters(dir) {
		return nil
	}
	w.met[key] = true
	if s.Kind == change.Other {
		w.skip(key, "neither file, link nor folder")
		return nil
	}
	if why := w.t.BarredName(name); why != "" {
		w.skip(key, why)
		return nil
	}
	w.list.Files = append(w.list.Files, File{Path: key, Sight: s})
	if len(w.list.Files) > w.most {
		return &LimitError{What: LimitFiles, Most: int64(w.most), Least: int64(len(w.list.Files)), Blame: Blame(w.list.Files, countOf)}
	}
	return nil
}

// done completes the listing with the folders above the files.
func (w *walker) done() (*Listing, error) {
	slices.SortFunc(w.list.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range w.list.Files {
		for _, dir := range worktree.Above(f.Path) {
			if _, ok := w.list.Dirs[dir]; ok {
				break
			}
			s, err := w.t.Look(dir)
			if err != nil {
				return nil, err
			}
			w.list.Dirs[dir] = s.Mode
		}
	}
	slices.SortFunc(w.list.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return &w.list, nil
}
