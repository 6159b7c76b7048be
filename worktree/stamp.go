package worktree

import (
	"io/fs"
	"time"
)

// Stamp is what told a file's version when it was read. The zero Stamp is of no file and never
// matches.
type Stamp struct {
	// HardLinks is the number of names of the file; 0 where that is not known.
	HardLinks uint64

	valid        bool
	id           fileID
	size         int64
	mode         fs.FileMode
	mtime, ctime int64 // nanoseconds since 1970
	uid, gid     uint32
	attrs        bool // it has extended attributes
	fresh        bool // changed so shortly before it was read that a later change may leave the times alike
}

// How long after a change a further one may go unseen. File systems keep times to 2 s at worst
// (FAT). A time with something below a millisecond comes from one that keeps them finely; the clock
// behind it still ticks only every 10 ms or so, with a margin here for a slow machine.
const (
	freshFor     = 2 * time.Second
	freshForFine = 100 * time.Millisecond
)

// isFresh reports whether a change at that time, in nanoseconds, may hide another one before seen.
func isFresh(at int64, seen time.Time) bool {
	window := freshFor
	if at%int64(time.Millisecond) != 0 {
		window = freshForFine
	}
	return at > seen.Add(-window).UnixNano()
}

// stampOf makes the stamp of a file seen at the given time.
func stampOf(info fs.FileInfo, seen time.Time) Stamp {
	s := Stamp{valid: true, size: info.Size(), mode: modeOf(info), mtime: info.ModTime().UnixNano(), HardLinks: hardLinks(info)}
	s.fill(info)
	last := s.ctime // the system sets it; the modification time is the user's to set
	if last == 0 {
		last = s.mtime
	}
	s.fresh = isFresh(last, seen)
	return s
}

// same reports whether the file is certain to be unchanged since the stamp was taken.
func (s Stamp) same(info fs.FileInfo) bool {
	if !s.valid || s.fresh {
		return false
	}
	return s.version() == stampOf(info, time.Time{}).version()
}

// version is the stamp without what a look at the names alone does not tell.
func (s Stamp) version() Stamp {
	s.attrs, s.fresh = false, false
	return s
}

// modeOf returns the bits that change.State.Mode holds.
func modeOf(info fs.FileInfo) fs.FileMode {
	return info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}
