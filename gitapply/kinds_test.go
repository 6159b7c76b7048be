package gitapply_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const base = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"

// edit is a patch of f.txt made by git, from base.
func edit(r *repo, name, from, to string) string {
	r.t.Helper()
	other := newRepo(r.t, r.git)
	other.write(name, from)
	other.commit()
	other.write(name, to)
	return other.run("diff", "--full-index", "--binary")
}

func replaced(old, new string) string { return strings.Replace(base, old, new, 1) }

// kind is a kind of repository, in which a planned run must leave what a direct one leaves.
type kind struct {
	init  []string
	setup func(r *repo)
	patch func(r *repo) string // nil: two becomes 2 in f.txt
	// fails says that a direct run fails, and what Plan says.
	fails error
}

func kinds() map[string]kind {
	config := func(kv ...string) func(*repo) {
		return func(r *repo) {
			for i := 0; i < len(kv); i += 2 {
				r.run("config", kv[i], kv[i+1])
			}
			r.write("f.txt", base)
			r.write("sub/g.txt", base)
			r.commit()
		}
	}
	then := func(all ...func(*repo)) func(*repo) {
		return func(r *repo) {
			for _, f := range all {
				f(r)
			}
		}
	}
	git := func(args ...string) func(*repo) { return func(r *repo) { r.run(args...) } }
	return map[string]kind{
		"plain":                      {setup: config()},
		"sha256":                     {init: []string{"--object-format=sha256"}, setup: config(), patch: func(r *repo) string { return noIndexLine(edit(r, "f.txt", base, replaced("two", "2"))) }},
		"split index":                {setup: then(config(), git("update-index", "--split-index"))},
		"skipped hash":               {setup: then(config("index.skipHash", "true", "feature.manyFiles", "true"), git("update-index", "--force-write-index"))},
		"index v4":                   {setup: then(config(), git("update-index", "--index-version", "4"))},
		"untracked cache":            {setup: then(config("core.untrackedCache", "true"), git("update-index", "--untracked-cache"), git("status"))},
		"assume-unchanged elsewhere": {setup: then(config(), git("update-index", "--assume-unchanged", "sub/g.txt"), func(r *repo) { r.write("sub/g.txt", "hidden\n") })},
		"assume-unchanged, edited":   {setup: then(config(), git("update-index", "--assume-unchanged", "f.txt"), func(r *repo) { r.write("f.txt", base+"mine\n") }), fails: gitapply.ErrIndexMismatch},
		"assume-unchanged, clean":    {setup: then(config(), git("update-index", "--assume-unchanged", "f.txt"))},
		"sparse checkout": {setup: then(config(), git("sparse-checkout", "set", "--cone", "nothing")),
			patch: func(r *repo) string { return edit(r, "sub/g.txt", base, replaced("two", "2")) }},
		"sparse index": {setup: then(config(), git("sparse-checkout", "set", "--cone", "--sparse-index", "nothing")),
			patch: func(r *repo) string { return edit(r, "sub/g.txt", base, replaced("two", "2")) }},
		"no file modes":  {setup: config("core.fileMode", "false")},
		"no links":       {setup: config("core.symlinks", "false")},
		"autocrlf, CRLF": {setup: then(config("core.autocrlf", "true"), func(r *repo) { os.Remove(filepath.Join(r.top, "f.txt")); r.run("checkout", "-q", "f.txt") })},
		"autocrlf, LF":   {setup: config("core.autocrlf", "true")},
		"attributes only in the tree": {setup: then(config(), func(r *repo) { r.write(".gitattributes", "*.txt merge=union\n") }),
			patch: conflicting},
		"attributes in a folder": {setup: then(func(r *repo) { r.write("d/.gitattributes", "f.txt merge=union\n"); r.write("d/f.txt", base) }, config()),
			patch: func(r *repo) string {
				p := edit(r, "d/f.txt", base, replaced("two", "2"))
				r.write("d/f.txt", replaced("two", "zwei"))
				r.commit()
				return p
			}},
		"conflict": {setup: config(), patch: conflicting},
		"filter on PATH": {setup: then(config("filter.up.clean", "tr A-Z a-z", "filter.up.smudge", "tr a-z A-Z"), func(r *repo) {
			r.write(".gitattributes", "*.txt filter=up\n")
			r.write("f.txt", strings.ToUpper(base))
			r.commit()
		})},
		"filter in the tree": {setup: then(config("filter.up.clean", "./tools/down.sh", "filter.up.smudge", "./tools/up.sh", "filter.up.required", "true"), func(r *repo) {
			script(r, "tools/down.sh", "exec tr A-Z a-z")
			script(r, "tools/up.sh", "exec tr a-z A-Z")
			r.write(".gitattributes", "f.txt filter=up\n")
			r.write("f.txt", strings.ToUpper(base))
			r.commit()
		})},
		"merge driver in the tree": {setup: then(config("merge.mine.driver", "sh tools/merge.sh %O %A %B"), func(r *repo) {
			script(r, "tools/merge.sh", `cat tools/note "$2" "$3" >tmp.$$ && cat tmp.$$ >"$2" && rm tmp.$$`)
			r.write("tools/note", "merged by the tree's own driver\n")
			r.write(".gitattributes", "f.txt merge=mine\n")
			r.commit()
		}), patch: conflicting},
		"merge driver that keeps ours": {setup: then(config("merge.ours.driver", "true"), func(r *repo) {
			r.write(".gitattributes", "f.txt merge=ours\n")
			r.commit()
		}), patch: conflicting},
		"borrowed objects": {setup: then(config(), func(r *repo) {
			lender := filepath.Join(filepath.Dir(r.top), "lender")
			require.NoError(r.t, os.Rename(filepath.Join(r.top, ".git", "objects"), lender))
			require.NoError(r.t, os.MkdirAll(filepath.Join(r.top, ".git", "objects", "info"), 0o755))
			require.NoError(r.t, os.WriteFile(filepath.Join(r.top, ".git", "objects", "info", "alternates"), []byte("../../../lender\n"), 0o644))
		}), patch: conflicting},
		"submodule": {setup: then(func(r *repo) {
			r.write("f.txt", base)
			inner := filepath.Join(r.top, "mod")
			require.NoError(r.t, exec.Command(r.git, "init", "-q", inner).Run())
			require.NoError(r.t, exec.Command(r.git, "-C", inner, "commit", "-q", "--allow-empty", "-m", "m").Run())
			r.run("-c", "advice.addEmbeddedRepo=false", "add", "-A")
		}), patch: func(r *repo) string {
			old := strings.Fields(r.run("ls-files", "-s", "mod"))[1]
			new := strings.Repeat("2", 40)
			return "diff --git a/mod b/mod\nindex " + old + ".." + new + " 160000\n--- a/mod\n+++ b/mod\n@@ -1 +1 @@\n-Subproject commit " + old + "\n+Subproject commit " + new + "\n"
		}},
		"staged and not committed":                  {setup: then(config(), func(r *repo) { r.write("f.txt", base+"nine\n"); r.run("add", "f.txt") })},
		"missing file":                              {setup: then(config(), func(r *repo) { os.Remove(filepath.Join(r.top, "f.txt")) })},
		"index version from the environment of git": {setup: config("index.version", "4")},
		"a hook for the index":                      {setup: then(config(), func(r *repo) { script(r, ".git/hooks/post-index-change", "touch hooked") })},
		"monitor": {setup: then(config(), func(r *repo) {
			script(r, "monitor.sh", "exit 1")
			r.commit()
			r.run("config", "core.fsmonitor", "./monitor.sh")
		})},
	}
}

