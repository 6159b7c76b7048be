package gitapply_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitapply"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnOverwrittenFileIsToldAndComesBack(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"untracked", "ignored", "tracked"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, anyGit(t))
			r.write("old.txt", base)
			if how == "tracked" {
				r.write("new.txt", "precious\n")
			}
			r.commit()
			if how == "ignored" {
				r.write(".git/info/exclude", "new.txt\n")
			}
			r.write("new.txt", "precious\n")
			files, index := r.files(), r.lines()
			res, err := r.plan(renaming(r), gitapply.Options{})
			require.NoError(t, err, string(res.Stderr))
			require.Len(t, res.Sections, 1)
			assert.True(t, res.Sections[0].Overwrites)
			assert.Equal(t, gitapply.OpRename, res.Sections[0].Op)
			require.NoError(t, r.apply(res))
			assert.Equal(t, replaced("two", "2"), r.read("new.txt"))
			for _, c := range res.Changes {
				if c.Path == "new.txt" {
					assert.Equal(t, "precious\n", string(c.Before.Content))
					assert.Equal(t, "old.txt", c.OldPath)
				}
			}
			r.undo(res)
			requireSame(t, files, r.files(), "files")
			assert.Equal(t, index, r.lines())
		})
	}
}

// renaming is a patch that moves old.txt to new.txt and edits it.
func renaming(r *repo) string {
	other := newRepo(r.t, r.git)
	other.write("old.txt", base)
	other.commit()
	other.run("mv", "old.txt", "new.txt")
	other.write("new.txt", replaced("two", "2"))
	other.run("add", "-A")
	return other.run("diff", "--cached", "-M", "--full-index")
}

func TestAPureRenameOntoAFileIsRefused(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	r.write("old.txt", base)
	r.commit()
	r.write("new.txt", "precious\n")
	_, err := r.plan("diff --git a/old.txt b/new.txt\nsimilarity index 100%\nrename from old.txt\nrename to new.txt\n", gitapply.Options{})
	require.ErrorIs(t, err, gitapply.ErrNoApply)
	assert.ErrorContains(t, err, "new.txt exists")
}

func TestNoStageLeavesTheIndex(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	patch += "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"
	index, err := os.ReadFile(filepath.Join(r.at.GitDir, "index"))
	require.NoError(t, err)
	res, err := r.plan(patch, gitapply.Options{NoStage: true})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.at.GitDir, "index.lock"), nil, 0o644)) // not even looked at
	require.NoError(t, r.apply(res))
	now, err := os.ReadFile(filepath.Join(r.at.GitDir, "index"))
	require.NoError(t, err)
	assert.Equal(t, index, now)
	assert.Equal(t, replaced("two", "2"), r.read("f.txt"))
	assert.Equal(t, "new\n", r.read("n.txt"))
}

func TestReverseStagesInTheScratchOnly(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	r.write("f.txt", strings.Replace(replaced("two", "2"), "eight", "8, mine", 1))
	r.write("n.txt", "new\n")
	patch += "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"
	files, index, whole := r.files(), r.lines(), tree(t, r.top, nil)
	res, err := r.plan(patch, gitapply.Options{Reverse: true})
	require.NoError(t, err, string(res.Stderr))
	requireSame(t, whole, tree(t, r.top, nil), "planning changed something")
	assert.Equal(t, []string{"f.txt", "n.txt"}, res.Applied)
	require.NoError(t, r.apply(res))
	assert.Equal(t, replaced("eight", "8, mine"), r.read("f.txt"))
	assert.NoFileExists(t, filepath.Join(r.top, "n.txt"))
	r.undo(res)
	requireSame(t, files, r.files(), "files")
	assert.Equal(t, index, r.lines())
}

