package oxtest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// GitCase is one recorded run of git apply; testdata/gitapply/README.md describes it.
type GitCase struct {
	Name, Git, Mode, Cwd, Head string
	Exit                       int
	ExitReal                   *int `json:"exit_real"`
	Diff, Stdout, Stderr       GitText
	StderrV                    GitText `json:"stderr_v"`
	Before                     GitPaths[GitEntry]
	Index                      GitPaths[[]GitEntry]
	Objects, Config            json.RawMessage
	Sections                   []struct{ Old, New, Op string }
	Truth                      GitFates
	Truth3way                  GitFates `json:"truth_3way"`
	After                      GitPaths[*GitEntry]
	IndexChanges               struct{ Added, Removed []GitEntry } `json:"index_changes"`
}

// GitText is a text of the corpus: in the file a string, or an object with its bytes in base64.
type GitText []byte

// UnmarshalJSON implements json.Unmarshaler.
func (b *GitText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = GitText(text)
		return nil
	}
	var coded struct{ Base64 []byte }
	err := json.Unmarshal(data, &coded)
	*b = coded.Base64
	return err
}

// gitPath is a path of the corpus, which the file may have in base64.
type gitPath string

func (p *gitPath) UnmarshalText(text []byte) error {
	*p = gitPath(text)
	if coded, ok := strings.CutPrefix(string(text), "base64:"); ok {
		raw, err := base64.StdEncoding.DecodeString(coded)
		*p = gitPath(raw)
		return err
	}
	return nil
}

// GitPaths has paths for keys. The file has an empty list for an empty map.
type GitPaths[T any] map[string]T

