package oxpatch_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// steps returns how many steps a model test takes: OXPATCH_MODEL_STEPS if it is set.
func modelSteps(t *testing.T, usual int) int {
	t.Helper()
	switch text := os.Getenv("OXPATCH_MODEL_STEPS"); {
	case text != "":
		n, err := strconv.Atoi(text)
		require.NoError(t, err, "OXPATCH_MODEL_STEPS")
		return n * usual / 10000
	case testing.Short():
		return usual / 20
	case raceDetector:
		return usual / 10
	}
	return usual
}

// modelSeed returns the seed of the first world: OXPATCH_MODEL_SEED if it is set.
func modelSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("OXPATCH_MODEL_SEED")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, "OXPATCH_MODEL_SEED")
	return n
}

// Random steps in text mode: after each, tree, log and status are as the model says.
func TestTheHistoryFollowsTheModel(t *testing.T) {
	t.Parallel()
	runWorlds(t, modelSteps(t, 9000), 60, false)
}

// The same in repositories made by git, with patches in git mode too: the index is as the model says.
func TestTheHistoryFollowsTheModelInRepositories(t *testing.T) {
	t.Parallel()
	runWorlds(t, modelSteps(t, 1000), 40, true)
}

// runWorlds runs worlds of so many steps each, two at a time.
func runWorlds(t *testing.T, steps, each int, git bool) {
	t.Helper()
	first := modelSeed(t)
	count := (steps + each - 1) / each
	var next, failed atomic.Int64
	var mu sync.Mutex
	tally := map[string]int{}
	t.Cleanup(func() {
		t.Log(tally)
		if steps < 900 || t.Failed() {
			return
		}
		for _, what := range []string{"apply done", "undo done", "redo done", "restore done", "checkpoint done", "undo refused"} {
			assert.Greater(t, tally[what], 5, what)
		}
		for _, what := range []string{"undo done, by a merge", "killed before the record was pending", "killed in the middle of the writing", "killed when all was written"} {
			assert.Positive(t, tally[what], what)
		}
	})
	for worker := range 2 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			base := quick(t)
			for {
				n := int(next.Add(1)) - 1
				if n >= count || failed.Load() >= 3 {
					break
				}
				seed := first + uint64(n)
				w, err := runWorld(t, base, seed, each, git, nil)
				mu.Lock()
				for what, n := range w.tally {
					tally[what] += n
				}
				mu.Unlock()
				if err != nil {
					failed.Add(1)
					report(t, base, seed, each, git, err)
				}
			}
		})
	}
}

// runWorld runs one world in a folder of its own, without the steps that are left out.
func runWorld(t *testing.T, base string, seed uint64, steps int, git bool, without map[int]bool) (*story, error) {
	t.Helper()
	dir := filepath.Join(base, fmt.Sprint(seed))
	require.NoError(t, os.Mkdir(dir, 0o755))
	defer os.RemoveAll(dir)
	w := &story{g: groundIn(t, dir), seed: seed, git: git, pure: seed%4 == 0, tally: map[string]int{}, effects: map[int]int{}}
	switch {
	case git:
		w.g.init()
	case seed%2 == 1:
		w.g.asRepo()
	}
	return w, w.run(steps, without)
}

// report leaves steps out for as long as the story still fails, and prints what is left.
func report(t *testing.T, base string, seed uint64, steps int, git bool, first error) {
	t.Helper()
	last, err := runWorld(t, base, seed, steps, git, nil)
	if err == nil {
		t.Errorf("seed %d (git %v): %v\n\nIt does not happen again.", seed, git, first)
		return
	}
	steps = min(steps, last.at)
	end := time.Now().Add(20 * time.Second)
	without := map[int]bool{}
	for size := steps / 2; size >= 1; size /= 2 {
		for at := 1; at <= steps && time.Now().Before(end); at += size {
			less := maps.Clone(without)
			for i := at; i < min(at+size, steps+1); i++ {
				less[i] = true
			}
			if len(less) == len(without) {
				continue
			}
			if w, e := runWorld(t, base, seed, steps, git, less); e != nil && !strings.Contains(e.Error(), "the test itself") {
				last, err, without = w, e, less
			}
		}
	}
	t.Errorf("seed %d (git %v, pure %v): %v\n\nafter these steps:\n%s\n\nWith all steps it was: %v", seed, git, last.pure, err,
		strings.Join(last.steps, "\n"), first)
}
