package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

const tableHead = "| work | program | wall ms | CPU ms | peak MiB | wall ratio | CPU ratio | aim |\n" +
	"|---|---|---:|---:|---:|---:|---:|---|\n"

// sample is what one run of one program cost.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // bytes, 0 where the system does not tell
}

// plus joins the samples of commands that run one after the other.
func (s sample) plus(t sample) sample {
	return sample{s.wall + t.wall, s.cpu + t.cpu, max(s.peak, t.peak)}
}

// result holds all runs of one program, in the order of the rounds.
type result struct {
	entrant entrant
	samples []sample
}

// printRow prints a line per program. Ratios are to the first one, which is the peer where there is
// one.
func printRow(w io.Writer, r row, results []result) {
	for _, res := range results {
		aim := r.aim[res.entrant.role]
		if results[0].entrant.role == roleFloor {
			aim = "" // the aims are set against the peer
		}
		_, _ = fmt.Fprintf(w, "| %s | %s | %s | %s | %.0f | %.2f | %.2f | %s |\n", r.name, res.entrant.name,
			millis(res.samples, wallTime), millis(res.samples, cpuTime),
			median(each(res.samples, func(s sample) float64 { return float64(s.peak) / (1 << 20) })),
			pairedRatio(res.samples, results[0].samples, wallTime),
			pairedRatio(res.samples, results[0].samples, cpuTime), aim)
	}
}

func wallTime(s sample) time.Duration { return s.wall }
func cpuTime(s sample) time.Duration  { return s.cpu }

func millis(list []sample, of func(sample) time.Duration) string {
	m := median(each(list, func(s sample) float64 { return of(s).Seconds() * 1000 }))
	if m < 100 {
		return fmt.Sprintf("%.1f", m)
	}
	return fmt.Sprintf("%.0f", m)
}

// pairedRatio compares round with round, so that a slow minute of the machine counts on both sides.
func pairedRatio(a, b []sample, of func(sample) time.Duration) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = of(a[i]).Seconds() / of(b[i]).Seconds()
	}
	return median(ratios)
}

func each(list []sample, of func(sample) float64) []float64 {
	out := make([]float64, len(list))
	for i, s := range list {
		out[i] = of(s)
	}
	return out
}

// median leaves its argument sorted.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return (list[n/2-1] + list[n/2]) / 2
}
