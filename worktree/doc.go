// Package worktree is the one place that touches the user's files: it resolves the paths of a
// patch, reads what stands there, and writes files, links, modes and folders below one root.
//
// A path is resolved once, component by component, and from then on only its key is used: the
// path without any link in it, relative to the root. A key is never followed again. Every folder
// of a key is held as an open handle that was checked to be the folder that was looked at, and
// every effect is done by a single name inside such a handle, so that exchanging a folder for a
// link while an operation runs cannot lead a write elsewhere. [os.Root] alone would follow links
// that stay inside the root, into .git for one, so it is only ever given single names here.
//
// Where a platform gives less, the file named after it says so: on Windows there is no device and
// inode (two spellings of one name are told by folding case), no owner, no extended attributes and
// no syncing of folders.
package worktree