func conflicting(r *repo) string {
	r.write("f.txt", base)
	p := edit(r, "f.txt", base, replaced("two", "2"))
	r.write("f.txt", replaced("two", "zwei"))
	r.run("add", "f.txt")
	return p
}

func noIndexLine(patch string) string {
	var kept []string
	for _, l := range strings.SplitAfter(patch, "\n") {
		if !strings.HasPrefix(l, "index ") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "")
}

func script(r *repo, name, text string) {
	r.write(name, "#!/bin/sh\n"+text+"\n")
	require.NoError(r.t, os.Chmod(filepath.Join(r.top, name), 0o755))
}

func TestEveryKindOfRepositoryIsServedAsByADirectRun(t *testing.T) {
	t.Parallel()
	for version, git := range gits(t) {
		for name, k := range kinds() {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				compare(t, git, k)
			})
		}
	}
}

func compare(t *testing.T, git string, k kind) {
	made := func() (*repo, string) {
		r := newRepo(t, git, k.init...)
		if len(k.init) > 0 {
			r.at.ObjectFormat = "sha256"
		}
		k.setup(r)
		var patch string
		if k.patch == nil {
			patch = edit(r, "f.txt", base, replaced("two", "2"))
		} else {
			patch = k.patch(r)
		}
		_ = exec.Command(git, "-C", r.top, "update-index", "-q", "--refresh").Run()
		os.Remove(filepath.Join(r.top, "hooked"))
		return r, patch
	}
	direct, patch := made()
	cmd := exec.Command(git, "apply", "--3way", "-v", "--whitespace=nowarn", "-")
	cmd.Dir, cmd.Stdin = direct.top, strings.NewReader(patch)
	out, directErr := cmd.CombinedOutput()
	os.Remove(filepath.Join(direct.top, "hooked"))

	r, patch := made()
	files, index, whole := r.files(), r.lines(), tree(t, r.top, nil)
	res, err := r.plan(patch, gitapply.Options{})
	requireSame(t, whole, tree(t, r.top, nil), "planning changed something")
	if k.fails != nil {
		require.Error(t, directErr)
		require.ErrorIs(t, err, k.fails)
		return
	}
	require.NoError(t, err, "%s\n%s", out, res.Stderr)
	require.NoError(t, r.apply(res))
	assert.NoFileExists(t, filepath.Join(r.top, "hooked"))
	requireSame(t, direct.files(), r.files(), "files: "+string(out))
	assert.Equal(t, direct.lines(), r.lines())
	r.scanned()
	assert.Empty(t, r.run("fsck", "--no-dangling", "--no-reflogs"))
	r.freshStat(res)
	r.undo(res)
	requireSame(t, files, r.files(), "files after undo")
	assert.Equal(t, index, r.lines())
}

