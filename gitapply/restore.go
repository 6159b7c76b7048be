package gitapply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openoxide/oxpatch/change"
)

// ReadIndex returns the lines of the index for some paths, given in raw bytes relative to the top.
// A path without lines is not in the map.
func ReadIndex(ctx context.Context, repo Repo, o Options, paths []string) (map[string][]change.IndexLine, error) {
	r, err := newRunner(repo, o)
	if err != nil {
		return nil, err
	}
	return r.list(ctx, r.real(r.indexFile()), paths)
}

// Restore asks for lines of the index to be set back.
type Restore struct {
	// Want holds, for each path, the lines it is to have; none for a path that is to have none.
	Want map[string][]change.IndexLine
	// Expect holds the lines that the path has if nobody changed it since; a path that is not in it
	// is restored whatever it has.
	Expect map[string][]change.IndexLine
	// Blob returns the content of a blob that is no longer in the repository; nil if there are none
	// to be had.
	Blob func(id string) ([]byte, bool)
	// Timeout is how long RestoreIndex waits for the lock of the index.
	Timeout time.Duration
}

// IndexLock is the lock on the index of a repository, taken before files are written whose lines are
// to be set back after them.
type IndexLock struct {
	run  *runner
	lock *indexLock
}

// LockIndex takes the lock of the repository's index, for which it waits up to timeout. One of Restore
// and Abort ends it. The error is an ErrLocked, an ErrNoGit, or one of the file system.
func LockIndex(ctx context.Context, repo Repo, o Options, timeout time.Duration) (*IndexLock, error) {
	r, err := newRunner(repo, o)
	if err != nil {
		return nil, err
	}
	lock, err := lockIndex(ctx, r.indexFile(), timeout)
	if err != nil {
		return nil, err
	}
	return &IndexLock{run: r, lock: lock}, nil
}

// Abort gives the lock up and leaves the index as it is. It may be called again.
func (l *IndexLock) Abort() error { return l.lock.drop() }

// Restore sets lines of the index back and ends the lock: all stages, and the flags intent-to-add, skip-worktree
// and assume-unchanged. The files are to be restored before, so that entries can be marked as being
// up to date.
//
// A path whose lines are not those expected is left as it is; so is one that needs a blob which is
// nowhere to be had. They come back with an ErrIndexChanged or an ErrNoBlob each. The error itself is
// for what kept everything from being done; the index is then as it was.
func (l *IndexLock) Restore(ctx context.Context, w Restore) (left map[string]error, err error) {
	defer func() {
		if dropped := l.Abort(); err != nil {
			err = errors.Join(err, dropped)
		}
	}()
	e, err := newEdit(l.run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.end(err)) }()
	left, todo, err := e.compare(ctx, w)
	if err != nil || len(todo) == 0 {
		return left, err
	}
	if todo, err = e.inject(ctx, w, todo, left); err != nil || len(todo) == 0 {
		return left, err
	}
	if err := e.restore(ctx, w, todo); err != nil {
		return left, err
	}
	return left, e.publish(l.lock)
}

// RestoreIndex is LockIndex and Restore in one.
func RestoreIndex(ctx context.Context, repo Repo, o Options, w Restore) (left map[string]error, err error) {
	lock, err := LockIndex(ctx, repo, o, w.Timeout)
	if err != nil {
		return nil, err
	}
	return lock.Restore(ctx, w)
}

// compare finds the paths that are to be restored, and those that must not be.
func (e *edit) compare(ctx context.Context, w Restore) (left map[string]error, todo []string, err error) {
	left = map[string]error{}
	paths := slices.Sorted(maps.Keys(w.Want))
	now, err := e.run.list(ctx, e.run.real(e.index), paths)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range paths {
		expect, known := w.Expect[p]
		switch {
		case sameLines(now[p], w.Want[p]):
		case known && !sameLines(now[p], expect):
			left[p] = fmt.Errorf("%s: %w", change.DisplayPath(p), ErrIndexChanged)
		default:
			todo = append(todo, p)
		}
	}
	return left, todo, nil
}

// inject puts blobs back that the repository has lost, and drops the paths for which that fails.
func (e *edit) inject(ctx context.Context, w Restore, todo []string, left map[string]error) ([]string, error) {
	missing, err := e.missing(ctx, w, todo)
	if err != nil || len(missing) == 0 {
		return todo, err
	}
	blobs := map[string][]byte{}
	for id := range missing {
		if w.Blob == nil {
			break
		}
		if content, ok := w.Blob(id); ok && blobID(e.run.repo.ObjectFormat, content) == id {
			blobs[id] = content
		}
	}
	if len(blobs) < len(missing) && e.run.partial(ctx) {
		return todo, e.store(ctx, blobs) // git fetches the others when it needs them
	}
	var kept []string
	for _, p := range todo {
		for _, l := range w.Want[p] {
			if _, have := blobs[l.OID]; missing[l.OID] && !have {
				left[p] = fmt.Errorf("%s: %w: %s", change.DisplayPath(p), ErrNoBlob, l.OID)
			}
		}
		if left[p] == nil {
			kept = append(kept, p)
		}
	}
	return kept, e.store(ctx, blobs)
}

