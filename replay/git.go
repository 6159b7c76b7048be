package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// repository is read through git's plumbing, with nothing of the user's configuration.
type repository struct{ dir string }

// command returns a git command with a pinned environment. Variables of the caller that would lead
// git elsewhere, or change what it prints, are left out.
func (r repository) command(ctx context.Context, args ...string) *exec.Cmd {
	pinned := []string{"-C", r.dir, "--no-pager", "-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false"}
	cmd := exec.CommandContext(ctx, "git", append(pinned, args...)...)
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "LC_"), name == "LANG", name == "LANGUAGE",
			name == "HOME", name == "XDG_CONFIG_HOME":
			continue
		}
		cmd.Env = append(cmd.Env, v)
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "HOME="+filepath.Join(os.TempDir(), "no-home-for-replay"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	return cmd
}

// output runs git with an input and returns what it prints.
func (r repository) output(ctx context.Context, input string, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// commits returns the ids of all commits with exactly one parent that HEAD reaches, newest first.
func (r repository) commits(ctx context.Context) ([]string, error) {
	out, err := r.output(ctx, "", "rev-list", "--min-parents=1", "--max-parents=1", "HEAD")
	return strings.Fields(string(out)), err
}

// diffs returns what "git diff-tree" prints for each commit: the raw list, an empty line and the
// patch, with binary that of binary files too.
func (r repository) diffs(ctx context.Context, commits []string, lines int, binary bool) (map[string]string, error) {
	args := []string{"diff-tree", "--stdin", "-r", "-M", "--raw", "-p",
		"--no-abbrev", "--full-index", "-U" + strconv.Itoa(lines), "--inter-hunk-context=0", "--indent-heuristic",
		"--diff-algorithm=myers", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"}
	if binary {
		args = append(args, "--binary")
	}
	out, err := r.output(ctx, strings.Join(commits, "\n")+"\n", args...)
	if err != nil {
		return nil, err
	}
	return splitCommits(string(out), commits), nil
}

// splitCommits cuts the output at the lines that hold a commit's id alone; no line of a patch does.
func splitCommits(out string, commits []string) map[string]string {
	asked := make(map[string]bool, len(commits))
	for _, c := range commits {
		asked[c] = true
	}
	all := make(map[string]string, len(commits))
	id, start, at := "", 0, 0
	for line := range strings.Lines(out) {
		if asked[strings.TrimSuffix(line, "\n")] {
			all[id] = out[start:at]
			id, start = strings.TrimSuffix(line, "\n"), at+len(line)
		}
		at += len(line)
	}
	all[id] = out[start:]
	delete(all, "")
	return all
}

// maxBlob is the size in bytes above which a file is left out.
const maxBlob = 1 << 20

// blobs returns the content of every blob, nil for those over maxBlob.
func (r repository) blobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	all := make(map[string][]byte, len(ids))
	if len(ids) == 0 {
		return all, nil
	}
	cmd := r.command(ctx, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(pipe, 1<<16)
	for _, id := range ids {
		if all[id], err = readBlob(in); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return nil, fmt.Errorf("git cat-file: object %s: %w", id, err)
		}
	}
	return all, cmd.Wait()
}

// readBlob reads one answer of "cat-file --batch": "id type size", the content, a line feed.
func readBlob(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("not a blob: %q", head)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, err
	}
	if size > maxBlob {
		_, err = io.CopyN(io.Discard, in, int64(size)+1)
		return nil, err
	}
	data := make([]byte, size+1)
	_, err = io.ReadFull(in, data)
	return data[:size:size], err
}
