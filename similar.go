package oxpatch

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/worktree"
)

// hintAtFiles puts the file that is likely meant into the hint of each section whose file is missing.
func (p *textPlan) hintAtFiles(d *diskTree) {
	for _, e := range p.Errors() {
		if !errors.Is(e, textapply.ErrMissing) {
			continue
		}
		if name := d.similar(e.Path); name != "" {
			e.Hint = fmt.Sprintf("there is %s; if that is meant, name it so", change.DisplayPath(name))
		}
	}
}

// similar returns a file that a path of a patch may mean where there is none by that name: the path
// without quotes or a diff's prefix, counted from the root, without the root's own name, or in other
// case. "" where there is none of these.
func (d *diskTree) similar(name string) string {
	bare := strings.Trim(name, "\"'`<>* \t")
	slashed := strings.ReplaceAll(bare, `\`, "/")
	tries := []string{bare, slashed}
	if _, rest, ok := strings.Cut(slashed, "/"); ok && (slashed[0] == 'a' || slashed[0] == 'b') && slashed[1] == '/' {
		tries = append(tries, rest)
	}
	tries = append(tries, strings.TrimPrefix(slashed, filepath.Base(d.tree.Root())+"/"))
	if rel, err := filepath.Rel(d.base, d.tree.Abs(path.Clean(slashed))); err == nil {
		tries = append(tries, filepath.ToSlash(rel))
	}
	for _, t := range tries {
		if t != name && t != "" && d.isFile(t) {
			return t
		}
	}
	return d.inOtherCase(slashed)
}

func (d *diskTree) isFile(name string) bool {
	loc, err := d.tree.Resolve(name, worktree.Edit, nil)
	return err == nil && loc.Kind == change.File
}

// inOtherCase looks in the path's folder for a file whose name differs only in case.
func (d *diskTree) inOtherCase(name string) string {
	const most = 10_000
	folder, err := os.Open(filepath.Join(d.base, filepath.FromSlash(path.Dir(name))))
	if err != nil {
		return ""
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(most) // what could be read is enough for a hint
	for _, n := range names {
		if found := path.Join(path.Dir(name), n); n != path.Base(name) && strings.EqualFold(n, path.Base(name)) && d.isFile(found) {
			return found
		}
	}
	return ""
}
