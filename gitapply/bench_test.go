package gitapply_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/stretchr/testify/require"
)

// synthetic makes a repository of n files and a patch of one of them, both ways.
func synthetic(b *testing.B, n int) (r *repo, there, back string) {
	b.Helper()
	r = newRepo(b, anyGit(b))
	for i := range n {
		r.write(fmt.Sprintf("d%03d/f%05d.txt", i%200, i), fmt.Sprintf("%d\n%s", i, base))
	}
	r.commit()
	name := filepath.Join(r.top, "d001", "f00001.txt")
	data, err := os.ReadFile(name)
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(name, []byte(strings.Replace(string(data), "two", "2", 1)), 0o644))
	there, back = r.run("diff", "--full-index"), r.run("diff", "--full-index", "-R")
	require.NoError(b, os.WriteFile(name, data, 0o644))
	r.run("update-index", "-q", "--refresh")
	return r, there, back
}

// The ratio to a bare "git apply --3way" is measured in pairs, taken in turn: ours and git's.
func BenchmarkPlanLockWriteUpdate(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r, there, back := synthetic(b, n)
			patches := []string{there, back}
			var ours, gits []time.Duration
			b.ResetTimer()
			for range b.N {
				start := time.Now()
				res, err := r.plan(patches[0], gitapply.Options{})
				require.NoError(b, err)
				require.NoError(b, res.LockIndex(context.Background(), time.Second))
				r.writeAll(res.Changes, func(c change.Change) change.State { return c.After })
				require.NoError(b, res.UpdateIndex(context.Background()))
				require.NoError(b, res.Close())
				ours = append(ours, time.Since(start))
				start = time.Now()
				cmd := exec.Command(r.git, "apply", "--3way", "-")
				cmd.Dir, cmd.Stdin = r.top, strings.NewReader(patches[1])
				out, err := cmd.CombinedOutput()
				require.NoError(b, err, string(out))
				gits = append(gits, time.Since(start))
			}
			mine, theirs := median(ours), median(gits)
			b.ReportMetric(mine, "ms-ours")
			b.ReportMetric(theirs, "ms-git")
			b.ReportMetric(mine/theirs, "ratio")
		})
	}
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
