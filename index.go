package oxpatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// indexJob is what an operation does to git's index, beside the files: either it carries out a plan of
// git's, or it sets lines back.
type indexJob struct {
	plan    *gitapply.Result
	timeout time.Duration

	repo    gitapply.Repo
	options gitapply.Options
	restore gitapply.Restore
	lock    *gitapply.IndexLock
	// left holds the paths whose lines could not be set back, and why.
	left map[string]error
}

// begin takes the index's lock, before the first file is written.
func (x *indexJob) begin(ctx context.Context) error {
	switch {
	case x == nil:
		return nil
	case x.plan != nil:
		return x.plan.LockIndex(ctx, lockWait(x.timeout))
	}
	var err error
	x.lock, err = gitapply.LockIndex(ctx, x.repo, x.options, lockWait(x.timeout))
	return err
}

// abort gives the lock back with the index unchanged.
func (x *indexJob) abort() error {
	switch {
	case x == nil:
		return nil
	case x.plan != nil:
		return x.plan.AbortIndex()
	case x.lock != nil:
		return x.lock.Abort()
	}
	return nil
}

// finish changes the index, after the files were written.
func (x *indexJob) finish(ctx context.Context) error {
	switch {
	case x == nil:
		return nil
	case x.plan != nil:
		return x.plan.UpdateIndex(ctx)
	}
	var err error
	x.left, err = x.lock.Restore(ctx, x.restore)
	return err
}

// lockWait turns the engine's timeout, in which 0 is the default and less than 0 tries once, into a
// plain duration.
func lockWait(d time.Duration) time.Duration {
	switch {
	case d == 0:
		return snapshot.DefaultLockTimeout
	case d < 0:
		return 0
	}
	return d
}

// onDisk leaves out entries of which only the index changes: submodules, which are folders before and
// after.
func onDisk(files []worktree.File) []worktree.File {
	return slices.DeleteFunc(slices.Clone(files), func(f worktree.File) bool {
		return f.Before.Kind == change.Dir && f.After.Kind == change.Dir
	})
}

// linesBack asks for the index lines of a record to be set back. Contents of blobs that are gone come
// from the record.
func linesBack(rec *snapshot.Record) gitapply.Restore {
	w := gitapply.Restore{
		Want: map[string][]change.IndexLine{}, Expect: map[string][]change.IndexLine{},
		Blob: func(id string) ([]byte, bool) { return recordedBlob(rec, id) },
	}
	for _, p := range rec.Meta.Paths {
		if p.Index != nil {
			w.Want[p.Path], w.Expect[p.Path] = p.Index.Before, p.Index.After
		}
	}
	return w
}

// recordedBlob looks for a blob of the repository among the files of a record. A file that went through
// a filter is another blob than its bytes, and is not found.
func recordedBlob(rec *snapshot.Record, id string) ([]byte, bool) {
	for i, p := range rec.Meta.Paths {
		for _, side := range []struct {
			meta snapshot.StateMeta
			read func(int) (change.State, error)
		}{{p.Before, rec.Before}, {p.After, rec.After}} {
			long := len(id) != len(side.meta.OID)
			if side.meta.OID == "" || !long && side.meta.OID != id {
				continue
			}
			st, err := side.read(i)
			if err == nil && (!long || blobSHA256(st.Content) == id) {
				return st.Content, true
			}
		}
	}
	return nil, false
}

// blobSHA256 is the id of a blob in a repository that uses SHA-256.
func blobSHA256(content []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// touchesIndex reports whether the operation changed lines of the index.
func touchesIndex(rec *snapshot.Record) bool {
	return slices.ContainsFunc(rec.Meta.Paths, func(p snapshot.PathMeta) bool { return p.Index != nil })
}

// indexIsAfter reports whether the index has all lines as the operation was to leave them.
func (s *settlement) indexIsAfter(ctx context.Context) (bool, error) {
	now, err := s.indexNow(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range s.rec.Meta.Paths {
		if p.Index != nil && !slices.Equal(now[p.Path], p.Index.After) {
			return false, nil
		}
	}
	return true, nil
}

// indexNow reads the lines of the paths whose lines the operation changes; none where it leaves the
// index alone.
func (s *settlement) indexNow(ctx context.Context) (map[string][]change.IndexLine, error) {
	if !touchesIndex(s.rec) {
		return map[string][]change.IndexLine{}, nil
	}
	repo, err := s.e.gitRepo()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range s.rec.Meta.Paths {
		if p.Index != nil {
			paths = append(paths, p.Path)
		}
	}
	return gitapply.ReadIndex(ctx, repo, gitapply.Options{Env: s.e.o.env}, paths)
}

// back brings files and index to their before. The index is locked first, where it has to change:
// if another process has it, neither does.
func (s *settlement) back(ctx context.Context, files []worktree.File) error {
	x, err := s.indexBack(ctx)
	if err != nil {
		return err
	}
	if err := x.begin(ctx); err != nil {
		return err
	}
	if err := s.restore(files, worktree.Before); err != nil {
		return errors.Join(err, x.abort())
	}
	return x.finish(ctx)
}

// indexBack says which lines of the index the operation had changed already; nil where there are none.
// Lines that somebody else has changed since stay.
func (s *settlement) indexBack(ctx context.Context) (*indexJob, error) {
	now, err := s.indexNow(ctx)
	if err != nil {
		return nil, err
	}
	isBefore := func(p snapshot.PathMeta) bool { return p.Index == nil || slices.Equal(now[p.Path], p.Index.Before) }
	if !slices.ContainsFunc(s.rec.Meta.Paths, func(p snapshot.PathMeta) bool { return !isBefore(p) }) {
		return nil, nil
	}
	repo, err := s.e.gitRepo()
	if err != nil {
		return nil, err
	}
	return &indexJob{repo: repo, options: gitapply.Options{Env: s.e.o.env}, restore: linesBack(s.rec), timeout: s.e.o.lockTimeout}, nil
}

// dropDeadLock removes the lock on the index that the operation's process left when it was killed,
// and the index that it was making. The lock says whose it is, and while the root's lock is held here
// no living process of ours has one; git's own is left alone.
func (s *settlement) dropDeadLock() error {
	if !touchesIndex(s.rec) || s.e.site.Repo == nil {
		return nil
	}
	index := filepath.Join(s.e.site.Repo.GitDir, "index")
	data, err := os.ReadFile(index + ".lock")
	if err != nil || string(data) != gitapply.LockMark {
		return nil //nolint:nilerr // there is none, or it cannot be ours
	}
	// The lock goes last: it covers the others.
	for _, name := range []string{index + gitapply.EditSuffix + ".lock", index + gitapply.EditSuffix, index + ".lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
