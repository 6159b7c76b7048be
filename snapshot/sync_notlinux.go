//go:build !linux

package snapshot

// fileSyncKeepsName is false where POSIX is taken by its word: the folder has to be synced as well.
const fileSyncKeepsName = false
