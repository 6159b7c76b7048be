package oxpatch

import (
	"os"
	"os/exec"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

const (
	// maxKnown bounds how many operations are searched for a path.
	maxKnown = 200
	// maxAsked bounds for how many paths git is asked one by one; then all of HEAD is listed. A
	// process for each path of a large patch would take minutes.
	maxAsked = 8
)

// past is what is known of files that are not there. It serves one run, and looks at nothing before
// it is asked: only a patch that deletes what is not there asks, so that a git process does not
// weigh on the usual run.
type past struct {
	e        *Engine
	operated map[string]bool // keys that operations touched as files; nil before the first question
	asked    int
	head     map[string]bool // files of HEAD; nil while git is asked one by one
}

func (e *Engine) past() *past { return &past{e: e} }

// knows reports whether a file at the key is known to the last commit or to an earlier operation.
func (p *past) knows(key string) bool {
	if p.operated == nil {
		p.operated = p.e.operated()
	}
	return p.operated[key] || p.committed(key)
}

// operated returns the keys of the files that the newest operations touched.
func (e *Engine) operated() map[string]bool {
	keys := map[string]bool{}
	ops, _ := e.site.History().Ops() // stores that cannot be read know nothing
	for _, op := range ops[:min(len(ops), maxKnown)] {
		rec, err := op.Read()
		if err != nil {
			continue
		}
		for _, m := range rec.Meta.Paths {
			if m.Before.Kind == change.File || m.After.Kind == change.File {
				keys[m.Path] = true
			}
		}
	}
	return keys
}

// committed asks git whether HEAD has a file at the key. Without git, or where git refuses the
// repository, the answer is no.
func (p *past) committed(key string) bool {
	if p.e.site.Repo == nil {
		return false
	}
	if p.asked++; p.asked <= maxAsked {
		return p.e.git("cat-file", "-t", "HEAD:"+key) == "blob\n" // a folder is no file
	}
	if p.head == nil {
		p.head = map[string]bool{}
		for _, path := range strings.Split(p.e.git("ls-tree", "-r", "-z", "--full-tree", "--name-only", "HEAD"), "\x00") {
			p.head[path] = true
		}
		delete(p.head, "")
	}
	return p.head[key]
}

// git returns what git prints at the root; nothing if it fails.
func (e *Engine) git(args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = e.site.Root
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}