// partial reports whether missing objects are promised by a remote.
func (r *runner) partial(ctx context.Context) bool {
	out, err := r.do(ctx, r.real(""), nil, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	return err == nil && out.code == 0
}

// missing asks git which of the wanted blobs it does not have.
func (e *edit) missing(ctx context.Context, w Restore, todo []string) (map[string]bool, error) {
	var in bytes.Buffer
	for _, p := range todo {
		for _, l := range w.Want[p] {
			if l.Mode != modeGitlink && l.Flags&FlagIntentToAdd == 0 {
				in.WriteString(l.OID + "\n")
			}
		}
	}
	if in.Len() == 0 {
		return nil, nil
	}
	out, err := e.run.must(ctx, e.run.real(e.index), in.Bytes(), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	missing := map[string]bool{}
	for _, l := range strings.Split(string(out), "\n") {
		if id, ok := strings.CutSuffix(l, " missing"); ok {
			missing[id] = true
		}
	}
	return missing, nil
}

// restore writes the lines, then freshens what it can, then sets the flags: git does not look at a
// file whose entry has them.
func (e *edit) restore(ctx context.Context, w Restore, todo []string) error {
	var intended, skip, assume []string
	states, lines := map[string]change.State{}, map[string][]change.IndexLine{}
	for _, p := range todo {
		e.set(p, w.Want[p])
		l, ok := staged(w.Want[p])
		if !ok {
			continue
		}
		if l.Flags&FlagIntentToAdd != 0 {
			intended = append(intended, p)
		} else if st, err := readState(e.run.repo.Top, p, 0); err == nil && l.Mode != modeGitlink {
			states[p], lines[p] = st, []change.IndexLine{{Mode: l.Mode, OID: l.OID}}
		}
		if l.Flags&FlagSkipWorktree != 0 {
			skip = append(skip, p)
		}
		if l.Flags&FlagAssumeUnchanged != 0 {
			assume = append(assume, p)
		}
	}
	clean, err := e.run.clean(ctx, states, lines, repoConfig{fileMode: true, symlinks: true})
	if err != nil {
		return err
	}
	for _, p := range todo {
		if clean[p] {
			e.files = append(e.files, p)
		}
	}
	if err := e.withoutTrace(ctx, w, todo, func() error { return e.write(ctx) }); err != nil {
		return err
	}
	if err := e.intend(ctx, w, intended); err != nil {
		return err
	}
	at := e.run.real(e.index)
	return errors.Join(e.run.flag(ctx, at, skip, "--skip-worktree"), e.run.flag(ctx, at, assume, "--assume-unchanged"))
}

// withoutTrace makes a change and drops what git notes of it in the index's resolve-undo extension:
// it takes the end of conflict stages for a resolution, and "git checkout -m" would bring conflicts
// back that undo has taken back. Where the extension held something before, git can only drop all or
// nothing, and it stays.
func (e *edit) withoutTrace(ctx context.Context, w Restore, todo []string, do func() error) error {
	if !slices.ContainsFunc(todo, func(p string) bool { return len(w.Expect[p]) > 0 && w.Expect[p][0].Stage > 0 }) {
		return do()
	}
	at := e.run.real(e.index)
	noted, err := e.run.must(ctx, at, nil, "ls-files", "--resolve-undo", "-z")
	if err != nil {
		return err
	}
	if err := do(); err != nil || len(noted) > 0 {
		return err
	}
	_, err = e.run.must(ctx, at, nil, "update-index", "--clear-resolve-undo")
	return err
}

// intend makes entries that are only intended to be added. That cannot be said in words: git must
// find a file, so it is shown an empty one, in a folder that stands in for the working tree.
func (e *edit) intend(ctx context.Context, w Restore, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := e.folder(); err != nil {
		return err
	}
	tree, objects := filepath.Join(e.dir, "tree"), filepath.Join(e.dir, "objects")
	for _, d := range []string{tree, objects} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	for _, n := range names {
		full := filepath.Join(tree, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return err
		}
		perm := os.FileMode(0o600)
		if w.Want[n][0].Mode == modeExec {
			perm = 0o700
		}
		if w.Want[n][0].Mode == modeLink {
			if err := os.Symlink("nowhere", full); err != nil {
				return err
			}
		} else if err := os.WriteFile(full, nil, perm); err != nil {
			return err
		}
	}
	at := place{dir: tree, tree: tree, index: e.index, objects: objects, config: []string{"-c", "core.sparseCheckout=false", "-c", "core.fsmonitor=false"}}
	for chunk := range slices.Chunk(names, maxArgs) {
		args := append([]string{"--literal-pathspecs", "add", "-N", "-f", "--"}, chunk...)
		if _, err := e.run.must(ctx, at, nil, args...); err != nil {
			return err
		}
	}
	return nil
}
