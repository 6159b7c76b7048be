package gitapply

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/outputparse"
)

// apply runs git in the scratch, and reads the index it leaves.
func (p *planner) apply() error {
	args := []string{"apply", "--3way", "-v", "-p1", "--whitespace=nowarn", "--apply", "--numstat", "-z"}
	if p.o.Reverse {
		args = append(args, "-R")
	}
	at := p.scratch.place()
	at.config = append(at.config, p.drivers...)
	out, err := p.run.do(p.ctx, at, p.scan.text(p.patch), append(args, "-")...)
	if err != nil {
		return err
	}
	p.ExitCode, p.Stdout, p.Stderr = out.code, out.stdout, p.unscratched(out.stderr)
	p.Command = command(p.run.git, p.o)
	if p.end, err = p.run.list(p.ctx, p.scratch.place(), p.names); err != nil {
		return err
	}
	p.found = outputparse.Read(p.Stderr, p.names)
	switch {
	case out.code == 0:
		return p.readAlike()
	case p.wrote():
		return p.checkedAlike()
	}
	return nil
}

// checkedAlike is readAlike for a run with conflicts, in which git does not get to the numbers: it
// must have looked at as many sections as there are, each under a name of the patch.
func (p *planner) checkedAlike() error {
	checked := 0
	for _, f := range p.found {
		if f.Text == outputparse.CheckingPatch {
			checked++
		}
	}
	if checked != len(p.Sections) {
		return &RefusedError{Kind: ErrCorrupt, Problem: fmt.Sprintf("git reads %d sections of the patch, which has %d", checked, len(p.Sections))}
	}
	return nil
}

// command is what a user would type to have the same done in place.
func command(git string, o Options) string {
	c := git
	for _, pair := range o.Config {
		c += " -c " + shellWord(pair)
	}
	c += " apply --3way -v -p1 --whitespace=nowarn"
	if o.Reverse {
		c += " -R"
	}
	return c + " -"
}

func shellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,%@") == "" && s != "" {
		return s
	}
	return shellQuote(s)
}

// unscratched takes the name of the scratch out of messages.
func (p *planner) unscratched(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte(p.scratch.index+".lock"), []byte(p.run.indexFile()+".lock"))
	return bytes.ReplaceAll(text, []byte(p.scratch.tree+"/"), nil)
}

// readAlike makes sure that git read the same sections as this package: the same names with the same
// numbers of lines. It printed them with --numstat.
func (p *planner) readAlike() error {
	type row struct{ added, removed int }
	mine, gits := map[string]row{}, map[string]row{}
	for _, s := range p.Sections {
		name := s.New
		added, removed := s.Added, s.Removed
		if p.o.Reverse {
			name, added, removed = s.Old, removed, added
		}
		if name == "" {
			name = s.name()
		}
		if s.Binary {
			added, removed = 0, 0
		}
		mine[name] = row{mine[name].added + added, mine[name].removed + removed}
	}
	for _, entry := range strings.Split(strings.TrimSuffix(string(p.Stdout), "\x00"), "\x00") {
		f := strings.SplitN(entry, "\t", 3)
		if len(f) != 3 {
			continue
		}
		added, _ := strconv.Atoi(f[0]) // "-" for binary
		removed, _ := strconv.Atoi(f[1])
		gits[f[2]] = row{gits[f[2]].added + added, gits[f[2]].removed + removed}
	}
	if maps.Equal(mine, gits) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if mine[name] != gits[name] {
			return &RefusedError{Kind: ErrCorrupt, Path: name, Problem: "git reads another section than stands in the patch"}
		}
	}
	return &RefusedError{Kind: ErrCorrupt, Problem: "git reads sections that do not stand in the patch"}
}

// wrote says whether git got as far as writing: it ended with 0, or with 1 and left entries
// unmerged that were not so before.
func (p *planner) wrote() bool {
	if p.ExitCode == 0 {
		return true
	}
	for _, n := range p.names {
		if p.ExitCode == 1 && unmerged(p.end[n]) && !sameLines(p.start[n], p.end[n]) {
			return true
		}
	}
	return false
}

// after returns what the path is to become.
func (p *planner) after(name string) (change.State, error) {
	before := p.states[name]
	if isGitlink(p.lines[name]) || isGitlink(p.end[name]) {
		return before, nil // the folder of a submodule is left alone; the index has the commit
	}
	st, err := readState(p.scratch.tree, name, 0)
	if err != nil {
		return st, err
	}
	untouched := sameLines(p.start[name], p.end[name])
	switch {
	case st.Kind == change.Absent && untouched && !p.scratch.copied[name]:
		return before, nil
	case st.Kind == change.Dir && before.Kind != change.Dir:
		// made for files in it
		return change.State{}, nil
	case st.Kind == change.Absent, st.Kind == change.Dir:
		return st, nil
	case unmerged(p.end[name]) && st.Kind == change.Symlink && before.Kind != change.Absent:
		// git makes a link whose target is a text with conflict markers, and forgets to end it.
		return before, nil
	case untouched && p.isClean[name]:
		return before, nil // git checked it out and did nothing else
	case untouched && p.scratch.copied[name] && st.Equal(before):
		return before, nil
	}
	if st.Kind == change.File {
		st.Mode = p.mode(name, st)
	}
	return st, nil
}

func isGitlink(lines []change.IndexLine) bool {
	l, ok := staged(lines)
	return ok && l.Mode == modeGitlink
}

// mode keeps the permissions of the file that was there, or was moved, but for the executable bit,
// which is the patch's. A new file gets 0, which stands for the umask, unless it is executable: then
// git applied the umask in the scratch.
func (p *planner) mode(name string, st change.State) fs.FileMode {
	exec := st.Executable()
	if l, ok := staged(p.end[name]); ok {
		exec = l.Mode == modeExec
	}
	before := p.states[name]
	if s := p.moved[name]; before.Kind != change.File && s != nil && s.Op == OpRename {
		before = p.states[s.Source]
	}
	switch {
	case before.Kind != change.File && !exec:
		return 0
	case before.Kind != change.File:
		return st.Mode.Perm() | 0o100
	case !p.config.fileMode, before.Executable() == exec:
		return before.Mode
	case exec:
		return before.Mode | before.Mode&0o444>>2 | 0o100
	}
	return before.Mode &^ 0o111
}
