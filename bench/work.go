package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// work is a tree, a patch to it and what must come out.
type work struct {
	files map[string][]byte
	patch []byte
	want  map[string][]byte // only the files that the patch names
	// sections are what the patch was written from, to write it in another form.
	sections []section
}

// section is the part of a patch for one file.
type section struct {
	path   string
	lines  []string // of the file before, without terminators
	chunks []chunk  // from top to bottom, apart from each other
}

// chunk replaces one line by two.
type chunk struct {
	at     int                 // index of the line
	spoken func(string) string // how the patch spells the lines that are there
}

// How the old lines of a chunk are spelled in the patch.
func exactly(line string) string    { return line }
func unindented(line string) string { return strings.TrimLeft(line, " ") }

func folded(line string) string {
	return strings.NewReplacer("“", `"`, "”", `"`, "–", "-").Replace(line)
}

// contextLines is the number of unchanged lines on each side of a chunk.
const contextLines = 3

// typographicLines are lines of some 60 bytes, all different, indented by four blanks and with
// punctuation outside ASCII, so that every other way of spelling them differs from them.
func typographicLines(n int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 1))
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("    entry[%07d] = “value %08x” – note %06d", i, random.Uint32(), random.IntN(1_000_000))
	}
	return lines
}

// plainLines are the same in ASCII, as almost all source text is.
func plainLines(n int, seed uint64) []string {
	lines := typographicLines(n, seed)
	for i, l := range lines {
		lines[i] = folded(l)
	}
	return lines
}

// replaced is what a chunk puts in place of a line. The new lines have the file's indentation even
// where the patch leaves out that of the old ones, so that no policy has a reason to move them.
func replaced(line string) []string {
	return []string{line + " changed", "    entry.added = true"}
}

// largeFile is one file with chunks spread evenly over it, their old lines spelled in one way.
func largeFile(lines []string, chunks int, spoken func(string) string) work {
	s := section{path: "large.txt", lines: lines}
	for i := range chunks {
		s.chunks = append(s.chunks, chunk{at: (2*i + 1) * len(lines) / (2 * chunks), spoken: spoken})
	}
	return newWork([]section{s}, []section{s})
}

// manyFiles is a tree of small files with one chunk each.
func manyFiles(files, folders, lines int) work {
	var list []section
	for i := range files {
		path := fmt.Sprintf("dir%03d/file%05d.txt", i%folders, i)
		list = append(list, section{
			path: path, lines: plainLines(lines, uint64(i)+100),
			chunks: []chunk{{at: lines / 2, spoken: exactly}},
		})
	}
	return newWork(list, list)
}

// equalLines is a file whose lines are all the same but the last, and one long chunk that agrees
// with the file everywhere but for its own last line.
func equalLines(lines, long int) work {
	text := append(strings.Split(strings.Repeat("the same line once more\n", lines-1), "\n")[:lines-1], "the end")
	var p strings.Builder
	p.WriteString("*** Begin Patch\n*** Update File: equal.txt\n@@\n")
	for _, l := range text[lines-long : lines-1] {
		p.WriteString(" " + l + "\n")
	}
	p.WriteString("-the end\n+another end\n*** End Patch\n")
	after := append(text[:lines-1:lines-1], "another end")
	return work{
		files: map[string][]byte{"equal.txt": join(text)},
		patch: []byte(p.String()),
		want:  map[string][]byte{"equal.txt": join(after)},
	}
}

// addition is one large new file in an empty tree.
func addition(lines int) work {
	text := plainLines(lines, 11)
	var p bytes.Buffer
	p.WriteString("*** Begin Patch\n*** Add File: new.txt\n")
	for _, l := range text {
		p.WriteString("+" + l + "\n")
	}
	p.WriteString("*** End Patch\n")
	return work{patch: p.Bytes(), want: map[string][]byte{"new.txt": join(text)}}
}

// newWork has the patch of some sections for a tree of sections.
func newWork(tree, patched []section) work {
	w := work{files: map[string][]byte{}, want: map[string][]byte{}, sections: patched}
	for _, s := range tree {
		w.files[s.path] = join(s.lines)
	}
	for _, s := range patched {
		w.want[s.path] = join(s.after())
	}
	w.patch = envelope(patched)
	return w
}

// only keeps the whole tree but patches the first n files.
func (w work) only(n int) work {
	kept := w.sections[:n]
	small := newWork(nil, kept)
	small.files = w.files
	return small
}

func (s section) after() []string {
	out := make([]string, 0, len(s.lines)+len(s.chunks))
	at := 0
	for _, c := range s.chunks {
		out = append(out, s.lines[at:c.at]...)
		out = append(out, replaced(s.lines[c.at])...)
		at = c.at + 1
	}
	return append(out, s.lines[at:]...)
}

func join(lines []string) []byte {
	return []byte(strings.Join(lines, "\n") + "\n")
}