func TestPermissionsAreKept(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	r.write("f.txt", base)
	r.write("m.txt", base)
	r.write("x.txt", base)
	r.commit()
	for name, mode := range map[string]os.FileMode{"f.txt": 0o600, "m.txt": 0o640, "x.txt": 0o604} {
		require.NoError(t, os.Chmod(filepath.Join(r.top, name), mode))
	}
	patch := head + hunk1 + "diff --git a/m.txt b/m2.txt\nsimilarity index 100%\nrename from m.txt\nrename to m2.txt\n" +
		"diff --git a/x.txt b/x.txt\nold mode 100644\nnew mode 100755\n" +
		"diff --git a/n.txt b/n.txt\nnew file mode 100755\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err, string(res.Stderr))
	after := map[string]os.FileMode{}
	for _, c := range res.Changes {
		after[c.Path] = c.After.Mode
	}
	assert.Equal(t, map[string]os.FileMode{"f.txt": 0o600, "m.txt": 0, "m2.txt": 0o640, "x.txt": 0o705, "n.txt": after["n.txt"]}, after)
	assert.Equal(t, os.FileMode(0o100), after["n.txt"]&0o100)
	assert.Equal(t, gitapply.OpMode, res.Sections[2].Op)
	require.NoError(t, r.apply(res))
	assert.Contains(t, r.run("ls-files", "-s"), "100755")
}

func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	git := anyGit(t)
	add := "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"
	cases := map[string]struct {
		setup func(r *repo)
		patch string
		kind  error
		path  string
	}{
		"a file is added over another": {setup: func(r *repo) { r.write("n.txt", "x\n") }, patch: add, kind: gitapply.ErrExists, path: "n.txt"},
		"below a file":                 {setup: func(r *repo) { r.write("d", "x\n") }, patch: strings.ReplaceAll(add, "n.txt", "d/n.txt"), kind: gitapply.ErrExists, path: "d/n.txt"},
		"below a link": {setup: func(r *repo) { require.NoError(r.t, os.Symlink("/tmp", filepath.Join(r.top, "d"))) },
			patch: strings.ReplaceAll(add, "n.txt", "d/n.txt"), kind: gitapply.ErrUnsafePath, path: "d/n.txt"},
		"inside another repository": {setup: func(r *repo) { r.run("init", "-q", "d") },
			patch: strings.ReplaceAll(add, "n.txt", "d/n.txt"), kind: gitapply.ErrUnsafePath, path: "d/n.txt"},
		"a link instead of a file": {setup: func(r *repo) {
			require.NoError(r.t, os.Symlink("x", filepath.Join(r.top, "f.txt")))
			r.run("add", "-A")
		}, patch: strings.Replace(head, "\n", "\nindex 1234567..89abcde 100644\n", 1) + hunk1, kind: gitapply.ErrWrongType, path: "f.txt"},
		"a mode of a file that is not there": {patch: "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", kind: gitapply.ErrModeOnly, path: "x"},
		"a file that is not there":           {patch: head + hunk1, kind: gitapply.ErrNoApply, path: "f.txt"},
		"not tracked":                        {setup: func(r *repo) { r.write("f.txt", base) }, patch: head + hunk1, kind: gitapply.ErrIndexMismatch, path: "f.txt"},
		"does not fit, blob known": {setup: func(r *repo) {
			r.write("f.txt", "all\nis\nother\n")
			r.run("add", "-A")
		}, patch: head + hunk1, kind: gitapply.ErrNoBlob, path: "f.txt"},
		"a merge driver lost lines": {setup: func(r *repo) {
			r.run("config", "merge.drop.driver", "echo dropped >%A")
			r.write(".gitattributes", "f.txt merge=drop\n")
			r.write("f.txt", base)
			r.run("add", "-A")
		}, patch: "conflicting", kind: gitapply.ErrMergeLost, path: "f.txt"},
		"one of several rules out placing": {setup: func(r *repo) { r.write("n.txt", "x\n") }, patch: head + hunk1 + add, kind: gitapply.ErrExists, path: "n.txt"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, git)
			if c.setup != nil {
				c.setup(r)
			}
			if c.patch == "conflicting" {
				c.patch = conflicting(r)
			}
			whole := tree(t, r.top, nil)
			res, err := r.plan(c.patch, gitapply.Options{})
			require.ErrorIs(t, err, c.kind, string(res.Stderr))
			var refused *gitapply.RefusedError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.path, refused.Path)
			assert.Positive(t, refused.Section)
			assert.Empty(t, res.Changes)
			for _, s := range res.Sections {
				assert.Equal(t, gitapply.ClassSkipped, s.Class)
				assert.NotEmpty(t, s.Reason)
			}
			requireSame(t, whole, tree(t, r.top, nil), "something changed")
		})
	}
}

