//go:build unix

package worktree

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// bulk is a content that is large enough to be written out meanwhile, and ends within a piece.
func bulk() []byte {
	content := make([]byte, 9<<20+12345)
	for i := range content {
		content[i] = byte(i*7 ^ i>>11)
	}
	return content
}

func TestLargeContentsAreWrittenWhole(t *testing.T) {
	t.Parallel()
	want := bulk()
	for name, inPlace := range map[string]bool{"replaced": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempTree(t, map[string]string{"f": "x:before"})
			tree := open(t, dir, Options{InPlace: inPlace})
			before, stamp, err := tree.Read("f")
			require.NoError(t, err)
			files := []File{{Stamp: stamp, InPlace: inPlace, Change: change.Change{Path: "f", Before: before,
				After: change.State{Kind: change.File, Mode: before.Mode, Content: want}}}}
			require.NoError(t, tree.NewWriter("1", files, nil, nil, Record).Write(t.Context()))
			got, stamp, err := tree.Read("f")
			require.NoError(t, err)
			assert.Equal(t, before.Mode, got.Mode)
			assert.True(t, string(got.Content) == string(want))
			assert.EqualValues(t, len(want), stamp.size)
		})
	}
}

// An error comes back as that of a plain write does.
func TestErrorsOfWritingOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	file, err := os.Open(path)
	require.NoError(t, err)
	require.ErrorIs(t, fillOver(file, bulk()), syscall.EBADF, "it is open for reading only")
	require.NoError(t, file.Close())
	require.ErrorIs(t, fillOver(file, bulk()), os.ErrClosed)
}

func TestRoomForContents(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 4<<20 - 1, 4 << 20, 4<<20 + 4097, 9<<20 + 1} {
		content := makeContent(size)
		require.Len(t, content, int(size))
		require.True(t, bytes.Equal(make([]byte, size), content))
		copy(content, bytes.Repeat([]byte{1}, int(size))) // the room can be written to
	}
}
