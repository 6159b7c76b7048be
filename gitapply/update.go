package gitapply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// UpdateIndex brings the lines of the changed paths into the index, after the files were written.
// It holds the lock that LockIndex took and ends it, in any case. The new index comes into being
// beside the old one and is renamed over it, so there is never half of it.
//
// New blobs are in the repository before. Entries without a conflict get the stat data of the files
// as they are now, so that git does not have to read them again. Should a file have been changed
// since it was written, its entry gets the new content, as "git add" would do, and Index.After of
// its change says so.
//
// With an error the index is as it was before.
func (r *Result) UpdateIndex(ctx context.Context) error {
	if !r.touchesIndex() {
		return nil
	}
	if r.lock == nil {
		return fmt.Errorf("%s: %w: it is not locked by this plan", r.run.indexFile(), ErrLocked)
	}
	e, err := newEdit(r.run)
	if err != nil {
		return errors.Join(err, r.AbortIndex())
	}
	err = r.fill(ctx, e)
	if err == nil {
		err = e.publish(r.lock)
	}
	return errors.Join(err, e.end(err), r.AbortIndex())
}

// end closes the edit after err. Once the index is published nothing can fail any more: who is told of
// an error takes the files back.
func (e *edit) end(err error) error {
	if left := e.close(); err != nil {
		return left
	}
	return nil
}

// fill makes the new index.
func (r *Result) fill(ctx context.Context, e *edit) error {
	blobs := map[string][]byte{}
	for _, c := range r.Changes {
		if c.Index == nil {
			continue
		}
		fresh := r.isPlain(c)
		if !fresh || r.special(c) {
			e.set(c.Path, c.Index.After)
		}
		if fresh {
			e.files = append(e.files, c.Path)
			continue
		}
		for _, l := range c.Index.After {
			if content, ok := r.blobs[l.OID]; ok {
				blobs[l.OID] = content
			}
		}
	}
	stored := make(chan error, 1)
	go func() { stored <- e.store(ctx, blobs) }()
	err := e.write(ctx)
	if err := errors.Join(<-stored, err); err != nil {
		return err
	}
	now, err := r.linesIn(ctx, e)
	if err != nil {
		return err
	}
	if planned := r.cleanedAgain(now); len(planned) > 0 {
		if err := r.enterAsPlanned(ctx, e, planned); err != nil {
			return err
		}
		if now, err = r.linesIn(ctx, e); err != nil {
			return err
		}
	}
	r.readBack(now)
	return nil
}

// cleanedAgain finds the changes whose files are as they were written, and whose entries git made
// another blob of than it had put into the scratch's index: "git apply" enters what the patch says,
// "git update-index" what line ending conversion and clean filters make of the file.
func (r *Result) cleanedAgain(now map[string][]change.IndexLine) []change.Change {
	var found []change.Change
	for _, c := range r.Changes {
		if c.Index == nil || !r.isPlain(c) || c.After.Kind == change.Absent || sameLines(now[c.Path], c.Index.After) {
			continue
		}
		if st, err := readState(r.repo.Top, c.Path, 0); err == nil && st.Equal(c.After) {
			found = append(found, c)
		}
	}
	return found
}

// enterAsPlanned sets the lines that the plan has. Files that are their blobs byte for byte also get
// their stat data, so that git takes them for unchanged, as it does after its own "git apply".
func (r *Result) enterAsPlanned(ctx context.Context, e *edit, planned []change.Change) error {
	e.info.Reset()
	e.files = nil
	blobs := map[string][]byte{}
	var verbatim []string
	for _, c := range planned {
		e.set(c.Path, c.Index.After)
		l, _ := staged(c.Index.After)
		if content, ok := r.blobs[l.OID]; ok {
			blobs[l.OID] = content
		}
		if blobID(r.repo.ObjectFormat, c.After.Content) == l.OID {
			verbatim = append(verbatim, c.Path)
		}
	}
	if err := e.store(ctx, blobs); err != nil {
		return err
	}
	if err := e.write(ctx); err != nil || len(verbatim) == 0 {
		return err
	}
	return e.enterVerbatim(ctx, verbatim)
}

// enterVerbatim has git look at files that it must not convert. The attributes of a tree cannot be
// switched off from outside but by those of the git directory, so git is given one of its own. It
// keeps the modes that the entries have. Where git cannot read the index from there, as with a split
// one, the entries stay without stat data.
func (e *edit) enterVerbatim(ctx context.Context, names []string) error {
	if err := e.folder(); err != nil {
		return err
	}
	dir := filepath.Join(e.dir, "verbatim")
	if err := os.MkdirAll(filepath.Join(dir, "refs"), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "info"), 0o700); err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 0\n"
	if strings.EqualFold(e.run.repo.ObjectFormat, "sha256") {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": config,
		"info/attributes": "* -text -eol -crlf -ident -filter -working-tree-encoding\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	at := e.run.real(e.index)
	at.env = append(at.env, "GIT_DIR="+dir, "GIT_COMMON_DIR="+dir, "GIT_OBJECT_DIRECTORY="+e.run.objectsDir())
	at.config = append(at.config, "-c", "core.fileMode=false", "-c", "core.autocrlf=false")
	_, err := e.run.do(ctx, at, []byte(strings.Join(names, "\x00")+"\x00"), "update-index", "--add", "-z", "--stdin")
	return err
}

