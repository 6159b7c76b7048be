package main

import (
	"bytes"
	"fmt"
)

// envelope writes sections as an envelope patch.
func envelope(sections []section) []byte {
	var b bytes.Buffer
	b.WriteString("*** Begin Patch\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "*** Update File: %s\n", s.path)
		for _, c := range s.chunks {
			b.WriteString("@@\n")
			s.body(&b, c)
		}
	}
	b.WriteString("*** End Patch\n")
	return b.Bytes()
}

// gitDiff writes sections as git would.
func gitDiff(sections []section) []byte {
	var b bytes.Buffer
	for _, s := range sections {
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n", s.path)
		for i, c := range s.chunks {
			from, to := s.window(c)
			// Every chunk before this one has made the file one line longer.
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1+i, to-from+1)
			s.body(&b, c)
		}
	}
	return b.Bytes()
}

// window gives the indexes of the lines that a chunk shows.
func (s section) window(c chunk) (from, to int) {
	return max(0, c.at-contextLines), min(len(s.lines), c.at+1+contextLines)
}

func (s section) body(b *bytes.Buffer, c chunk) {
	from, to := s.window(c)
	for i := from; i < to; i++ {
		if i != c.at {
			b.WriteString(" " + c.spoken(s.lines[i]) + "\n")
			continue
		}
		b.WriteString("-" + c.spoken(s.lines[i]) + "\n")
		for _, l := range replaced(s.lines[i]) {
			b.WriteString("+" + l + "\n")
		}
	}
}
