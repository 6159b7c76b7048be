package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/scan"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// The limits of a checkpoint that sets none.
const (
	DefaultCheckpointFiles = 200_000         // with Tree
	DefaultCheckpointPaths = 10_000          // without: each is a line of the record
	DefaultCheckpointBytes = 256 << 20       // that are not in the store yet
	DefaultCheckpointTime  = 1 * time.Minute // for all of it
)

// CheckpointRequest asks for what stands in the tree to be recorded.
type CheckpointRequest struct {
	// Paths are files, links and folders; a folder stands for all files in it, ignored ones too. A
	// path at which nothing is gets recorded as that, so that Restore can remove what is made there.
	Paths []string
	// Tree records all files that git tracks, and all others that it does not ignore; outside of a
	// repository all files. It excludes Paths.
	Tree bool
	// Base is as in Request.
	Base string
	// Session, Turn and Label are kept in the record.
	Session, Turn, Label string
	// MaxFiles, MaxBytes and MaxTime are limits; 0 stands for the defaults, less than 0 for none.
	// MaxBytes counts contents that the store does not hold yet; its default is that of WithMaxSnapshot.
	MaxFiles int
	MaxBytes int64
	MaxTime  time.Duration
}

// Checkpoint records files as they are now, so that Restore can bring them back after changes that no
// operation made. Nothing is written in the tree, and undo passes over it. What cannot be recorded (a
// repository inside of the tree, a device) is refused where it is named, and left out with a warning
// where it lies in a folder. Over a limit, and for a tree that is or holds the home folder, the error
// is ErrTooLarge.
func (e *Engine) Checkpoint(ctx context.Context, req CheckpointRequest) (*Result, error) {
	c := &checkpoint{e: e, ctx: ctx, req: req, result: e.newResult("checkpoint"), op: e.newOperation(ctx)}
	err := c.run()
	c.op.end()
	if c.tree != nil {
		c.tree.Close()
	}
	c.result.finish(e.o.now())
	return c.result, err
}

// checkpoint is one that is being made.
type checkpoint struct {
	e      *Engine
	ctx    context.Context
	req    CheckpointRequest
	result *Result
	op     *operation
	tree   *worktree.Tree
}

// errSlow is why the context of a checkpoint ends that takes too long.
var errSlow = errors.New("the time for a checkpoint is up")

func (c *checkpoint) run() error {
	if c.req.Tree == (len(c.req.Paths) > 0) {
		c.result.Exact = true
		c.result.fail(Problem{Kind: KindUsage, Message: "a checkpoint is either of paths or of the whole tree",
			Hint: "oxpatch checkpoint PATH... records files and folders, oxpatch checkpoint --tree all files that git does not ignore"})
		return c.result.refusal(ErrUsage)
	}
	caller := c.ctx
	if limit := orDefault(c.req.MaxTime, DefaultCheckpointTime); limit >= 0 {
		var stop context.CancelFunc
		c.ctx, stop = context.WithTimeoutCause(caller, limit, errSlow)
		defer stop()
	}
	err := c.record()
	if err == nil {
		c.result.OK, c.result.Exact = true, true
		return nil
	}
	return c.fail(caller, err)
}

// fail completes the result of a checkpoint that was not made. caller is the context without the
// limit on the time.
func (c *checkpoint) fail(caller context.Context, err error) error {
	c.result.Files = nil
	c.result.listPaths()
	var limit *scan.LimitError
	var home *homeError
	var list *listError
	var none *snapshot.NoStoreError
	switch {
	case errors.As(err, &none):
		c.result.Exact = true
		c.result.fail(Problem{Kind: KindNoSnapshot, Message: "there is no place for the checkpoint: " + none.Error(), Hint: "set OXPATCH_STORE to a folder that can be written"})
		err = c.result.refusal(ErrNoSnapshot, err)
	case errors.As(err, &limit):
		flag := " (--max-files)"
		if limit.What == scan.LimitBytes {
			flag = " (--max-snapshot)"
		}
		err = c.tooLarge(limit.Text(FormatSize), c.limitHint(flag))
	case errors.As(err, &home):
		err = c.tooLarge(home.Error(), "name the files and folders that matter, or run it in a folder below")
	case caller.Err() == nil && errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(c.ctx), errSlow):
		err = c.tooLarge("the checkpoint took longer than "+orDefault(c.req.MaxTime, DefaultCheckpointTime).String(), c.limitHint(" (--max-time)"))
	case errors.As(err, &list):
		err = c.result.failListing(list, "name the paths to record instead")
	default:
		var moved *snapshot.MovedError
		if errors.As(err, &moved) {
			err = &worktree.PathError{Path: moved.Path, Err: worktree.ErrDrift, Problem: "it keeps changing while it is recorded"}
		}
		unreadable := errors.Is(err, fs.ErrPermission)
		err = c.result.failOperation(err)
		c.result.askAgain()
		for i := range c.result.Problems {
			if p := &c.result.Problems[i]; c.req.Tree && unreadable && p.Hint == "" {
				p.Hint = "let git ignore it, or name the paths to record"
			}
		}
	}
	return err
}

