package oxpatch

import (
	"os"
	"os/exec"

	"github.com/openoxide/oxpatch/change"
)

// maxKnown bounds how many operations are searched for a path.
const maxKnown = 200

// knows reports whether a file at the key is known to the last commit or to an earlier operation.
// It is asked only about a file that a patch deletes and that is not there, so a git process does
// not weigh on the usual run.
func (e *Engine) knows(key string) bool {
	return e.committed(key) || e.operated(key)
}

func (e *Engine) operated(key string) bool {
	ops, _ := e.site.History().Ops() // stores that cannot be read know nothing
	for _, op := range ops[:min(len(ops), maxKnown)] {
		rec, err := op.Read()
		if err != nil {
			continue
		}
		for _, p := range rec.Meta.Paths {
			if p.Path == key && (p.Before.Kind == change.File || p.After.Kind == change.File) {
				return true
			}
		}
	}
	return false
}

// committed asks git whether HEAD has the path. Without git, or where git refuses the repository,
// the answer is no.
func (e *Engine) committed(key string) bool {
	if e.site.Repo == nil {
		return false
	}
	cmd := exec.Command("git", "cat-file", "-t", "HEAD:"+key)
	cmd.Dir = e.site.Root
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	kind, err := cmd.Output()
	return err == nil && string(kind) == "blob\n" // a folder is no file
}
