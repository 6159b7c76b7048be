package gitrepo

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// errTooLarge is returned for a file that is larger than anything git writes in its place.
var errTooLarge = errors.New("file is too large")

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if int64(len(data)) > limit {
			return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}
