package textapply

import (
	"bytes"
	"errors"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// codexPolicy and carefulPolicy are the two sets of rules that the tests compare.
func codexPolicy() Policy {
	return Policy{Name: "codex", FirstMatch: true, RequireUTF8: true, LoneCR: LoneCRAlways, Ending: EndingOfFirstLine,
		ForceFinalNewline: true, ThroughLinks: true, StopAtFirst: true}
}

func carefulPolicy() Policy {
	return Policy{Name: "default", SkipBOM: true, KeepMode: true, AcceptApplied: true}
}

// chunk writes a Chunk as an envelope does: "@@ text" lines are scopes, "$" says end of file, the
// other lines begin with a blank, "-" or "+".
func chunk(lines ...string) Chunk {
	var c Chunk
	for _, l := range lines {
		switch {
		case l == "$":
			c.EOF = true
		case strings.HasPrefix(l, "@@ "):
			c.Scopes = append(c.Scopes, l[3:])
		case l[0] == ' ':
			c.Lines = append(c.Lines, Line{Context, l[1:]})
		case l[0] == '-':
			c.Lines = append(c.Lines, Line{Remove, l[1:]})
		case l[0] == '+':
			c.Lines = append(c.Lines, Line{Insert, l[1:]})
		default:
			panic("no such line: " + l)
		}
	}
	return c
}

func update(path string, chunks ...Chunk) Section {
	return Section{Kind: Update, Path: path, Chunks: chunks}
}

func moved(from, to string, chunks ...Chunk) Section {
	return Section{Kind: Update, Path: from, MoveTo: to, Chunks: chunks}
}

func added(path string, lines ...string) Section {
	return Section{Kind: Add, Path: path, Content: lines}
}

func deleted(path string) Section { return Section{Kind: Delete, Path: path} }

// patchOf numbers the sections and chunks as if each took one line.
func patchOf(sections ...Section) *Patch {
	p := &Patch{Sections: sections}
	line := 1
	for i := range p.Sections {
		line++
		p.Sections[i].Line = line
		for j := range p.Sections[i].Chunks {
			line++
			p.Sections[i].Chunks[j].Line = line
		}
	}
	return p
}

// memTree is a tree in memory. Links are relative to their folder.
type memTree struct {
	at    map[string]change.State
	known map[string]bool
}

var errLoop = errors.New("too many links")

func files(pairs ...string) memTree {
	tree := memTree{at: map[string]change.State{}, known: map[string]bool{}}
	for i := 0; i < len(pairs); i += 2 {
		tree.at[pairs[i]] = change.State{Kind: change.File, Mode: 0o644, Content: []byte(pairs[i+1])}
	}
	return tree
}

func (m memTree) link(name, target string) memTree {
	m.at[name] = change.State{Kind: change.Symlink, Content: []byte(target)}
	return m
}

func (m memTree) mode(name string, st change.State) memTree {
	st.Content = m.at[name].Content
	m.at[name] = st
	return m
}

func (m memTree) Locate(name string, entry bool, planned func(string) (change.Kind, bool)) (string, error) {
	key := path.Clean(name)
	for range 10 {
		if kind, ok := planned(key); entry || ok && kind != change.Symlink {
			return key, nil
		}
		st := m.at[key]
		if st.Kind != change.Symlink {
			return key, nil
		}
		key = path.Join(path.Dir(key), string(st.Content))
	}
	return "", errLoop
}

func (m memTree) Read(key string) (change.State, error) {
	if st, ok := m.at[key]; ok {
		return st, nil
	}
	for name := range m.at {
		if strings.HasPrefix(name, key+"/") {
			return change.State{Kind: change.Dir, Mode: 0o755}, nil
		}
	}
	return change.State{}, nil
}

func (m memTree) Known(key string) bool { return m.known[key] }

// outcome is the tree that a plan leaves; a link reads "-> target".
func (m memTree) outcome() map[string]string {
	out := map[string]string{}
	for name, st := range m.at {
		out[name] = string(st.Content)
		if st.Kind == change.Symlink {
			out[name] = "-> " + string(st.Content)
		}
	}
	return out
}

// carryOut checks what every plan promises about its changes and returns the tree after them.
func carryOut(t require.TestingT, tree memTree, plan *Plan) memTree {
	after := memTree{at: maps.Clone(tree.at), known: tree.known}
	seen := map[string]bool{}
	for _, c := range plan.Changes {
		require.False(t, seen[c.Path], "%s is changed twice", c.Path)
		seen[c.Path] = true
		before, err := tree.Read(c.Path)
		require.NoError(t, err)
		require.Equal(t, before, c.Before, "before of %s", c.Path)
		checkEdits(t, tree, c)
		if c.After.Kind == change.Absent {
			delete(after.at, c.Path)
		} else {
			after.at[c.Path] = c.After
		}
	}
	return after
}

// checkEdits requires that the edits are in order and lead to the content after.
func checkEdits(t require.TestingT, tree memTree, c change.Change) {
	if c.Edits == nil {
		return
	}
	base := c.Before.Content
	if c.OldPath != "" {
		base = tree.at[c.OldPath].Content
	}
	at := 0
	for _, e := range c.Edits {
		require.LessOrEqual(t, at, e.Start, "edits of %s: %v", c.Path, c.Edits)
		require.LessOrEqual(t, e.Start, e.End, "edits of %s: %v", c.Path, c.Edits)
		at = e.End
	}
	require.LessOrEqual(t, at, len(base))
	require.True(t, bytes.Equal(change.ApplyEdits(base, c.Edits), c.After.Content), "edits of %s: %v", c.Path, c.Edits)
}

// checkSteps requires that the steps, done one by one, leave the files that the changes do; only a
// policy that stops at the first failure has steps.
func checkSteps(t require.TestingT, tree memTree, plan *Plan, policy Policy) {
	if !policy.StopAtFirst {
		assert.Empty(t, plan.Steps)
		return
	}
	after := maps.Clone(tree.at)
	for _, s := range plan.Steps {
		if s.Delete {
			delete(after, s.Path)
		} else {
			after[s.Path] = change.State{Kind: change.File, Content: s.Content}
		}
	}
	assert.Equal(t, carryOut(t, tree, plan).outcome(), memTree{at: after}.outcome())
}

// edited applies chunks to one file and returns its new content.
func edited(t *testing.T, policy Policy, content string, chunks ...Chunk) string {
	t.Helper()
	tree := files("f", content)
	plan := MakePlan(patchOf(update("f", chunks...)), tree, policy)
	require.Empty(t, plan.Errors())
	after := carryOut(t, tree, plan)
	checkSteps(t, tree, plan, policy)
	return after.outcome()["f"]
}

// refusals are the texts of all errors.
func refusals(plan *Plan) []string {
	var out []string
	for _, err := range plan.Errors() {
		out = append(out, err.Error())
	}
	return out
}
