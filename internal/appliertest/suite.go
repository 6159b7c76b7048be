// Package appliertest is a suite that every oxpatch.PatchApplier has to pass: what a caller may rely on
// whichever way a patch is placed. It gives unified diffs to the applier inside a git repository.
package appliertest

import (
	"testing"

	"github.com/openoxide/oxpatch"
)

// Open returns the applier under test for a folder, which is the top of a git working tree.
type Open func(t testing.TB, dir string) oxpatch.PatchApplier

// Undo takes back the newest operation in a folder.
type Undo func(t testing.TB, dir string) error

// Run tests the applier that open returns. It makes repositories with git, and skips where there is
// none.
func Run(t *testing.T, open Open, undo Undo) {
	s := suite{open, undo}
	for name, f := range map[string]func(t *testing.T){
		"what fits is applied":          s.testScenarios,
		"a file for a folder":           s.testFolder,
		"odd names":                     s.testNames,
		"what is there is unchanged":    s.testUnchanged,
		"refusals change nothing":       s.testRefusals,
		"unsafe paths":                  s.testUnsafe,
		"overlapping edits":             s.testOverlap,
		"the gate is asked once":        s.testGate,
		"the gate declines":             s.testDecline,
		"the gate is asked for changes": s.testNoGate,
		"cancelled":                     s.testCancelled,
		"several at once":               s.testConcurrent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t)
		})
	}
}

type suite struct {
	open Open
	undo Undo
}
