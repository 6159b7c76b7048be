package gitapply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// The extended flags of an index entry that outlive the process, as "git ls-files --debug" prints
// them; its other bits are git's own notes while it runs.
const (
	FlagAssumeUnchanged = 0x8000
	FlagIntentToAdd     = 0x20000000
	FlagSkipWorktree    = 0x40000000
	keptFlags           = FlagAssumeUnchanged | FlagIntentToAdd | FlagSkipWorktree
)

// maxArgs is how many paths go on a command line. git compares each entry of the index with each of
// them, so with many it is faster to list all.
const maxArgs = 64

// list reads the lines of the index for the paths. An index that is one whole file is read here; a
// process that reads it costs as much again as the work that is to be done on it.
func (r *runner) list(ctx context.Context, p place, paths []string) (map[string][]change.IndexLine, error) {
	if len(paths) == 0 {
		return map[string][]change.IndexLine{}, nil
	}
	data, err := os.ReadFile(p.index)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string][]change.IndexLine{}, nil
	}
	if err != nil {
		return nil, err
	}
	if lines, ok := scanIndex(data, r.idLength()/2, paths); ok {
		return lines, nil
	}
	return r.ask(ctx, p, paths)
}

// ask has git list the lines.
func (r *runner) ask(ctx context.Context, p place, paths []string) (map[string][]change.IndexLine, error) {
	args := []string{"--literal-pathspecs", "ls-files", "-z", "--stage", "-v", "--debug"}
	if len(paths) <= maxArgs {
		args = append(append(args, "--"), paths...)
	}
	out, err := r.must(ctx, p, nil, args...)
	if err != nil {
		return nil, err
	}
	return parseList(out, paths)
}

// parseList reads "ls-files -z --stage --debug": a line of entry ended by a zero byte, then five
// lines of debugging. Names that are not asked for are left out.
func parseList(out []byte, paths []string) (map[string][]change.IndexLine, error) {
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	lines := map[string][]change.IndexLine{}
	for len(out) > 0 {
		entry, rest, ok := bytes.Cut(out, []byte{0})
		if !ok {
			return nil, fmt.Errorf("git ls-files: %w: its output ends in the middle", ErrGit)
		}
		debug := rest
		for range 5 {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				return nil, fmt.Errorf("git ls-files: %w: its output ends in the middle", ErrGit)
			}
			rest = rest[i+1:]
		}
		head, name, _ := bytes.Cut(entry, []byte{'\t'})
		if wanted[string(name)] {
			line, err := parseEntry(string(head), debug[:len(debug)-len(rest)])
			if err != nil {
				return nil, err
			}
			lines[string(name)] = append(lines[string(name)], line)
		}
		out = rest
	}
	return lines, nil
}

// parseEntry reads "H 100644 OID STAGE" and the flags out of the debugging lines.
func parseEntry(head string, debug []byte) (change.IndexLine, error) {
	bad := fmt.Errorf("git ls-files: %w: unexpected output %q", ErrGit, head)
	f := strings.Fields(head)
	_, flags, ok := bytes.Cut(debug, []byte("flags: "))
	if len(f) != 4 || !ok {
		return change.IndexLine{}, bad
	}
	mode, err1 := strconv.ParseUint(f[1], 8, 32)
	stage, err2 := strconv.Atoi(f[3])
	bits, err3 := strconv.ParseUint(strings.TrimSpace(string(flags)), 16, 32)
	if err1 != nil || err2 != nil || err3 != nil {
		return change.IndexLine{}, bad
	}
	return change.IndexLine{Mode: uint32(mode), OID: f[2], Stage: stage, Flags: uint32(bits) & keptFlags}, nil
}

func sameLines(a, b []change.IndexLine) bool { return slices.Equal(a, b) }

// staged returns the entry at stage 0, if there is one.
func staged(lines []change.IndexLine) (change.IndexLine, bool) {
	if len(lines) == 1 && lines[0].Stage == 0 {
		return lines[0], true
	}
	return change.IndexLine{}, false
}

func unmerged(lines []change.IndexLine) bool { return len(lines) > 0 && lines[0].Stage > 0 }

const (
	modeFile    = 0o100644
	modeExec    = 0o100755
	modeLink    = 0o120000
	modeGitlink = 0o160000
)
