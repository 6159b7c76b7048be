package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pruned says what pruning a store came to, or would come to.
type Pruned struct {
	// Dropped are the ids of the operations that are no longer in the history, oldest first. In a
	// store that several roots share they may be those of any of them.
	Dropped []string
	// Before and After are the sizes of the whole store in bytes. In a forecast After is an estimate.
	Before, After int64
	// Over is by how many bytes that which always stays exceeds the limit.
	Over int64
	// Damage is what could not be read. Where it leaves open what is still needed, no bytes were freed.
	Damage []Damage
}

// Prune drops the operations that are past the limits, of all roots of the store, and gives back
// the bytes that no operation needs any more, also out of packs that others are in; small packs become
// one. It takes the store's lock alone, waiting as Site.Lock does; the root's need not be held.
//
// The newest operations of each root stay in any case, and those that are pending. The oldest go first.
// It needs no more space beside the store than the pack that it writes at a time; killed at any point
// it has lost nothing that was to stay, and the next call completes it.
func (s *Store) Prune(ctx context.Context, r Retention, now time.Time, timeout time.Duration) (*Pruned, error) {
	release, err := s.LockExclusive(ctx, timeout)
	if err != nil {
		return &Pruned{}, err
	}
	defer release()
	pr := pruning{place: s.place, disk: &s.disk, limits: r, now: now}
	return pr.run(ctx)
}

// ForeseePrune says what Prune would do to the store at a place. It changes nothing and takes no lock.
// How much smaller folding makes the packs it cannot foresee, so of the operations that are over the
// limit on bytes some may stay.
func (s *Site) ForeseePrune(ctx context.Context, p Place, r Retention, now time.Time) (*Pruned, error) {
	pr := pruning{place: p, limits: r, now: now}
	return pr.run(ctx)
}

// Forget drops finished operations of the root and frees their bytes at once, but for content that
// another operation has too. Ids that are not in this store are passed over. Locks and errors are
// those of Prune.
func (s *Store) Forget(ctx context.Context, ids []string, now time.Time, timeout time.Duration) (*Pruned, error) {
	release, err := s.LockExclusive(ctx, timeout)
	if err != nil {
		return &Pruned{}, err
	}
	defer release()
	pr := pruning{place: s.place, disk: &s.disk, limits: noLimits(), now: now, forget: idSet(ids)}
	return pr.run(ctx)
}

// ForeseeForget says what Forget would do to the store at a place, as ForeseePrune does.
func (s *Site) ForeseeForget(ctx context.Context, p Place, ids []string, now time.Time) (*Pruned, error) {
	pr := pruning{place: p, limits: noLimits(), now: now, forget: idSet(ids)}
	return pr.run(ctx)
}

func noLimits() Retention { return Retention{Operations: -1, Age: -1, Bytes: -1} }

