// Package snapshot keeps what undo needs: one record for every operation, written before the first
// file of the user changes.
//
// # Records
//
// A record is a git commit without parents in a private bare store, so that plain git can show it
// (git -C STORE show COMMIT) and any record can be dropped alone. Its tree is
//
//	meta          what the operation was, as JSON (type Meta)
//	patch/NNNN    the input, one blob for each of the inputs
//	before/NNNN   content that stood at a path before; NNNN is the path's place in meta
//	after/NNNN    content that stands there after the operation
//	tree          of a checkpoint of a whole tree, its top folder (see tree.go)
//
// Names are numbers because a tree cannot hold every file name; the names are in meta. Contents
// are the bytes of the working tree, never filtered; absent paths and folders have no entry. A
// record is written as one pack, named in its ref, so that it is read by opening that pack alone; what
// is not there is looked for in all other packs, and at last, where git has repacked the store, through
// go-git.
//
// # Pruning
//
// Operations go when they are past the limits on number, age or bytes (Retention), or are forgotten.
// Everything that a remaining ref leads to is then marked, and the rest removed: whole packs, and out
// of packs of which a part is needed by writing that part anew. Small packs become one. The new pack is
// on disk before the refs name it, and those are renamed one by one before the old packs go, so that at
// any point everything can be read; a reader whose pack has gone looks for its ref again. All that is
// done with the store's lock held alone. A record that is pending is left as it is.
//
// # Places
//
// The store is $OXPATCH_STORE if that is set; else "oxpatch/store" in the git directory that all
// working trees of the repository share; and without a repository, or where that folder cannot be
// written, $XDG_STATE_HOME/oxpatch/store. Reading looks at all of them.
//
// A root is the top level of a working tree, so a file in a submodule, in a repository that lies in
// another one or in a linked working tree belongs to that innermost root. A submodule's store is in its
// own git directory (in the outer one's modules folder, or beside its files). Without a repository the
// root is the nearest folder above that a shared store knows, else the folder itself.
//
// Within a store each root has a name. In a store inside a git directory it is "main", or "wt-"
// and the name of the linked working tree, so a repository that was moved or copied keeps its
// history; where GIT_DIR or GIT_WORK_TREE lend the git directory to another folder, that folder has
// a history of its own there, by its path. In a store that many roots share, a file for each root
// notes its path, inode and time of birth. A root is found again by its path; and when it was moved
// or renamed on the same file system, by inode and time of birth. A folder that was moved to another
// file system, or restored from a backup at another path, is a new root to the shared store: its
// history can be had by moving it back, and is kept from the outset by pointing OXPATCH_STORE to a
// store beside it. A folder restored at its old path is found by the path, although its inode is new.
//
// # Order of an operation
//
// Site.Lock, Site.Open, Store.Lock, Store.NewID, Store.Put, Store.SetPending, then the files, then
// Store.Publish; Store.Lock given back, Store.Maintain. A record that is still pending when another process takes the lock belongs to an
// operation that was cut off.
package snapshot

import "time"

const (
	// StoreVersion is the version of the store's layout that this code reads and writes.
	StoreVersion = 1
	// MetaVersion is the version of Meta that this code reads and writes.
	MetaVersion = 1
	// DefaultLockTimeout is how long a lock is waited for.
	DefaultLockTimeout = 10 * time.Second
)

// Durability says what a record survives.
type Durability string

const (
	// DurabilityRecord: a record is on disk before Put and SetPending return, so that it survives
	// a power loss. The default.
	DurabilityRecord Durability = "record"
	// DurabilityPower: as DurabilityRecord, and every change of a ref is on disk too.
	DurabilityPower Durability = "power"
	// DurabilityProcess: nothing is synced. It survives the death of the process, not of the system.
	DurabilityProcess Durability = "process"
)
