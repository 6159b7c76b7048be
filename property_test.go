package oxpatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
)

// forest is a random tree: files by name, each with lines that occur once in it, and links to files.
type forest struct {
	files map[string]*leaf
	links map[string]string // to the file that they lead to
}

type leaf struct {
	lines   []string
	end     string // of each line
	last    bool   // the last line has an end too
	mode    fs.FileMode
	planned bool // a section of the patch has it already
}

func (l *leaf) content() string {
	text := strings.Join(l.lines, l.end)
	if l.last && text != "" {
		text += l.end
	}
	return text
}

func names() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"a", "b.txt", "c d", "caf\xe9", "ü", "-x", "deep"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), "/")
	})
}

func forests() *rapid.Generator[*forest] {
	return rapid.Custom(func(t *rapid.T) *forest {
		f := &forest{files: map[string]*leaf{}, links: map[string]string{}}
		for i := range rapid.IntRange(1, 7).Draw(t, "files") {
			name := names().Draw(t, "name")
			if f.free(name) {
				f.files[name] = drawLeaf(t, i)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "links") {
			name, to := names().Draw(t, "link"), rapid.SampledFrom(f.sorted()).Draw(t, "target")
			if f.free(name) {
				f.links[name] = to
			}
		}
		return f
	})
}

func drawLeaf(t *rapid.T, id int) *leaf {
	l := &leaf{
		end:  rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end"),
		last: rapid.Bool().Draw(t, "final newline"),
		mode: rapid.SampledFrom([]fs.FileMode{0o644, 0o755, 0o600, 0o444, 0o711}).Draw(t, "mode"),
	}
	if os.Geteuid() != 0 {
		l.mode |= 0o200 // only the superuser writes into a read-only file, and no check foretells that
	}
	for n := range rapid.IntRange(0, 12).Draw(t, "lines") {
		indent := strings.Repeat(" ", rapid.IntRange(0, 4).Draw(t, "indent"))
		l.lines = append(l.lines, fmt.Sprintf("%sfile %d line %d", indent, id, n))
	}
	return l
}

func (f *forest) sorted() []string { return slices.Sorted(maps.Keys(f.files)) }

// free reports whether a name neither is taken nor lies above or below one that is.
func (f *forest) free(name string) bool {
	for _, taken := range append(slices.Collect(maps.Keys(f.files)), slices.Collect(maps.Keys(f.links))...) {
		if taken == name || strings.HasPrefix(taken, name+"/") || strings.HasPrefix(name, taken+"/") {
			return false
		}
	}
	return true
}

func (f *forest) plant(g *ground) {
	for name, l := range f.files {
		g.writeMode(name, l.content(), l.mode)
	}
	for name, to := range f.links {
		target, err := filepath.Rel(filepath.Dir(g.path(name)), g.path(to))
		require.NoError(g.t, err)
		g.link(target, name)
	}
}

// patch draws a patch that fits: each file is in at most one section.
func (f *forest) patch(t *rapid.T) string {
	var sections []string
	for i := range rapid.IntRange(1, 5).Draw(t, "sections") {
		name := rapid.SampledFrom(f.sorted()).Draw(t, "file")
		l := f.files[name]
		kind := rapid.SampledFrom([]string{"add", "update", "update", "delete", "move", "through"}).Draw(t, "kind")
		if kind != "add" && l.planned {
			continue
		}
		switch kind {
		case "add":
			if name := names().Draw(t, "new"); f.free(name) {
				f.files[name] = &leaf{planned: true}
				sections = append(sections, "*** Add File: "+name, fmt.Sprintf("+new %d", i), "+")
			}
			continue
		case "delete":
			sections = append(sections, "*** Delete File: "+name)
		case "move":
			to := names().Draw(t, "to")
			if len(l.lines) == 0 || !f.free(to) {
				continue
			}
			f.files[to] = &leaf{planned: true}
			sections = append(sections, "*** Update File: "+name, "*** Move to: "+to)
			sections = append(sections, l.edit(t)...)
		default:
			if len(l.lines) == 0 {
				continue
			}
			sections = append(sections, "*** Update File: "+f.spelling(name, kind))
			sections = append(sections, l.edit(t)...)
		}
		l.planned = true
	}
	return envelope(sections...)
}

// spelling is the name of a link to the file, if it is to be reached through one.
func (f *forest) spelling(name, kind string) string {
	for _, link := range slices.Sorted(maps.Keys(f.links)) {
		if kind == "through" && f.links[link] == name {
			return link
		}
	}
	return name
}

// edit replaces a run of lines, with some context.
func (l *leaf) edit(t *rapid.T) []string {
	from := rapid.IntRange(0, len(l.lines)-1).Draw(t, "from")
	to := rapid.IntRange(from+1, len(l.lines)).Draw(t, "to")
	hunk := []string{"@@"}
	for _, line := range l.lines[max(0, from-2):from] {
		hunk = append(hunk, " "+line)
	}
	for _, line := range l.lines[from:to] {
		hunk = append(hunk, "-"+line)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "added") {
		hunk = append(hunk, fmt.Sprintf("+added %d", i))
	}
	for _, line := range l.lines[to:min(len(l.lines), to+2)] {
		hunk = append(hunk, " "+line)
	}
	return hunk
}

func TestAnyPatchOnAnyTree(t *testing.T) {
	t.Parallel()
	base := quick(t)
	applied, n := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		require.NoError(rt, os.Mkdir(dir, 0o755))
		defer os.RemoveAll(dir)
		g := groundIn(t, dir)
		f := forests().Draw(rt, "tree")
		f.plant(g)
		before := g.image()
		req := request(f.patch(rt))
		req.Diff = true
		var opts []oxpatch.Option
		if rapid.Bool().Draw(rt, "in place") {
			opts = append(opts, oxpatch.WithInPlace())
		}
		if rapid.Bool().Draw(rt, "codex") {
			req.Compat = oxpatch.CompatCodex
			g.asRepo()
		}

		check := req
		check.Check = true
		forecast, forecastErr := g.open(opts...).Apply(context.Background(), check)
		require.Equal(rt, before, g.image(), "a check changes nothing")
		require.NoDirExists(rt, filepath.Join(dir, "state"))
		res, err := g.open(opts...).Apply(context.Background(), req)
		agree(rt, forecast, res, forecastErr, err)
		if !res.Applied {
			require.Equal(rt, before, g.image())
			return
		}
		applied++
		foretold(rt, g, before, res)
		res, err = g.open().Undo(context.Background(), oxpatch.UndoRequest{Diff: true})
		require.NoError(rt, err)
		data, err := json.Marshal(res)
		require.NoError(rt, err)
		require.True(rt, json.Valid(data))
		require.Equal(rt, before, g.image(), "undo is exact")
		g.nothingToUndo()
	})
	assert.Greater(t, applied, n/2, "most patches drawn do not fit, so nothing is tested")
}

