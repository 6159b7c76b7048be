package gitapply

import (
	"context"
	"strings"
)

// Files lists what git would look at in the working tree: the files that the index names, whether
// they are there or not, and those that are neither in the index nor ignored. Names are raw bytes
// relative to the top; one that ends in a slash is a repository of its own. A submodule stands there
// as the name of its folder. A file with conflicts is there once. The order is git's. No lock is taken
// and nothing is written.
func Files(ctx context.Context, repo Repo, o Options) ([]string, error) {
	r, err := newRunner(repo, o)
	if err != nil {
		return nil, err
	}
	p := r.real(r.indexFile())
	// A file system monitor is a program that the repository's settings name.
	p.config = []string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=keep"}
	out, err := r.must(ctx, p, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var names []string
	seen := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}
