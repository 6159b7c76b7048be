package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// makeCommand makes the work of one row in a process of its own.
const makeCommand = "make-work"

// Names inside the folder of a row.
const (
	treeDir   = "tree"  // the files before
	smallDir  = "small" // of undoShape: the tree of a small repository
	patchFile = "patch" // the patch, of gitShape a git diff
	wantFile  = "want"  // lines of hash, blank, path
	haveFile  = "have"  // the same for the files before
)

// makeWork writes the work of the row named by the first argument into the folder named by the
// second.
func makeWork(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: wants a row and a folder", makeCommand)
	}
	for _, r := range rows() {
		if r.name == args[0] {
			return r.write(args[1])
		}
	}
	return fmt.Errorf("%s: no such row", args[0])
}

func (r row) write(dir string) error {
	w := r.make()
	if err := writeTree(filepath.Join(dir, treeDir), w.files); err != nil {
		return err
	}
	patch := w.patch
	switch r.shape {
	case gitShape:
		patch = gitDiff(w.sections)
	case undoShape:
		// The small tree has the files that the patch names, and as many more as make 1,000.
		small := manyFiles(1000, 1000, 10).files
		for path := range w.want {
			small[path] = w.files[path]
		}
		if err := writeTree(filepath.Join(dir, smallDir), small); err != nil {
			return err
		}
	}
	have := map[string][]byte{}
	for path := range w.want {
		if content, ok := w.files[path]; ok {
			have[path] = content
		}
	}
	for name, content := range map[string][]byte{patchFile: patch, wantFile: hashList(w.want), haveFile: hashList(have)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func writeTree(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for path, content := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func hashList(files map[string][]byte) []byte {
	var b strings.Builder
	for path, content := range files {
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(content), path)
	}
	return []byte(b.String())
}
