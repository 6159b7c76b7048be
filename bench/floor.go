package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strings"
)

// floorCommand runs the floor program.
const floorCommand = "floor"

// floor does what no applier can do without: it reads the patch and every file that the patch
// names, hashes each line once and writes the files out. It finds no places and changes nothing;
// of an addition it writes the lines.
func floor(in io.Reader, out io.Writer) error {
	patch, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	h := hasher{seed: maphash.MakeSeed()}
	h.lines(patch)
	var added *bufio.Writer
	for line := range bytes.Lines(patch) {
		text := string(bytes.TrimSuffix(line, []byte{'\n'}))
		if path, ok := strings.CutPrefix(text, "*** Update File: "); ok {
			if err := h.rewrite(path); err != nil {
				return err
			}
		} else if path, ok := strings.CutPrefix(text, "*** Add File: "); ok {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			added = bufio.NewWriterSize(f, 1<<20)
		} else if added != nil && line[0] == '+' {
			_, _ = added.Write(line[1:]) // the writer keeps its first error for Flush
		}
	}
	if added != nil {
		if err := added.Flush(); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(out, h.sum)
	return err
}

// hasher adds up the hashes, so that no compiler can leave them out.
type hasher struct {
	seed maphash.Seed
	sum  uint64
}

func (h *hasher) lines(text []byte) {
	for line := range bytes.Lines(text) {
		h.sum += maphash.Bytes(h.seed, line)
	}
}

func (h *hasher) rewrite(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	h.lines(content)
	return os.WriteFile(path, content, 0o666)
}