// linesIn reads the lines of the changed paths.
func (r *Result) linesIn(ctx context.Context, e *edit) (map[string][]change.IndexLine, error) {
	var paths []string
	for _, c := range r.Changes {
		if c.Index != nil {
			paths = append(paths, c.Path)
		}
	}
	return r.run.list(ctx, r.run.real(e.index), paths)
}

// isPlain reports whether "git update-index" finds the new entry by looking at the file.
func (r *Result) isPlain(c change.Change) bool {
	if c.After.Kind == change.Absent {
		return len(c.Index.After) == 0 && !r.becomesFolder(c.Path)
	}
	l, ok := staged(c.Index.After)
	return ok && l.Mode != modeGitlink && l.Flags == 0 && (c.After.Kind == change.File || c.After.Kind == change.Symlink)
}

// becomesFolder reports whether the changes put something below a path. They are sorted, so what is
// below it stands together.
func (r *Result) becomesFolder(name string) bool {
	i, _ := slices.BinarySearchFunc(r.Changes, name+"/", func(c change.Change, p string) int { return strings.Compare(c.Path, p) })
	for ; i < len(r.Changes) && strings.HasPrefix(r.Changes[i].Path, name+"/"); i++ {
		if r.Changes[i].After.Kind != change.Absent {
			return true
		}
	}
	return false
}

// special reports whether the entry has to be set first: where its flags would keep git from looking
// at the file, and where the file may not say what the entry's mode is.
func (r *Result) special(c change.Change) bool {
	for _, l := range c.Index.Before {
		if l.Flags != 0 || l.Stage != 0 {
			return true
		}
	}
	after, ok := staged(c.Index.After)
	before, had := staged(c.Index.Before)
	return ok && (had && before.Mode != after.Mode || !had && after.Mode != modeFile)
}

// readBack compares the new lines with the planned ones. A file that somebody changed since it was
// written was entered as it is, and the changes have to say so: undo compares with them.
func (r *Result) readBack(now map[string][]change.IndexLine) {
	for i, c := range r.Changes {
		if c.Index != nil && !sameLines(now[c.Path], c.Index.After) {
			r.Changes[i].Index = &change.IndexChange{Before: c.Index.Before, After: now[c.Path]}
		}
	}
}

// edit is an index being changed, beside the repository's: it stands in the same folder, so that it
// can be renamed over it. dir is a private folder for what else is needed, made when it is.
type edit struct {
	run   *runner
	dir   string
	index string
	info  bytes.Buffer // for --index-info
	files []string     // to be looked at and entered, after info
}

// EditSuffix is the end of the name under which a new index comes into being, beside the old one.
// Only who holds the lock of the index may touch it.
const EditSuffix = ".oxpatch"

// newEdit gives git a second name of the index to work on. The lock must be held, so the name is
// nobody else's; what a killed process left there is replaced.
func newEdit(r *runner) (*edit, error) {
	e := &edit{run: r, index: r.indexFile() + EditSuffix}
	if err := e.remove(); err != nil {
		return nil, err
	}
	return e, takeIndex(r.indexFile(), e.index)
}

// publish makes this the repository's index and ends the lock.
func (e *edit) publish(lock *indexLock) error {
	err := lock.publish(e.index)
	if err == nil {
		e.index = ""
	}
	return err
}

// close removes what is left. It must come before the lock is given up, since another process may
// then use the same name.
func (e *edit) close() error {
	err := e.remove()
	if e.dir != "" {
		err = errors.Join(err, os.RemoveAll(e.dir))
	}
	return err
}

// remove takes away the index being made, and the lock that a killed git left on it.
func (e *edit) remove() error {
	if e.index == "" {
		return nil
	}
	var errs []error
	for _, name := range []string{e.index, e.index + ".lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// folder makes the private folder.
func (e *edit) folder() error {
	if e.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "oxpatch-index-")
	e.dir = dir
	return err
}

// set replaces all lines of a path. Flags, and entries that are only intended to be added, are set
// otherwise.
func (e *edit) set(name string, lines []change.IndexLine) {
	fmt.Fprintf(&e.info, "0 %s\t%s\x00", strings.Repeat("0", e.run.idLength()), name)
	for _, l := range lines {
		if l.Flags&FlagIntentToAdd == 0 {
			fmt.Fprintf(&e.info, "%o %s %d\t%s\x00", l.Mode, l.OID, l.Stage, name)
		}
	}
}

func (r *runner) idLength() int {
	if strings.EqualFold(r.repo.ObjectFormat, "sha256") {
		return 64
	}
	return 40
}

// write makes the changes, with at most two processes.
func (e *edit) write(ctx context.Context) error {
	at := e.run.real(e.index)
	if e.info.Len() > 0 {
		if _, err := e.run.must(ctx, at, e.info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(e.files) == 0 {
		return nil
	}
	in := strings.Join(e.files, "\x00") + "\x00"
	_, err := e.run.must(ctx, at, []byte(in), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// store puts blobs into the repository.
func (e *edit) store(ctx context.Context, blobs map[string][]byte) error {
	if len(blobs) == 0 {
		return nil
	}
	if err := e.folder(); err != nil {
		return err
	}
	var names bytes.Buffer
	for id, content := range blobs {
		file := filepath.Join(e.dir, "blob-"+id)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
		names.WriteString(change.Quote(filepath.ToSlash(file)) + "\n")
	}
	out, err := e.run.must(ctx, e.run.real(e.index), names.Bytes(), "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return err
	}
	for _, id := range strings.Fields(string(out)) {
		if _, ok := blobs[id]; !ok {
			return fmt.Errorf("git hash-object: %w: unexpected object %s", ErrGit, id)
		}
	}
	return nil
}
