package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// entrant is one program of a row. run does the work in the tree once and returns its cost; what it
// leaves is checked where checked is set.
type entrant struct {
	name    string
	role    role
	checked bool
	// prepare gives the tree for the next run, outside the timing.
	prepare func() (tree string, err error)
	run     func(tree string) (sample, error)
	// after, where set, puts the tree back, outside the timing.
	after func(tree string) error
}

// row makes the work of a row and runs its entrants in turn.
func (s *stage) row(r row) ([]result, error) {
	dir, err := s.prepare(r)
	if err != nil {
		return nil, err
	}
	entrants, err := s.entrants(r, dir)
	if err != nil {
		return nil, err
	}
	results := make([]result, len(entrants))
	for round := range s.runs {
		for i, e := range entrants {
			one, err := once(e, filepath.Join(dir, wantFile))
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", e.name, round+1, err)
			}
			results[i].entrant = e
			results[i].samples = append(results[i].samples, one)
		}
	}
	return results, nil
}

func once(e entrant, want string) (sample, error) {
	tree, err := e.prepare()
	if err != nil {
		return sample{}, err
	}
	settle()
	cost, err := e.run(tree)
	if err != nil {
		return sample{}, err
	}
	if e.checked {
		if err := check(tree, want); err != nil {
			return sample{}, err
		}
	}
	if e.after != nil {
		return cost, e.after(tree)
	}
	return cost, nil
}

func (s *stage) entrants(r row, dir string) ([]entrant, error) {
	switch r.shape {
	case undoShape:
		return s.undoEntrants(r, dir)
	case gitShape:
		return s.gitEntrants(dir)
	}
	return s.textEntrants(dir), nil
}

// textEntrants run an envelope patch: the peer and oxpatch as apply_patch outside a repository,
// oxpatch apply inside one.
func (s *stage) textEntrants(dir string) []entrant {
	patch := filepath.Join(dir, patchFile)
	outside := func() (string, error) { return s.fresh(dir, false) }
	inside := func() (string, error) { return s.fresh(dir, true) }
	var list []entrant
	add := func(name string, r role, prepare func() (string, error), env []string, argv ...string) {
		list = append(list, entrant{
			name: name, role: r, checked: r != roleFloor, prepare: prepare, after: empty,
			run: func(tree string) (sample, error) { return s.timed(tree, patch, env, argv...) },
		})
	}
	if s.peer != "" {
		add("peer", rolePeer, outside, nil, s.peer)
	}
	add("floor", roleFloor, outside, nil, s.self, floorCommand)
	if s.bin != "" {
		add("oxpatch, no snapshot", rolePlain, outside, []string{"OXPATCH_SNAPSHOT=0"}, s.link)
		add("oxpatch, snapshot", roleSnapshot, inside, nil, s.bin, "apply")
	}
	return list
}

// fresh copies the tree of a row.
func (s *stage) fresh(dir string, repository bool) (string, error) {
	to, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return "", err
	}
	if err := copyTree(filepath.Join(dir, treeDir), to); err != nil {
		return "", err
	}
	if !repository {
		return to, nil
	}
	if err := s.git(to, "init", "-q"); err != nil || s.bin == "" {
		return to, err
	}
	return to, s.warm(to)
}

// warm lets oxpatch make its store, which it does once in the life of a repository.
func (s *stage) warm(tree string) error {
	const patch = "*** Begin Patch\n*** Add File: warm\n+x\n*** End Patch\n"
	for _, args := range [][]string{{"apply", "-q"}, {"undo", "-q"}} {
		cmd := exec.Command(s.bin, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = tree, s.env(), strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("oxpatch %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// undoEntrants apply a patch and undo it, in two repositories that stay where they are.
func (s *stage) undoEntrants(r row, dir string) ([]entrant, error) {
	if s.bin == "" {
		return nil, nil
	}
	patch, have, want := filepath.Join(dir, patchFile), filepath.Join(dir, haveFile), filepath.Join(dir, wantFile)
	run := func(tree string) (sample, error) {
		applied, err := s.timed(tree, patch, nil, s.bin, "apply")
		if err != nil {
			return applied, err
		}
		if err := check(tree, want); err != nil {
			return applied, err
		}
		undone, err := s.timed(tree, os.DevNull, nil, s.bin, "undo")
		if err != nil {
			return undone, err
		}
		return applied.plus(undone), check(tree, have)
	}
	if r.objects > 0 {
		if err := s.pack(filepath.Join(dir, treeDir), r.objects); err != nil {
			return nil, err
		}
	}
	var list []entrant
	for i, tree := range []string{filepath.Join(dir, smallDir), filepath.Join(dir, treeDir)} {
		if err := s.commitAll(tree); err != nil {
			return nil, err
		}
		list = append(list, entrant{
			name: []string{"oxpatch, small", "oxpatch, large"}[i], role: []role{rolePeer, roleLarge}[i],
			prepare: func() (string, error) { return tree, nil }, run: run,
		})
	}
	return list, nil
}

// pack makes a repository that holds many small objects in one pack.
func (s *stage) pack(tree string, objects int) error {
	if err := s.git(tree, "init", "-q"); err != nil {
		return err
	}
	cmd := exec.Command("git", "fast-import", "--quiet", "--max-pack-size=4g")
	cmd.Dir, cmd.Env = tree, s.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w := bufio.NewWriter(in)
	for i := range objects {
		fmt.Fprintf(w, "blob\ndata 9\n%08d\n\n", i)
	}
	return errors.Join(w.Flush(), in.Close(), cmd.Wait())
}

// gitEntrants apply a git diff in one repository, which is put back after every run.
func (s *stage) gitEntrants(dir string) ([]entrant, error) {
	patch, tree := filepath.Join(dir, patchFile), filepath.Join(dir, treeDir)
	if err := s.commitAll(tree); err != nil {
		return nil, err
	}
	add := func(name string, r role, argv ...string) entrant {
		return entrant{
			name: name, role: r, checked: true,
			prepare: func() (string, error) { return tree, nil },
			run:     func(tree string) (sample, error) { return s.timed(tree, patch, nil, argv...) },
			after:   func(tree string) error { return s.git(tree, "reset", "-q", "--hard") },
		}
	}
	list := []entrant{add("git apply --3way", rolePeer, "git", "apply", "--3way", "-")}
	if s.bin != "" {
		list = append(list, add("oxpatch, snapshot", roleSnapshot, s.bin, "apply", "--mode", "git"))
	}
	return list, nil
}

// timed runs one program in a tree with a file as its input.
func (s *stage) timed(tree, input string, env []string, argv ...string) (sample, error) {
	in, err := os.Open(input)
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = in.Close() }()
	var stderr bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = tree, s.env(env...), in, &stderr
	begin := time.Now()
	err = cmd.Run()
	wall := time.Since(begin)
	if err != nil {
		return sample{}, fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return sample{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak: peakMemory(cmd.ProcessState)}, nil
}
