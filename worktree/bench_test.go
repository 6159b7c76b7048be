package worktree

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

const benchFiles, benchFolders = 3000, 50

func benchNames() []string {
	names := make([]string, benchFiles)
	for i := range names {
		names[i] = fmt.Sprintf("folder%02d/file%04d.go", i%benchFolders, i)
	}
	return names
}

var benchContent = bytes.Repeat([]byte("\tsome line of a source file, neither long nor short\n"), 60)

func benchTree(b *testing.B) (string, []string) {
	dir, names := b.TempDir(), benchNames()
	for _, name := range names {
		path := filepath.Join(dir, name)
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b, os.WriteFile(path, benchContent, 0o644))
	}
	return dir, names
}

// BenchmarkWrite3000 is resolve, read, check and write of 3,000 files; compare with the plain loop
// below, which knows the content already.
func BenchmarkWrite3000(b *testing.B) {
	dir, names := benchTree(b)
	after := append([]byte("changed\n"), benchContent...)
	var read, write time.Duration
	for b.Loop() {
		start := time.Now()
		tree, err := Open(dir, Options{})
		require.NoError(b, err)
		files := make([]File, len(names))
		changes := make([]change.Change, len(names))
		for i, name := range names {
			loc, err := tree.Resolve(name, Edit, nil)
			require.NoError(b, err)
			before, stamp, err := tree.Read(loc.Path)
			require.NoError(b, err)
			changes[i] = change.Change{Path: loc.Path, Before: before,
				After: change.State{Kind: change.File, Mode: before.Mode, Content: after}}
			files[i] = File{Change: changes[i], Stamp: stamp}
		}
		made, removed, err := tree.Dirs(changes)
		require.NoError(b, err)
		read += time.Since(start)
		start = time.Now()
		require.NoError(b, job{files, made, removed}.write(tree, "bench", Record))
		write += time.Since(start)
		tree.Close()
		b.StopTimer()
		time.Sleep(2 * freshForFine) // a patch rarely meets files that were written in this instant
		b.StartTimer()
	}
	b.ReportMetric(float64(read.Milliseconds())/float64(b.N), "ms-read/op")
	b.ReportMetric(float64(write.Milliseconds())/float64(b.N), "ms-write/op")
}

// BenchmarkBareRename3000 is the floor: temp and rename, nothing else.
func BenchmarkBareRename3000(b *testing.B) {
	dir, names := benchTree(b)
	after := append([]byte("changed\n"), benchContent...)
	for b.Loop() {
		for _, name := range names {
			path := filepath.Join(dir, name)
			require.NoError(b, os.WriteFile(path+".tmp", after, 0o644))
			require.NoError(b, os.Rename(path+".tmp", path))
		}
	}
}

func BenchmarkRead18MB(b *testing.B) {
	dir := b.TempDir()
	content := bytes.Repeat([]byte("x"), 18<<20)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "big"), content, 0o644))
	tree := open(b, dir, Options{})
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := tree.Read("big")
		require.NoError(b, err)
	}
}
