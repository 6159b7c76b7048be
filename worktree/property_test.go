package worktree

import (
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/openoxide/oxpatch/change"
)

// Random trees and random changes: the write gives exactly the after states, a failure at a random
// effect gives the tree before, and so does Restore after the write.
func TestWriteProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		names := []string{"a", "b", "a/x", "a/y", "a/z/w", "c/d", "c/e/f", "g"}
		state := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "", "one\n", "x:two\n", "three\n", "-> a", "-> nowhere"}).Draw(t, "state")
		})
		lay(t, dir, consistent(rt, names, state, "before"))
		f := &faulty{}
		tree, err := Open(dir, Options{Effects: f.effect})
		if err != nil {
			rt.Fatal(err)
		}
		defer tree.Close()
		wants := wantsOf(rt, names, consistent(rt, names, state, "after"))
		j := plan(t, tree, wants...)
		before := picture(t, dir)
		f.at, f.fails = rapid.IntRange(1, 60).Draw(rt, "fault"), func(since int) error {
			if since == 0 {
				return errFault
			}
			return nil
		}
		err = j.write(tree, "op", Process)
		f.at = 0
		if err != nil {
			if got := picture(t, dir); got != before {
				rt.Fatalf("rolled back to\n%s\nnot\n%s", got, before)
			}
		} else if err := tree.Restore("op", j.files, j.made, j.removed, Before); err != nil {
			rt.Fatal(err)
		} else if got := picture(t, dir); got != before {
			rt.Fatalf("restored to\n%s\nnot\n%s", got, before)
		}
		if err := j.write(tree, "op", Process); err != nil {
			rt.Fatal(err)
		}
		checkAfter(rt, tree, j)
	})
}

// consistent draws a state for every name such that nothing stands below a file.
func consistent(rt *rapid.T, names []string, state *rapid.Generator[string], label string) map[string]string {
	files := map[string]string{}
	for i, name := range names {
		s := state.Draw(rt, fmt.Sprint(label, i))
		for _, dir := range above(name) {
			if _, ok := files[dir]; ok {
				s = ""
			}
		}
		if s != "" {
			files[name] = s
		}
	}
	return files
}

func wantsOf(rt *rapid.T, names []string, after map[string]string) []want {
	var wants []want
	for _, name := range names {
		s, w := after[name], want{path: name, inPlace: rapid.Bool().Draw(rt, "in place")}
		switch {
		case s == "":
		case s[0] == '-':
			w.after = link(s[3:])
		default:
			w.after = file(s)
		}
		wants = append(wants, w)
	}
	return wants
}

func checkAfter(rt *rapid.T, tree *Tree, j job) {
	for _, f := range j.files {
		got, _, err := tree.Read(f.Path)
		if err != nil {
			rt.Fatal(err)
		}
		if got.Kind == change.Dir && f.After.Kind == change.Absent {
			continue // a folder with other files of the list
		}
		if !got.Equal(f.After) && (f.After.Mode != 0 || string(got.Content) != string(f.After.Content)) {
			rt.Fatalf("%s is %v %q, want %v %q", f.Path, got.Kind, got.Content, f.After.Kind, f.After.Content)
		}
	}
}
