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

// newScratch makes the folder, which only its owner can look into. bytes is about how large it will
// become.
func newScratch(bytes int64) (*scratch, error) {
	dir, lock, err := scratchDir(bytes)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	// git names the scratch with links resolved, and commands of the user may see both.
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	s := &scratch{dir: dir, tree: filepath.Join(dir, "tree"), index: filepath.Join(dir, "index"), objects: filepath.Join(dir, "objects"), copied: map[string]bool{}, lock: lock}
	for _, d := range []string{s.tree, s.objects} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// giveIndex makes the scratch's index. It has the time of the real one: git compares the times of
// files with it to find those that may have changed since within one tick of the clock.
func (s *scratch) giveIndex(data []byte, print indexPrint) error {
	if !print.exists {
		return nil
	}
	if err := os.WriteFile(s.index, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(s.index, time.Time{}, print.mtime)
}

// scratchDir makes the folder in memory if it is small, else where temporary files are wanted.
func scratchDir(bytes int64) (string, *flock.Flock, error) {
	if os.Getenv("TMPDIR") == "" {
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

// readIndex reads an index file. Without one it has no content.
func readIndex(path string) ([]byte, indexPrint, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, indexPrint{}, nil
	}
	if err != nil {
		return nil, indexPrint{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, indexPrint{}, err
	}
	data := make([]byte, info.Size()) // git replaces an index, and writes into none
	_, err = io.ReadFull(f, data)
	return data, printOf(info), err
}

// takeIndex makes to a second name of the index, or a copy of it. git never writes into an index, it
// replaces it, so a second name is as good. A copy keeps the time, as giveIndex says. Without an
// index nothing is made.
func takeIndex(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return copyIndex(from, to)
}

func copyIndex(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
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