func TestAMergeThatKeepsOursIsNoSuccess(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	r.run("config", "merge.ours.driver", "true")
	r.write(".gitattributes", "f.txt merge=ours\n")
	r.write("f.txt", base)
	r.commit()
	patch := conflicting(r)
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"f.txt"}, res.Skipped)
	assert.Empty(t, res.Changes)
}

func TestWhatIsThereAlreadyIsUnchanged(t *testing.T) {
	t.Parallel()
	r, patch := simple(t)
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	require.NoError(t, r.apply(res))
	res, err = r.plan(patch, gitapply.Options{})
	require.NoError(t, err, string(res.Stderr))
	assert.Equal(t, []string{"f.txt"}, res.Applied)
	assert.True(t, res.Sections[0].Unchanged)
	assert.Empty(t, res.Changes)
}

func TestWhereHunksWent(t *testing.T) {
	t.Parallel()
	r := newRepo(t, anyGit(t))
	r.write("f.txt", "zero\n"+base)
	r.write("g.txt", base)
	r.commit()
	patch := head + "@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n" + hunk2 + strings.ReplaceAll(head, "f.txt", "g.txt") + hunk2
	res, err := r.plan(patch, gitapply.Options{})
	require.NoError(t, err)
	var placed []int
	for _, s := range res.Sections {
		for _, h := range s.Hunks {
			placed = append(placed, h.Placed)
		}
	}
	assert.Equal(t, []int{3, 7, 6}, placed)
	merged, err := r.plan(conflicting(r), gitapply.Options{})
	require.NoError(t, err)
	assert.True(t, merged.Sections[0].Merged)
	assert.Zero(t, merged.Sections[0].Hunks[0].Placed)
}

func TestParseConfig(t *testing.T) {
	t.Parallel()
	got, err := gitapply.ParseConfig(" core.abbrev=9,,merge.conflictStyle=diff3 ,user.x.y=a=b")
	require.NoError(t, err)
	assert.Equal(t, []string{"core.abbrev=9", "merge.conflictStyle=diff3", "user.x.y=a=b"}, got)
	for _, bad := range []string{"nonsense", "=x", "core=1", "core.=1", "a.b", "a..=1", "core.x\ny=1"} {
		_, err := gitapply.ParseConfig("core.abbrev=9," + bad)
		assert.ErrorIs(t, err, gitapply.ErrConfig, bad)
		assert.ErrorContains(t, err, strings.TrimSpace(bad))
	}
}

func TestConfigReachesGit(t *testing.T) {
	t.Parallel()
	r, _ := simple(t)
	res, err := r.plan(conflicting(r), gitapply.Options{Config: []string{"merge.conflictStyle=diff3"}})
	require.NoError(t, err)
	require.Len(t, res.Changes, 1)
	assert.Contains(t, string(res.Changes[0].After.Content), "|||||||")
	assert.Contains(t, res.Command, "-c merge.conflictStyle=diff3 apply --3way")
	assert.Equal(t, change.File, res.Changes[0].After.Kind)
}

func TestTheScratchIsGone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	r := newRepo(t, anyGit(t))
	r.write("f.txt", base)
	r.commit()
	left := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "oxpatch-*"))
		require.NoError(t, err)
		return found
	}
	res, err := r.plan(conflicting(r), gitapply.Options{})
	require.NoError(t, err)
	require.NoError(t, r.apply(res))
	assert.Empty(t, left())
	_, err = r.plan(head+hunk1, gitapply.Options{})
	require.Error(t, err)
	assert.Empty(t, left())
}
