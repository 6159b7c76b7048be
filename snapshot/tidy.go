package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tidy removes what killed writers left, and what is left of roots that are gone.
func (pr *pruning) tidy() error {
	dir := filepath.Join(pr.place.Dir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		pack, isIndex := strings.CutSuffix(path, ".idx")
		// Packs are written only with the store's lock held.
		if strings.HasPrefix(e.Name(), halfPack) || isIndex && missing(pack+".pack") {
			if err := ignoreMissing(pr.disk.remove(path)); err != nil {
				return err
			}
		}
	}
	return pr.forgetRoots()
}

// forgetRoots removes the entries of roots that are gone and have no operation left.
func (pr *pruning) forgetRoots() error {
	names, err := os.ReadDir(filepath.Join(pr.place.Dir, "worktrees"))
	if err != nil {
		return ignoreMissing(err)
	}
	for _, n := range names {
		p := Place{Dir: pr.place.Dir, Worktree: n.Name(), Shared: pr.place.Shared}
		used := slices.ContainsFunc(pr.records, func(k *kept) bool { return k.place == p && !k.drop })
		if used || !rootGone(p) {
			continue
		}
		dir := filepath.Join(p.Dir, "worktrees", n.Name())
		paths := []string{filepath.Join(dir, "holder"), filepath.Join(dir, scanIndex), filepath.Join(dir, goneFile), filepath.Join(dir, "lock")}
		r := registry{dir: p.Dir}
		if e, ok := r.readEntry(n.Name()); ok && e.known() {
			paths = append(paths, r.identityPath(e.identity))
		}
		refs := filepath.Dir(filepath.Clean(groupPath(p, groupOps)))
		paths = append(paths, filepath.Join(refs, groupOps), filepath.Join(refs, groupPending), refs, filepath.Join(dir, "root"), dir)
		for _, path := range paths {
			if err := pr.disk.remove(path); errors.Is(err, ErrKilled) {
				return err
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				break // somebody has begun to use it again
			}
		}
	}
	return nil
}
