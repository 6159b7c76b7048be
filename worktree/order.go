package worktree

import (
	"sort"

	"github.com/openoxide/oxpatch/change"
)

// order is the order in which a list of files is brought to its after states:
// folders, deletes in the way, what then has room, renames onto the targets, other deletes, emptied
// folders. So a file that is moved always exists somewhere. Files are indexes into the list.
type order struct {
	made  []Dir // missing folders, from the top down
	puts  []int // files whose new content can be laid beside them before anything goes
	first []int // deletes of what stands where a folder is needed, or inside a folder where a file is

	firstDirs []Dir // folders that stand where a file is to be, from the deepest up
	lateMade  []Dir // folders for which something had to go
	latePuts  []int // files in those

	deletes []int
	removed []Dir // other folders that are emptied, from the deepest up
}

func orderOf(files []File, made, removed []Dir) order {
	puts, needed := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if f.After.Kind == change.Absent {
			continue
		}
		puts[f.Path] = true
		for _, dir := range above(f.Path) {
			needed[dir] = true
		}
	}
	var o order
	blocking := map[string]bool{}
	for n, f := range files {
		switch {
		case f.After.Kind != change.Absent:
		case needed[f.Path]:
			blocking[f.Path] = true
			o.first = append(o.first, n)
		case anyOf(puts, above(f.Path)):
			o.first = append(o.first, n)
		default:
			o.deletes = append(o.deletes, n)
		}
	}
	for n, f := range files {
		if f.After.Kind == change.Absent {
			continue
		}
		if anyOf(blocking, above(f.Path)) {
			o.latePuts = append(o.latePuts, n)
		} else {
			o.puts = append(o.puts, n)
		}
	}
	for _, dir := range sorted(made, false) {
		if blocking[dir.Path] || anyOf(blocking, above(dir.Path)) {
			o.lateMade = append(o.lateMade, dir)
		} else {
			o.made = append(o.made, dir)
		}
	}
	for _, dir := range sorted(removed, true) {
		if puts[dir.Path] || anyOf(puts, above(dir.Path)) {
			o.firstDirs = append(o.firstDirs, dir)
		} else {
			o.removed = append(o.removed, dir)
		}
	}
	return o
}

func anyOf(set map[string]bool, keys []string) bool {
	for _, key := range keys {
		if set[key] {
			return true
		}
	}
	return false
}

// sorted returns the folders from the top down or from the deepest up: a folder's key is the
// beginning of all keys below it.
func sorted(dirs []Dir, deepest bool) []Dir {
	dirs = append([]Dir(nil), dirs...)
	sort.Slice(dirs, func(i, j int) bool {
		if deepest {
			i, j = j, i
		}
		return dirs[i].Path < dirs[j].Path
	})
	return dirs
}
