package worktree

import (
	"path/filepath"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// maxLinks is how many links one path may lead through, as on Linux.
const maxLinks = 40

// inLink reports whether the component just taken came from a link's target.
func (w *walk) inLink() bool { return w.links > 0 && len(w.rest) >= w.tail }

// follow replaces a link by the components of its target.
func (w *walk) follow(key string, planned bool) error {
	if planned {
		return refuse(w.path, ErrUnsafePath, "it leads through %s, a link that this patch makes; "+
			"name the file itself", change.DisplayPath(key))
	}
	if len(w.rest) == 0 && w.link == "" {
		w.link = key
	}
	if !w.inLink() {
		w.tail = len(w.rest)
	}
	if w.links++; w.links > maxLinks {
		return refuse(w.path, ErrLinkLoop, "its links lead in a circle, or through more than %d of them", maxLinks)
	}
	target, err := w.t.readlink(key)
	if err != nil {
		return failed(w.path, "the link cannot be read", err)
	}
	if filepath.IsAbs(target) || isRooted(target) {
		return w.followAbs(key, target)
	}
	dir, _ := split(key)
	w.at = dir
	w.rest = append(components(target), w.rest...)
	return nil
}

func (w *walk) followAbs(key, target string) error {
	if w.t.options.Free {
		top := volume(filepath.ToSlash(target))
		if top == "" {
			top = volume(w.t.realKey)
		}
		w.at = top
		w.rest = append(components(strings.TrimPrefix(filepath.ToSlash(target), top)), w.rest...)
		return nil
	}
	rest, ok := w.t.inside(target)
	if !ok {
		return refuse(w.path, ErrUnsafePath, "the link %s leads out of %s, to %s; only files below it can be changed",
			change.DisplayPath(key), w.t.real, change.DisplayPath(target))
	}
	w.at = ""
	w.rest = append(components(rest), w.rest...)
	return nil
}

func (t *Tree) readlink(key string) (string, error) {
	dir, name := split(key)
	f, err := t.folder(dir)
	if err != nil {
		return "", err
	}
	defer f.release()
	return f.root.Readlink(name)
}

func (w *walk) dangling() error {
	if w.tail > 0 {
		return refuse(w.path, ErrDanglingParent, "a folder of the path is a link that leads nowhere; "+
			"make its target or name the folder itself")
	}
	return refuse(w.path, ErrDanglingLink, "it is a link into a folder that does not exist; "+
		"make that folder or name the file itself")
}
