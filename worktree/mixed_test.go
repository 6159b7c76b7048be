package worktree

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// mixed is a tree and a list of changes that holds every kind of change there is.
func mixed() (map[string]string, []want) {
	files := map[string]string{
		"update.txt":      "one\n",
		"exec.sh":         "x:run\n",
		"delete.txt":      "bye\n",
		"deep/er/last":    "only one here\n",
		"from.txt":        "moved\n",
		"to.txt":          "overwritten\n",
		"file-to-dir":     "a file\n",
		"link-to-dir":     "-> update.txt",
		"dir-to-file/a":   "in the way\n",
		"dir-to-file/b/c": "in the way too\n",
		"link":            "-> update.txt",
		"oldlink":         "-> nowhere",
		"to-link":         "will be a link\n",
		"sub/inplace.txt": "a long content that is written in place\n",
		"sub/other":       "not named\n",
	}
	exec := file("x:now\n")
	exec.Mode = 0o755
	return files, []want{
		{path: "update.txt", after: file("two\n")},
		{path: "exec.sh", after: file("run it\n")},
		{path: "delete.txt", after: gone},
		{path: "deep/er/last", after: gone},
		{path: "from.txt", after: gone},
		{path: "to.txt", after: file("moved, changed\n"), old: "from.txt"},
		{path: "file-to-dir", after: gone},
		{path: "file-to-dir/x/y", after: file("below\n")},
		{path: "link-to-dir", after: gone},
		{path: "link-to-dir/z", after: exec},
		{path: "dir-to-file/a", after: gone},
		{path: "dir-to-file/b/c", after: gone},
		{path: "dir-to-file", after: file("now a file\n")},
		{path: "link", after: link("to.txt")},
		{path: "oldlink", after: gone},
		{path: "newlink", after: link("nowhere"), old: "oldlink"},
		{path: "to-link", after: link("sub/other")},
		{path: "sub/inplace.txt", after: file("short\n"), inPlace: true},
		{path: "sub/newinplace.txt", after: file("made in place\n"), inPlace: true},
		{path: "new/folder/file", after: exec},
		{path: "plain-new", after: file("")},
	}
}

// faulty fails or kills at the n-th effect.
type faulty struct {
	at    int
	fails func(since int) error // since: effects after the n-th
	seen  int
	ops   []string
}

func (f *faulty) effect(op Op, path string) error {
	f.seen++
	f.ops = append(f.ops, fmt.Sprintf("%s %s", op, path))
	if f.at > 0 && f.seen >= f.at {
		return f.fails(f.seen - f.at)
	}
	return nil
}

var errFault = errors.New("disk is on fire")

func mixedJob(t *testing.T, f *faulty) (*Tree, string, job) {
	files, wants := mixed()
	dir := tempTree(t, files)
	tree := open(t, dir, Options{Effects: f.effect})
	return tree, dir, plan(t, tree, wants...)
}

// after returns the picture of a run without faults, and the number of its effects.
func mixedAfter(t *testing.T, d Durability) (after string, effects int) {
	f := &faulty{}
	tree, dir, j := mixedJob(t, f)
	require.NoError(t, j.write(tree, "op", d))
	return picture(t, dir), f.seen
}
