// Package oxtest holds what the tests of several packages share: the recorded corpora of Codex's
// apply_patch and of git apply, trees of files as data, the check of JSON output against its schema,
// and skips that name the machine and what it lacks.
package oxtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Case is one recorded run of apply_patch; testdata/codex/README.md describes it.
type Case struct {
	Name      string            `json:"name"`
	Group     string            `json:"group"`
	Files     Tree              `json:"files"`
	After     Tree              `json:"after"`
	Via       string            `json:"via"` // argv or stdin
	Patch     Content           `json:"patch"`
	ExtraArgs []string          `json:"extra_args"`
	Env       map[string]string `json:"env"`
	Exit      int               `json:"exit"`
	Stdout    string            `json:"stdout"`
	Stderr    string            `json:"stderr"`
	// Deviates is the reason why Exit to After are not what Codex did; "" for most.
	Deviates string `json:"-"`
	// Codex is what Codex did, where that is not what is wanted.
	Codex *Outcome `json:"-"`
}

// Outcome is what a run prints and leaves.
type Outcome struct {
	Exit   int    `json:"exit"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	After  Tree   `json:"after"`
}

// Outcome returns what is wanted of the case.
func (c *Case) Outcome() Outcome {
	return Outcome{Exit: c.Exit, Stdout: c.Stdout, Stderr: c.Stderr, After: c.After}
}

// deviation is a case in which oxpatch deliberately does something else.
type deviation struct {
	Name   string  `json:"name"`
	Reason string  `json:"reason"`
	Want   Outcome `json:"want"`
}

// LoadCorpus reads the corpus and the deviations from the testdata folder. A deviation that names no
// case, gives no reason or wants what Codex did is an error.
func LoadCorpus(testdata string) ([]*Case, error) {
	data, err := os.ReadFile(filepath.Join(testdata, "codex", "cases.jsonl"))
	if err != nil {
		return nil, err
	}
	var cases []*Case
	byName := map[string]*Case{}
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.More() {
		c := &Case{}
		if err := dec.Decode(c); err != nil {
			return nil, fmt.Errorf("case %d: %w", len(cases)+1, err)
		}
		if byName[c.Name] != nil {
			return nil, fmt.Errorf("%s: two cases of this name", c.Name)
		}
		cases, byName[c.Name] = append(cases, c), c
	}
	return cases, deviate(byName, filepath.Join(testdata, "deviations", "codex.json"))
}

func deviate(cases map[string]*Case, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var list []deviation
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, d := range list {
		c := cases[d.Name]
		if c == nil || c.Codex != nil || d.Reason == "" {
			return fmt.Errorf("%s: %s: no such case, a second entry, or no reason", file, d.Name)
		}
		did := c.Outcome()
		c.Codex, c.Deviates = &did, d.Reason
		c.Exit, c.Stdout, c.Stderr, c.After = d.Want.Exit, d.Want.Stdout, d.Want.Stderr, d.Want.After
	}
	return nil
}

// Input returns the patch for a run in cwd.
func (c *Case) Input(cwd string) []byte {
	return bytes.ReplaceAll(c.Patch.Bytes(), []byte("$CWD"), []byte(cwd))
}

// Masked puts $CWD and $ROOT for the folders of a run, cwd inside root.
func Masked(text, root, cwd string) string {
	return strings.NewReplacer(cwd, "$CWD", root, "$ROOT").Replace(text)
}

// Content is text, or base64 of what is not UTF-8.
type Content struct {
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
}

// Bytes returns the content.
func (c Content) Bytes() []byte {
	if c.Text != nil {
		return []byte(*c.Text)
	}
	return c.Base64
}

// String is for messages.
func (c Content) String() string {
	if c.Text != nil {
		return fmt.Sprintf("%q", *c.Text)
	}
	return "base64 " + base64.StdEncoding.EncodeToString(c.Base64)
}
