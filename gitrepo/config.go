package gitrepo

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// maxConfig bounds the configuration file; real ones are a few kilobytes.
const maxConfig = 8 << 20

// settings are the few entries of a repository's configuration that matter here. Git reads these
// from the repository's own file only, without following includes.
type settings struct {
	bare     bool
	worktree string // core.worktree as written, or ""
	format   Format
}

// readSettings reads the configuration of a git directory: "config" in the common directory and,
// where the extension says so, "config.worktree" of this worktree. In a linked worktree core.bare
// and core.worktree count only in the latter case, which is git's rule.
func readSettings(gitDir, common string) (settings, error) {
	s := settings{format: Format{Objects: "sha1", Refs: "files"}}
	main, err := readConfig(filepath.Join(common, "config"))
	if err != nil {
		return s, err
	}
	extensions := main.Section("extensions")
	if v := extensions.Option("objectformat"); v != "" {
		s.format.Objects = strings.ToLower(v)
	}
	if v := extensions.Option("refstorage"); v != "" {
		s.format.Refs = strings.ToLower(v)
	}
	perWorktree := truth(extensions, "worktreeconfig")
	if gitDir == common || perWorktree {
		s.take(main)
	}
	if perWorktree {
		own, err := readConfig(filepath.Join(gitDir, "config.worktree"))
		if err != nil {
			return s, err
		}
		s.take(own)
	}
	return s, nil
}

func (s *settings) take(c *config.Config) {
	core := c.Section("core")
	if core.HasOption("bare") {
		s.bare = truth(core, "bare")
	}
	if v := core.Option("worktree"); v != "" {
		s.worktree = v
	}
}

// readConfig parses one file; a missing one is empty.
func readConfig(path string) (*config.Config, error) {
	c := config.New()
	data, err := readBounded(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	return c, config.NewDecoder(bytes.NewReader(data)).Decode(c)
}

// truth reads a boolean by git's rules. The parser does not tell a key without a value (true in git)
// from one with an empty value (false); the former is the one that people write.
func truth(s *config.Section, key string) bool {
	if !s.HasOption(key) {
		return false
	}
	switch v := strings.ToLower(s.Option(key)); v {
	case "", "true", "yes", "on":
		return true
	default:
		n, err := strconv.Atoi(v)
		return err == nil && n != 0
	}
}
