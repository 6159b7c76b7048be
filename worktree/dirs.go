package worktree

import (
	"io/fs"
	"os"

	"github.com/openoxide/oxpatch/change"
)

// Dir is a folder that an operation makes or removes.
type Dir struct {
	Path string // key
	// Mode holds the permission bits. 0, as Dirs gives it for folders to be made, stands for 0777
	// less the umask.
	Mode fs.FileMode
}

// Dirs tells which folders the changes need and which they empty; it writes nothing. made is
// sorted from the top down, removed from the deepest up. Only a folder from which the changes take
// something, and in which nothing stays, is removed; never the root or Options.Base. A path that is
// to become a file while a folder with other things in it stands there gives ErrIsDirectory.
func (t *Tree) Dirs(changes []change.Change) (made, removed []Dir, err error) {
	q := dirQuestion{t: t, goes: map[string]bool{}, puts: map[string]bool{}, needed: map[string]bool{}}
	for _, c := range changes {
		q.note(c)
	}
	if made, err = q.made(); err != nil {
		return nil, nil, err
	}
	if removed, err = q.removed(changes); err != nil {
		return nil, nil, err
	}
	return made, removed, nil
}

type dirQuestion struct {
	t      *Tree
	goes   map[string]bool // paths at which nothing will stand
	puts   map[string]bool // paths at which something will stand
	needed map[string]bool // folders above the puts
}

func (q *dirQuestion) note(c change.Change) {
	if c.After.Kind == change.Absent {
		q.goes[c.Path] = c.Before.Kind != change.Absent
		return
	}
	q.puts[c.Path] = true
	for _, dir := range above(c.Path) {
		q.needed[dir] = true
	}
}

// above returns the folders above a key, the nearest first, without the root.
func above(key string) []string {
	var dirs []string
	for {
		dir, _ := split(key)
		if dir == "" || dir == key || dir == volume(dir) {
			return dirs
		}
		dirs = append(dirs, dir)
		key = dir
	}
}

func (q *dirQuestion) made() ([]Dir, error) {
	var made []Dir
	for dir := range q.needed {
		if q.puts[dir] {
			return nil, refuse(dir, ErrParentIsFile, "a file is to stand there, and another one below it")
		}
		info, err := q.t.lstat(dir)
		if err != nil {
			return nil, failed(dir, "cannot be looked at", err)
		}
		if info != nil && info.IsDir() {
			continue
		}
		if info != nil && !q.goes[dir] {
			return nil, refuse(dir, ErrParentIsFile, "it is a %s, not a folder; delete or move it first", kindOf(info))
		}
		made = append(made, Dir{Path: dir})
	}
	return sorted(made, false), nil
}

func (q *dirQuestion) removed(changes []change.Change) ([]Dir, error) {
	found := map[string]Dir{}
	seen := map[string]bool{}
	for _, c := range changes {
		if !q.goes[c.Path] {
			continue
		}
		for _, dir := range above(c.Path) {
			if seen[dir] {
				break
			}
			seen[dir] = true
			if err := q.look(dir, found); err != nil {
				return nil, err
			}
		}
	}
	for path := range q.puts {
		if _, ok := found[path]; ok {
			continue
		}
		if info, err := q.t.lstat(path); err == nil && info != nil && info.IsDir() {
			return nil, refuse(path, ErrIsDirectory, "a folder stands there that the patch does not empty; "+
				"choose another name, or remove the folder first")
		}
	}
	var removed []Dir
	for _, dir := range found {
		removed = append(removed, dir)
	}
	return sorted(removed, true), nil
}

// look adds a folder to found if the changes empty it.
func (q *dirQuestion) look(dir string, found map[string]Dir) error {
	if q.needed[dir] || dir == q.t.base {
		return nil
	}
	info, err := q.t.lstat(dir)
	if err != nil {
		return failed(dir, "cannot be looked at", err)
	}
	if info == nil || !info.IsDir() || !q.t.emptied(dir, func(key string) bool { return q.goes[key] }) {
		return nil
	}
	found[dir] = Dir{Path: dir, Mode: modeOf(info)}
	return nil
}

// emptied reports whether a folder holds something and all of it goes. It stops at the first
// thing that stays.
func (t *Tree) emptied(dir string, goes func(key string) bool) bool {
	if dir == t.base && dir != "" {
		return false
	}
	f, err := t.folder(dir)
	if err != nil {
		return false
	}
	defer f.release()
	some, all := false, true
	err = f.names(func(name string) bool {
		some = true
		key := t.join(dir, name)
		all = goes(key) || t.goesByOther(f, name, key, goes)
		return all
	})
	return err == nil && some && all
}

// goesByOther asks about an entry that does not go under the name listed: a folder may be emptied
// in turn, and on a file system that folds case the patch may have spelled the name differently.
func (t *Tree) goesByOther(f *folder, name, key string, goes func(string) bool) bool {
	info, err := f.root.Lstat(name)
	if err != nil {
		return false
	}
	if info.IsDir() {
		return t.emptied(key, goes)
	}
	if id, ok := identify(info, key); ok && hardLinks(info) <= 1 {
		t.mu.Lock()
		first, seen := t.known[id]
		t.mu.Unlock()
		if seen && first != key {
			now, err := t.lstat(first)
			return err == nil && now != nil && os.SameFile(now, info) && goes(first)
		}
	}
	return false
}