func orDefault[T int | int64 | time.Duration](n, def T) T {
	if n == 0 {
		return def
	}
	return n
}

// limitHint says how to stay below a limit, or by which flag to raise it.
func (c *checkpoint) limitHint(flag string) string {
	if c.req.Tree {
		return "let git ignore what need not come back, name the paths to record, or raise the limit" + flag
	}
	return "name fewer paths, record all that git does not ignore with --tree, or raise the limit" + flag
}

func (c *checkpoint) tooLarge(message, hint string) error {
	c.result.Exact = true
	c.result.fail(Problem{Kind: KindTooLarge, Message: message, Hint: hint})
	return c.result.refusal(ErrTooLarge)
}

// failListing completes the result of a command that needs to know what git ignores.
func (r *Result) failListing(err *listError, hint string) error {
	r.Exact = true
	r.fail(Problem{Kind: KindNoGit, Message: err.Error(), Hint: hint})
	return r.refusal(append([]error{err}, sentinels(err)...)...)
}

// record does the work under the lock.
func (c *checkpoint) record() error {
	if err := c.op.begin(); err != nil {
		return err
	}
	for _, id := range sortedSet(c.op.unresolved) {
		c.result.warn(Problem{Kind: KindPending, Message: fmt.Sprintf("operation %s was interrupted and is not settled; its files are recorded as they are", id),
			Hint: "oxpatch recover settles it"})
	}
	var err error
	if c.tree, err = c.e.scanTree(c.req.Base, false); err != nil {
		return err
	}
	if c.req.Tree {
		if err := c.e.notHome(""); err != nil {
			return err
		}
	}
	store, err := c.e.openStore(0, nil) // what a checkpoint holds is counted here
	if err != nil {
		return err
	}
	unlock, err := store.Lock(c.ctx, c.e.o.lockTimeout)
	if err != nil {
		return err
	}
	defer unlock()
	c.result.Snapshot.Store = store.Place().Dir
	if err := c.put(store); err != nil {
		return err
	}
	unlock()
	return c.op.maintain(store, c.req.Session, c.result)
}

// put makes the record and publishes it.
func (c *checkpoint) put(store *snapshot.Store) error {
	if !c.req.Tree {
		return c.recordPaths(store)
	}
	const tries = 3
	for try := 1; ; try++ {
		err := c.recordTree(store)
		if try == tries || !errors.Is(err, snapshot.ErrMoved) {
			return err
		}
	}
}

