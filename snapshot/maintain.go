package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// autoTime is how long automatic pruning begins new work.
	autoTime = time.Second
	// autoInterval is how often it looks at the other roots of the store.
	autoInterval = 24 * time.Hour
)

// maintained is the content of the file of that name: what the last automatic pruning left. Some of it
// may be beyond the limits for good, and must not be looked through again for every operation.
type maintained struct {
	Time     time.Time `json:"time"`
	Bytes    int64     `json:"bytes"`
	Packs    int       `json:"packs"` // below the size of a unit
	Worktree string    `json:"worktree"`
	Ops      int       `json:"ops"` // of that root
	Limits   Retention `json:"limits"`
}

// Maintain prunes the store if it has gone past its limits by more than a little, which names and file
// sizes tell. It is for the end of an operation: it does nothing where another process uses the store,
// and it begins nothing new after a second. Operations of the running session stay whatever their
// number and age; on bytes they are the last to go.
//
// The caller does not hold Store.Lock; it may hold the root's. Without anything to do the result is nil.
func (s *Store) Maintain(ctx context.Context, r Retention, session string, now time.Time) (*Pruned, error) {
	if !s.due(r, now) {
		return nil, nil
	}
	release, err := s.LockExclusive(ctx, -1)
	if errors.Is(err, ErrBusy) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer release()
	pr := pruning{
		place: s.place, disk: &s.disk, limits: r, now: now, session: session,
		auto: true, deadline: time.Now().Add(autoTime),
	}
	out, err := pr.run(ctx)
	if err != nil {
		return out, err
	}
	return out, s.noteMaintained(r, now)
}

// discardBytes is from what size on the pack of a record that came to nothing goes at once. Smaller ones
// wait until packs are folded.
const discardBytes = 256 << 10

// Discard frees what a record takes up that is neither pending nor published: else one large operation
// that fails again and again, for want of space at worst, would fill a disk. It does nothing for a small
// one, and where another process uses the store; and it begins nothing new after a second. Locks are as
// for Maintain.
func (s *Store) Discard(ctx context.Context, r *Record, now time.Time) error {
	info, err := os.Lstat(packPath(s.place, r.ref.pack))
	if err != nil || info.Size() < discardBytes {
		return nil //nolint:nilerr // it is not there
	}
	release, err := s.LockExclusive(ctx, -1)
	if err != nil {
		if errors.Is(err, ErrBusy) {
			return nil
		}
		return err
	}
	defer release()
	pr := pruning{place: s.place, disk: &s.disk, limits: noLimits(), now: now, auto: true, deadline: time.Now().Add(autoTime)}
	_, err = pr.run(ctx)
	return err
}

func (s *Store) due(r Retention, now time.Time) bool {
	last, known := s.lastMaintained()
	m := s.measure()
	if known && now.Sub(last.Time) > autoInterval || !known && now.Sub(changeTime(filepath.Join(s.place.Dir, "format"))) > autoInterval {
		return true
	}
	switch {
	case last.Limits != r:
		last.Bytes, last.Packs, last.Ops = 0, 0, 0
	case last.Worktree != s.place.Worktree:
		last.Ops = 0
	}
	return m.ops >= last.Ops+max(last.Ops, r.Operations)/slack && r.overdue(m.ops, m.oldest, now) ||
		r.Bytes >= 0 && m.bytes > max(r.Bytes, last.Bytes+r.Bytes/(2*slack)) ||
		m.packs > max(maxPacks, last.Packs+maxPacks/slack)
}

// measures are what names and sizes tell of a store.
type measures struct {
	ops    int    // of the root
	oldest string // id
	bytes  int64  // that all packs take up, about
	packs  int    // below the size of a unit
}

// measure costs two folders read and a look at each pack. What cannot be read is not there; who needs it
// says what is wrong.
func (s *Store) measure() measures {
	var m measures
	names := namesIn(s.refDir(groupOps))
	packed, _ := packedRefs(s.place)
	for name := range packed {
		if last, ok := strings.CutPrefix(name, groupName(s.place, groupOps)); ok {
			names = append(names, last)
		}
	}
	for _, name := range names {
		if len(name) < idLen || !validID(name[:idLen]) {
			continue
		}
		m.ops++
		if m.oldest == "" || name < m.oldest {
			m.oldest = name[:idLen]
		}
	}
	for _, name := range namesIn(s.packDir()) {
		if !strings.HasSuffix(name, ".pack") {
			continue
		}
		if info, err := os.Lstat(filepath.Join(s.packDir(), name)); err == nil {
			m.bytes += info.Size() + packShare
			if info.Size() < foldBytes {
				m.packs++
			}
		}
	}
	return m
}

// namesIn returns the names in a folder in no order.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}

func (s *Store) maintainedPath() string { return filepath.Join(s.place.Dir, "maintained") }

func (s *Store) lastMaintained() (maintained, bool) {
	var m maintained
	data, err := os.ReadFile(s.maintainedPath())
	if err != nil || json.Unmarshal(data, &m) != nil {
		return maintained{}, false
	}
	return m, true
}

func (s *Store) noteMaintained(r Retention, now time.Time) error {
	m := s.measure()
	data, err := json.Marshal(maintained{
		Time: now.UTC(), Bytes: m.bytes, Packs: m.packs, Worktree: s.place.Worktree, Ops: m.ops, Limits: r,
	})
	if err != nil {
		return err
	}
	return s.disk.replace(s.packDir(), s.maintainedPath(), append(data, '\n'), false)
}
