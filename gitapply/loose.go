package gitapply

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// readLoose reads a blob that git has just written as a file of its own. os.IsNotExist tells that
// it has not.
func readLoose(objects, id string) ([]byte, error) {
	f, err := os.Open(filepath.Join(objects, id[:2], id[2:]))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", id, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", id, err)
	}
	_, content, ok := bytes.Cut(data, []byte{0})
	if !ok || !bytes.HasPrefix(data, []byte("blob ")) {
		return nil, fmt.Errorf("object %s: %w: no blob", id, ErrGit)
	}
	return content, nil
}
