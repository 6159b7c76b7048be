// Package oxpatch applies patches to a working tree and can take them back.
//
// It promises that
//
//   - nothing is lost: every byte that an operation replaces or deletes is recorded before it is
//     touched, also of untracked and ignored files and outside a git repository, and Undo brings
//     it back;
//   - an operation happens whole or not at all, unless partial results are asked for;
//   - only the paths that the patch names change, and in them only the lines that it changes: line
//     endings, byte-order mark, final newline, encoding and mode stay;
//   - nothing is silent: a place that was chosen among several, a file that was overwritten, a
//     patch understood in part is in the result.
//
// It refuses paths that lead out of the root or into a git directory, patches whose lines are not
// found, and files that changed while it worked.
//
// An Engine works on one root; Apply takes the patch, Undo takes operations back and Redo undos,
// Log, Show and Diff say what was done. With the Codex compatibility (see Request.Compat) it does, byte for byte,
// what the apply_patch command of codex-cli 0.171.0 does, and records it so that it can be undone.
package oxpatch
