package oxpatch

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/worktree"
)

// TextApplier applies patches by content, whatever the mode of the request. It is a PatchApplier.
type TextApplier struct {
	Engine *Engine
}

// Apply is Engine.Apply with ModeText.
func (a TextApplier) Apply(ctx context.Context, req Request) (*Result, error) {
	req.Mode = ModeText
	return a.Engine.Apply(ctx, req)
}

// errNULInPath is a path that the system cannot hold.
var errNULInPath = errors.New("a path cannot hold a NUL byte")

// diskTree lets a plan read the disk, and keeps what the writer needs to know about every file
// that was read.
type diskTree struct {
	tree  *worktree.Tree
	free  bool
	base  string // folder that relative paths count from, absolute
	known func(key string) bool
	// stamps holds what Read saw, by key.
	stamps map[string]worktree.Stamp
	// emptied holds keys where a folder stands that the plan empties, so that a file can be there.
	emptied map[string]bool
	// ahead begins with what will have to be recorded; nil where nothing will.
	ahead *snapshot.Ahead
}

func newDiskTree(tree *worktree.Tree, free bool, base string, known func(string) bool) *diskTree {
	return &diskTree{tree: tree, free: free, base: base, known: known,
		stamps: map[string]worktree.Stamp{}, emptied: map[string]bool{}}
}

// Locate implements textapply.Tree.
func (d *diskTree) Locate(path string, entry bool, planned func(string) (change.Kind, bool)) (string, error) {
	if d.free && strings.IndexByte(path, 0) >= 0 {
		return "", errNULInPath
	}
	use := worktree.Edit
	if entry {
		use = worktree.Entry
	}
	loc, err := d.tree.Resolve(path, use, planned)
	if d.free && !entry && errors.Is(err, syscall.ENAMETOOLONG) {
		// Codex finds out only when it writes, having made the folders above.
		return d.lexicalKey(path), nil
	}
	if err == nil && loc.Kind == change.Absent {
		d.emptied[loc.Path] = true
	}
	return loc.Path, err
}

// lexicalKey is the key of a path by its text alone.
func (d *diskTree) lexicalKey(path string) string {
	abs := codexPath(d.base, path)
	if rel, err := filepath.Rel(d.tree.Root(), abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// Read implements textapply.Tree.
func (d *diskTree) Read(key string) (change.State, error) {
	st, stamp, err := d.tree.Read(key)
	if err != nil {
		return st, err
	}
	if st.Kind == change.Dir && d.emptied[key] {
		return change.State{}, nil
	}
	d.stamps[key] = stamp
	d.ahead.Add(st.Content)
	return st, nil
}

// Known implements textapply.Tree.
func (d *diskTree) Known(key string) bool { return d.known != nil && d.known(key) }

// files pairs changes with what was seen when they were planned, for the writer.
func (d *diskTree) files(changes []change.Change, inPlace bool) []worktree.File {
	files := make([]worktree.File, len(changes))
	for i, c := range changes {
		files[i] = worktree.File{Change: c, Stamp: d.stamps[c.Path], InPlace: inPlace}
	}
	return files
}

// textPlan is a patch, or several as one, worked out against the tree.
type textPlan struct {
	*textapply.Plan
	patch *textapply.Patch
	// from[i] is the index of the input that section i came from.
	from []int
}

// planText plans the patches of several inputs as one.
func planText(patches []*textapply.Patch, d *diskTree, policy textapply.Policy) *textPlan {
	joined := &textapply.Patch{Format: patches[0].Format}
	var from []int
	for i, p := range patches {
		joined.Sections = append(joined.Sections, p.Sections...)
		joined.Notes = append(joined.Notes, p.Notes...)
		for range p.Sections {
			from = append(from, i)
		}
	}
	return &textPlan{Plan: textapply.MakePlan(joined, d, policy), patch: joined, from: from}
}

// problemKind classifies an error for the closed list of kinds.
func problemKind(err error) Kind {
	for _, c := range kindOfError {
		if errors.Is(err, c.err) {
			return c.kind
		}
	}
	return KindIO
}

var kindOfError = []struct {
	err  error
	kind Kind
}{
	{textapply.ErrNoMatch, KindNoMatch},
	{textapply.ErrAmbiguous, KindAmbiguous},
	{textapply.ErrOutOfOrder, KindOutOfOrder},
	{textapply.ErrApplied, KindAlreadyApplied},
	{textapply.ErrMissing, KindMissingFile},
	{textapply.ErrExists, KindExists},
	{textapply.ErrIsDirectory, KindIsDirectory},
	{textapply.ErrNotText, KindNotText},
	{textapply.ErrUnsupported, KindUnsupported},
	{worktree.ErrUnsafePath, KindUnsafePath},
	{worktree.ErrIsDirectory, KindIsDirectory},
	{worktree.ErrNotRegular, KindUnsafePath},
	{worktree.ErrTooLarge, KindTooLarge},
	{worktree.ErrDrift, KindDrift},
	{errNULInPath, KindUnsafePath},
	{ErrTooLarge, KindTooLarge},
	{snapshot.ErrTooLarge, KindTooLarge},
	{ErrPending, KindPending},
	{ErrNothingToUndo, KindNothingToDo},
	{ErrNothingToRedo, KindNothingToDo},
	{ErrUnknownOperation, KindUnknownOperation},
	{snapshot.ErrUnknownOperation, KindUnknownOperation},
	{snapshot.ErrAmbiguousID, KindUnknownOperation},
	{ErrUsage, KindUsage},
	{ErrGroupClosed, KindUsage},
	{textapply.ErrMalformed, KindMalformed},
	{ErrDeclined, KindDeclined},
	{ErrNoSnapshot, KindNoSnapshot},
	{ErrBusy, KindBusy},
	{ErrDrift, KindDrift},
	{context.Canceled, KindInterrupted},
	{context.DeadlineExceeded, KindInterrupted},
}

// sentinelOf returns the root's sentinel for an error of a package below that has its own.
func sentinelOf(err error) error {
	switch {
	case errors.Is(err, worktree.ErrUnsafePath), errors.Is(err, worktree.ErrNotRegular):
		return ErrUnsafePath
	case errors.Is(err, worktree.ErrDrift):
		return ErrDrift
	case errors.Is(err, worktree.ErrTooLarge):
		return ErrTooLarge
	}
	return nil
}
