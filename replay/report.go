package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch"
)

// report counts what became of the commits.
type report struct {
	o       options
	taken   int // commits
	files   int
	leftOut map[string]int // files, by the reason
	tallies []*tally
}

// tally is a row of the table.
type tally struct {
	setting setting
	commits [verdicts]int
	hunks   [verdicts]int
	// kinds counts the refused hunks, and the refused files where no hunk is to blame, by problem.
	kinds map[oxpatch.Kind]int
}

func newReport(o options) *report {
	r := &report{o: o, leftOut: map[string]int{}}
	for _, s := range o.settings {
		r.tallies = append(r.tallies, &tally{setting: s, kinds: map[oxpatch.Kind]int{}})
	}
	return r
}

func (r *report) leaveOut(c *commit) {
	r.files += len(c.files)
	for reason, n := range c.leftOut {
		r.leftOut[reason] += n
	}
}

// count adds a finding to the row.
func (t *tally) count(f *finding) {
	t.commits[f.whole.verdict]++
	if t.setting.mode == modeGit {
		t.countGit(f.whole)
		return
	}
	if f.whole.verdict == right {
		for _, s := range f.whole.sections {
			t.hunks[right] += len(s.Chunks)
		}
		return
	}
	for _, one := range f.alone {
		for _, v := range one.hunks() {
			t.hunks[v]++
		}
		t.countRefusal(one)
	}
}

func (t *tally) countRefusal(one *trial) {
	if one.verdict != refused {
		return
	}
	for _, p := range one.result.Problems {
		if p.Severity == oxpatch.SeverityError {
			t.kinds[p.Kind]++
		}
	}
}

// countGit counts the hunks by what the result says of them.
func (t *tally) countGit(whole *trial) {
	t.countRefusal(whole)
	for _, f := range whole.result.Files {
		for _, h := range f.Hunks {
			v := refused
			switch h.Status {
			case oxpatch.StatusApplied:
				v = right
			case oxpatch.StatusConflicted:
				v = conflicts
			}
			t.hunks[v]++
		}
	}
}

// print writes the table and what was left out.
func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%d commits, %d files", r.taken, r.files)
	for i, reason := range slices.Sorted(maps.Keys(r.leftOut)) {
		lead := ", "
		if i == 0 {
			lead = "; left out: "
		}
		fmt.Fprintf(w, "%s%d %s", lead, r.leftOut[reason], reason)
	}
	head := []string{"context", "scope", "perturb", "rules"}
	if r.o.mode != modeEnvelope {
		head = []string{"context", "drift", "mode"}
	}
	commits, hunks := r.o.mode.columns()
	for i, of := range [][]verdict{commits, hunks} {
		for j, v := range of {
			name := v.String()
			if j == 0 {
				name = []string{"commits ", "hunks "}[i] + name
			}
			head = append(head, name)
		}
	}
	head = append(head, "refusals")
	fmt.Fprintf(w, "\n\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, t := range r.tallies {
		t.print(w)
	}
}

// columns are the verdicts that a mode knows.
func (m mode) columns() (commits, hunks []verdict) {
	if m == modeGit {
		both := []verdict{right, conflicts, refused, wrong}
		return both, both[:3]
	}
	return []verdict{right, refused, lineEnds, guessed, wrong}, []verdict{right, refused, held, guessed, wrong}
}

func (t *tally) print(w io.Writer) {
	t.printSetting(w)
	commits, hunks := t.setting.mode.columns()
	for _, v := range commits {
		fmt.Fprintf(w, " %s |", share(t.commits, v))
	}
	for _, v := range hunks {
		fmt.Fprintf(w, " %s |", share(t.hunks, v))
	}
	fmt.Fprintf(w, " %s |\n", t.kindList())
}

func (t *tally) printSetting(w io.Writer) {
	if t.setting.mode != modeEnvelope {
		fmt.Fprintf(w, "| %d | %s | %s |", t.setting.context, t.setting.drift, t.setting.mode)
		return
	}
	scope := 0
	if t.setting.scope {
		scope = 1
	}
	fmt.Fprintf(w, "| %d | %d | %s | %s |", t.setting.context, scope, t.setting.perturb, t.setting.rules())
}

// share writes a count and its part of the whole: "12 (3.4%)".
func share(counts [verdicts]int, v verdict) string {
	total := 0
	for _, n := range counts {
		total += n
	}
	if counts[v] == 0 || total == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f%%)", counts[v], 100*float64(counts[v])/float64(total))
}

// kindList names the kinds of refusals, most frequent first.
func (t *tally) kindList() string {
	kinds := slices.SortedFunc(maps.Keys(t.kinds), func(a, b oxpatch.Kind) int {
		if n := t.kinds[b] - t.kinds[a]; n != 0 {
			return n
		}
		return strings.Compare(string(a), string(b))
	})
	var words []string
	for _, k := range kinds {
		words = append(words, fmt.Sprintf("%d %s", t.kinds[k], k))
	}
	return strings.Join(words, ", ")
}
