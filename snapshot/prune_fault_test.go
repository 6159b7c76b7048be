package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixed is a store with much to do: a folded pack of which a part goes, packs that go whole, a pending
// operation, and small packs to fold. It returns what stands at the paths of each operation.
func mixed(t *testing.T, packRefs bool) (site *Site, all [][]Entry, pending *Record) {
	t.Helper()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	old := time.Now().Add(-100 * time.Hour)
	all = chain(t, store, 8, 600, old, Meta{})
	prune(t, store, unlimited(), old)
	all = append(all, chain(t, store, 8, 601, time.Now(), Meta{})...)
	pending = put(t, store, Meta{}, numbered(1)...)
	require.NoError(t, store.SetPending(pending))
	if packRefs {
		git(t, store.place.Dir, "--git-dir="+store.place.Dir, "pack-refs", "--all", "--prune")
	}
	return site, all, pending
}

// pruneJob is one thing that is killed at each of its effects.
type pruneJob struct {
	name string
	// stays says which operations are to stay, by their place.
	stays func(i int) bool
	run   func(s *Store, ids []string) error
}

func pruneJobs() []pruneJob {
	return []pruneJob{
		{"prune", func(i int) bool { return i >= 6 }, func(s *Store, _ []string) error {
			r := unlimited()
			r.Operations = 10
			_, err := s.Prune(context.Background(), r, time.Now(), 0)
			return err
		}},
		{"forget", func(i int) bool { return i != 2 && i != 12 }, func(s *Store, ids []string) error {
			_, err := s.Forget(context.Background(), []string{ids[2], ids[12]}, time.Now(), 0)
			return err
		}},
		{"fold", func(int) bool { return true }, func(s *Store, _ []string) error {
			_, err := s.Prune(context.Background(), unlimited(), time.Now(), 0)
			return err
		}},
	}
}

// At every effect the process dies, or the disk fails: every operation that was to stay is there, the
// store is sound, and the next pruning completes it.
func TestAKillAtAnyEffectOfPruning(t *testing.T) {
	t.Parallel()
	for _, job := range pruneJobs() {
		for _, failure := range []error{ErrKilled, errors.New("disk fault")} {
			for _, packRefs := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, packed %v", job.name, failure, packRefs), func(t *testing.T) {
					t.Parallel()
					site, all, pending := mixed(t, packRefs)
					step := 1
					if !errors.Is(failure, ErrKilled) || packRefs {
						step = 3
					}
					if testing.Short() {
						step = 7
					}
					for n := 0; ; n += step {
						if done := job.killed(t, site, all, pending, failure, n); done {
							require.Greater(t, n, 20)
							return
						}
						require.Less(t, n, 500)
					}
				})
			}
		}
	}
}

// killed runs the job on a copy of a store, with a failure at the nth effect; it reports whether the
// job came to its end before that.
func (j pruneJob) killed(t *testing.T, like *Site, all [][]Entry, pending *Record, failure error, n int) bool {
	t.Helper()
	site := copySite(t, like)
	ids := opIDs(t, site)
	var log []string
	durability := DurabilityProcess
	if n%5 == 0 { // syncs are effects too, and slow
		durability = DurabilityRecord
	}
	store := open(t, site, Options{Durability: durability})
	store.disk.hook = failAt(n, failure, &log)
	err := j.run(store, ids)
	done := err == nil
	if !done {
		require.ErrorIs(t, err, failure)
	}
	at := fmt.Sprintf("effect %d: %s", n, log[len(log)-1])
	dir := store.place.Dir
	check := func(exactly bool) {
		var want [][]Entry
		now := opIDs(t, site)
		for i, id := range ids {
			if !exactly && len(now) > len(want) && now[len(want)] == id || j.stays(i) {
				want = append(want, all[i])
			}
		}
		requireAll(t, site, want)
		p, err := site.History().Pending()
		require.NoError(t, err, at)
		require.Len(t, p, 1, at)
		requireStates(t, p[0], numbered(1))
	}
	check(done)
	if n%10 == 0 {
		fsck(t, dir)
	}
	store = open(t, site, Options{Durability: DurabilityProcess})
	require.NoError(t, j.run(store, ids), at)
	check(true)
	for path := range listing(t, dir) {
		assert.False(t, strings.HasPrefix(filepath.Base(path), "tmp_pack_"), "%s left %s", at, path)
	}
	// What a kill had left undone is freed: no pack is there but those of the operations that stay.
	requireNoUselessPack(t, store, at)
	if n%10 == 0 {
		fsck(t, dir)
	}
	return done
}

