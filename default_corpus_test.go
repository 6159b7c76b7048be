//go:build unix

package oxpatch_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

var update = flag.Bool("update", false, "write down what the tests see as what they want")

// The careful rules differ from Codex's in the points that the README lists, and in no other. Every
// case of the corpus that comes out otherwise stands in testdata/deviations/default.json under its
// point; which point that is, is told by the difference itself.
func TestCarefulRulesDifferOnlyWhereTheyMeanTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "deviations", "default.json")
	found := map[string][]string{}
	var mu sync.Mutex
	template := emptyRepository(t)
	t.Run("cases", func(t *testing.T) {
		eachCase(t, func(t *testing.T, c *oxtest.Case) {
			w := newWorld(t, c, template)
			res, err := w.apply(oxpatch.Request{})
			codex := c.Outcome()
			if c.Codex != nil {
				codex = *c.Codex
			}
			point := pointOf(c, codex, w.outcome(res, err), res, err == nil)
			if point == "" {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[point] = append(found[point], c.Name)
		}, func() bool { return true })
	})
	for _, names := range found {
		slices.Sort(names)
	}
	if *update {
		data, err := json.MarshalIndent(found, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(data, '\n'), 0o644))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var want map[string][]string
	require.NoError(t, json.Unmarshal(data, &want))
	assert.Empty(t, found["?"], "these differ in no point that is meant")
	for _, point := range slices.Sorted(maps.Keys(want)) {
		assert.Equal(t, want[point], found[point], point)
	}
	assert.Len(t, found, len(want))
}

// pointOf says in which point an outcome differs from Codex's; "" where it does not, "?" where that is
// not meant.
func pointOf(c *oxtest.Case, codex, got oxtest.Outcome, res *oxpatch.Result, ok bool) string {
	same := slices.Equal(codex.After.Lines(), got.After.Lines())
	switch {
	case (codex.Exit == 0) == ok && same:
		return ""
	case codex.Exit != 0 && ok:
		return pointOfSuccess(c, codex, res)
	case codex.Exit != 0:
		return "all or nothing"
	case !ok:
		return pointOfRefusal(c, res)
	}
	return pointOfTrees(c, codex.After, got.After)
}

// pointOfSuccess is the point of what Codex refuses.
func pointOfSuccess(c *oxtest.Case, codex oxtest.Outcome, res *oxpatch.Result) string {
	said := func(s string) bool { return strings.HasPrefix(codex.Stderr, s) }
	kinds := kindsOf(res)
	switch {
	case said("Invalid patch"):
		return "how an envelope is read"
	case kinds[oxpatch.KindAlreadyApplied]:
		return "what is there already"
	case strings.Contains(codex.Stderr, "invalid utf-8"):
		return "bytes that are not UTF-8"
	case said("Failed to find") && hasBOM(c):
		return "byte-order mark"
	case said("Failed to find context"):
		return "scopes"
	case said("Failed to delete file") && len(c.Files) > 0:
		return "moves and links"
	case said("Failed to find expected lines"):
		return "where a chunk lands"
	}
	return "?"
}

func pointOfRefusal(c *oxtest.Case, res *oxpatch.Result) string {
	kinds := kindsOf(res)
	switch {
	case kinds[oxpatch.KindNoMatch] && c.Group == "eol":
		return "line endings" // a carriage return ends no line where there are line feeds
	case kinds[oxpatch.KindAmbiguous], kinds[oxpatch.KindOutOfOrder], kinds[oxpatch.KindNoMatch]:
		return "where a chunk lands"
	case kinds[oxpatch.KindUnsafePath], kinds[oxpatch.KindIsDirectory]:
		return "paths"
	}
	return "?"
}

func kindsOf(res *oxpatch.Result) map[oxpatch.Kind]bool {
	kinds := map[oxpatch.Kind]bool{}
	for _, p := range res.Problems {
		kinds[p.Kind] = true
	}
	return kinds
}

func hasBOM(c *oxtest.Case) bool {
	for _, e := range c.Files {
		if bytes.HasPrefix(e.Bytes(), []byte("\xef\xbb\xbf")) {
			return true
		}
	}
	return false
}

// pointOfTrees is the point in which two successes differ, by what differs most: which files there
// are, what they are, then their text.
func pointOfTrees(c *oxtest.Case, codex, got oxtest.Tree) string {
	files := func(t oxtest.Tree) []string {
		var names []string
		for name, e := range t {
			if !e.Dir {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if !slices.Equal(files(codex), files(got)) {
		if strings.HasPrefix(c.Name, "path-") {
			return "paths"
		}
		if strings.HasPrefix(c.Name, "move-") {
			return "moves and links"
		}
		return "?"
	}
	point := "emptied folders"
	for _, name := range files(got) {
		a, b := codex[name], got[name]
		switch {
		case a.Symlink != b.Symlink:
			return "moves and links"
		case !bytes.Equal(a.Bytes(), b.Bytes()) && c.Group == "path":
			return "paths"
		case !bytes.Equal(a.Bytes(), b.Bytes()):
			return pointOfTexts(string(a.Bytes()), string(b.Bytes()))
		case a.Mode != b.Mode:
			point = "modes"
		}
	}
	return point
}

func pointOfTexts(codex, got string) string {
	ends := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	a, b := ends.Replace(codex), ends.Replace(got)
	trimmed := func(s string) []string {
		var lines []string
		for line := range strings.Lines(s) {
			lines = append(lines, strings.TrimSpace(line))
		}
		return lines
	}
	switch {
	case strings.TrimSuffix(codex, "\n") == strings.TrimSuffix(got, "\n"), strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n") && a != b:
		return "final newline"
	case a == b:
		return "line endings"
	case slices.Equal(trimmed(a), trimmed(b)):
		return "indentation of added lines"
	}
	return "where a chunk lands"
}
