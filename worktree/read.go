package worktree

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/openoxide/oxpatch/change"
)

// readTries is how often a file that changes while it is read is read again.
const readTries = 3

// Read returns what stands at a key, which is not followed, and the stamp to give to the Writer.
// That nothing is there is a state, not an error. A folder or special file gives its Kind and no
// content. Errors are *PathError: ErrTooLarge, ErrDrift for a file that does not hold still, or the
// operating system's.
func (t *Tree) Read(key string) (change.State, Stamp, error) {
	dir, name := split(key)
	f, err := t.folder(dir)
	if err != nil {
		if isAbsent(err) {
			return change.State{}, Stamp{}, nil
		}
		return change.State{}, Stamp{}, failed(key, "cannot be looked at", err)
	}
	defer f.release()
	return t.readIn(f, name, key)
}

// ReadBetween is Read for a path of an operation that makes and removes these folders: one of them
// in the place of a file that goes, or of a file that is to come, is as good as nothing there.
func (t *Tree) ReadBetween(key string, made, removed []Dir) (change.State, Stamp, error) {
	state, stamp, err := t.Read(key)
	if err != nil || state.Kind != change.Dir {
		return state, stamp, err
	}
	for _, list := range [][]Dir{made, removed} {
		for _, dir := range list {
			if dir.Path == key {
				return change.State{}, Stamp{}, nil
			}
		}
	}
	return state, stamp, nil
}

func (t *Tree) readIn(f *folder, name, key string) (change.State, Stamp, error) {
	for range readTries {
		info, err := f.root.Lstat(name)
		if err != nil {
			if isAbsent(err) {
				return change.State{}, Stamp{}, nil
			}
			return change.State{}, Stamp{}, failed(key, "cannot be looked at", err)
		}
		state := change.State{Kind: kindOf(info)}
		switch state.Kind {
		case change.Symlink:
			target, err := f.root.Readlink(name)
			if err != nil {
				return change.State{}, Stamp{}, failed(key, "the link cannot be read", err)
			}
			state.Content = []byte(target)
			return state, stampOf(info, time.Now()), nil
		case change.File:
			content, stamp, err := t.content(f, name, key, info)
			if errors.Is(err, errMoving) {
				continue
			}
			if err != nil {
				return change.State{}, Stamp{}, err
			}
			state.Mode, state.Content = stamp.mode, content
			return state, stamp, nil
		}
		state.Mode = modeOf(info)
		return state, stampOf(info, time.Now()), nil
	}
	return change.State{}, Stamp{}, refuse(key, ErrDrift, "it keeps changing while it is read; "+
		"wait for the program that writes it and try again")
}

var errMoving = errors.New("file changed while it was read")

// content reads a regular file into one allocation of its size.
func (t *Tree) content(f *folder, name, key string, seen fs.FileInfo) ([]byte, Stamp, error) {
	file, info, err := openSame(f, name, os.O_RDONLY, seen)
	if err != nil {
		return nil, Stamp{}, failed(key, "cannot be read", err)
	}
	defer file.Close()
	if max := t.options.MaxFile; max > 0 && info.Size() > max {
		return nil, Stamp{}, refuse(key, ErrTooLarge, "it has %d bytes; files over %d bytes are not changed",
			info.Size(), max)
	}
	stamp := stampOf(info, time.Now())
	content := makeContent(info.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, Stamp{}, errMoving
		}
		return nil, Stamp{}, failed(key, "cannot be read", err)
	}
	after, err := file.Stat()
	if err != nil {
		return nil, Stamp{}, failed(key, "cannot be read", err)
	}
	if stampOf(after, time.Time{}).version() != stamp.version() {
		return nil, Stamp{}, errMoving
	}
	stamp.attrs = hasAttrs(file)
	return content, stamp, nil
}

// openSame opens the regular file that was looked at, and no other: Open would follow a link and
// wait for a FIFO that took its place meanwhile.
func openSame(f *folder, name string, flag int, seen fs.FileInfo) (*os.File, fs.FileInfo, error) {
	file, err := f.root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(info, seen)) {
		err = errMoving
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// holdsContent reports whether the file that was looked at has exactly that content. It reads
// through a small buffer, so that a large file is not held twice.
func (f *folder) holdsContent(name string, seen fs.FileInfo, want []byte) (bool, error) {
	if seen.Size() != int64(len(want)) {
		return false, nil
	}
	file, info, err := openSame(f, name, os.O_RDONLY, seen)
	if errors.Is(err, errMoving) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	if info.Size() != int64(len(want)) {
		return false, nil
	}
	buf := make([]byte, min(len(want), 64<<10))
	for len(want) > 0 {
		n, err := file.Read(buf)
		if n > len(want) || !bytes.Equal(want[:n], buf[:n]) || errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		want = want[n:]
	}
	return true, nil
}
