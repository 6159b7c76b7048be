package main

import (
	"bytes"
	"context"
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

// interruptible waits for read to end, but no longer than for ctx: a signal has to end a program that
// waits for a pipe, or for somebody to open its other end. The reading itself then goes on until the
// process ends.
func interruptible(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := read()
		done <- outcome{data, err}
	}()
	select {
	case o := <-done:
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return o.data, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