// agree makes sure that the check foretold the run, file by file.
func agree(t *rapid.T, forecast, res *oxpatch.Result, forecastErr, err error) {
	require.Equal(t, forecastErr == nil, err == nil, "check: %v, apply: %v", forecastErr, err)
	require.Equal(t, forecast.OK, res.OK)
	require.True(t, forecast.Exact && res.Exact)
	require.Equal(t, forecast.Files, res.Files)
	require.Equal(t, forecast.AppliedPaths, res.AppliedPaths)
	require.Equal(t, forecast.SkippedPaths, res.SkippedPaths)
	require.Equal(t, forecast.Problems, res.Problems)
	require.Equal(t, forecast.Changes, res.Changes)
	require.Equal(t, string(forecast.Diff), string(res.Diff))
	for _, r := range []*oxpatch.Result{forecast, res} {
		data, err := json.Marshal(r)
		require.NoError(t, err)
		require.True(t, json.Valid(data))
	}
}

// foretold makes sure that the changes of the result are what happened, and that their edits lead to
// the same bytes.
func foretold(t *rapid.T, g *ground, before image, res *oxpatch.Result) {
	old := map[string][]byte{}
	for _, c := range res.Changes {
		old[c.Path] = c.Before.Content
	}
	want := maps.Clone(before)
	for _, c := range res.Changes {
		if c.Edits != nil {
			from := c.Path
			if c.OldPath != "" {
				from = c.OldPath
			}
			require.Equal(t, string(c.After.Content), string(change.ApplyEdits(old[from], c.Edits)), "the edits of %q", c.Path)
		}
		info, err := os.Lstat(g.path(c.Path))
		if c.After.Kind == change.Absent {
			require.ErrorIs(t, err, fs.ErrNotExist)
			delete(want, c.Path)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, string(c.After.Content), readFile(g.t, g.path(c.Path)))
		want[c.Path] = describe(g.path(c.Path), info)
	}
	require.True(t, equalFiles(want, g.image()), "something else than the changes happened: %v, %v", want, g.image())
}
