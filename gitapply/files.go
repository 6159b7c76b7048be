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
//
// unread are folders, with names of the same kind, that git passed over because they cannot be read; in
// them may be more files.
func Files(ctx context.Context, repo Repo, o Options) (names, unread []string, err error) {
	r, err := newRunner(repo, o)
	if err != nil {
		return nil, nil, err
	}
	p := r.real(r.indexFile())
	// A file system monitor is a program that the repository's settings name.
	p.config = []string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=keep"}
	out, err := r.mustDo(ctx, p, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for name := range strings.SplitSeq(string(out.stdout), "\x00") {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for part := range strings.SplitSeq("\n"+string(out.stderr), "\nwarning: could not open directory '") {
		if i := strings.LastIndex(part, "': "); i >= 0 {
			unread = append(unread, strings.TrimSuffix(part[:i], "/"))
		}
	}
	return names, unread, nil
}
