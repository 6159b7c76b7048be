//go:build linux || darwin

package worktree

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDriftBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	base := map[string]string{"a": "a", "f": "before", "l": "-> a", "d/x": "x"}
	for name, c := range map[string]struct {
		want  want
		drift func(t *testing.T, dir string)
		fine  bool
	}{
		"content of the same length": {want{path: "f", after: file("after")}, func(t *testing.T, dir string) { lay(t, dir, map[string]string{"f": "BEFORE"}) }, false},
		"file replaced": {want{path: "f", after: file("after")}, func(t *testing.T, dir string) {
			lay(t, dir, map[string]string{"g": "other"})
			require.NoError(t, os.Rename(filepath.Join(dir, "g"), filepath.Join(dir, "f")))
		}, false},
		"file deleted":          {want{path: "f", after: file("after")}, func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "f"))) }, false},
		"mode changed":          {want{path: "f", after: file("after")}, func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, "f"), 0o600)) }, false},
		"deleted before delete": {want{path: "f", after: gone}, func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "f"))) }, false},
		"changed before delete": {want{path: "f", after: gone}, func(t *testing.T, dir string) { lay(t, dir, map[string]string{"f": "mine"}) }, false},
		"created before add":    {want{path: "n", after: file("new")}, func(t *testing.T, dir string) { lay(t, dir, map[string]string{"n": "mine"}) }, false},
		"link before add":       {want{path: "n", after: file("new")}, func(t *testing.T, dir string) { lay(t, dir, map[string]string{"n": "-> a"}) }, false},
		"link turned": {want{path: "l", after: link("b")}, func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "l")))
			lay(t, dir, map[string]string{"l": "-> d"})
		}, false},
		"file became a link": {want{path: "f", after: file("after"), inPlace: true}, func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "f")))
			lay(t, dir, map[string]string{"f": "-> a"})
		}, false},
		"content in place": {want{path: "f", after: file("after"), inPlace: true}, func(t *testing.T, dir string) { lay(t, dir, map[string]string{"f": "BEFORE"}) }, false},
		"only the times": {want{path: "f", after: file("after")}, func(t *testing.T, dir string) {
			require.NoError(t, os.Chtimes(filepath.Join(dir, "f"), time.Unix(1, 0), time.Unix(2, 0)))
		}, true},
		"written anew, alike": {want{path: "f", after: file("after")}, func(t *testing.T, dir string) { lay(t, dir, map[string]string{"f": "before"}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempTree(t, base)
			tree := open(t, dir, Options{})
			j := plan(t, tree, want{path: "a", after: file("changed first")}, c.want)
			c.drift(t, dir)
			before := picture(t, dir)
			err := j.write(tree, "op", Process)
			if c.fine {
				require.NoError(t, err)
				assert.Equal(t, "after", content(t, dir, "f"))
				return
			}
			require.ErrorIs(t, err, ErrDrift)
			assert.Equal(t, before, picture(t, dir))
		})
	}
}

// The clock of a file system may not show a change: a fresh file is compared by content.
func TestChangeWithinOneTickIsSeen(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"f": "before"})
	tree := open(t, dir, Options{})
	j := plan(t, tree, want{path: "f", after: file("after")})
	lay(t, dir, map[string]string{"f": "BEFORE"})
	// Make the stamp fit, as if the times had not moved.
	info, err := os.Lstat(filepath.Join(dir, "f"))
	require.NoError(t, err)
	j.files[0].Stamp = stampOf(info, time.Now())
	require.True(t, j.files[0].Stamp.fresh)
	assert.ErrorIs(t, j.write(tree, "op", Process), ErrDrift)
	// An old stamp that fits is trusted without reading.
	j.files[0].Stamp = stampOf(info, time.Now().Add(time.Hour))
	assert.NoError(t, j.write(tree, "op", Process))
}
