package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stage is the temporary folder and the programs in it.
type stage struct {
	options
	temp string
	self string // this program
	link string // oxpatch under the name apply_patch, or ""
}

func newStage(o options, temp string) (*stage, error) {
	temp, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, temp: temp}
	if s.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if o.bin == "" {
		return s, nil
	}
	s.link = filepath.Join(temp, "apply_patch"+filepath.Ext(o.bin))
	if err := os.Symlink(o.bin, s.link); err != nil {
		return nil, err
	}
	return s, nil
}

// env is the environment of every program: nothing of the user's settings of git or oxpatch.
func (s *stage) env(extra ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "OXPATCH_") && !strings.HasPrefix(e, "XDG_") {
			env = append(env, e)
		}
	}
	return append(append(env, "HOME="+s.temp, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CEILING_DIRECTORIES="+s.temp,
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.org", "GIT_AUTHOR_DATE=2001-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.org", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z"), extra...)
}

// git runs git in a folder, outside any timing.
func (s *stage) git(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

// commitAll makes a repository of a folder, with everything committed. If git packs the objects then,
// it does so before this returns and not while others are timed.
func (s *stage) commitAll(dir string) error {
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "gc.autoDetach=false", "commit", "-q", "-m", "before"}} {
		if err := s.git(dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// prepare has the work of a row made and returns its folder.
func (s *stage) prepare(r row) (string, error) {
	dir, err := os.MkdirTemp(s.temp, "row-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(s.self, makeCommand, r.name, dir)
	cmd.Stderr = os.Stderr
	return dir, cmd.Run()
}

// check compares the files of a tree with a list of hashes. It streams, since the memory of this
// process is the least that a program started by it can show.
func check(tree, list string) error {
	f, err := os.Open(list)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		want, path, _ := strings.Cut(lines.Text(), " ")
		got, err := hashFile(filepath.Join(tree, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s: not what the patch asks for", path)
		}
	}
	return lines.Err()
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// empty gives back the space of a tree's large files. Nothing is deleted before the end: ext4 keeps
// away from the inodes of files deleted a short time ago and searches past all of them whenever a
// file is made, so that deleting the trees of one run would slow down the next.
func empty(tree string) error {
	const large = 1 << 20
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() < large {
			return err
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 0)
	})
}

// copyTree copies folders and regular files.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		}
		return copyFile(path, filepath.Join(to, name))
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
