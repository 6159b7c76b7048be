package gitapply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/outputparse"
)

// planner is one Plan under way.
type planner struct {
	*Result
	ctx     context.Context
	scan    *scanner
	patch   []byte
	names   []string // every path that the patch may mean, sorted
	states  map[string]change.State
	lines   map[string][]change.IndexLine // in the user's index
	start   map[string][]change.IndexLine // in the scratch, when git apply starts
	end     map[string][]change.IndexLine // and when it has ended
	isClean map[string]bool
	config  repoConfig
	drivers []string
	found   []outputparse.Finding // what git said
	moved   map[string]*Section   // renames and copies, by target
	taken   map[string]bool       // paths that the patch removes
	scratch *scratch
	index   userIndex
}

// Plan has git apply the patch in a scratch and returns what came of it. Nothing of the user's is
// changed: neither files nor index, refs or objects.
//
// The result is never nil. Where the patch is refused the error is a *RefusedError and the result
// says of each section that was read what is known; MayPlace tells whether placing by content is an
// alternative. Other errors are ErrNoGit, ErrTooOld, ErrBare, ErrDubious, ErrConfig, ErrUnserved,
// those of the context and those of the file system.
//
// A result without an error must be closed.
func Plan(ctx context.Context, repo Repo, patch []byte, o Options) (*Result, error) {
	p := &planner{Result: &Result{repo: repo, o: o}, ctx: ctx, patch: patch}
	err := p.plan()
	if p.scratch != nil {
		// Nobody has to wait for this; Close sees to it that it is done.
		p.swept = make(chan error, 1)
		go func(s *scratch, done chan<- error) { done <- s.close() }(p.scratch, p.swept)
	}
	if err != nil {
		p.Changes = nil
		p.skipAll(err)
		err = errors.Join(err, p.sweep())
	}
	p.lists()
	return p.Result, err
}

func (p *planner) plan() error {
	if p.o.MaxFile > 0 && int64(len(p.patch)) > p.o.MaxFile {
		return &RefusedError{Kind: ErrTooLarge, Problem: fmt.Sprintf("the patch has %d bytes, the limit is %d", len(p.patch), p.o.MaxFile)}
	}
	run, err := newRunner(p.repo, p.o)
	if err != nil {
		return err
	}
	p.run = run
	s, err := scan(p.patch, !p.o.NoRepair)
	p.scan = s
	if err != nil {
		p.rough()
		return err
	}
	s.folder = p.o.Folder
	p.gatherNames()
	if err := p.look(); err != nil {
		return err
	}
	p.Sections, err = s.finish(p.o.Reverse, p.exists, func(name string) []byte { return p.states[name].Content })
	p.Repairs = s.repairs
	if err != nil {
		return err
	}
	p.onlyNamed()
	if err := p.safe(); err != nil {
		return err
	}
	if err := p.prepare(); err != nil {
		return err
	}
	if err := p.apply(); err != nil {
		return err
	}
	return p.judge()
}

// rough lists the sections of a patch that could not be read to its end, by the names in their
// headers.
func (p *planner) rough() {
	for i := range p.scan.sections {
		p.Sections = append(p.Sections, roughly(&p.scan.sections[i]))
	}
	p.Repairs = p.scan.repairs
}

// gatherNames lists every path that a header may mean.
func (p *planner) gatherNames() {
	seen := map[string]bool{}
	for i := range p.scan.sections {
		raw := &p.scan.sections[i]
		all := namesOf(raw).candidates()
		if p.scan.folder != "" && !raw.git {
			all = p.scan.namesBelow(namesOf(raw))
		} else if f, refused := parseOne(i+1, raw); refused == nil {
			all = append(all, f.OldName, f.NewName)
		}
		for _, n := range all {
			if checkPath(n) == "" {
				seen[n] = true
			}
		}
	}
	p.names = slices.Sorted(maps.Keys(seen))
}

// look reads the working tree and the index at the named paths, and the settings. The processes run
// side by side.
func (p *planner) look() error {
	size, err := p.readStates()
	if err != nil {
		return err
	}
	if p.index.whole, p.print, err = readIndex(p.run.indexFile()); err != nil {
		return err
	}
	// Of each file there may be three versions as files and three as objects, and a block for each; of the
	// index there may be two.
	s, err := newScratch(6*(size+int64(len(p.patch))) + 32<<10*int64(len(p.names)) + 2*int64(len(p.index.whole)))
	if err != nil {
		return err
	}
	p.scratch = s
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	var group sync.WaitGroup
	errs := make([]error, 3)
	start := func(i int, work func() error) {
		group.Go(func() {
			if errs[i] = work(); errs[i] != nil {
				stop()
			}
		})
	}
	at := place{dir: s.tree, tree: s.tree, index: s.index, config: inScratch()}
	start(0, func() error { return p.ask(ctx, at) })
	start(1, func() error { return p.readLines(ctx, at) })
	start(2, func() error { return p.run.trusted(ctx) })
	group.Wait()
	return first(append([]error{p.ctx.Err()}, errs...)...)
}

// ask reads the settings and the version of git. Since 2.22 a git writes its version into a trace,
// which saves a process.
func (p *planner) ask(ctx context.Context, at place) error {
	trace := filepath.Join(p.scratch.dir, "trace")
	at.env = []string{"GIT_TRACE2=" + trace, "GIT_TRACE2_BRIEF=1"}
	out, err := p.run.must(ctx, at, nil, "config", "-z", "--list")
	if err != nil {
		return err
	}
	p.config = readConfig(out)
	said, _ := os.ReadFile(trace)
	for _, l := range bytes.Split(said, []byte("\n")) {
		if v, ok := bytes.CutPrefix(l, []byte("version ")); ok {
			p.GitVersion, err = version(v)
			return err
		}
	}
	at.env = nil
	if out, err = p.run.must(ctx, at, nil, "--version"); err == nil {
		p.GitVersion, err = version(out)
	}
	return err
}