// scanned compares what is read from the index file with what git lists.
func (r *repo) scanned() {
	r.t.Helper()
	var names, got []string
	for _, l := range r.lines() {
		_, name, _ := strings.Cut(l, "\t")
		names = append(names, name[:strings.LastIndexByte(name, ' ')])
	}
	lines, err := gitapply.ReadIndex(context.Background(), r.at, gitapply.Options{Git: r.git}, names)
	require.NoError(r.t, err)
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		for _, l := range lines[name] {
			got = append(got, fmt.Sprintf("%o %s %d\t%s %x", l.Mode, l.OID, l.Stage, name, l.Flags))
		}
	}
	assert.Equal(r.t, r.lines(), got)
}

// freshStat makes sure that git need not read the written files again: an apply without a refresh
// would be refused for each whose stat data are not those of the index.
func (r *repo) freshStat(res *gitapply.Result) {
	r.t.Helper()
	for _, name := range res.Applied {
		if info, err := os.Lstat(filepath.Join(r.top, name)); err == nil && info.IsDir() {
			continue // a submodule, whose commit is another than the one checked out
		}
		out, err := exec.Command(r.git, "-C", r.top, "diff-files", "--quiet", "--", name).CombinedOutput()
		assert.NoError(r.t, err, "%s: %s", name, out)
	}
}

func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	for version, git := range gits(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, git)
			r.write("f.txt", base)
			r.commit()
			patch := edit(r, "f.txt", base, replaced("two", "2"))
			r.run("worktree", "add", "-q", "../linked")
			before := r.lines()
			w := &repo{t: t, git: git, top: filepath.Join(filepath.Dir(r.top), "linked")}
			w.at = gitapply.Repo{Top: w.top, GitDir: filepath.Join(r.top, ".git", "worktrees", "linked"), CommonDir: r.at.CommonDir}
			res, err := w.plan(patch, gitapply.Options{})
			require.NoError(t, err)
			require.NoError(t, w.apply(res))
			assert.Equal(t, replaced("two", "2"), w.read("f.txt"))
			assert.Contains(t, w.run("diff", "--cached"), "+2")
			assert.Equal(t, before, r.lines())
			assert.Equal(t, base, r.read("f.txt"))
		})
	}
}

