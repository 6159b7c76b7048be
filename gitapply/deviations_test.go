package gitapply_test

import (
	"strings"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/internal/oxtest"
)

// deviation is a scenario in which more is done than git does by itself, and the rule that allows it.
type deviation struct {
	rule   string
	want   *oxtest.GitFates
	kind   error             // the error that Plan returns
	after  map[string]string // files afterwards
	repair string            // what Repairs must mention
}

// deviations are all scenarios of the corpus whose outcome differs from that of a direct run.
func deviations() map[string]deviation {
	applied := func(names ...string) *oxtest.GitFates { return &oxtest.GitFates{Applied: names} }
	skipped := func(names ...string) *oxtest.GitFates { return &oxtest.GitFates{Skipped: names} }
	var b strings.Builder
	for _, l := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20") {
		b.WriteString("line " + l + "\n")
	}
	plain := b.String()
	ten := strings.Replace(plain, "line 10\n", "ten, patched\n", 1)
	return map[string]deviation{
		"rev_unstaged": {rule: "what is to be taken back is staged first, in the scratch", want: applied("f.txt"),
			after: map[string]string{"f.txt": plain}},
		"stale_stat": {rule: "a file that equals its index entry is clean, whatever its stat data", want: applied("f.txt"),
			after: map[string]string{"f.txt": ten}},
		"subdir_all_outside": {rule: "git runs at the top, so nothing is passed over", want: applied("f.txt")},
		"index_lock_present": {rule: "planning needs no lock; the lock is waited for before the first write", want: applied("f.txt")},
		"count_too_big": {rule: "counts that do not fit are recounted", want: applied("f.txt"), repair: "recounted hunk 1",
			after: map[string]string{"f.txt": ten}},
		"last_newline_lost": {rule: "a patch ends in a line feed", want: applied("f.txt"), repair: "ended the last line",
			after: map[string]string{"f.txt": ten}},
		"no_prefix": {rule: "missing prefixes are put in where the tree shows that they are missing", want: applied("src/x.txt"), repair: "prefixes",
			after: map[string]string{"src/x.txt": ten}},
		"crlf_patch_lf_file": {rule: "a patch that went through CRLF gets the line endings of its files", want: applied("f.txt"), repair: "carriage returns",
			after: map[string]string{"f.txt": ten}},
		"binary_corrupt_hides_the_rest": {rule: "no section is dropped in silence", want: skipped("a.txt", "i.bin", "z.txt"), kind: gitapply.ErrBinary},
		"directory_in_the_way":          {rule: "no half-written tree", want: skipped("a.txt", "n", "z.txt"), kind: gitapply.ErrExists},
		"codex_style_patch":             {rule: "what has no section names no paths", want: &oxtest.GitFates{}, kind: gitapply.ErrCorrupt},
		"empty_patch":                   {rule: "what has no section names no paths", want: &oxtest.GitFates{}, kind: gitapply.ErrCorrupt},
	}
}

// refusals are the kinds of error of the scenarios that a direct run refuses too.
func refusals() map[string]error {
	return map[string]error{
		"binary_without_data": gitapply.ErrBinary, "blob_missing_fails": gitapply.ErrNoBlob, "partial_ok_and_fail": gitapply.ErrNoBlob,
		"multi_hunk_one_fails": gitapply.ErrNoBlob, "header_only": gitapply.ErrCorrupt, "truncated_in_hunk": gitapply.ErrCorrupt,
		"partial_conflict_then_fail": gitapply.ErrNoApply, "partial_fail_then_ok": gitapply.ErrNoApply,
		"renamed_upstream": gitapply.ErrNoApply, "delete_drifted": gitapply.ErrNoApply, "already_deleted": gitapply.ErrNoApply,
		"dirty_unrelated_line": gitapply.ErrIndexMismatch, "dirty_other_file_in_patch": gitapply.ErrIndexMismatch,
		"untracked_target": gitapply.ErrIndexMismatch, "intent_to_add": gitapply.ErrExists,
		"add_exists_untracked": gitapply.ErrExists, "path_traversal": gitapply.ErrUnsafePath, "beyond_symlink": gitapply.ErrUnsafePath,
		"dot_git_path": gitapply.ErrUnsafePath, "rev_add_edited_since": gitapply.ErrNoApply,
	}
}
