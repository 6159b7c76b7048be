package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// start checks the text of the path and cuts it into components.
func (w *walk) start() error {
	t := w.t
	if strings.IndexByte(w.path, 0) >= 0 {
		return refuse(w.path, ErrUnsafePath, "a path cannot hold a NUL byte")
	}
	if t.options.Free {
		w.startFree()
		return nil
	}
	if w.path == "" {
		return refuse(w.path, ErrUnsafePath, "the path is empty; name a file")
	}
	w.slash = endsInFolder(w.path)
	path := w.path
	if filepath.IsAbs(path) || filepath.VolumeName(path) != "" || isRooted(path) {
		rest, ok := t.inside(path)
		if !ok {
			return refuse(w.path, ErrUnsafePath, "this absolute path is outside of %s; use a path below it", t.real)
		}
		w.rest = components(rest)
		return nil
	}
	w.rest = components(path)
	if t.options.Base != "" {
		w.rest = append(components(t.options.Base), w.rest...)
	}
	return nil
}

// startFree cleans the path by its text, as a shell that keeps its logical folder would.
func (w *walk) startFree() {
	t := w.t
	path := w.path
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.real, filepath.FromSlash(t.options.Base), path)
	}
	w.jump(filepath.ToSlash(filepath.Clean(path)))
}

// jump continues from the top of an absolute path; inside the root the handle of the root is
// nearer.
func (w *walk) jump(abs string) {
	if within(abs, w.t.realKey) {
		w.at, w.rest = "", append(components(abs[len(w.t.realKey):]), w.rest...)
		return
	}
	top := volume(abs)
	w.at, w.rest = top, append(components(abs[len(top):]), w.rest...)
}

// inside returns what follows the root in an absolute path. The root may be spelled in any way
// that leads to the same folder.
func (t *Tree) inside(abs string) (rest string, ok bool) {
	for _, root := range []string{t.given, t.real} {
		if within(abs, root) {
			return abs[len(root):], true
		}
	}
	for i := 1; i <= len(abs); i++ {
		if i < len(abs) && !os.IsPathSeparator(abs[i]) {
			continue
		}
		info, err := os.Stat(abs[:i])
		if err != nil {
			return "", false
		}
		if os.SameFile(info, t.info) {
			return abs[i:], true
		}
	}
	return "", false
}
