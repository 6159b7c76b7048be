package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of files, as git writes them.
const (
	modePlain      = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeSubmodule  = "160000"
)

// tree maps slash-separated names to what stands there.
type tree map[string]entry

// entry is a file; of a link the data is its target, of a submodule the id of its commit.
type entry struct {
	mode string
	data []byte
}

// write makes the files below dir. A submodule is an empty folder.
func (t tree) write(dir string) error {
	for name, e := range t {
		if err := e.write(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

func (e entry) write(name string) error {
	if e.mode == modeSubmodule {
		return os.MkdirAll(name, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch e.mode {
	case modeLink:
		return os.Symlink(string(e.data), name)
	case modeExecutable:
		return os.WriteFile(name, e.data, 0o755)
	}
	return os.WriteFile(name, e.data, 0o644)
}

// sameModes reports whether the files that both trees have are of the same modes.
func (t tree) sameModes(other tree) bool {
	for name, e := range t {
		if o, ok := other[name]; ok && o.mode != e.mode {
			return false
		}
	}
	return true
}

// readTree returns all files and links below a folder, but for git's own.
func readTree(dir string) (tree, error) {
	all := tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(rel)], err = readEntry(name, d)
		return err
	})
	return all, err
}

func readEntry(name string, d fs.DirEntry) (entry, error) {
	if d.Type() == fs.ModeSymlink {
		target, err := os.Readlink(name)
		return entry{modeLink, []byte(target)}, err
	}
	info, err := d.Info()
	if err != nil {
		return entry{}, err
	}
	e := entry{mode: modePlain}
	if info.Mode()&0o100 != 0 {
		e.mode = modeExecutable
	}
	e.data, err = os.ReadFile(name)
	return e, err
}
