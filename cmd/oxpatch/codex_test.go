package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Windows cannot link the program to another name, so a batch file hands the patch over.
func TestBatchFileCallsTheHiddenFlag(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("apply_patch.bat")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(data), "\r\n"), "\r\n")
	assert.Equal(t, `"%~dp0oxpatch.exe" `+codexFlag+` %*`, lines[len(lines)-1], "the last command gives the exit code")
}

func TestCalledAsApplyPatch(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"apply_patch": true, "applypatch": true, "/usr/bin/apply_patch": true, "APPLY_PATCH": true,
		"ApplyPatch.EXE": true, "apply_patch.exe": true,
		"oxpatch": false, "apply_patch2": false, "apply-patch": false, "apply_patch.bat": false, "": false,
	} {
		assert.Equal(t, want, calledAsApplyPatch(name), name)
	}
}

// fakeStreams is the twin of system for tests.
type fakeStreams struct {
	streams
	stdout, stderr bytes.Buffer
}

func newStreams(t *testing.T, stdin string) *fakeStreams {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	f := &fakeStreams{}
	f.streams = streams{
		in: strings.NewReader(stdin), out: &f.stdout, err: &f.stderr,
		getenv: func(name string) string {
			if name == "HOME" {
				return home
			}
			return ""
		},
		getwd: func() (string, error) { return dir, nil },
	}
	return f
}

const addition = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n"

// unreadable fails in the middle.
type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, errors.New("torn pipe") }

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestInputThatBreaksOffIsNotAPatch(t *testing.T) {
	t.Parallel()
	s := newStreams(t, "")
	s.in = unreadable{}
	assert.Equal(t, exitUsage, run(context.Background(), []string{"oxpatch", "apply"}, s.streams))
	assert.Contains(t, s.stderr.String(), "oxpatch: torn pipe\n")
	s = newStreams(t, "")
	s.in = unreadable{}
	assert.Equal(t, exitRefused, run(context.Background(), []string{"apply_patch"}, s.streams))
	assert.Equal(t, "Error: Failed to read PATCH from stdin.\ntorn pipe\n", s.stderr.String())
}

func TestATerminalIsNotReadFrom(t *testing.T) {
	t.Parallel()
	s := newStreams(t, addition)
	s.inTerminal = true
	assert.Equal(t, exitUsage, run(context.Background(), []string{"oxpatch", "apply"}, s.streams))
	assert.Contains(t, s.stderr.String(), "hint: ")
}

// A result that cannot be printed is a failure. The exit code does not say that nothing was changed
// where files were.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"plain":   {[]string{"oxpatch", "apply"}, exitPartial},
		"json":    {[]string{"oxpatch", "apply", "--json"}, exitPartial},
		"check":   {[]string{"oxpatch", "apply", "--check", "--json"}, exitRefused},
		"log":     {[]string{"oxpatch", "log"}, exitRefused},
		"version": {[]string{"oxpatch", "version"}, exitRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreams(t, addition)
			if name == "log" {
				require.Equal(t, exitOK, run(context.Background(), []string{"oxpatch", "apply"}, s.streams), s.stderr.String())
			}
			s.out = full{}
			assert.Equal(t, c.want, run(context.Background(), c.args, s.streams))
			assert.Equal(t, 1, strings.Count(s.stderr.String(), "oxpatch: the result cannot be written: no space left\n"), s.stderr.String())
		})
	}
}

// Codex's rules know two exit codes only, and no word for it.
func TestOutputThatCannotBeWrittenAsCodex(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"by name":   {"apply_patch"},
		"by option": {"oxpatch", "apply", "--compat", "codex"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreams(t, addition)
			s.out = full{}
			assert.Equal(t, exitRefused, run(context.Background(), args, s.streams))
			assert.Empty(t, s.stderr.String())
		})
	}
}

// An interrupted run leaves the tree as it was and exits 130.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := newStreams(t, addition)
	assert.Equal(t, exitInterrupted, run(ctx, []string{"oxpatch", "apply", "--json"}, s.streams))
	doc, err := checker().CheckExit(s.stdout.Bytes(), exitInterrupted)
	require.NoError(t, err)
	assert.Equal(t, false, doc["applied"])
	dir, err := s.getwd()
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// endless is a pipe that nobody writes to.
type endless struct{}

func (endless) Read([]byte) (int, error) { select {} }

// A signal also ends a run that waits for its input.
func TestInterruptedWhileReading(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"plain":    {"oxpatch", "apply", "--json"},
		"as codex": {"apply_patch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(context.Background())
			s := newStreams(t, "")
			s.in = endless{}
			time.AfterFunc(50*time.Millisecond, cancel)
			code := make(chan int, 1)
			go func() { code <- run(ctx, args, s.streams) }()
			select {
			case got := <-code:
				assert.Equal(t, exitInterrupted, got)
			case <-time.After(10 * time.Second):
				require.Fail(t, "it goes on reading")
			}
			if args[0] == "oxpatch" {
				_, err := checker().CheckExit(s.stdout.Bytes(), exitInterrupted)
				require.NoError(t, err)
			}
		})
	}
}

// Without a working folder there is nothing to work on.
func TestNoWorkingFolder(t *testing.T) {
	t.Parallel()
	gone := func() (string, error) { return "", os.ErrNotExist }
	s := newStreams(t, addition)
	s.getwd = gone
	assert.Equal(t, exitUsage, run(context.Background(), []string{"oxpatch", "apply", "--json"}, s.streams))
	_, err := checker().CheckExit(s.stdout.Bytes(), exitUsage)
	require.NoError(t, err)
	s = newStreams(t, addition)
	s.getwd = gone
	assert.Equal(t, exitRefused, run(context.Background(), []string{"apply_patch"}, s.streams))
	assert.Contains(t, s.stderr.String(), "Error: Failed to determine current directory.\n")
}