func TestAPartialCloneIsNotFilledInSilence(t *testing.T) {
	t.Parallel()
	for version, git := range gits(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			src := newRepo(t, git)
			src.run("config", "uploadpack.allowFilter", "true")
			src.run("config", "uploadpack.allowAnySHA1InWant", "true")
			src.write("f.txt", base)
			src.commit()
			patch := edit(src, "f.txt", base, replaced("two", "2"))
			src.write("f.txt", replaced("two", "zwei"))
			src.commit()
			src.run("clone", "-q", "--filter=blob:none", "file://"+src.top, "../part")
			p := &repo{t: t, git: git, top: filepath.Join(filepath.Dir(src.top), "part")}
			p.at = gitapply.Repo{Top: p.top, GitDir: filepath.Join(p.top, ".git"), CommonDir: filepath.Join(p.top, ".git")}
			whole := tree(t, p.top, nil)
			_, err := p.plan(patch, gitapply.Options{})
			require.ErrorIs(t, err, gitapply.ErrNoBlob)
			requireSame(t, whole, tree(t, p.top, nil), "something was fetched")
			res, err := p.plan(patch, gitapply.Options{Fetch: true})
			require.NoError(t, err)
			assert.Equal(t, []string{"f.txt"}, res.Conflicted)
			require.NoError(t, p.apply(res))
		})
	}
}

func TestWhatCannotBeServed(t *testing.T) {
	t.Parallel()
	git := anyGit(t)
	r := newRepo(t, git)
	r.write("f.txt", base)
	r.commit()
	patch := []byte(edit(r, "f.txt", base, replaced("two", "2")))
	ctx := context.Background()
	plan := func(at gitapply.Repo, o gitapply.Options) error {
		res, err := gitapply.Plan(ctx, at, patch, o)
		require.NotNil(t, res)
		return err
	}
	assert.ErrorIs(t, plan(gitapply.Repo{GitDir: r.at.GitDir}, gitapply.Options{Git: git}), gitapply.ErrBare)
	assert.ErrorIs(t, plan(r.at, gitapply.Options{Git: "no-such-git"}), gitapply.ErrNoGit)
	assert.ErrorIs(t, plan(r.at, gitapply.Options{Git: git, Config: []string{"nonsense"}}), gitapply.ErrConfig)
	assert.ErrorIs(t, plan(r.at, gitapply.Options{Git: git, MaxFile: 10}), gitapply.ErrTooLarge)
	old := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(old, []byte("#!/bin/sh\nunset GIT_TRACE2\nfor a; do test \"$a\" = --version && echo git version 2.19.6 && exit; done\nexec "+git+" \"$@\"\n"), 0o755))
	assert.ErrorIs(t, plan(r.at, gitapply.Options{Git: old}), gitapply.ErrTooOld)
	stopped, stop := context.WithCancel(ctx)
	stop()
	_, err := gitapply.Plan(stopped, r.at, patch, gitapply.Options{Git: git})
	assert.ErrorIs(t, err, context.Canceled)
	for _, e := range []error{gitapply.ErrBare, gitapply.ErrNoGit, context.Canceled} {
		assert.False(t, gitapply.MayPlace(e))
	}
}

func TestARepositoryOfSomebodyElse(t *testing.T) {
	t.Parallel()
	oxtest.NeedRoot(t, "give a repository to another user")
	r := newRepo(t, anyGit(t))
	r.write("f.txt", base)
	r.commit()
	patch := edit(r, "f.txt", base, replaced("two", "2"))
	require.NoError(t, os.Chown(r.top, 65534, 65534))
	require.NoError(t, os.Chown(r.at.GitDir, 65534, 65534))
	_, err := r.plan(patch, gitapply.Options{})
	assert.ErrorIs(t, err, gitapply.ErrDubious)
}

func anyGit(t testing.TB) string {
	t.Helper()
	for _, g := range gits(t) {
		return g
	}
	return ""
}
