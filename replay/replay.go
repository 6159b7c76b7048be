package main

import (
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
)

// batch is how many commits are read at once.
const batch = 100

// replay runs every setting over a sample of the repository's commits. What -v asks for is printed
// to out as it is found.
func replay(ctx context.Context, o options, out io.Writer) (*report, error) {
	repo := repository{dir: o.repo}
	ids, err := repo.commits(ctx)
	if err != nil {
		return nil, err
	}
	rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	temp, err := os.MkdirTemp("", "replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	r := newReport(o)
	for len(ids) > 0 && r.taken < o.commits {
		n := min(batch, len(ids))
		if err := r.batch(ctx, repo, ids[:n], temp, out); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	return r, nil
}

// batch replays the commits that change text, until enough are taken.
func (r *report) batch(ctx context.Context, repo repository, ids []string, temp string, out io.Writer) error {
	room, count := r.o.commits-r.taken, 0
	for i, lines := range r.contexts() {
		commits, err := repo.load(ctx, ids, lines, r.o.mode)
		if err != nil {
			return err
		}
		commits = r.take(commits, room, i == 0)
		count = len(commits)
		for _, t := range r.tallies {
			if t.setting.context != lines {
				continue
			}
			if err := t.replay(ctx, commits, r.o, temp, out); err != nil {
				return err
			}
		}
	}
	r.taken += count
	return nil
}

// take returns the commits that change text, room of them at most. With count those up to there are
// counted, with what had to be left out of them.
func (r *report) take(commits []*commit, room int, count bool) []*commit {
	var taken []*commit
	for _, c := range commits {
		if len(taken) == room {
			break
		}
		if count {
			r.leaveOut(c)
		}
		if len(c.files) > 0 {
			taken = append(taken, c)
		}
	}
	return taken
}

// contexts returns the numbers of context lines that the settings ask for.
func (r *report) contexts() []int {
	var all []int
	for _, t := range r.tallies {
		if !slices.Contains(all, t.setting.context) {
			all = append(all, t.setting.context)
		}
	}
	return all
}

// replay tries all commits in one setting, several at a time, and counts them in their order.
func (t *tally) replay(ctx context.Context, commits []*commit, o options, temp string, out io.Writer) error {
	found := make([]*finding, len(commits))
	errs := make([]error, len(commits))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				found[i], errs[i] = examine(ctx, commits[i], t.setting, o.seed, temp)
			}
		})
	}
	for i := range commits {
		next <- i
	}
	close(next)
	wg.Wait()
	for i, f := range found {
		if errs[i] != nil {
			return errs[i]
		}
		t.count(f)
		if f.whole.verdict == right {
			continue
		}
		if o.verbose {
			f.print(out)
		}
		if o.keep != "" {
			if err := f.keep(o.keep); err != nil {
				return err
			}
		}
	}
	return nil
}

// load reads commits and the contents of the files that they change.
func (r repository) load(ctx context.Context, ids []string, lines int, m mode) ([]*commit, error) {
	diffs, err := r.diffs(ctx, ids, lines, m == modeGit)
	if err != nil {
		return nil, err
	}
	var commits []*commit
	var entries [][]rawEntry
	var wanted []string
	for _, id := range ids {
		if diffs[id] == "" {
			continue // changes nothing
		}
		c, raw, err := parseCommit(id, diffs[id], m)
		if err != nil {
			return nil, err
		}
		commits, entries = append(commits, c), append(entries, raw)
		for _, e := range raw {
			wanted = append(wanted, e.blobs()...)
		}
	}
	slices.Sort(wanted)
	blobs, err := r.blobs(ctx, slices.Compact(wanted))
	if err != nil {
		return nil, err
	}
	for i, c := range commits {
		c.fill(entries[i], blobs, m)
		if m != modeGit {
			continue
		}
		if c.around, err = r.attributes(ctx, c.id+"^"); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// blobs returns the ids of the contents before and after, as far as there are any.
func (e rawEntry) blobs() []string {
	var ids []string
	if e.status != 'A' && e.oldMode != modeSubmodule {
		ids = append(ids, e.oldID)
	}
	if e.status != 'D' && e.newMode != modeSubmodule {
		ids = append(ids, e.newID)
	}
	return ids
}

// content returns the content of one side; for a submodule that is the id of its commit.
func content(fileMode, id string, blobs map[string][]byte) []byte {
	if fileMode == modeSubmodule {
		return []byte(id)
	}
	return blobs[id]
}

// fill gives the files their contents and leaves out those that are not text for a patch.
func (c *commit) fill(entries []rawEntry, blobs map[string][]byte, m mode) {
	fit := c.files[:0]
	for i, f := range c.files {
		if slices.ContainsFunc(entries[i].blobs(), func(id string) bool { return blobs[id] == nil }) {
			c.leftOut["over 1 MiB"]++
			continue
		}
		f.before = content(entries[i].oldMode, entries[i].oldID, blobs)
		f.after = content(entries[i].newMode, entries[i].newID, blobs)
		if reason := f.unfit(m); reason != "" {
			c.leftOut[reason]++
			continue
		}
		if m != modeGit {
			f.trim()
		}
		fit = append(fit, f)
	}
	c.files = fit
	if _, ok := inOrder(fit); !ok && m != modeGit {
		c.leftOut["swapped names"] += len(fit)
		c.files = nil
	}
}

// finding is a commit tried in one setting.
type finding struct {
	commit  *commit
	setting setting
	whole   *trial
	// alone holds a trial for every section of a commit that is not right.
	alone []*trial
}

// examine applies the commit as one patch and, where that is not right, each file alone.
func examine(ctx context.Context, c *commit, s setting, seed uint64, temp string) (*finding, error) {
	rnd := rand.New(rand.NewPCG(seed, spellingSeed(c, s)))
	f := &finding{commit: c, setting: s}
	var err error
	if s.mode == modeGit {
		f.whole, err = tryGit(ctx, c, s.drift, rnd, temp)
		return f, err
	}
	sections := c.render(s, rnd)
	if f.whole, err = try(ctx, sections, s, temp); err != nil || f.whole.verdict == right {
		return f, err
	}
	for i := range sections {
		t := f.whole
		if len(sections) > 1 {
			if t, err = try(ctx, sections[i:i+1], s, temp); err != nil {
				return nil, err
			}
		}
		f.alone = append(f.alone, t)
	}
	return f, nil
}

// spellingSeed makes the spellings and the drift of a commit the same whichever rules it is tried with.
func spellingSeed(c *commit, s setting) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, c.id+" "+string(s.perturb)+string(s.drift))
	return h.Sum64()
}
