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
// It refuses paths that lead out of the root, into a git directory or into another repository,
// patches whose lines are not found, and files that changed while it worked.
//
// An Engine works on one root; Apply takes the patch, Undo takes operations back and Redo undos,
// Log, Show and Diff say what was done. With the Codex compatibility (see Request.Compat) it does, byte for byte,
// what the apply_patch command of codex-cli 0.171.0 does, and records it so that it can be undone.
//
// A root, with its one history, is the top level of the git working tree that the Engine's folder is
// in. A submodule, a repository that lies in another one, and a linked working tree are roots of their
// own: their files are changed and undone by an Engine for a folder in them. Seen from outside they
// are refused, with a hint that names the folder; only the Codex compatibility goes into them, and
// records it in the history of the root that it ran in. A folder in no repository is the root of all
// that is below it, repositories too. What was changed in a folder before it became
// a repository is undone from where it was changed.
package oxpatch