// UnmarshalJSON implements json.Unmarshaler.
func (m *GitPaths[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "[]" {
		return nil
	}
	var raw map[gitPath]T
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*m = GitPaths[T]{}
	for k, v := range raw {
		(*m)[string(k)] = v
	}
	return nil
}

// GitEntry is a file, or an entry of the index.
type GitEntry struct {
	Mode, OID   string
	Path        gitPath
	Stage       int
	Text        *string
	Base64      []byte
	IntentToAdd bool `json:"intent_to_add"`
}

// Content returns the bytes of the entry, and whether the corpus has them.
func (e GitEntry) Content() ([]byte, bool) {
	if e.Text != nil {
		return []byte(*e.Text), true
	}
	return e.Base64, e.Base64 != nil
}

// String is the entry as "git ls-files --stage" lists it.
func (e GitEntry) String() string {
	return fmt.Sprintf("%s %s %d\t%s", e.Mode, e.OID, e.Stage, e.Path)
}

// GitFates sorts the paths of a patch by what came of them. Each list is sorted, and nil if empty.
type GitFates struct{ Applied, Skipped, Conflicted, Other []string }

// UnmarshalJSON implements json.Unmarshaler.
func (f *GitFates) UnmarshalJSON(data []byte) error {
	var raw struct{ Applied, Skipped, Conflicted, Other []gitPath }
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	sorted := func(list []gitPath) []string {
		var out []string
		for _, p := range list {
			out = append(out, string(p))
		}
		slices.Sort(out)
		return out
	}
	*f = GitFates{sorted(raw.Applied), sorted(raw.Skipped), sorted(raw.Conflicted), sorted(raw.Other)}
	return nil
}

// All returns the paths of all lists.
func (f GitFates) All() []string { return slices.Concat(f.Applied, f.Skipped, f.Conflicted, f.Other) }

// ReadGitCases reads the corpus out of the project's testdata folder.
func ReadGitCases(testdata string) ([]GitCase, error) {
	f, err := os.Open(filepath.Join(testdata, "gitapply", "cases.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []GitCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c GitCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("git case %d: %w", len(all)+1, err)
		}
		all = append(all, c)
	}
	return all, lines.Err()
}

// RecordedFor is the version in the corpus whose outcomes those of another git equal, "2.39.5" for
// "2.40.1".
func RecordedFor(version string) string {
	var minor int
	_, _ = fmt.Sscanf(version, "2.%d", &minor)
	recorded := "2.20.5"
	for _, v := range []struct {
		from int
		as   string
	}{{32, "2.32.7"}, {35, "2.39.5"}, {45, "2.47.3"}, {54, "2.55.0"}} {
		if minor >= v.from {
			recorded = v.as
		}
	}
	return recorded
}

// Base is the name of the scenario, without that of the way it was run.
func (c *GitCase) Base() string { b, _, _ := strings.Cut(c.Name, "."); return b }

// Reverse reports whether the patch was taken back.
func (c *GitCase) Reverse() bool { return strings.HasPrefix(c.Mode, "reverse") }

// Checks reports whether git was only to say what it would do.
func (c *GitCase) Checks() bool { return strings.HasSuffix(c.Mode, "check") }

// Build makes the repository that the case begins with, in a folder where an empty one is. git runs a
// git command there and returns what it prints; where it fails it ends the test.
func (c *GitCase) Build(dir string, git func(stdin string, args ...string) string) error {
	var config map[string]string
	if json.Unmarshal(c.Config, &config) == nil {
		for k, v := range config {
			git("", "config", k, v)
		}
	}
	for p, e := range c.Before {
		if err := e.put(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
			return err
		}
	}
	if err := c.enter(git); err != nil {
		return err
	}
	open := false
	for _, list := range c.Index {
		open = open || slices.ContainsFunc(list, func(e GitEntry) bool { return e.Stage > 0 || e.IntentToAdd })
	}
	if c.Head == "commit" && !open {
		git("", "commit", "-q", "--allow-empty", "-m", "m")
	}
	for p, list := range c.Index {
		if len(list) > 0 && list[0].IntentToAdd {
			git("", "--literal-pathspecs", "add", "-N", "--", p)
		}
	}
	git("", "status", "--porcelain") // brings the stat data up to date
	switch c.Base() {
	case "stale_stat":
		past := time.Now().Add(-time.Hour)
		return os.Chtimes(filepath.Join(dir, "f.txt"), past, past)
	case "index_lock_present":
		return os.WriteFile(filepath.Join(dir, ".git", "index.lock"), nil, 0o600)
	case "sparse_absent":
		git("", "update-index", "--skip-worktree", "out/b.txt")
	}
	return nil
}

func (e GitEntry) put(full string) error {
	content, _ := e.Content()
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	switch e.Mode {
	case "120000":
		return os.Symlink(string(content), full)
	case "160000", "040000":
		return os.MkdirAll(full, 0o755)
	case "100755":
		return os.WriteFile(full, content, 0o755)
	}
	return os.WriteFile(full, content, 0o644)
}

// enter makes the index: what stands in the tree, unless the case says otherwise.
func (c *GitCase) enter(git func(stdin string, args ...string) string) error {
	var info strings.Builder
	store := func(content []byte) string {
		return strings.TrimSpace(git(string(content), "hash-object", "-w", "--stdin"))
	}
	add := func(p string, e GitEntry) {
		content, has := e.Content()
		switch {
		case e.IntentToAdd, e.Mode == "040000":
			return
		case e.Mode == "160000" && has:
			e.OID = string(content)
		case has:
			e.OID = store(content)
		}
		e.Path = gitPath(p)
		info.WriteString(e.String() + "\x00")
	}
	for p, e := range c.Before {
		if _, other := c.Index[p]; !other {
			add(p, e)
		}
	}
	for p, list := range c.Index {
		for _, e := range list {
			add(p, e)
		}
	}
	var objects []GitEntry
	if json.Unmarshal(c.Objects, &objects) != nil {
		var texts map[string]GitText
		if err := json.Unmarshal(c.Objects, &texts); err != nil {
			return err
		}
		for _, text := range texts {
			store(text)
		}
	}
	for _, o := range objects {
		content, _ := o.Content()
		store(content)
	}
	git(info.String(), "update-index", "-z", "--index-info")
	return nil
}

// Differences names the files in a folder that are not as git left them.
func (c *GitCase) Differences(dir string) []string {
	var all []string
	for p, e := range c.After {
		if wrong := e.differs(filepath.Join(dir, filepath.FromSlash(p))); wrong != "" {
			all = append(all, fmt.Sprintf("%q: %s", p, wrong))
		}
	}
	slices.Sort(all)
	return all
}

func (e *GitEntry) differs(full string) string {
	info, err := os.Lstat(full)
	switch {
	case e == nil && err == nil:
		return "it is there"
	case e == nil:
		return ""
	case err != nil:
		return err.Error()
	}
	want, _ := e.Content()
	var got []byte
	kind := fs.FileMode(0)
	switch e.Mode {
	case "120000":
		kind = fs.ModeSymlink
		target, _ := os.Readlink(full)
		got = []byte(target)
	case "160000", "040000":
		kind, got = fs.ModeDir, want
	default:
		got, _ = os.ReadFile(full)
	}
	switch {
	case info.Mode().Type() != kind:
		return fmt.Sprintf("it is %v, not %s", info.Mode(), e.Mode)
	case string(got) != string(want):
		return fmt.Sprintf("it holds %q, not %q", got, want)
	case kind == 0 && (info.Mode()&0o100 != 0) != (e.Mode == "100755"):
		return fmt.Sprintf("its mode is %v, not %s", info.Mode(), e.Mode)
	}
	return ""
}
