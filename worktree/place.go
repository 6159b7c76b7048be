package worktree

import (
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/openoxide/oxpatch/change"
)

// fileID tells whether two looked-at entries are one object on the disk.
type fileID struct {
	dev, ino uint64
	name     string //nolint:unused // only where there are no device and inode numbers
}

// checkPlace refuses the places where nothing may be changed: a forbidden folder, the inside of a
// bare repository, and another repository.
func (t *Tree) checkPlace(path, key string, info fs.FileInfo) error {
	for _, f := range t.forbidden {
		same := info != nil && f.info != nil && os.SameFile(info, f.info)
		if same || within(t.absKey(key), f.path) {
			return refuse(path, ErrUnsafePath, "it lies in %s, where the means to undo are kept; "+
				"a patch may not name it", change.DisplayPath(f.path))
		}
	}
	if t.options.Free {
		return nil
	}
	dir, _ := split(key)
	if t.isBare(dir) {
		shown := dir
		if dir == "" {
			shown = t.real
		}
		return refuse(path, ErrUnsafePath, "%s is a bare git repository; a patch may not change its inside",
			change.DisplayPath(shown))
	}
	if top := t.foreign(dir); top != "" {
		shown := change.DisplayPath(top)
		return &PathError{Path: path, Err: ErrForeign,
			Problem: "it lies in " + shown + ", which is a repository of its own with a history of its own",
			Hint:    "run oxpatch in " + shown + ", with paths that count from there"}
	}
	return nil
}

// foreign returns the key of the outermost other repository that a folder lies in, "" for none.
func (t *Tree) foreign(dir string) string {
	if dir == "" || t.options.Foreign == nil {
		return ""
	}
	t.mu.Lock()
	top, known := t.tops[dir]
	t.mu.Unlock()
	if known {
		return top
	}
	above, _ := split(dir)
	if top = t.foreign(above); top == "" && t.options.Foreign(t.Abs(dir)) {
		top = dir
	}
	t.mu.Lock()
	t.tops[dir] = top
	t.mu.Unlock()
	return top
}

func (t *Tree) absKey(key string) string {
	if isAbs(key) {
		return key
	}
	if strings.HasSuffix(t.realKey, "/") {
		return t.realKey + key
	}
	return t.realKey + "/" + key
}

// isBare reports whether a folder looks to git like a repository without a worktree. A folder that
// is none is remembered; usually the first look settles it.
func (t *Tree) isBare(dir string) bool {
	t.mu.Lock()
	plain := t.plain[dir]
	t.mu.Unlock()
	if plain {
		return false
	}
	f, err := t.folder(dir)
	if err != nil {
		return false
	}
	defer f.release()
	bare := f.holds("HEAD", false) && f.holds("objects", true) && f.holds("refs", true)
	if !bare {
		t.mu.Lock()
		t.plain[dir] = true
		t.mu.Unlock()
	}
	return bare
}

func (f *folder) holds(name string, dir bool) bool {
	info, err := f.root.Lstat(name)
	return err == nil && info.IsDir() == dir
}

// canonical returns the key under which the object at key was first reached, if both are one
// directory entry or, where files are written in place, one file. Two entries are one on a file
// system that folds case or normalises names, and under a second mount of a folder. The names of a
// hard-linked file are different entries: replacing or deleting one leaves the others.
func (t *Tree) canonical(key string, info fs.FileInfo, use Use, planned Planned) string {
	id, ok := identify(info, key)
	if !ok {
		return key
	}
	t.mu.Lock()
	first, seen := t.known[id]
	if !seen {
		t.known[id] = key
	}
	t.mu.Unlock()
	if !seen || first == key {
		return key
	}
	// The object may be gone and its number used again.
	if now, err := t.lstat(first); err != nil || now == nil || !os.SameFile(now, info) {
		t.mu.Lock()
		t.known[id] = key
		t.mu.Unlock()
		return key
	}
	if info.IsDir() || hardLinks(info) <= 1 || t.sameEntry(first, key) {
		return first
	}
	if use == Edit && info.Mode().IsRegular() && (t.options.Free || t.options.InPlace) && plannedFile(planned, first) {
		return first
	}
	return key
}

// plannedFile reports whether the plan leaves a file at key.
func plannedFile(planned Planned, key string) bool {
	if planned == nil {
		return true
	}
	kind, ok := planned(key)
	return !ok || kind == change.File
}

// sameEntry reports whether two keys of one hard-linked file are two spellings of one name: then
// the folder lists only one of them.
func (t *Tree) sameEntry(a, b string) bool {
	dir, nameA := split(a)
	dirB, nameB := split(b)
	if dir != dirB || (isASCII(nameA) && isASCII(nameB) && !strings.EqualFold(nameA, nameB)) {
		return false
	}
	f, err := t.folder(dir)
	if err != nil {
		return false
	}
	defer f.release()
	listed := 0
	_ = f.names(func(name string) bool {
		if name == nameA || name == nameB {
			listed++
		}
		return listed < 2
	})
	return listed < 2
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
