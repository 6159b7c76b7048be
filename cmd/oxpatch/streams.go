package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// streams is what the program reads and writes, and what it wants to know of them.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// inTerminal says that nothing was piped in: reading would wait for the keyboard.
	inTerminal bool
	getenv     func(string) string
	getwd      func() (string, error)
}

// system returns the process's own streams.
func system() streams {
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		getenv:     os.Getenv, getwd: os.Getwd,
	}
}
