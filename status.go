package oxpatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// Status says how things stand between operations. Its JSON form is described by
// schema/oxpatch-1.schema.json.
type Status struct {
	Root string
	// Undo is the operation that the next undo takes back; nil where there is none.
	Undo *Operation
	// Redo is the undo that the next redo takes back; nil where there is none.
	Redo *Operation
	// Pending are operations that were interrupted and not settled, oldest first.
	Pending []Operation
	// Conflicts are the files in which operations left conflicts that are not resolved yet.
	Conflicts []ConflictedFile
	// Stores are the places that hold records, best first.
	Stores []StoreStatus
	// Operations is the number of operations on the root in all stores.
	Operations int
	// Problems are warnings: what waits for the user, and what could not be read.
	Problems []Problem
}

// ConflictedFile is a file that an operation left with conflicts.
type ConflictedFile struct {
	Path string // as in FileResult
	// Hunks are the conflicts that are still marked in the file. Without any the file waits only for
	// "git add".
	Hunks []LineRange
	// Unmerged says that git's index still has the file as unmerged.
	Unmerged bool
}

// LineRange is a part of a file, from the line of its first marker to that of its last, 1-based.
type LineRange struct {
	Line    int `json:"line"`
	EndLine int `json:"end_line"`
}

// StoreStatus is a store that exists. One outside of repositories serves other roots too, and Bytes
// is all of it.
type StoreStatus struct {
	Path       string // absolute
	Bytes      int64
	Operations int // on this root
}

// Status tells what the next undo takes back, what an interrupted operation or a conflict leaves to be
// done, and where records are. Nothing is changed and no lock is taken, so while another operation is
// under way it may show as pending. The error is for histories that cannot be read at all; otherwise
// what cannot be read is among the problems.
func (e *Engine) Status(ctx context.Context) (*Status, error) {
	st := &Status{Root: e.site.Root}
	history := e.site.History()
	pending, err := history.Pending()
	if err != nil {
		st.warn(Problem{Kind: KindIO, Message: trimmed(err)})
	}
	for _, rec := range pending {
		st.Pending = append(st.Pending, entryOf(rec, "unresolved"))
		st.warn(Problem{Kind: KindPending, Message: fmt.Sprintf("operation %s was interrupted and is not settled", rec.Meta.ID),
			Hint: "oxpatch recover settles it"})
	}
	ops, _ := history.Ops() // pick says what is wrong with them
	st.Operations = len(ops)
	e.stores(st, ops)
	if st.Redo, err = e.next(choice{redo: true}, st); err != nil {
		return st, err
	}
	if st.Undo, err = e.next(choice{}, st); err != nil {
		return st, err
	}
	left, err := e.conflictsLeft(ctx)
	if err != nil {
		return st, err
	}
	return st, e.conflicted(ctx, st, left)
}

// next returns the operation that the next undo or redo takes back; nil where there is none.
func (e *Engine) next(c choice, st *Status) (*Operation, error) {
	found, problems, err := e.pick(c)
	if !c.redo {
		st.Problems = append(st.Problems, problems...)
	}
	switch {
	case errors.Is(err, ErrNothingToUndo), errors.Is(err, ErrNothingToRedo):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, err
	}
	op := operationOf(found.targets[0])
	return &op, nil
}

// conflictsLeft returns the paths at which operations that stand left conflicts, each with the command that
// takes the newest such operation back.
func (e *Engine) conflictsLeft(ctx context.Context) (map[string]string, error) {
	log, err := e.openLog()
	if err != nil {
		return nil, err
	}
	left := map[string]string{}
	n := 0
	for op, err := range log.each() {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			continue // said by the next undo
		}
		if n++; n > maxKnown {
			break
		}
		paths, err := conflictsOf(op)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if left[path] == "" {
				left[path] = wayBackFrom(op)
			}
		}
	}
	return left, nil
}

// wayBackFrom is the command that takes an operation back.
func wayBackFrom(op logged) string {
	if op.Meta.Kind == snapshot.KindUndo {
		return "oxpatch redo " + op.Meta.ID
	}
	return "oxpatch undo " + op.Meta.ID
}

func (st *Status) warn(p Problem) {
	p.Severity = SeverityWarning
	st.Problems = append(st.Problems, p)
}

// stores measures the stores that exist.
func (e *Engine) stores(st *Status, ops []snapshot.Operation) {
	for _, p := range e.site.Read {
		s := StoreStatus{Path: p.Dir}
		err := filepath.WalkDir(p.Dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a temporary file of another process
			}
			if err == nil {
				s.Bytes += info.Size()
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			st.warn(Problem{Kind: KindIO, Message: "a store cannot be measured: " + trimmed(err)})
		}
		for _, op := range ops {
			if op.Place.Dir == p.Dir {
				s.Operations++
			}
		}
		st.Stores = append(st.Stores, s)
	}
}

