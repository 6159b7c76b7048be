package oxtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Tree maps slash-separated paths, relative to a folder, to what stands there. Folders that hold
// something are not entries.
type Tree map[string]Entry

// Entry is a file, a link or an empty folder.
type Entry struct {
	Content
	Mode    string `json:"mode,omitempty"` // of a file, as git writes it; "" is 100644
	Symlink string `json:"symlink,omitempty"`
	Dir     bool   `json:"dir,omitempty"`
}

// Write makes the tree in dir.
func (t Tree) Write(dir string) error {
	for path, e := range t {
		if err := e.write(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	return nil
}

func (e Entry) write(path string) error {
	if e.Dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if e.Symlink != "" {
		return os.Symlink(e.Symlink, path)
	}
	mode := uint64(0o644)
	if e.Mode != "" {
		var err error
		if mode, err = strconv.ParseUint(e.Mode, 8, 32); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := os.WriteFile(path, e.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Chmod(path, fs.FileMode(mode&0o777)) // whatever the umask is
}

// ReadTree reads the tree below root, with paths relative to dir. Folders of the names in skip are
// left out wherever they stand.
func ReadTree(root, dir string, skip ...string) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		return t.read(filepath.ToSlash(rel), path, d)
	})
	delete(t, "..")
	return t, err
}

func (t Tree) read(key, path string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		inside, err := os.ReadDir(path)
		if err == nil && len(inside) == 0 {
			t[key] = Entry{Dir: true}
		}
		return err
	case d.Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		t[key] = Entry{Symlink: target}
		return err
	case !d.Type().IsRegular():
		t[key] = Entry{Mode: d.Type().String()}
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	e := Entry{Content: contentOf(data)}
	if perm := info.Mode().Perm(); perm != 0o644 {
		e.Mode = fmt.Sprintf("100%03o", perm)
	}
	t[key] = e
	return err
}

func contentOf(data []byte) Content {
	if !utf8.Valid(data) {
		return Content{Base64: data}
	}
	text := string(data)
	return Content{Text: &text}
}

// Lines returns the tree as sorted lines of text, for a comparison that a reader can follow.
func (t Tree) Lines() []string {
	var lines []string
	for path, e := range t {
		switch {
		case e.Dir:
			lines = append(lines, fmt.Sprintf("%q: empty folder", path))
		case e.Symlink != "":
			lines = append(lines, fmt.Sprintf("%q: link to %q", path, e.Symlink))
		default:
			mode := e.Mode
			if mode == "" {
				mode = "100644"
			}
			lines = append(lines, fmt.Sprintf("%q: %s %s", path, mode, e.Content))
		}
	}
	slices.Sort(lines)
	return lines
}
