package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Effect names a kind of change that the store is about to make on disk.
type Effect string

// The effects that an Options.Effects hook is asked about.
const (
	EffectMkdir  Effect = "mkdir"
	EffectCreate Effect = "create"
	EffectWrite  Effect = "write"
	EffectSync   Effect = "sync"
	EffectRename Effect = "rename"
	EffectRemove Effect = "remove"
)

const (
	dirMode  = 0o700 // before-images may hold secrets
	fileMode = 0o600
)

// disk makes all changes on disk, each announced to the hook first.
type disk struct {
	hook func(Effect, string) error
	// synced says whether sync does anything.
	synced bool
}

func (d *disk) allow(e Effect, path string) error {
	if d.hook == nil {
		return nil
	}
	return d.hook(e, path)
}

// mkdirAll makes a folder and its missing parents, private to the user, and syncs the parent of each
// that it made, where that is needed: a new folder is lost with its parent's entry.
func (d *disk) mkdirAll(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("not a directory")}
		}
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := d.mkdirAll(parent); err != nil {
			return err
		}
	}
	if err := d.allow(EffectMkdir, dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if fileSyncKeepsName {
		return nil // with the first file synced in it
	}
	return d.syncDir(filepath.Dir(dir))
}

// createTemp makes a new private file in dir. Its name begins with "tmp_", which git's own gc
// takes for debris once it is old.
func (d *disk) createTemp(dir, what string) (*os.File, error) {
	if err := d.allow(EffectCreate, filepath.Join(dir, "tmp_"+what)); err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, "tmp_"+what+"_")
}

func (d *disk) write(f *os.File, data []byte) error {
	if err := d.allow(EffectWrite, f.Name()); err != nil {
		return err
	}
	_, err := f.Write(data)
	return err
}

func (d *disk) sync(f *os.File) error {
	if !d.synced {
		return nil
	}
	if err := d.allow(EffectSync, f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

func (d *disk) syncDir(dir string) error {
	if !d.synced {
		return nil
	}
	if err := d.allow(EffectSync, dir); err != nil {
		return err
	}
	return syncFolder(dir)
}

// publish gives a file that was written under a temporary name its own, so that after its return
// both survive a power loss, and closes it. The Linux file systems with a journal (ext4, XFS,
// Btrfs) put the name on disk with the file: there one sync after the rename does for both. If the
// power goes in between, a file without content may stand there, which readers take for none.
func (d *disk) publish(f *os.File, path string) error {
	if !d.synced || fileSyncKeepsName {
		if err := d.rename(f.Name(), path); err != nil {
			return err
		}
		err := errors.Join(d.sync(f), f.Close())
		if err != nil && !errors.Is(err, ErrKilled) {
			_ = d.remove(path)
		}
		return err
	}
	if err := d.sync(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := d.rename(f.Name(), path); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(path))
}

func (d *disk) rename(from, to string) error {
	if err := d.allow(EffectRename, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (d *disk) remove(path string) error {
	if err := d.allow(EffectRemove, path); err != nil {
		return err
	}
	return os.Remove(path)
}

// discard closes and removes a temporary file after a failure; after a kill it stays, as it would.
func (d *disk) discard(f *os.File, cause error) {
	f.Close()
	if !errors.Is(cause, ErrKilled) {
		_ = d.remove(f.Name())
	}
}

// replace writes a whole file beside its place and renames it there. sync says whether the bytes
// must be on disk before the name is.
func (d *disk) replace(tempDir, path string, data []byte, sync bool) error {
	f, err := d.createTemp(tempDir, "file")
	if err != nil {
		return err
	}
	if err = d.write(f, data); err == nil && sync {
		err = d.sync(f)
	}
	if err != nil {
		d.discard(f, err)
		return err
	}
	if err = f.Close(); err == nil {
		err = d.rename(f.Name(), path)
	}
	if err != nil {
		d.discard(f, err)
	}
	return err
}
