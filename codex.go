package oxpatch

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/worktree"
)

// codexOutput is what codex-cli's apply_patch prints for a run.
type codexOutput struct {
	stdout, stderr string
}

// CodexOutput returns what the apply_patch command of codex-cli 0.171.0 prints for this run, byte
// for byte, and whether it succeeds. It is meaningful for a run with CompatCodex.
func (r *Result) CodexOutput() (stdout, stderr string) { return r.codex.stdout, r.codex.stderr }

// codexSummary lists the sections that were done: added, modified and deleted files, each group in
// patch order, a path as the patch spells it, a moved file under its new name.
func codexSummary(sections []textapply.Section) string {
	var b strings.Builder
	b.WriteString("Success. Updated the following files:\n")
	for _, group := range []struct {
		letter string
		kind   textapply.SectionKind
	}{{"A", textapply.Add}, {"M", textapply.Update}, {"D", textapply.Delete}} {
		for _, s := range sections {
			if s.Kind != group.kind {
				continue
			}
			path := s.Path
			if s.MoveTo != "" {
				path = s.MoveTo
			}
			fmt.Fprintf(&b, "%s %s\n", group.letter, path)
		}
	}
	return b.String()
}

// codexPlanMessage is Codex's line for a section that could not be planned.
func codexPlanMessage(base string, s *textapply.Section, e *textapply.Error) string {
	place := codexPath(base, e.Path)
	switch {
	case errors.Is(e.Err, errNULInPath):
		return fmt.Sprintf("'%s' is invalid on 'linux'\n", e.Path)
	case s.Kind == textapply.Add, s.MoveTo != "" && e.Path == s.MoveTo && e.Path != s.Path:
		return codexWriteMessage(place, e.Err)
	case s.Kind == textapply.Delete:
		return "Failed to delete file " + place + "\n"
	case errors.Is(e.Err, textapply.ErrNoContext):
		return fmt.Sprintf("Failed to find context '%s' in %s\n", e.Want[0], place)
	case errors.Is(e.Err, textapply.ErrNoMatch):
		return fmt.Sprintf("Failed to find expected lines in %s:\n%s\n", place, strings.Join(e.Want, "\n"))
	}
	return fmt.Sprintf("Failed to read file to update %s: %s\n", place, codexReadCause(place, e))
}

// codexReadCause says why a file to update could not be read.
func codexReadCause(place string, e *textapply.Error) string {
	switch {
	case errors.Is(e.Err, textapply.ErrNotText) && e.Detail != "":
		return e.Detail
	case errors.Is(e.Err, textapply.ErrMissing):
		return codexErrno(syscall.ENOENT)
	case errors.Is(e.Err, textapply.ErrIsDirectory), errors.Is(e.Err, textapply.ErrNotText),
		errors.Is(e.Err, worktree.ErrIsDirectory), errors.Is(e.Err, worktree.ErrNotRegular):
		return fmt.Sprintf("path `%s` is not a file", place)
	case errors.Is(e.Err, worktree.ErrParentIsFile):
		return codexErrno(syscall.ENOTDIR)
	case errors.Is(e.Err, worktree.ErrLinkLoop):
		return codexErrno(syscall.ELOOP)
	case errors.Is(e.Err, worktree.ErrDanglingParent), errors.Is(e.Err, worktree.ErrDanglingLink):
		return codexErrno(syscall.ENOENT)
	}
	var errno syscall.Errno
	if errors.As(e.Err, &errno) {
		return codexErrno(errno)
	}
	return e.Err.Error()
}

// codexWriteMessage is Codex's line for a file that could not be written; it names no cause.
func codexWriteMessage(place string, err error) string {
	var put *worktree.PutError
	if errors.As(err, &put) && put.Stage == worktree.PutParents || errors.Is(err, worktree.ErrDanglingParent) {
		return "Failed to create parent directories for " + place + "\n"
	}
	return "Failed to write file " + place + "\n"
}

// codexErrno spells an error of the system as Codex's Linux build does, which carries the texts of
// musl; they differ from Go's.
func codexErrno(e syscall.Errno) string {
	text, ok := map[syscall.Errno]string{
		syscall.ENOENT:       "No such file or directory",
		syscall.ENOTDIR:      "Not a directory",
		syscall.EISDIR:       "Is a directory",
		syscall.EACCES:       "Permission denied",
		syscall.EPERM:        "Operation not permitted",
		syscall.ELOOP:        "Symbolic link loop",
		syscall.ENAMETOOLONG: "Filename too long",
		syscall.EIO:          "I/O error",
		syscall.EMFILE:       "No file descriptors available",
	}[e]
	if !ok {
		text = e.Error()
	}
	return fmt.Sprintf("%s (os error %d)", text, int(e))
}

// codexPath is the form of a path in Codex's errors: absolute, cleaned by its text.
func codexPath(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
