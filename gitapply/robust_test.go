package gitapply

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzFront reads anything without falling over, and never loses a section that it has begun.
func FuzzFront(f *testing.F) {
	f.Add([]byte("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"), false)
	f.Add([]byte("--- f\n+++ f\n@@ -1,9 +1 @@\n-a\n+b\n\n--- /dev/null\n+++ b/\"x\\\\\"\n@@ -0,0 +1 @@\n+x\n"), true)
	f.Add([]byte("```\ndiff --git \"a/\\303\" \"b/\\303\"\nGIT binary patch\nliteral 1\nAc\n\n```\n"), true)
	f.Add([]byte("diff --git a/x b/x\nold mode 100644\nnew mode 100755\ndiff --git a/y b/z\nrename from y\nrename to z\n-- \n2.0\n"), false)
	f.Fuzz(func(t *testing.T, patch []byte, crlf bool) {
		if crlf {
			patch = []byte(strings.ReplaceAll(string(patch), "\n", "\r\n"))
		}
		s, err := scan(patch, true)
		require.NotNil(t, s)
		if err != nil {
			return
		}
		sections, err := s.finish(false, func(string) bool { return true }, func(string) []byte { return []byte("x\r\n") })
		assert.Len(t, sections, len(s.sections))
		if err != nil {
			assert.NotEmpty(t, flat(err))
			return
		}
		for _, sec := range sections {
			for _, name := range []string{sec.Old, sec.New} {
				assert.True(t, name == "" || checkPath(name) == "", "%q", name)
			}
		}
		// What is given to git reads back as the same sections.
		again, err := scan(s.text(patch), false)
		require.NoError(t, err)
		assert.Len(t, again.sections, len(s.sections))
	})
}

func FuzzScanIndex(f *testing.F) {
	entry := make([]byte, 62)
	binary.BigEndian.PutUint32(entry[24:], modeFile)
	binary.BigEndian.PutUint16(entry[60:], 1)
	for version := range uint32(5) {
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), version), 1)
		f.Add(append(append(append(head, entry...), "\x00f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...), make([]byte, 24)...))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		scanIndex(data, 20, []string{"f", "g"})
		scanIndex(data, 32, []string{"f"})
	})
}

func TestScanIndexLeavesToGitWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), 2), 0)
	sum := make([]byte, 20)
	for name, c := range map[string]struct {
		rest string
		ok   bool
	}{
		"nothing behind":   {"", true},
		"a cache":          {"TREE\x00\x00\x00\x01x", true},
		"a split index":    {"link\x00\x00\x00\x00", false},
		"a sparse index":   {"sdir\x00\x00\x00\x00", false},
		"cut off":          {"TREE\x00\x00\x00\x09x", false},
		"a bit of nothing": {"TRE", false},
	} {
		lines, ok := scanIndex(append(append(append([]byte{}, head...), c.rest...), sum...), 20, []string{"f"})
		assert.Equal(t, c.ok, ok, name)
		if ok {
			assert.Equal(t, map[string][]change.IndexLine{}, lines, name)
		}
	}
}

func TestCommandsThatNeedTheTree(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	c := repoConfig{drivers: map[string]string{"filter.a.clean": "git-lfs clean -- %f", "merge.b.driver": "true %O %A %B"}}
	args, err := c.fromTop(top, "/scratch/tree")
	require.NoError(t, err)
	assert.Empty(t, args)
	c.drivers = map[string]string{"merge.b.driver": "sh . %O %A"}
	args, err = c.fromTop(top, "/scratch/tree")
	require.NoError(t, err)
	assert.Equal(t, []string{"-c", "merge.b.driver=cd '" + top + "' && sh . /scratch/tree/%O /scratch/tree/%A"}, args)
	_, err = c.fromTop(top, "/with blank/tree")
	assert.ErrorIs(t, err, ErrUnserved)
}
