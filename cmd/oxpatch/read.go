package main

import (
	"bytes"
	"io"
	"os"
)

// readAll reads r to its end, or with a positive limit at most so many bytes. A regular file is
// read into one piece of memory of its size; io.ReadAll would copy a large patch several times.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	if limit > 0 {
		r = io.LimitReader(r, limit)
	}
	const first = 16 << 10
	var buf bytes.Buffer
	buf.Grow(max(first, sizeHint(r)+bytes.MinRead))
	_, err := buf.ReadFrom(r)
	return buf.Bytes(), err
}

// sizeHint returns how many bytes a regular file has left, 0 where that is not known.
func sizeHint(r io.Reader) int {
	limit := int64(1 << 30)
	if l, ok := r.(*io.LimitedReader); ok {
		r, limit = l.R, min(limit, l.N)
	}
	file, ok := r.(*os.File)
	if !ok {
		return 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return int(max(0, min(info.Size()-at, limit)))
}
