package gitapply

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ParseConfig splits a list "key=value,key=value" as it stands in an environment variable. Empty
// items are left out. The error names the first pair that is not of the form section.key=value, and
// is an ErrConfig.
func ParseConfig(list string) ([]string, error) {
	var pairs []string
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if err := checkPair(item); err != nil {
			return nil, err
		}
		pairs = append(pairs, item)
	}
	return pairs, nil
}

func checkPair(pair string) error {
	key, _, ok := strings.Cut(pair, "=")
	if !ok || !regexp.MustCompile(`(?s)^[A-Za-z0-9-]+(\.[^\n\x00]*)?\.[A-Za-z][A-Za-z0-9-]*$`).MatchString(key) {
		return fmt.Errorf("%s: %w", pair, ErrConfig)
	}
	return nil
}

// repoConfig is the little that has to be known of the repository's settings.
type repoConfig struct {
	fileMode   bool
	symlinks   bool
	ignoreCase bool
	drivers    map[string]string // full key → command, of filters and merge drivers
}

// readConfig reads "git config -z --list".
func readConfig(out []byte) repoConfig {
	c := repoConfig{fileMode: true, symlinks: true, drivers: map[string]string{}}
	for _, entry := range strings.Split(string(out), "\x00") {
		key, value, set := strings.Cut(entry, "\n")
		switch {
		case key == "core.filemode":
			c.fileMode = isTrue(value, set)
		case key == "core.symlinks":
			c.symlinks = isTrue(value, set)
		case key == "core.ignorecase":
			c.ignoreCase = isTrue(value, set)
		case isDriver(key):
			c.drivers[key] = value
		}
	}
	return c
}

func isTrue(value string, set bool) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	case "":
		return !set
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

func isDriver(key string) bool {
	if strings.HasPrefix(key, "filter.") {
		return strings.HasSuffix(key, ".clean") || strings.HasSuffix(key, ".smudge") || strings.HasSuffix(key, ".process")
	}
	return strings.HasPrefix(key, "merge.") && strings.HasSuffix(key, ".driver")
}

// fromTop returns -c options that make the commands which need it run in the top folder of the
// working tree, as they would in a plain run: those with a word that is the name of a file there.
func (c repoConfig) fromTop(top, scratchTree string) ([]string, error) {
	var args []string
	for key, command := range c.drivers {
		if !namesFile(top, command) {
			continue
		}
		if strings.HasPrefix(key, "merge.") {
			if strings.Trim(scratchTree, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+") != "" {
				return nil, fmt.Errorf("%s: %w: its command needs the working tree, and the folder for temporary files, %s, cannot be put into a command", key, ErrUnserved, scratchTree)
			}
			// git names the three files relative to its own current folder.
			for _, sign := range []string{"%O", "%A", "%B"} {
				command = strings.ReplaceAll(command, sign, scratchTree+"/"+sign)
			}
		}
		args = append(args, "-c", key+"=cd "+shellQuote(top)+" && "+command)
	}
	return args, nil
}

func namesFile(top, command string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'=;|&()<>", r) })
	for i, w := range words {
		if filepath.IsAbs(w) || strings.HasPrefix(w, "%") || !filepath.IsLocal(filepath.FromSlash(w)) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(top, filepath.FromSlash(w))); err == nil && (i > 0 || strings.ContainsAny(w, "/\\")) {
			return true
		}
	}
	return false
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// version reads "git version 2.39.5 (…)". It returns ErrTooOld before 2.20.
func version(out []byte) (string, error) {
	m := regexp.MustCompile(`(\d+)\.(\d+)[.0-9]*`).FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("git --version: %w: %q", ErrGit, out)
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	if major < 2 || major == 2 && minor < 20 {
		return string(m[0]), fmt.Errorf("git %s: %w", m[0], ErrTooOld)
	}
	return string(m[0]), nil
}

// trusted makes sure that git would work in this repository at all. With GIT_DIR in the environment,
// as all other runs here have it, git takes the repository as trusted; so where it belongs to
// somebody else git is asked without.
func (r *runner) trusted(ctx context.Context) error {
	if r.getenv("GIT_DIR") != "" || ownedByUs(r.repo.Top, r.repo.GitDir) {
		return nil
	}
	bare := *r
	bare.config = nil
	out, err := bare.discover(ctx)
	if err != nil {
		return err
	}
	text := string(out.stderr)
	if out.code != 0 && (strings.Contains(text, "dubious ownership") || strings.Contains(text, "unsafe repository")) {
		return fmt.Errorf("%s: %w", r.repo.Top, ErrDubious)
	}
	return nil
}

func ownedByUs(paths ...string) bool {
	for _, p := range paths {
		info, err := os.Lstat(p)
		if err != nil {
			return false
		}
		if uid, ok := ownerOf(info); !ok || uid != os.Geteuid() {
			return false
		}
	}
	return true
}
