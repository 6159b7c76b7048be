package oxpatch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/gitrepo"
	"github.com/openoxide/oxpatch/scan"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// TreeResult sums up a checkpoint of a whole tree.
type TreeResult struct {
	Files int   // links too
	Bytes int64 // of all files
	// Read is how many files were read; the others have not changed since the last scan.
	Read int
	// Stored is how many bytes of contents the store did not hold yet.
	Stored int64
}

// listTree lists the files that are tracked or not ignored; without a repository, all files.
// Folders that cannot be read, and so may hold more, are in unread.
func (e *Engine) listTree(ctx context.Context, tree *worktree.Tree, most int) (list *scan.Listing, unread []string, err error) {
	if e.site.Repo == nil {
		if !errors.Is(e.site.NoRepo, gitrepo.ErrNone) && !errors.Is(e.site.NoRepo, gitrepo.ErrBare) && !errors.Is(e.site.NoRepo, gitrepo.ErrOutside) {
			return nil, nil, &listError{e.site.NoRepo}
		}
		list, err = scan.Walk(ctx, tree, []string{""}, most)
		return list, nil, err
	}
	repo, err := e.gitRepo()
	if err != nil {
		return nil, nil, err
	}
	names, unread, err := gitapply.Files(ctx, repo, gitapply.Options{Env: e.o.env})
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		return nil, nil, &listError{err}
	}
	list, err = scan.Look(ctx, tree, names, most)
	return list, unread, err
}

// listError is a repository of which git does not say what it ignores.
type listError struct{ cause error }

func (l *listError) Error() string {
	return "which files git ignores cannot be told: " + trimmed(l.cause)
}

func (l *listError) Unwrap() error { return l.cause }

// scanIndex returns what the last scan remembered.
func (e *Engine) scanIndex() *scan.Index {
	index, err := scan.DecodeIndex(e.site.ScanIndex())
	if err != nil {
		return scan.NewIndex()
	}
	return index
}

// keptContent is how many bytes of new contents are kept in memory between naming them and storing
// them, and keptFile how many of one file; the others are read twice.
const (
	keptContent = 64 << 20
	keptFile    = 1 << 20
)

// treeScan is the tree as it was found.
type treeScan struct {
	files  []snapshot.TreeFile
	index  *scan.Index
	read   int
	kept   map[string][]byte // new contents, by id
	budget int64             // left for kept
	fresh  map[string]bool   // ids that the store lacks
	bytes  int64             // of those
}

// recordTree records the whole tree.
func (c *checkpoint) recordTree(store *snapshot.Store) error {
	list, unread, err := c.e.listTree(c.ctx, c.tree, c.maxFiles(DefaultCheckpointFiles))
	if err != nil {
		return err
	}
	if len(unread) > 0 {
		return &worktree.PathError{Path: unread[0], Err: fs.ErrPermission, Problem: "the folder cannot be read: permission denied"}
	}
	have, err := store.Objects()
	if err != nil {
		return err
	}
	defer have.Close()
	s, err := c.scan(list, have)
	if err != nil {
		return err
	}
	draft := snapshot.TreeDraft{Files: s.files, Dirs: list.Dirs, Content: func(f snapshot.TreeFile) ([]byte, error) {
		if data, ok := s.kept[f.State.OID]; ok {
			return data, nil
		}
		now, _, err := c.tree.Read(f.Path)
		if err == nil && now.Kind != f.State.Kind {
			err = &snapshot.MovedError{Path: f.Path}
		}
		return now.Content, err
	}}
	rec, stored, err := store.PutTree(c.ctx, c.meta(store), draft, have)
	if err != nil {
		return fmt.Errorf("the checkpoint could not be written: %w", err)
	}
	if err := c.publish(store, rec); err != nil {
		return err
	}
	c.warnLeftOut(list.LeftOut)
	c.result.Tree = &TreeResult{Files: rec.Meta.Tree.Files, Bytes: rec.Meta.Tree.Bytes, Read: s.read, Stored: stored.Bytes}
	if err := store.SaveScanIndex(s.index.Encode()); err != nil {
		if errors.Is(err, snapshot.ErrKilled) {
			return err
		}
		c.result.warn(Problem{Kind: KindIO, Message: "what the scan found could not be kept: " + trimmed(err), Hint: "the next one reads all files again"})
	}
	return nil
}

// scan names the content of every file of a listing, reading only those that changed since the last
// time.
func (c *checkpoint) scan(list *scan.Listing, have *snapshot.Objects) (*treeScan, error) {
	old := c.e.scanIndex()
	s := &treeScan{index: scan.NewIndex(), kept: map[string][]byte{}, budget: keptContent, fresh: map[string]bool{}}
	most := c.maxBytes()
	for _, f := range list.Files {
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		id, known := old.Lookup(f.Path, f.Sight)
		var content []byte
		if !known {
			if f.Sight.Version.Size > most {
				return nil, tooMuch(list, old, most)
			}
			var err error
			if id, f.Sight, content, err = scan.Hash(c.tree, f.Path, min(keptFile, s.budget)); err != nil {
				return nil, err
			}
			s.read++
			if f.Sight.Kind != change.File && f.Sight.Kind != change.Symlink {
				continue // gone since it was listed
			}
		}
		s.index.Note(f.Path, f.Sight, id)
		s.add(f, hex.EncodeToString(id[:]), content, have)
		if s.bytes > most {
			return nil, tooMuch(list, old, most)
		}
	}
	return s, nil
}

func (s *treeScan) add(f scan.File, id string, content []byte, have *snapshot.Objects) {
	size := f.Sight.Version.Size
	state := snapshot.StateMeta{Kind: f.Sight.Kind, Size: size, OID: id}
	if f.Sight.Kind == change.File {
		state.Mode = f.Sight.Mode
	}
	s.files = append(s.files, snapshot.TreeFile{Path: f.Path, State: state})
	if s.fresh[id] || have.Has(id) {
		return
	}
	s.fresh[id] = true
	s.bytes += size
	if content != nil {
		s.kept[id] = content
		s.budget -= size
	}
}

// tooMuch blames the files that are not known yet.
func tooMuch(list *scan.Listing, old *scan.Index, most int64) error {
	var unknown []scan.File
	var bytes int64
	for _, f := range list.Files {
		if _, ok := old.Lookup(f.Path, f.Sight); !ok {
			unknown = append(unknown, f)
			bytes += f.Sight.Version.Size
		}
	}
	return &scan.LimitError{What: scan.LimitBytes, Most: most, Least: bytes, Blame: scan.Blame(unknown, scan.SizeOf)}
}
