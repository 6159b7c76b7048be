package gitapply

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/openoxide/oxpatch/change"
)

// scratch is the private folder in which git works: tree stands in for the working tree, index for
// the index, and new objects go to objects.
type scratch struct {
	dir, tree, index, objects string
	copied                    map[string]bool
	lock                      *flock.Flock // nil where nothing can be locked
}

// indexPrint tells whether the index file is the one that was read.
type indexPrint struct {
	exists bool
	size   int64
	mtime  time.Time
}

// newScratch makes the folder, which only its owner can look into, and gives it the index.
// bytes is about how large it will become, the index apart.
func newScratch(indexFile string, bytes int64) (*scratch, indexPrint, error) {
	dir, lock, err := scratchDir(indexFile, bytes)
	if err != nil {
		return nil, indexPrint{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, indexPrint{}, err
	}
	// git names the scratch with links resolved, and commands of the user may see both.
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	s := &scratch{dir: dir, tree: filepath.Join(dir, "tree"), index: filepath.Join(dir, "index"), objects: filepath.Join(dir, "objects"), copied: map[string]bool{}, lock: lock}
	for _, d := range []string{s.tree, s.objects} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, indexPrint{}, errors.Join(err, s.close())
		}
	}
	print, err := takeIndex(indexFile, s.index)
	if err != nil {
		return nil, indexPrint{}, errors.Join(err, s.close())
	}
	return s, print, nil
}

// scratchDir makes the folder in memory if it is small, else where temporary files are wanted.
func scratchDir(indexFile string, bytes int64) (string, *flock.Flock, error) {
	if os.Getenv("TMPDIR") == "" {
		if info, err := os.Stat(indexFile); err == nil {
			bytes += 2 * info.Size()
		}
		if parent := inMemory(bytes); parent != "" {
			if dir, lock, err := tempScratch(parent); err == nil {
				return dir, lock, nil
			}
		}
	}
	return tempScratch("")
}

func (s *scratch) close() error { return removeScratch(s.dir, s.lock) }

func (s *scratch) place() place {
	return place{dir: s.tree, tree: s.tree, index: s.index, objects: s.objects, config: inScratch()}
}

// takeIndex makes to a second name of the index, or a copy of it. git never writes into an index, it
// replaces it, so a second name is as good. A copy keeps the time: git compares the times of files
// with it to find those that may have changed since within one tick of the clock. Without an index
// nothing is made.
func takeIndex(from, to string) (indexPrint, error) {
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return indexPrint{}, nil
	}
	if err == nil {
		if info, err := os.Stat(to); err == nil {
			return printOf(info), nil
		}
	}
	return copyIndex(from, to)
}

func copyIndex(from, to string) (indexPrint, error) {
	in, err := os.Open(from)
	if err != nil {
		return indexPrint{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return indexPrint{}, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return indexPrint{}, err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return indexPrint{}, err
	}
	return printOf(info), os.Chtimes(to, time.Time{}, info.ModTime())
}

func printOf(info fs.FileInfo) indexPrint {
	return indexPrint{exists: true, size: info.Size(), mtime: info.ModTime()}
}

// put copies one file, link or folder into the tree.
func (s *scratch) put(name string, st change.State) error {
	full := filepath.Join(s.tree, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	s.copied[name] = true
	switch st.Kind {
	case change.File:
		if err := os.WriteFile(full, st.Content, 0o600); err != nil {
			return err
		}
		return os.Chmod(full, st.Mode.Perm()|0o600)
	case change.Symlink:
		return os.Symlink(string(st.Content), full)
	case change.Dir:
		return os.MkdirAll(full, 0o700)
	}
	return nil
}

// attributes copies the .gitattributes that stand beside and above the named files in the working
// tree. git falls back to those of the index, so one that is left out for being clean is the same.
func (s *scratch) attributes(top string, names []string, leave map[string]bool) error {
	done := map[string]bool{}
	for _, name := range names {
		for dir := name; dir != ""; {
			i := strings.LastIndexByte(dir, '/')
			dir = dir[:max(i, 0)]
			file := strings.TrimPrefix(dir+"/.gitattributes", "/")
			if done[file] || leave[file] || s.copied[file] {
				done[file] = true
				continue
			}
			done[file] = true
			st, err := readState(top, file, 0)
			if err != nil || st.Kind != change.File {
				continue
			}
			if err := s.put(file, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// stageAll puts the copied files into the scratch's index, as "git add" would.
func (r *runner) stageAll(ctx context.Context, s *scratch, names []string, c []string) error {
	if len(names) == 0 {
		return nil
	}
	p := s.place()
	p.config = append(p.config, c...)
	var in bytes.Buffer
	for _, n := range names {
		in.WriteString(n + "\x00")
	}
	_, err := r.must(ctx, p, in.Bytes(), "update-index", "--add", "--replace", "-z", "--stdin")
	return err
}
