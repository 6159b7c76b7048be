package worktree

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/openoxide/oxpatch/change"
)

// old is what a new file takes over from the one it replaces.
type old struct {
	exists   bool // it stands there now
	known    bool // uid and gid are known
	uid, gid uint32
	attrs    map[string][]byte
	mode     fs.FileMode
}

// replaced looks up what to keep of the file that stands at name.
func (r *run) replaced(f *folder, name string, file File) (old, error) {
	stamp := file.Stamp
	if file.Before.Kind != change.File || !stamp.valid {
		info, err := f.root.Lstat(name)
		if isAbsent(err) || err == nil && !info.Mode().IsRegular() {
			return r.moved(file)
		}
		if err != nil {
			return old{}, err
		}
		stamp = stampOf(info, time.Time{})
		stamp.attrs = true // not known yet
	}
	o := old{exists: true, known: hasOwners, uid: stamp.uid, gid: stamp.gid, mode: stamp.mode}
	if stamp.attrs {
		o.attrs = attrsOf(f, name)
	}
	return o, nil
}

// moved looks up what a file that is made anew takes over: from where it comes, or from its stamp
// when a delete is taken back.
func (r *run) moved(file File) (old, error) {
	stamp := file.Stamp
	o := old{known: stamp.valid && hasOwners, uid: stamp.uid, gid: stamp.gid}
	from, ok := r.source[file.Path]
	if !ok {
		return o, nil
	}
	dir, name := split(from)
	f, err := r.t.folder(dir)
	if err != nil {
		return o, nil
	}
	defer f.release()
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return o, nil
	}
	stamp = stampOf(info, time.Time{})
	return old{known: hasOwners, uid: stamp.uid, gid: stamp.gid, attrs: attrsOf(f, name)}, nil
}

// attrsOf reads the extended attributes of a file, as far as they can be read.
func attrsOf(f *folder, name string) map[string][]byte {
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, _, err := openSame(f, name, os.O_RDONLY, info)
	if err != nil {
		return nil
	}
	defer file.Close()
	return attrs(file)
}

// modeFor returns the mode that the new file is to have; 0 leaves it to the umask.
func modeFor(file File, o old) fs.FileMode {
	if file.After.Mode != 0 {
		return file.After.Mode
	}
	if file.Before.Kind == change.File {
		return file.Before.Mode
	}
	return 0
}

// create writes a new file with all that belongs to it. It is private to its owner until owner and
// access lists are in place. made is called as soon as the file exists and is ours: one that stood
// there already is not ours to remove when the run is taken back.
func (r *run) create(f *folder, name string, file File, o old, made func()) error {
	mode := modeFor(file, o)
	perm := fs.FileMode(0o666)
	if mode != 0 {
		perm = mode.Perm()
		if o.known && !isCaller(o.uid) || len(o.attrs) > 0 {
			perm &= 0o700
		}
	}
	out, err := f.create(name, perm)
	if err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	made()
	err = r.fill(out, file, mode, o)
	if e := out.Close(); err == nil && e != nil {
		err = failed(file.Path, "cannot be written", e)
	}
	return err
}

func (r *run) fill(out *os.File, file File, mode fs.FileMode, o old) error {
	t := r.t
	if err := t.writeAll(out, file.Path, file.After.Content, o.exists); err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	if mode != 0 || o.known {
		if err := r.keep(out, file, mode, o); err != nil {
			return err
		}
	}
	if r.power {
		return failed(file.Path, "cannot be synced", t.syncFile(out, file.Path))
	}
	return nil
}

// keep gives the new file owner, attributes and mode. The mode comes after writing and after a
// change of owner, which both clear the setuid bit, and after the access list, which sets the
// group's bits.
func (r *run) keep(out *os.File, file File, mode fs.FileMode, o old) error {
	info, err := out.Stat()
	if err != nil {
		return failed(file.Path, "cannot be written", err)
	}
	now := modeOf(info)
	if o.known && !ownedBy(info, o) {
		now = unknownMode
		if err := r.keepOwner(out, file, o); err != nil {
			return err
		}
	}
	if len(o.attrs) > 0 || o.exists && hasAttrs(out) {
		now = unknownMode
		if err := r.t.effect(OpAttr, file.Path); err != nil {
			return failed(file.Path, "its attributes cannot be set", err)
		}
		setAttrs(out, o.attrs)
	}
	if mode == 0 || (mode^now)&(modeBits|unknownMode) == 0 {
		return nil
	}
	return failed(file.Path, "its mode cannot be set", r.t.chmodFile(out, file.Path, mode))
}

// unknownMode is equal to no mode.
const unknownMode = fs.ModeType

func ownedBy(info fs.FileInfo, o old) bool {
	s := stampOf(info, time.Time{})
	return s.uid == o.uid && s.gid == o.gid
}

// keepOwner gives the new file owner and group of the old one. Where that is not allowed a
// replacement is refused: the file would change hands. A file that is made again, having been
// deleted, takes what it can get.
func (r *run) keepOwner(out *os.File, file File, o old) error {
	err := r.t.chownFile(out, file.Path, int(o.uid), int(o.gid))
	switch {
	case err == nil || !o.exists && !errors.Is(err, ErrKilled):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return notOwned(file.Path, o.uid, o.gid)
	}
	return failed(file.Path, "its owner cannot be kept", err)
}
