package worktree

import (
	"io/fs"

	"github.com/openoxide/oxpatch/change"
)

// Use says what a path is wanted for.
type Use uint8

const (
	Edit  Use = iota // a final link is followed to its target
	Entry            // the link itself is meant: delete, source of a move
)

// Planned tells what an unfinished plan will have put at a key; ok is false where the plan leaves
// the path alone.
type Planned func(key string) (kind change.Kind, ok bool)

// Location is a resolved path.
type Location struct {
	// Path is the key: relative to the root, slash-separated, raw bytes, free of links. Outside
	// the root (Free only) it is absolute.
	Path string
	// Link is the key of the link that was followed because the path ended in it, else "".
	Link string
	// Kind is what stands there, or will by the plan: Absent, File, or for Entry a Symlink.
	Kind change.Kind
	// HardLinks is the number of names the file has; 0 where that is not known.
	HardLinks uint64
}

// Resolve turns a path as a patch spells it into its key. planned may be nil. Missing folders are
// fine; everything else that keeps the path from naming a file gives a *PathError with one of the
// sentinels.
func (t *Tree) Resolve(path string, use Use, planned Planned) (Location, error) {
	w := walk{t: t, use: use, planned: planned, path: path}
	if err := w.start(); err != nil {
		return Location{}, err
	}
	return w.run()
}

// walk is one resolution under way.
type walk struct {
	t       *Tree
	use     Use
	planned Planned
	path    string // as the patch spells it, for messages

	at     string   // key of the folder reached
	rest   []string // components to come
	gone   string   // key of the first folder that is missing, "" if all of at exists
	links  int      // links followed
	tail   int      // with links > 0: how many of rest came after the outermost link being followed
	link   string   // the final link
	slash  bool     // the text says that a folder is meant
	folder bool     // out: the path leads to a folder
}

// run takes component after component.
func (w *walk) run() (Location, error) {
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if name == ".." {
			if err := w.back(); err != nil {
				return Location{}, err
			}
			continue
		}
		loc, done, err := w.step(name)
		if err != nil || done {
			return loc, err
		}
	}
	w.folder = true
	return Location{}, w.isFolder()
}

func (w *walk) back() error {
	parent, ok := w.t.up(w.at)
	if !ok {
		return refuse(w.path, ErrUnsafePath, "the path leads out of %s; only files below it can be changed", w.t.real)
	}
	w.at = parent
	if w.gone != "" && !within(parent, w.gone) {
		w.gone = ""
	}
	return nil
}

// step goes through one name in the folder reached. done says that the path ends there.
func (w *walk) step(name string) (loc Location, done bool, err error) {
	t := w.t
	if !t.options.Free {
		if err := checkName(w.path, name); err != nil {
			return loc, false, err
		}
	}
	var info fs.FileInfo
	if w.gone == "" {
		if info, err = t.entry(w.at, name); err != nil {
			return loc, false, failed(w.path, "cannot be looked at", err)
		}
	}
	if w.gone != "" && !t.options.Free {
		// A folder that is to be made tells nothing yet of the names it can hold; the one that it
		// is made in does.
		above, _ := split(w.gone)
		if _, err = t.entry(above, name); err != nil {
			return loc, false, failed(w.path, "cannot be made", err)
		}
	}
	key := t.join(w.at, name)
	if info != nil {
		key = t.canonical(key, info, w.use, w.planned)
	}
	kind, planned := kindOf(info), false
	if w.planned != nil {
		if k, ok := w.planned(key); ok {
			kind, planned = k, true
		}
	}
	if err := t.checkPlace(w.path, key, info); err != nil {
		return loc, false, err
	}
	if kind == change.Symlink && (len(w.rest) > 0 || w.use == Edit || w.slash) {
		return loc, false, w.follow(key, planned)
	}
	if len(w.rest) > 0 {
		return loc, false, w.descend(key, kind, info)
	}
	return w.final(key, kind, info)
}

// entry looks at a name in a folder; nil without an error means that there is nothing.
func (t *Tree) entry(dir, name string) (fs.FileInfo, error) {
	f, err := t.folder(dir)
	if err != nil {
		return nil, err
	}
	defer f.release()
	info, err := f.root.Lstat(name)
	if isAbsent(err) {
		return nil, nil
	}
	return info, err
}

// descend makes key the folder reached.
func (w *walk) descend(key string, kind change.Kind, info fs.FileInfo) error {
	switch kind {
	case change.Dir:
		if info == nil || !info.IsDir() {
			kind = change.Absent
		}
	case change.File, change.Other:
		return refuse(w.path, ErrParentIsFile, "%s is a %s, not a folder; delete or move it first",
			change.DisplayPath(key), kind)
	}
	if kind == change.Absent && w.gone == "" {
		if w.inLink() {
			return w.dangling()
		}
		w.gone = key
	}
	w.at = key
	return nil
}

// final ends the walk at key.
func (w *walk) final(key string, kind change.Kind, info fs.FileInfo) (Location, bool, error) {
	loc := Location{Path: key, Link: w.link, Kind: kind}
	switch kind {
	case change.Dir:
		if w.slash || w.planned == nil || !w.t.emptied(key, w.isGone) || key == w.t.base {
			w.folder, w.at = true, key
			return loc, true, w.isFolder()
		}
		loc.Kind = change.Absent
	case change.Other:
		return loc, true, notRegular(w.path, info)
	case change.File:
		loc.HardLinks = hardLinks(info)
	case change.Absent:
		if w.inLink() && w.tail > 0 {
			return loc, true, w.dangling()
		}
	}
	if w.slash {
		return loc, true, refuse(w.path, ErrIsDirectory, "a path that ends in a slash names a folder; name a file")
	}
	return loc, true, nil
}

func (w *walk) isGone(key string) bool {
	kind, ok := w.planned(key)
	return ok && kind == change.Absent
}

func (w *walk) isFolder() error {
	return refuse(w.path, ErrIsDirectory, "it is a folder; name a file")
}

func notRegular(path string, info fs.FileInfo) error {
	what := "neither a file nor a folder"
	if info != nil {
		switch mode := info.Mode(); {
		case mode&fs.ModeNamedPipe != 0:
			what = "a FIFO"
		case mode&fs.ModeSocket != 0:
			what = "a socket"
		case mode&fs.ModeDevice != 0:
			what = "a device"
		}
	}
	return refuse(path, ErrNotRegular, "it is %s; only regular files can be changed", what)
}
