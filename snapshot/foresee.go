package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Foresee says whether Open would find a place for new records, without writing anything: nil, or
// the error that Open would give. It goes by what the system says may be written, which in a sandbox
// can be more than what can.
func (s *Site) Foresee() error {
	var tried []Unusable
	for _, p := range s.Write {
		err := foresee(p.Dir)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrTorn) {
			return err
		}
		tried = append(tried, Unusable{Place: p, Err: err})
	}
	return &NoStoreError{Tried: tried}
}

func foresee(dir string) error {
	known, err := checkFormat(dir)
	if err != nil {
		return err
	}
	if known {
		return errors.Join(writable(dir), writable(filepath.Join(dir, "objects", "pack")))
	}
	if err := vacant(dir); err != nil {
		return err
	}
	return writable(existing(dir))
}

// existing returns the nearest folder or file at or above a path.
func existing(path string) string {
	for {
		parent := filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || parent == path {
			return path
		}
		path = parent
	}
}

// writable says whether files can be made in a folder.
func writable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("not a directory")}
	}
	return mayWrite(dir)
}
