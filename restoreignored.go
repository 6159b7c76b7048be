package oxpatch

import (
	"bytes"
	"path"
	"slices"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/scan"
	"github.com/openoxide/oxpatch/worktree"
)

// sameIgnoreRules refuses to remove new files of a tree where the ignore rules for them have changed: what
// was ignored at the checkpoint, and so is not in it, would pass for new. list is what is there now and
// not ignored. (What git's own folder and the user's configuration say of ignored files is not recorded.)
func (p *restorePlanner) sameIgnoreRules(list *scan.Listing) error {
	if p.rec.Meta.Tree == nil || p.e.site.Repo == nil || len(p.foreign) == 0 {
		return nil
	}
	rules := sortedKeys(p.recorded)
	for _, f := range list.Files {
		rules = append(rules, f.Path)
	}
	rules = slices.DeleteFunc(rules, func(file string) bool { return path.Base(file) != ".gitignore" || !p.rulesFor(file) })
	slices.Sort(rules)
	for _, file := range slices.Compact(rules) {
		same, err := p.ignoresNoLess(file)
		if err != nil {
			return err
		}
		if !same {
			return &ignoreRulesError{id: p.rec.Meta.ID, PathError: &worktree.PathError{Path: file, Err: ErrDrift,
				Problem: "it is not as it was then, so files that were ignored could pass for new ones"}}
		}
	}
	return nil
}

// rulesFor reports whether a .gitignore is one for files that are to be removed: for all below its folder,
// but those that stand where the file itself is to be.
func (p *restorePlanner) rulesFor(file string) bool {
	dir := path.Dir(file)
	if dir == "." {
		dir = ""
	}
	return slices.ContainsFunc(p.foreign, func(gone string) bool {
		return gone != dir && worktree.Within(gone, dir) && !worktree.Within(gone, file)
	})
}

// ignoresNoLess reports whether the rules of a .gitignore still ignore all that they did: they are as they
// were, or new and take nothing back of what others ignore.
func (p *restorePlanner) ignoresNoLess(file string) (bool, error) {
	now, _, err := p.tree.Read(file)
	if err != nil {
		return false, err
	}
	want, known := p.recorded[file]
	if !known {
		rules := bytes.TrimPrefix(now.Content, []byte("\xef\xbb\xbf"))
		negates := func(line []byte) bool { return bytes.HasPrefix(line, []byte("!")) }
		return now.Kind == change.File && !slices.ContainsFunc(bytes.Split(rules, []byte("\n")), negates), nil
	}
	was, err := p.read(want)
	return now.Kind == was.Kind && bytes.Equal(now.Content, was.Content), err
}

// ignoreRulesError is a .gitignore that is not as it was.
type ignoreRulesError struct {
	*worktree.PathError
	id string // of the checkpoint
}

func (e *ignoreRulesError) Unwrap() error { return e.PathError }

// hint says what to do first.
func (e *ignoreRulesError) hint() string {
	return "bring it back first: oxpatch restore " + e.id + " --delete-new -- " + change.DisplayPath(e.Path) + "; without --delete-new new files stay"
}
