//go:build !unix

package snapshot

// foldersLock: a folder cannot be locked here. Processes that use different stores are not kept apart.
const foldersLock = false

func noFolderLocks(error) bool { return true }