func sortedSet(ids map[string]string) []string {
	var list []string
	for _, id := range ids {
		list = append(list, id)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// scanTree opens the tree for looking at it. base is that of a request, free accepts paths outside of
// the root.
func (e *Engine) scanTree(base string, free bool) (*worktree.Tree, error) {
	rel, err := filepath.Rel(e.site.Root, e.base(Request{Base: base}))
	if err != nil || !filepath.IsLocal(rel) {
		return nil, &worktree.PathError{Path: base, Err: worktree.ErrUnsafePath,
			Problem: fmt.Sprintf("the base folder is outside of %s", e.site.Root)}
	}
	return worktree.Open(e.site.Root, worktree.Options{
		Base: filepath.ToSlash(rel), Free: free, InPlace: e.o.inPlace, MaxFile: e.o.maxFile,
		Forbidden: e.storeFolders(), Foreign: e.foreign(), Effects: e.o.treeEffects,
	})
}

// homeError is a folder of which no checkpoint is made as a whole.
type homeError struct{ what string }

func (h *homeError) Error() string { return h.what + "; no checkpoint is made of all that is in it" }

// notHome refuses the top of the file system and every folder that is or holds the home folder.
func (e *Engine) notHome(key string) error {
	dir := filepath.Join(e.site.Root, filepath.FromSlash(key))
	home := snapshot.Home(e.o.env)
	switch rel, err := filepath.Rel(dir, home); {
	case filepath.Dir(dir) == dir:
		return &homeError{dir + " is the top of the file system"}
	case home == "" || err != nil || !filepath.IsLocal(rel):
		return nil
	case rel == ".":
		return &homeError{dir + " is your home folder"}
	}
	return &homeError{dir + " holds your home folder"}
}

func (c *checkpoint) maxFiles(def int) int {
	if n := orDefault(c.req.MaxFiles, def); n >= 0 {
		return n
	}
	return math.MaxInt
}

func (c *checkpoint) maxBytes() int64 {
	if n := orDefault(c.req.MaxBytes, c.e.o.maxSnapshot); n > 0 {
		return n
	}
	return math.MaxInt64
}

func (c *checkpoint) meta(store *snapshot.Store) snapshot.Meta {
	now := c.e.o.now()
	return snapshot.Meta{
		ID: store.NewID(now), Kind: snapshot.KindCheckpoint, Time: now, Tool: c.e.o.tool, Head: c.e.head(),
		Session: c.req.Session, Turn: c.req.Turn, Label: c.req.Label,
	}
}

// publish makes the record part of the history.
func (c *checkpoint) publish(store *snapshot.Store, rec *snapshot.Record) error {
	if err := store.Publish(rec); err != nil {
		return fmt.Errorf("the checkpoint could not be written: %w", err)
	}
	c.result.ID, c.result.Snapshot.Commit = rec.Meta.ID, rec.Commit()
	return nil
}

// recordPaths records the files at the paths of the request.
func (c *checkpoint) recordPaths(store *snapshot.Store) error {
	keys, scopes, err := c.find()
	if err != nil {
		return err
	}
	list, err := scan.Walk(c.ctx, c.tree, keys, c.maxFiles(DefaultCheckpointPaths))
	if err != nil {
		return err
	}
	if n := list.Bytes(); n > c.maxBytes() {
		return &scan.LimitError{What: scan.LimitBytes, Most: c.maxBytes(), Least: n, Blame: scan.Blame(list.Files, scan.SizeOf)}
	}
	entries, err := c.entries(list, keys)
	if err != nil {
		return err
	}
	meta := c.meta(store)
	meta.Scopes = scopes
	for path, mode := range list.Dirs {
		meta.Dirs = append(meta.Dirs, snapshot.DirMeta{Path: path, Mode: mode})
	}
	slices.SortFunc(meta.Dirs, func(a, b snapshot.DirMeta) int { return strings.Compare(a.Path, b.Path) })
	rec, err := store.Put(c.ctx, meta, entries, nil)
	if err != nil {
		return fmt.Errorf("the checkpoint could not be written: %w", err)
	}
	c.warnLeftOut(list.LeftOut)
	c.result.listPaths()
	return c.publish(store, rec)
}

// find resolves the paths of the request. keys has each once, scopes the folders among them.
func (c *checkpoint) find() (keys []string, scopes []snapshot.DirMeta, err error) {
	seen := map[string]bool{}
	for _, path := range c.req.Paths {
		key, kind, err := c.tree.Find(path)
		if err != nil {
			return nil, nil, err
		}
		if kind == change.Other {
			return nil, nil, &worktree.PathError{Path: path, Err: worktree.ErrNotRegular, Problem: "it is neither file, link nor folder"}
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		keys = append(keys, key)
		if kind != change.Dir {
			continue
		}
		if err := c.e.notHome(key); err != nil {
			return nil, nil, err
		}
		s, err := c.tree.Look(key)
		if err != nil {
			return nil, nil, err
		}
		scopes = append(scopes, snapshot.DirMeta{Path: key, Mode: s.Mode})
	}
	return keys, scopes, nil
}

// entries reads the files of a listing, and notes at which of the keys nothing is.
func (c *checkpoint) entries(list *scan.Listing, keys []string) ([]snapshot.Entry, error) {
	var paths []string
	for _, f := range list.Files {
		paths = append(paths, f.Path)
	}
	for _, key := range keys {
		s, err := c.tree.Look(key)
		if err != nil {
			return nil, err
		}
		if s.Kind == change.Absent {
			paths = append(paths, key)
		}
	}
	slices.Sort(paths)
	var entries []snapshot.Entry
	for _, path := range slices.Compact(paths) {
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		now, _, err := c.tree.Read(path)
		if err != nil {
			return nil, err
		}
		f := FileResult{Path: change.DisplayPath(path), Change: "record", Status: StatusApplied, Unchanged: true}
		switch now.Kind {
		case change.Absent:
			f.Change = "absent"
		case change.File, change.Symlink:
		default:
			return nil, &worktree.PathError{Path: path, Err: worktree.ErrDrift, Problem: "it changed while it was recorded; try again"}
		}
		c.result.Files = append(c.result.Files, f)
		entries = append(entries, snapshot.Entry{Change: change.Change{Path: path, Before: now, After: now}})
	}
	return entries, nil
}

// maxNamed bounds how many paths of one sort are named one by one in warnings.
const maxNamed = 20

func (c *checkpoint) warnLeftOut(left []scan.LeftOut) {
	for i, s := range left {
		if i == maxNamed {
			c.result.warn(Problem{Kind: KindUnsupported, Message: fmt.Sprintf("%d more were left out", len(left)-i)})
			return
		}
		c.result.warn(Problem{Kind: KindUnsupported, Path: change.DisplayPath(s.Path), Message: "left out: " + s.Reason})
	}
}