func idSet(ids []string) map[string]bool {
	set := map[string]bool{}
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// pruning is one pruning under way.
type pruning struct {
	place  Place
	disk   *disk // nil for a forecast
	limits Retention
	now    time.Time
	forget map[string]bool // ids, of the place's own root
	// auto: on the way of another operation. Little is done where little is to be gained, and
	// nothing new is begun after the deadline.
	auto     bool
	deadline time.Time
	// eager: fold all that is not folded.
	eager   bool
	session string // whose operations stay, as far as the limit on bytes allows

	*survey
	out Pruned
}

// run prunes. Where the store is over the limit on bytes, folding its packs may do, since operations that
// follow one another share most of what they hold; only if not, operations are dropped for it.
func (pr *pruning) run(ctx context.Context) (*Pruned, error) {
	before, err := storeBytes(pr.place.Dir)
	if err != nil || pr.disk == nil || pr.limits.Bytes < 0 || before <= pr.limits.Bytes {
		return pr.once(ctx, before)
	}
	first := *pr
	first.limits.Bytes, first.eager = -1, true
	out, err := first.once(ctx, before)
	if err == nil && out.After <= pr.limits.Bytes || errors.Is(err, ErrKilled) || ctx.Err() != nil {
		return out, err
	}
	// A full disk is no place for a new pack, but dropping operations needs none.
	second := *pr
	second.eager = true
	rest, err := second.once(ctx, out.After)
	rest.Before, rest.Dropped = before, append(out.Dropped, rest.Dropped...)
	slices.Sort(rest.Dropped)
	return rest, err
}

// once goes through the store, of so many bytes, once.
func (pr *pruning) once(ctx context.Context, before int64) (*Pruned, error) {
	pr.out.Before, pr.out.After = before, before
	var err error
	if pr.survey, err = takeSurvey(pr.place); err != nil {
		return &pr.out, err
	}
	defer pr.close()
	pr.dropExpired()
	if err := pr.walkAll(ctx); err != nil {
		return &pr.out, err
	}
	if pr.disk == nil {
		pr.list(func(*kept) bool { return true })
		pr.out.After = pr.estimate()
	} else {
		err = pr.carryOut(ctx)
		pr.list(pr.isGone(err))
		after, sizeErr := storeBytes(pr.place.Dir)
		pr.out.After = after
		err = errors.Join(err, sizeErr)
	}
	pr.out.Damage = pr.damage
	return &pr.out, err
}

// isGone tells for operations that were to be dropped whether they are: all of them, unless err kept
// pruning from that.
func (pr *pruning) isGone(err error) func(k *kept) bool {
	packed := map[string]oid{}
	if err != nil {
		packed, _ = packedRefs(pr.place)
	}
	return func(k *kept) bool {
		_, in := packed[groupName(k.place, k.group)+k.ref.String()]
		return err == nil || !in && missing(refPath(k.place, k.group, k.ref))
	}
}

// list fills in what is dropped.
func (pr *pruning) list(gone func(k *kept) bool) {
	for _, k := range pr.records {
		if k.drop && !k.twin && gone(k) {
			pr.out.Dropped = append(pr.out.Dropped, k.ref.id)
		}
	}
	slices.Sort(pr.out.Dropped)
	pr.out.Dropped = slices.Compact(pr.out.Dropped)
}

// ops returns the refs of finished operations by root, each list by ascending id.
func (pr *pruning) ops() map[Place][]*kept {
	byRoot := map[Place][]*kept{}
	for _, k := range pr.records {
		if k.group == groupOps && !k.twin {
			byRoot[k.place] = append(byRoot[k.place], k)
		}
	}
	for _, list := range byRoot {
		slices.SortFunc(list, func(a, b *kept) int { return strings.Compare(a.ref.id, b.ref.id) })
	}
	return byRoot
}

// dropExpired drops what is to be forgotten, and what is past the limits on count and age.
func (pr *pruning) dropExpired() {
	for root, list := range pr.ops() {
		ids := make([]string, len(list))
		for i, k := range list {
			ids[i] = k.ref.id
		}
		old := pr.limits.expired(ids, pr.now, rootGone(root))
		for i, k := range list {
			k.drop = old[i] && !pr.inSession(k) || root.Worktree == pr.place.Worktree && pr.forget[k.ref.id]
		}
	}
}

// inSession reports whether an operation is of the session that is running.
func (pr *pruning) inSession(k *kept) bool {
	if pr.session == "" {
		return false
	}
	r, err := readRecord(k.place, k.group, k.ref)
	return err == nil && r.Meta.Session == pr.session
}

// walkAll marks what is needed for all that stays, in the order in which it is worth keeping, and drops
// the rest once the limit on bytes is reached: the oldest, and before any of the running session.
func (pr *pruning) walkAll(ctx context.Context) error {
	must, may := pr.ranked()
	for _, id := range pr.roots {
		pr.noteTrail("", pr.walk(id, nil))
	}
	var total int64
	for _, k := range must {
		if err := ctx.Err(); err != nil {
			return err
		}
		total += pr.walkRecord(k)
	}
	limit := pr.byteLimit()
	if limit >= 0 {
		pr.out.Over = max(0, total-limit)
	}
	full := false
	for _, k := range may {
		if err := ctx.Err(); err != nil {
			return err
		}
		if full {
			k.drop = true
			continue
		}
		t := pr.trailOf(k)
		if full = limit >= 0 && total+t.bytes > limit; full {
			pr.takeBack(t)
			k.drop = true
			continue
		}
		pr.keep(k, t)
		total += t.bytes
	}
	return nil
}

// byteLimit is the limit on bytes that holds for this pruning; negative for none.
func (pr *pruning) byteLimit() int64 {
	switch {
	case pr.limits.Bytes < 0:
		return -1
	case !pr.auto:
		return pr.limits.Bytes
	case pr.out.Before <= pr.limits.Bytes:
		return -1
	}
	return pr.limits.Bytes - pr.limits.Bytes/slack
}

// ranked returns the records that must stay, and those that may, best first.
func (pr *pruning) ranked() (must, may []*kept) {
	session := map[*kept]bool{}
	for _, k := range pr.records {
		if k.group == groupPending && !k.twin {
			must = append(must, k)
		}
	}
	for root, list := range pr.ops() {
		gone := rootGone(root)
		for i, k := range list {
			switch {
			case k.drop:
			case !gone && len(list)-i <= keepAlways:
				must = append(must, k)
			default:
				may = append(may, k)
				session[k] = pr.byteLimit() >= 0 && pr.inSession(k)
			}
		}
	}
	slices.SortFunc(may, func(a, b *kept) int {
		if session[a] != session[b] {
			return map[bool]int{true: -1, false: 1}[session[a]]
		}
		return cmp.Or(strings.Compare(b.ref.id, a.ref.id), strings.Compare(b.ref.pack, a.ref.pack))
	})
	return must, may
}

func (pr *pruning) walkRecord(k *kept) int64 {
	t := pr.trailOf(k)
	pr.keep(k, t)
	return t.bytes
}

func (pr *pruning) trailOf(k *kept) trail {
	if k.err != nil {
		return trail{broken: k.err}
	}
	return pr.walk(k.commit, k.home)
}

// keep notes that a record stays.
func (pr *pruning) keep(k *kept, t trail) {
	if k.home != nil && (k.home.first == "" || k.ref.id < k.home.first) {
		k.home.first = k.ref.id
	}
	named := pr.byName[k.ref.pack]
	for _, p := range []*packFile{k.home, named} {
		if p != nil && (k.group == groupPending || t.broken != nil) {
			p.pinned = true
		}
	}
	pr.noteTrail(k.ref.id, t)
}

func (pr *pruning) noteTrail(id string, t trail) {
	if t.broken != nil {
		pr.torn(id, t.broken)
		pr.intact = false
	}
	if len(t.lost) > 0 {
		pr.torn(id, errors.Join(t.lost...))
	}
}

// rootGone reports whether a root is no more, so that nobody will ever want to undo there: the linked
// working tree was removed, or the folder of a shared store's root is not there.
func rootGone(p Place) bool {
	if p.Shared {
		e, ok := (&registry{dir: p.Dir}).readEntry(p.Worktree)
		return ok && missing(string(e.Path))
	}
	name, linked := strings.CutPrefix(p.Worktree, "wt-")
	common := filepath.Dir(filepath.Dir(p.Dir))
	return linked && missing(filepath.Join(common, "worktrees", plainName(name)))
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// storeBytes returns the size of all files in a folder.
func storeBytes(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreMissing(err)
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return ignoreMissing(err)
	})
	return sum, err
}

// ignoreMissing drops the error of a file that is no more: a temporary one of another process.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