func requireNoUselessPack(t *testing.T, s *Store, at string) {
	t.Helper()
	pr := pruning{place: s.place, limits: noLimits(), now: time.Now()}
	var err error
	pr.survey, err = takeSurvey(s.place)
	require.NoError(t, err)
	defer pr.close()
	require.NoError(t, pr.walkAll(context.Background()))
	for _, p := range pr.packs {
		require.Positive(t, p.needed, "%s: pack %s is for nothing", at, p.name)
	}
}

// copySite copies the store of a site, and returns the same root with that store.
func copySite(t *testing.T, like *Site) *Site {
	t.Helper()
	to := filepath.Join(tempDir(t), "store")
	require.NoError(t, os.CopyFS(to, os.DirFS(like.Write[0].Dir)))
	return locate(t, like.Root, envMap{"OXPATCH_STORE": to})
}

// Readers take no lock on the store: one that has listed the history, or holds a record, reads on
// while the store is folded and pruned under it.
func TestReadersSurviveFolding(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 15, 2000, now, Meta{})
	ops, err := site.History().Ops()
	require.NoError(t, err)
	var held []*Record
	for _, op := range ops {
		r, err := op.Read()
		require.NoError(t, err)
		held = append(held, r)
	}
	_, err = held[0].Before(0) // this one has its pack open
	require.NoError(t, err)
	require.Equal(t, 15, packCount(t, store))
	prune(t, store, unlimited(), now)
	require.Equal(t, 1, packCount(t, store))
	for i, op := range ops {
		requireStates(t, held[i], all[14-i])
		r, err := op.Read()
		require.NoError(t, err)
		requireStates(t, r, all[14-i])
		held[i].Close()
		requireStates(t, held[i], all[14-i])
		r.Close()
	}
}

// While one process folds again and again, and writes operations in between, none is ever missing from
// what another one lists and reads.
func TestReadingWhileFolding(t *testing.T) {
	t.Parallel()
	now := time.Now()
	site, store := plainStore(t, Options{Durability: DurabilityProcess})
	all := chain(t, store, 40, 500, now, Meta{})
	ids := opIDs(t, site)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for i := range 40 {
			publish(t, store, Meta{}, modify("x", noise(100+i), noise(200+i)))
			_, err := store.Prune(context.Background(), unlimited(), now, 0)
			assert.NoError(t, err)
		}
	})
	rounds := 0
	for ; ; rounds++ {
		ops, err := site.History().Ops()
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(ops), len(ids))
		for i, id := range ids {
			op := ops[len(ops)-1-i]
			require.Equal(t, id, op.ID)
			if (i+rounds)%5 == 0 {
				r, err := op.Read()
				require.NoError(t, err)
				requireStates(t, r, all[i])
				r.Close()
			}
		}
		select {
		case <-stop:
			wg.Wait()
			assert.Positive(t, rounds)
			return
		default:
		}
	}
}

// git may have repacked the store, or unpacked some of it, with deltas and refs of its own.
func TestPruneAfterGit(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string][][]string{
		"gc":                         {{"gc", "-q", "--prune=now"}},
		"old gc":                     {{"-c", "repack.useDeltaBaseOffset=false", "gc", "-q", "--prune=now", "--aggressive"}},
		"repack with the rest loose": {{"repack", "-q", "-A", "-d"}, {"pack-refs", "--all"}},
		"midx":                       {{"multi-pack-index", "write"}, {"commit-graph", "write", "--reachable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			site, store := plainStore(t, Options{Durability: DurabilityProcess})
			all := chain(t, store, 20, 3000, now, Meta{})
			dir := store.place.Dir
			for _, c := range commands {
				git(t, dir, append([]string{"--git-dir=" + dir}, c...)...)
			}
			if name == "old gc" {
				unpackSome(t, dir)
			}
			requireAll(t, site, all)
			r := unlimited()
			r.Operations = 12
			out := prune(t, store, r, now)
			assert.Len(t, out.Dropped, 8)
			assert.Empty(t, out.Damage)
			requireAll(t, site, all[8:])
			fsck(t, dir)
			assert.False(t, holds(t, store, hashObject(typeBlob, all[0][0].Before.Content)))
			ops, err := site.History().Ops()
			require.NoError(t, err)
			_, err = store.Forget(context.Background(), []string{ops[3].ID}, now, 0)
			require.NoError(t, err)
			fsck(t, dir)
			assert.Len(t, opIDs(t, site), 11)
		})
	}
}

// unpackSome leaves half of the objects both loose and packed.
func unpackSome(t *testing.T, dir string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	moved := filepath.Join(dir, "moved.pack")
	require.NoError(t, os.Rename(packs[0], moved))
	f, err := os.Open(moved)
	require.NoError(t, err)
	defer f.Close()
	cmd := exec.Command("git", "--git-dir="+dir, "unpack-objects", "-q")
	cmd.Stdin, cmd.Env = f, gitEnv(dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Rename(moved, packs[0]))
}
