// Package gitapply applies a unified diff with "git apply --3way", beside the repository instead of
// in it. Plan runs git in a private folder that stands in for the working tree, with copies of the
// index and of the few files that matter, and with an object store of its own in front of the
// repository's. What git leaves there says for every path of the patch what would become of it, down
// to the bytes and the lines of the index, before anything of the user's was changed.
//
// What became of a path is read off the files and the index; what git prints gives only the reasons
// (package outputparse).
//
// The caller then shows, records and writes the changes of the result, between LockIndex and
// UpdateIndex. The index is written with git, on a copy that is renamed over it.
//
// It works with git 2.20 and newer. Commands that the repository's configuration names (filters,
// merge drivers) run as they would in a plain "git apply", in the top folder of the working tree.
package gitapply
