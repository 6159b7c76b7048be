package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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

func (s *Store) due(r Retention, now time.Time) bool {
	last, known := s.lastMaintained()
	ids, bytes, packs := s.measure()
	if known && now.Sub(last.Time) > autoInterval || !known && now.Sub(changeTime(filepath.Join(s.place.Dir, "format"))) > autoInterval {
		return true
	}
	switch {
	case last.Limits != r:
		last.Bytes, last.Packs, last.Ops = 0, 0, 0
	case last.Worktree != s.place.Worktree:
		last.Ops = 0
	}
	return len(ids) >= last.Ops+max(last.Ops, r.Operations)/slack && r.overdue(ids, now) ||
		r.Bytes >= 0 && bytes > max(r.Bytes, last.Bytes+r.Bytes/(2*slack)) ||
		packs > max(maxPacks, last.Packs+maxPacks/slack)
}

// measure returns the ids of the root's operations, about how many bytes all packs take up, and the
// number of packs below the size of a unit. It costs two folders read and a look at each pack.
func (s *Store) measure() (ids []string, bytes int64, packs int) {
	refs, _ := listOnce(s.place, groupOps) // who needs them says what is wrong with them
	for _, ref := range refs {
		ids = append(ids, ref.id)
	}
	for _, name := range packNames(s.place) {
		info, err := os.Lstat(packPath(s.place, name))
		if err != nil {
			continue
		}
		bytes += info.Size() + packShare
		if info.Size() < foldBytes {
			packs++
		}
	}
	return ids, bytes, packs
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
	ids, bytes, packs := s.measure()
	data, err := json.Marshal(maintained{
		Time: now.UTC(), Bytes: bytes, Packs: packs, Worktree: s.place.Worktree, Ops: len(ids), Limits: r,
	})
	if err != nil {
		return err
	}
	return s.disk.replace(s.packDir(), s.maintainedPath(), append(data, '\n'), false)
}
