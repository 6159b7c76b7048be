package oxpatch

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/scan"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// restorePlan is what a restore does.
type restorePlan struct {
	files         []worktree.File // by path
	made, removed []worktree.Dir
	left          []string // files that were not there then and stay
	ours          []string // such files that go because an operation made them
}

// restorePlanner works a restore out.
type restorePlanner struct {
	*restoring
	plan  restorePlan
	index *scan.Index
	since *later
	// recorded holds the paths at which something stood, dirs the folders with their permissions.
	recorded map[string]snapshot.StateMeta
	dirs     map[string]fs.FileMode
	chosen   []string // keys of the request's paths
	hit      map[string]bool
	// inWay are folders that stand at a path at which the record has nothing, or a file.
	inWay   []string
	foreign []string // files that only DeleteNew removes
	read    func(snapshot.StateMeta) (change.State, error)
}

// makePlan compares the record with the tree.
func (r *restoring) makePlan() (*restorePlan, error) {
	p, err := r.makePlanner()
	if err != nil {
		return nil, err
	}
	return &p.plan, p.folders()
}

// makePlanner is makePlan without the folders that come and go.
func (r *restoring) makePlanner() (*restorePlanner, error) {
	read, closePacks := r.rec.Reader()
	defer closePacks()
	p := &restorePlanner{
		restoring: r, index: r.e.scanIndex(), hit: map[string]bool{}, read: read,
		recorded: map[string]snapshot.StateMeta{}, dirs: map[string]fs.FileMode{},
	}
	if err := p.load(); err != nil {
		return nil, err
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	var err error
	if p.since, err = r.e.laterThan(r.rec.Meta.ID, r.result); err != nil {
		return nil, err
	}
	for _, path := range sortedKeys(p.recorded) {
		if p.isChosen(path) {
			if err := p.consider(path, p.recorded[path]); err != nil {
				return nil, err
			}
		}
	}
	if err := p.newFiles(); err != nil {
		return nil, err
	}
	for _, key := range p.chosen {
		if !p.hit[key] {
			return nil, &worktree.PathError{Path: key, Err: errNotRecorded, Problem: "operation " + r.rec.Meta.ID + " has no such path"}
		}
	}
	slices.SortFunc(p.plan.files, func(a, b worktree.File) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// errNotRecorded: a record has no such path.
var errNotRecorded = fmt.Errorf("not in the record: %w", ErrMissing)

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// load reads what the record holds.
func (p *restorePlanner) load() error {
	m := p.rec.Meta
	if m.Tree != nil {
		return p.rec.WalkTree(p.ctx, func(path string, s snapshot.StateMeta) error {
			if s.Kind == change.Dir {
				p.dirs[path] = s.Mode
			} else {
				p.recorded[path] = s
			}
			return nil
		})
	}
	for _, d := range slices.Concat(m.Scopes, m.Dirs) {
		p.dirs[d.Path] = d.Mode
	}
	for _, f := range m.Paths {
		p.recorded[f.Path] = f.After
	}
	return nil
}

// choose resolves the paths of the request. One that the record has is taken by its text: what stands
// there now may be a file where it had a folder.
func (p *restorePlanner) choose() error {
	base, err := filepath.Rel(p.e.site.Root, p.e.base(Request{Base: p.req.Base}))
	if err != nil {
		return err
	}
	for _, text := range p.req.Paths {
		key := path.Join(filepath.ToSlash(base), filepath.ToSlash(text))
		if key == "." {
			key = ""
		}
		if !p.has(key) || filepath.IsAbs(text) {
			if key, _, err = p.tree.Find(text); err != nil {
				return err
			}
		}
		p.chosen = append(p.chosen, key)
		p.hit[key] = p.has(key)
	}
	return nil
}

func (p *restorePlanner) has(key string) bool {
	if _, ok := p.recorded[key]; ok {
		return true
	}
	_, ok := p.dirs[key]
	return ok
}

// isChosen reports whether a path is to be restored.
func (p *restorePlanner) isChosen(path string) bool {
	chosen := len(p.chosen) == 0
	for _, key := range p.chosen {
		if worktree.Within(path, key) {
			p.hit[key], chosen = true, true
		}
	}
	return chosen
}

// consider compares one path with its state in the record.
func (p *restorePlanner) consider(path string, want snapshot.StateMeta) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if want.Unknown {
		return &worktree.PathError{Path: path, Err: snapshot.ErrUnknownState, Problem: "what operation " + p.rec.Meta.ID + " left here is not known"}
	}
	if want.Kind == change.Dir || want.Kind == change.Other {
		return nil // a submodule, of which only the index changed
	}
	s, err := p.tree.Look(path)
	if err != nil {
		return err
	}
	if s.Kind == change.Dir {
		p.inWay = append(p.inWay, path)
		if want.Kind == change.Absent {
			return nil
		}
	}
	same, err := p.same(path, s, want)
	if err != nil || same {
		return err
	}
	return p.add(path, want)
}

// same reports whether a path is in the wanted state. What the last scan remembers is not read again.
func (p *restorePlanner) same(path string, s worktree.Sight, want snapshot.StateMeta) (bool, error) {
	if s.Kind != want.Kind {
		return false, nil
	}
	if want.Kind == change.Absent {
		return true, nil
	}
	if s.Version.Size != want.Size || want.Kind == change.File && !p.sameMode(s.Mode, want.Mode) {
		return false, nil
	}
	id, known := p.index.Lookup(path, s)
	if !known {
		var err error
		if id, _, _, err = scan.Hash(p.tree, path, 0); err != nil {
			return false, err
		}
	}
	return hex.EncodeToString(id[:]) == want.OID, nil
}

// sameMode compares permissions: all of them with those that a checkpoint found; with those that
// another operation meant to leave, only whether the file may be executed.
func (p *restorePlanner) sameMode(now, want fs.FileMode) bool {
	if p.rec.Meta.Kind == snapshot.KindCheckpoint {
		return now == want
	}
	return (now^want)&0o100 == 0
}

// add plans the change of one path. A folder in its place counts as nothing: folders sees to it.
func (p *restorePlanner) add(path string, want snapshot.StateMeta) error {
	if id, ok := p.op.unresolved[path]; ok {
		return &pendingError{path: path, id: id}
	}
	now, stamp, err := p.tree.Read(path)
	if err != nil {
		return err
	}
	switch now.Kind {
	case change.Other:
		return &worktree.PathError{Path: path, Err: worktree.ErrNotRegular, Problem: "neither a file nor a link stands there; move it away first"}
	case change.Dir:
		now, stamp = change.State{}, worktree.Stamp{}
	}
	after, err := p.read(want)
	if err != nil {
		return err
	}
	switch {
	case after.Kind != change.File:
	case now.Kind == change.File && p.sameMode(now.Mode, after.Mode):
		after.Mode = now.Mode
	case after.Mode == 0: // as a record has that of a new file; here one may stand there
		after.Mode = 0o666 &^ worktree.Umask()
	}
	if stamp.HardLinks > 1 && !p.e.o.inPlace && after.Kind != change.Absent {
		p.result.warn(Problem{Kind: KindHardLink, Path: change.DisplayPath(path),
			Message: "the file has other names (hard links), which keep what they hold now"})
	}
	p.plan.files = append(p.plan.files, worktree.File{
		Change: change.Change{Path: path, Before: now, After: after}, Stamp: stamp, InPlace: p.e.o.inPlace,
	})
	return nil
}

// newFiles looks for files that the scope of a checkpoint has now and had not then.
func (p *restorePlanner) newFiles() error {
	list, err := p.scope()
	if err != nil {
		return err
	}
	needed := map[string]bool{} // folders above what is restored: a file there is in the way
	for _, f := range p.plan.files {
		if f.After.Kind != change.Absent {
			for _, dir := range worktree.Above(f.Path) {
				needed[dir] = true
			}
		}
	}
	for _, f := range list.Files {
		if _, ok := p.recorded[f.Path]; ok || !p.isChosen(f.Path) && !needed[f.Path] {
			continue
		}
		switch {
		case p.since.leaves[f.Path]:
			p.plan.ours = append(p.plan.ours, f.Path)
		case p.req.DeleteNew:
			p.foreign = append(p.foreign, f.Path)
		default:
			p.plan.left = append(p.plan.left, f.Path)
			continue
		}
		if err := p.add(f.Path, snapshot.StateMeta{}); err != nil {
			return err
		}
	}
	return p.sameIgnoreRules(list)
}

// scope lists what stands now where the checkpoint knows what stood.
func (p *restorePlanner) scope() (*scan.Listing, error) {
	if p.rec.Meta.Tree == nil {
		keys := slices.Clone(p.inWay)
		for _, d := range p.rec.Meta.Scopes {
			keys = append(keys, d.Path)
		}
		for dir := range p.dirs {
			if s, err := p.tree.Look(dir); err == nil && (s.Kind == change.File || s.Kind == change.Symlink) {
				keys = append(keys, dir) // it stands in the place of a folder
			}
		}
		return scan.Walk(p.ctx, p.tree, keys, math.MaxInt)
	}
	list, _, err := p.e.listTree(p.ctx, p.tree, math.MaxInt)
	if err == nil || p.req.DeleteNew || p.ctx.Err() != nil {
		return list, err
	}
	p.result.warn(Problem{Kind: KindGit, Message: "which files are new cannot be told: " + trimmed(err), Hint: "they stay as they are"})
	return &scan.Listing{}, nil
}