// first returns the first error that says more than that another one stopped the work.
func first(errs ...error) error {
	var stopped error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		stopped = errors.Join(stopped, err)
	}
	return stopped
}

// readStates reads what stands at the named paths, and returns how much that is.
func (p *planner) readStates() (size int64, err error) {
	p.states = map[string]change.State{}
	for _, n := range p.names {
		if _, kind := obstacle(p.repo.Top, n); kind != change.Absent {
			continue
		}
		st, err := readState(p.repo.Top, n, p.o.MaxFile)
		if err != nil {
			return size, err
		}
		p.states[n] = st
		size += int64(len(st.Content))
	}
	return size, nil
}

func (p *planner) exists(name string) bool {
	return p.states[name].Kind != change.Absent || len(p.lines[name]) > 0
}

// discover asks git about the repository as a user's command would find it.
func (r *runner) discover(ctx context.Context) (output, error) {
	cmd := exec.CommandContext(ctx, r.git, "rev-parse", "--git-dir")
	cmd.Dir, cmd.Env = r.repo.Top, r.env
	ownGroup(cmd)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return output{}, err
	}
	return output{stderr: errOut.Bytes(), code: cmd.ProcessState.ExitCode()}, nil
}

// onlyNamed forgets the candidates that turned out to be no names of the patch.
func (p *planner) onlyNamed() {
	seen := map[string]bool{}
	for _, s := range p.Sections {
		for _, n := range []string{s.Old, s.New} {
			if n != "" {
				seen[n] = true
			}
		}
	}
	p.names = slices.Sorted(maps.Keys(seen))
}

// safe refuses paths that lead through a link, or into another repository.
func (p *planner) safe() error {
	var refused []*RefusedError
	leaving := map[string]bool{}
	for _, s := range p.Sections {
		if s.Op == OpDelete || s.Op == OpRename || s.Op == OpAdd && p.o.Reverse {
			leaving[s.Old], leaving[s.New] = true, true
		}
	}
	for i, s := range p.Sections {
		for _, n := range slices.Compact([]string{s.Old, s.New}) { // each file is named once
			part, kind := obstacle(p.repo.Top, n)
			if part == "" || leaving[part] {
				continue
			}
			e := &RefusedError{Kind: ErrUnsafePath, Path: n, Section: i + 1, Line: s.Line}
			switch kind {
			case change.Symlink:
				e.Problem = change.DisplayPath(part) + " is a symbolic link"
			case change.Dir:
				shown := change.DisplayPath(part)
				e.Problem = "it lies in " + shown + ", which is a repository of its own with a history of its own"
				e.Hint = "run oxpatch in " + shown + ", with paths that count from there"
			default:
				e.Kind, e.Problem = ErrExists, change.DisplayPath(part)+" is no folder"
			}
			refused = append(refused, e)
		}
	}
	return joined(refused)
}

// prepare fills the scratch: clean files are left out, since git checks them out itself where it
// needs them; all others come along as they are, so that git sees what differs from the index.
func (p *planner) prepare() error {
	var err error
	named := map[string]change.State{}
	for _, n := range p.names {
		named[n] = p.states[n]
	}
	if p.isClean, err = p.run.clean(p.ctx, named, p.lines, p.config); err != nil {
		return err
	}
	if p.drivers, err = p.config.fromTop(p.repo.Top, p.scratch.tree); err != nil {
		return err
	}
	var dirty []string
	for _, n := range p.names {
		st := p.states[n]
		if st.Kind == change.Absent || p.isClean[n] || st.Kind == change.Other {
			continue
		}
		if st.Kind == change.Dir && p.holdsNamed(n) {
			continue // it is made for what is in it
		}
		if err := p.scratch.put(n, st); err != nil {
			return err
		}
		if st.Kind != change.Dir {
			dirty = append(dirty, n)
		}
	}
	if err := p.scratch.attributes(p.repo.Top, p.names, p.isClean); err != nil {
		return err
	}
	if err := p.giveIndex(); err != nil {
		return err
	}
	p.start = p.lines
	if p.o.Reverse && len(dirty) > 0 {
		return p.stageFirst(dirty)
	}
	return nil
}

func (p *planner) holdsNamed(dir string) bool {
	return slices.ContainsFunc(p.names, func(n string) bool { return strings.HasPrefix(n, dir+"/") })
}

// stageFirst does what a user would have to do before git takes a patch back that was never staged.
func (p *planner) stageFirst(dirty []string) error {
	var hidden []string
	for _, n := range dirty {
		if l, ok := staged(p.lines[n]); ok && l.Flags&(FlagSkipWorktree|FlagAssumeUnchanged) != 0 {
			hidden = append(hidden, n)
		}
	}
	if err := p.run.flag(p.ctx, p.scratch.place(), hidden, "--no-skip-worktree", "--no-assume-unchanged"); err != nil {
		return err
	}
	if err := p.run.stageAll(p.ctx, p.scratch, dirty, p.drivers); err != nil {
		return err
	}
	var err error
	p.start, err = p.run.list(p.ctx, p.scratch.place(), p.names)
	return err
}

// flag sets or clears flags of entries, one process for each option.
func (r *runner) flag(ctx context.Context, at place, names []string, options ...string) error {
	if len(names) == 0 {
		return nil
	}
	in := []byte(strings.Join(names, "\x00") + "\x00")
	for _, option := range options {
		if _, err := r.must(ctx, at, in, "update-index", option, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}
