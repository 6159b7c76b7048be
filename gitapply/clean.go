package gitapply

import (
	"bytes"
	"context"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// clean finds the paths whose file is what the index says. Most are so byte for byte; for the
// others git is asked once, since filters and line endings may lie between. Entries that git is told
// not to look at (skip-worktree, assume-unchanged) are compared like all others, as git apply does.
func (r *runner) clean(ctx context.Context, states map[string]change.State, lines map[string][]change.IndexLine, c repoConfig) (map[string]bool, error) {
	clean := map[string]bool{}
	var ask []string
	for name, st := range states {
		line, ok := staged(lines[name])
		switch {
		case !ok:
		case looksClean(r.repo.ObjectFormat, st, line, c):
			clean[name] = true
		case filtered(st, line, c):
			ask = append(ask, name)
		}
	}
	if len(ask) == 0 {
		return clean, nil
	}
	ids, err := r.hashFiles(ctx, ask)
	if err != nil || len(ids) != len(ask) {
		return clean, err
	}
	for i, name := range ask {
		clean[name] = ids[i] == lines[name][0].OID
	}
	return clean, nil
}

// hashFiles returns the ids that files of the working tree would have as blobs, filters applied.
// Nothing is stored. No ids come back if git cannot read one of the files.
func (r *runner) hashFiles(ctx context.Context, names []string) ([]string, error) {
	var in bytes.Buffer
	for _, n := range names {
		in.WriteString(change.Quote(n) + "\n")
	}
	out, err := r.do(ctx, r.real(""), in.Bytes(), "hash-object", "--stdin-paths")
	if err != nil || out.code != 0 {
		return nil, err
	}
	return strings.Fields(string(out.stdout)), nil
}