// conflicted looks at the files that operations left with conflicts.
func (e *Engine) conflicted(ctx context.Context, st *Status, left map[string]string) error {
	if len(left) == 0 {
		return nil
	}
	tree, err := worktree.Open(e.site.Root, worktree.Options{MaxFile: e.o.maxFile})
	if err != nil {
		return err
	}
	defer tree.Close()
	lines, err := e.unmergedNow(ctx, sortedKeys(left))
	if err != nil {
		st.warn(Problem{Kind: KindGit, Message: "git's index cannot be read: " + trimmed(err)})
	}
	for _, path := range sortedKeys(left) {
		f := ConflictedFile{Path: change.DisplayPath(path), Unmerged: lines[path]}
		now, _, err := tree.Read(path)
		if err != nil {
			st.warn(Problem{Kind: KindIO, Path: f.Path, Message: trimmed(err)})
			continue
		}
		if now.Kind == change.File {
			f.Hunks = conflictHunks(now.Content)
		}
		if len(f.Hunks) == 0 && !f.Unmerged {
			continue
		}
		st.Conflicts = append(st.Conflicts, f)
		p := Problem{Kind: KindConflict, Path: f.Path, Message: "the conflicts are resolved in the file, but not for git", Hint: "git add it"}
		if len(f.Hunks) > 0 {
			p.Line = f.Hunks[0].Line
			p.Message, p.Hint = fmt.Sprintf("%d unresolved conflicts", len(f.Hunks)), "resolve them, or take everything back with "+left[path]
			if f.Unmerged {
				p.Hint = "resolve them and git add the file, or take everything back with " + left[path]
			}
			if len(f.Hunks) == 1 {
				p.Message = "an unresolved conflict"
			}
		}
		st.warn(p)
	}
	return nil
}

// conflictsOf returns the paths at which an operation left conflicts, as far as it stands: where it
// made the index say so, or, where it left the index alone, wrote more marked conflicts than there
// were. Only git mode and a merge of an undo or redo write any.
func conflictsOf(op logged) ([]string, error) {
	rec := op.rec
	if rec.Meta.Mode != string(ModeGit) && !rec.Meta.Merged {
		return nil, nil
	}
	var left []string
	for i, p := range rec.Meta.Paths {
		if !op.Stands(i) {
			continue
		}
		if p.Index != nil {
			if len(p.Index.After) > 0 && p.Index.After[0].Stage > 0 {
				left = append(left, p.Path)
			}
			continue
		}
		if p.After.Kind != change.File || p.After.Unknown {
			continue
		}
		before, err := rec.Before(i)
		if err != nil {
			return nil, err
		}
		after, err := rec.After(i)
		if err != nil {
			return nil, err
		}
		if len(conflictHunks(after.Content)) > len(conflictHunks(before.Content)) {
			left = append(left, p.Path)
		}
	}
	return left, nil
}

// unmergedNow says which of the paths git's index has as unmerged.
func (e *Engine) unmergedNow(ctx context.Context, paths []string) (map[string]bool, error) {
	if e.site.Repo == nil {
		return map[string]bool{}, nil
	}
	repo, err := e.gitRepo()
	if err != nil {
		return nil, err
	}
	lines, err := gitapply.ReadIndex(ctx, repo, gitapply.Options{Env: e.o.env}, paths)
	out := map[string]bool{}
	for path, l := range lines {
		out[path] = len(l) > 0 && l[0].Stage > 0
	}
	return out, err
}

// conflictHunks finds conflicts as git marks them: a run of "<", one of "=" and one of ">", all of the
// same length of at least 7, each at the beginning of a line of its own.
func conflictHunks(content []byte) []LineRange {
	var hunks []LineRange
	var begin, length int // of the conflict that is open
	divided := false
	number := 0
	for line := range bytes.Lines(content) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		switch n := markerLength(line); {
		case n == 0:
		case line[0] == '<':
			begin, length, divided = number, n, false
		case begin > 0 && n == length && line[0] == '=':
			divided = true
		case begin > 0 && n == length && line[0] == '>' && divided:
			hunks = append(hunks, LineRange{begin, number})
			begin = 0
		}
	}
	return hunks
}

// markerLength is how many characters the marker has that a line consists of, or that a blank and a
// name follow; 0 where it is none.
func markerLength(line []byte) int {
	if len(line) == 0 || !bytes.ContainsRune([]byte("<=>"), rune(line[0])) {
		return 0
	}
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n < 7 || len(line) > n && line[n] != ' ' {
		return 0
	}
	return n
}

// MarshalJSON returns the JSON form, without the problems: they stand in the head of a document.
func (st *Status) MarshalJSON() ([]byte, error) {
	w := wireStatus{
		Undo: st.Undo, Redo: st.Redo, Pending: append([]Operation{}, st.Pending...), Conflicts: []wireConflict{}, Stores: []wireStore{}, Operations: st.Operations,
	}
	w.Root, w.RootBase64 = text(st.Root)
	for _, c := range st.Conflicts {
		w.Conflicts = append(w.Conflicts, wireConflict{c.Path, append([]LineRange{}, c.Hunks...), c.Unmerged})
	}
	for _, s := range st.Stores {
		ws := wireStore{Bytes: s.Bytes, Operations: s.Operations}
		ws.Path, ws.PathBase64 = text(s.Path)
		w.Stores = append(w.Stores, ws)
	}
	return marshal(w)
}

type wireStatus struct {
	Root       string         `json:"root"`
	RootBase64 string         `json:"root_base64,omitempty"`
	Undo       *Operation     `json:"undo"`
	Redo       *Operation     `json:"redo"`
	Pending    []Operation    `json:"pending"`
	Conflicts  []wireConflict `json:"conflicts"`
	Stores     []wireStore    `json:"stores"`
	Operations int            `json:"operations"`
}

type wireConflict struct {
	Path     string      `json:"path"`
	Hunks    []LineRange `json:"hunks"`
	Unmerged bool        `json:"unmerged"`
}

type wireStore struct {
	Path       string `json:"path"`
	PathBase64 string `json:"path_base64,omitempty"`
	Bytes      int64  `json:"bytes"`
	Operations int    `json:"operations"`
}
