//go:build linux || darwin

package worktree

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

type resolveCase struct {
	path  string
	use   Use
	base  string
	plan  map[string]change.Kind
	want  string
	link  string
	kind  change.Kind
	err   error
	about string // a part of the message
}

func (c resolveCase) check(t *testing.T, dir string, o Options) {
	t.Helper()
	o.Base = c.base
	tree := open(t, dir, o)
	var planned Planned
	if c.plan != nil {
		planned = func(key string) (change.Kind, bool) { k, ok := c.plan[key]; return k, ok }
	}
	loc, err := tree.Resolve(strings.ReplaceAll(c.path, "ROOT", dir), c.use, planned)
	if c.err != nil {
		require.ErrorIs(t, err, c.err)
		var problem *PathError
		require.ErrorAs(t, err, &problem)
		assert.Contains(t, err.Error(), c.about)
		return
	}
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(c.want, "ROOT", dir), loc.Path)
	assert.Equal(t, c.link, loc.Link)
	assert.Equal(t, c.kind.String(), loc.Kind.String())
}

func resolveTree(t *testing.T) string {
	outer := tempTree(t, map[string]string{
		"outside/secret": "s",
		"root/a.txt":     "a", "root/sub/b.txt": "b", "root/sub/deep/c.txt": "c",
		"root/link":            "-> a.txt",
		"root/sub/up":          "-> ../a.txt",
		"root/dirlink":         "-> sub/deep",
		"root/chain":           "-> link",
		"root/out":             "-> ../outside/secret",
		"root/outdir":          "-> ../outside",
		"root/outabs":          "-> /etc/passwd",
		"root/dangling":        "-> sub/new.txt",
		"root/danglingout":     "-> ../outside/new",
		"root/danglingdir":     "-> nowhere/at/all",
		"root/danglingup":      "-> missing",
		"root/loop1":           "-> loop2",
		"root/loop2":           "-> loop1",
		"root/self":            "-> self",
		"root/gitlink":         "-> .git",
		"root/hooklink":        "-> .git/hooks/pre-commit",
		"root/.git/config":     "x",
		"root/.git/hooks/":     "",
		"root/nested/.git/x":   "x",
		"root/nested/file":     "x",
		"root/bare/HEAD":       "ref: refs/heads/main\n",
		"root/bare/objects/":   "",
		"root/bare/refs/heads": "",
		"root/half/HEAD":       "just a file",
		"root/half/objects/":   "",
		"root/empty/":          "",
		"root/two/x":           "x",
		"root/two/y/z":         "z",
	})
	dir := filepath.Join(outer, "root")
	require.NoError(t, os.Symlink(filepath.Join(dir, "sub", "b.txt"), filepath.Join(dir, "absin")))
	return dir
}

func TestResolveConfined(t *testing.T) {
	t.Parallel()
	const file, absent, symlink = change.File, change.Absent, change.Symlink
	cases := map[string]resolveCase{
		"plain":                            {path: "a.txt", want: "a.txt", kind: file},
		"new file":                         {path: "n.txt", want: "n.txt", kind: absent},
		"new file in new folders":          {path: "x/y/n.txt", want: "x/y/n.txt", kind: absent},
		"dots and double slashes":          {path: "./sub//./b.txt", want: "sub/b.txt", kind: file},
		"dot dot inside":                   {path: "sub/../a.txt", want: "a.txt", kind: file},
		"dot dot goes by the real folders": {path: "dirlink/../b.txt", want: "sub/b.txt", kind: file},
		"dot dot through a missing folder": {path: "missing/../a.txt", want: "a.txt", kind: file},
		"dot dot deep in missing folders":  {path: "missing/x/../y", want: "missing/y", kind: absent},
		"back and forth inside":            {path: "x/../sub/deep/../b.txt", want: "sub/b.txt", kind: file},
		"not UTF-8":                        {path: "n\xff", want: "n\xff", kind: absent},
		"backslash is a character":         {path: `sub\b.txt`, want: `sub\b.txt`, kind: absent},
		"base":                             {path: "b.txt", base: "sub", want: "sub/b.txt", kind: file},
		"base with dot dot":                {path: "../a.txt", base: "sub", want: "a.txt", kind: file},
		"base through a link":              {path: "c.txt", base: "dirlink", want: "sub/deep/c.txt", kind: file},
		"absolute inside":                  {path: "ROOT/sub/b.txt", want: "sub/b.txt", kind: file},
		"absolute inside, base set":        {path: "ROOT/a.txt", base: "sub", want: "a.txt", kind: file},

		"link to edit":              {path: "link", want: "a.txt", link: "link", kind: file},
		"link as such":              {path: "link", use: Entry, want: "link", kind: symlink},
		"link up":                   {path: "sub/up", want: "a.txt", link: "sub/up", kind: file},
		"chain of links":            {path: "chain", want: "a.txt", link: "chain", kind: file},
		"folder link":               {path: "dirlink/c.txt", want: "sub/deep/c.txt", kind: file},
		"new file in folder link":   {path: "dirlink/n/n", want: "sub/deep/n/n", kind: absent},
		"absolute link inside":      {path: "absin", want: "sub/b.txt", link: "absin", kind: file},
		"dangling link inside":      {path: "dangling", want: "sub/new.txt", link: "dangling", kind: absent},
		"dangling link as such":     {path: "danglingout", use: Entry, want: "danglingout", kind: symlink},
		"link out as such":          {path: "out", use: Entry, want: "out", kind: symlink},
		"link to .git as such":      {path: "gitlink", use: Entry, want: "gitlink", kind: symlink},
		"link in a circle as such":  {path: "loop1", use: Entry, want: "loop1", kind: symlink},
		"nested repository's files": {path: "nested/file", want: "nested/file", kind: file},
		"names that look like git":  {path: ".gitignore", want: ".gitignore", kind: absent},
		"half a bare repository":    {path: "half/x", want: "half/x", kind: absent},

		"empty path":                {path: "", err: ErrUnsafePath, about: "empty"},
		"NUL":                       {path: "a\x00b", err: ErrUnsafePath, about: "NUL"},
		"dot dot out":               {path: "../outside/secret", err: ErrUnsafePath, about: "leads out of"},
		"dot dot out in the middle": {path: "sub/../../outside/secret", err: ErrUnsafePath, about: "leads out of"},
		"dot dot out and back in":   {path: "../root/a.txt", err: ErrUnsafePath, about: "leads out of"},
		"absolute outside":          {path: "/etc/passwd", err: ErrUnsafePath, about: "outside of"},
		"absolute, then out":        {path: "ROOT/../outside/secret", err: ErrUnsafePath, about: "leads out of"},
		"absolute lookalike":        {path: "ROOTx/a", err: ErrUnsafePath, about: "outside of"},
		"link out":                  {path: "out", err: ErrUnsafePath, about: "leads out of"},
		"folder link out":           {path: "outdir/secret", err: ErrUnsafePath, about: "leads out of"},
		"folder link out, as such":  {path: "outdir/secret", use: Entry, err: ErrUnsafePath, about: "leads out of"},
		"absolute link out":         {path: "outabs", err: ErrUnsafePath, about: "/etc/passwd"},
		"dangling link out":         {path: "danglingout", err: ErrUnsafePath, about: "leads out of"},
		"link into missing folder":  {path: "danglingdir", err: ErrDanglingLink},
		"folder link to nowhere":    {path: "danglingup/x", err: ErrDanglingParent},
		"deeper link to nowhere":    {path: "danglingdir/x", err: ErrDanglingParent},
		"loop":                      {path: "loop1", err: ErrLinkLoop, about: "circle"},
		"loop is unsafe":            {path: "loop1", err: ErrUnsafePath},
		"self":                      {path: "self/x", err: ErrLinkLoop},
		"git folder":                {path: ".git/config", err: ErrUnsafePath, about: "git's own"},
		"git folder to be":          {path: ".git/new/x", use: Entry, err: ErrUnsafePath},
		"git by case":               {path: ".GiT/config", err: ErrUnsafePath},
		"git by NTFS name":          {path: "GIT~1/config", err: ErrUnsafePath},
		"git by HFS name":           {path: ".g\u200cit/config", err: ErrUnsafePath},
		"git through a link":        {path: "gitlink/config", err: ErrUnsafePath, about: "git's own"},
		"hook through a link":       {path: "hooklink", err: ErrUnsafePath, about: "git's own"},
		"git after dot dot":         {path: "sub/../.git/config", err: ErrUnsafePath},
		"git file itself":           {path: "new/.git", err: ErrUnsafePath},
		"nested repository inside":  {path: "nested/.git/x", err: ErrUnsafePath},
		"bare repository":           {path: "bare/HEAD", err: ErrUnsafePath, about: "bare git repository"},
		"deep in a bare repository": {path: "bare/hooks/x", err: ErrUnsafePath, about: "bare git repository"},

		"folder":                   {path: "sub", err: ErrIsDirectory, about: "name a file"},
		"folder with slash":        {path: "sub/", err: ErrIsDirectory},
		"root":                     {path: ".", err: ErrIsDirectory},
		"root by dot dot":          {path: "sub/..", err: ErrIsDirectory},
		"link to folder":           {path: "dirlink", err: ErrIsDirectory},
		"new file with slash":      {path: "new/", err: ErrIsDirectory, about: "slash"},
		"file with slash":          {path: "a.txt/", err: ErrIsDirectory, about: "slash"},
		"parent is a file":         {path: "a.txt/x", err: ErrParentIsFile, about: "a.txt is a file"},
		"parent is a link to file": {path: "link/x", err: ErrParentIsFile},
		"empty folder stays":       {path: "empty", plan: map[string]change.Kind{}, err: ErrIsDirectory},

		"plan: parent file goes":         {path: "a.txt/x", plan: map[string]change.Kind{"a.txt": absent}, want: "a.txt/x", kind: absent},
		"plan: parent link goes":         {path: "link/x", plan: map[string]change.Kind{"link": absent}, want: "link/x", kind: absent},
		"plan: file goes":                {path: "a.txt", plan: map[string]change.Kind{"a.txt": absent}, want: "a.txt", kind: absent},
		"plan: file comes":               {path: "n", plan: map[string]change.Kind{"n": file}, want: "n", kind: file},
		"plan: parent becomes a file":    {path: "n/x", plan: map[string]change.Kind{"n": file}, err: ErrParentIsFile},
		"plan: link becomes a file":      {path: "out", plan: map[string]change.Kind{"out": file}, want: "out", kind: file},
		"plan: written through new link": {path: "n", plan: map[string]change.Kind{"n": symlink}, err: ErrUnsafePath, about: "this patch makes"},
		"plan: walked through new link":  {path: "n/x", plan: map[string]change.Kind{"n": symlink}, err: ErrUnsafePath, about: "this patch makes"},
		"plan: through old to new link":  {path: "dangling", plan: map[string]change.Kind{"sub/new.txt": symlink}, err: ErrUnsafePath, about: "this patch makes"},
		"plan: new link as such":         {path: "n", use: Entry, plan: map[string]change.Kind{"n": symlink}, want: "n", kind: symlink},
		"plan: seen through a link":      {path: "link", plan: map[string]change.Kind{"a.txt": absent}, want: "a.txt", link: "link", kind: absent},
		"plan: folder is emptied": {path: "two", plan: map[string]change.Kind{"two/x": absent, "two/y/z": absent},
			want: "two", kind: absent},
		"plan: folder is not emptied": {path: "two", plan: map[string]change.Kind{"two/x": absent}, err: ErrIsDirectory},
	}
	dir := resolveTree(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, dir, Options{})
		})
	}
}

func TestResolveFree(t *testing.T) {
	t.Parallel()
	const file, absent, symlink = change.File, change.Absent, change.Symlink
	dir := resolveTree(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	cases := map[string]resolveCase{
		"plain":                        {path: "a.txt", want: "a.txt", kind: file},
		"dot dot out":                  {path: "../outside/secret", want: outside + "/secret", kind: file},
		"out and back in":              {path: "../root/a.txt", want: "a.txt", kind: file},
		"absolute out":                 {path: outside + "/new", want: outside + "/new", kind: absent},
		"absolute in":                  {path: "ROOT/sub/b.txt", want: "sub/b.txt", kind: file},
		"lexical dot dot":              {path: "dirlink/../a.txt", want: "a.txt", kind: file},
		"lexical through missing":      {path: "missing/../a.txt", want: "a.txt", kind: file},
		"lexical through a file":       {path: "a.txt/../sub/b.txt", want: "sub/b.txt", kind: file},
		"trailing slash dropped":       {path: "new/", want: "new", kind: absent},
		"base":                         {path: "../a.txt", base: "sub", want: "a.txt", kind: file},
		"link out":                     {path: "out", want: outside + "/secret", link: "out", kind: file},
		"folder link out":              {path: "outdir/n", want: outside + "/n", kind: absent},
		"dangling link out":            {path: "danglingout", want: outside + "/new", link: "danglingout", kind: absent},
		"absolute link in":             {path: "absin", want: "sub/b.txt", link: "absin", kind: file},
		"link as such":                 {path: "link", use: Entry, want: "link", kind: symlink},
		"git is nothing special":       {path: ".git/config", want: ".git/config", kind: file},
		"bare is nothing special":      {path: "bare/HEAD", want: "bare/HEAD", kind: file},
		"folder":                       {path: "sub/", err: ErrIsDirectory},
		"parent is a file":             {path: "a.txt/x", err: ErrParentIsFile},
		"folder link to nowhere":       {path: "danglingup/x", err: ErrDanglingParent},
		"link into missing folder":     {path: "danglingdir", err: ErrDanglingLink},
		"loop":                         {path: "loop1", err: ErrLinkLoop},
		"NUL":                          {path: "a\x00", err: ErrUnsafePath},
		"a device":                     {path: "/dev/null", err: ErrNotRegular, about: "a device"},
		"far above the top":            {path: strings.Repeat("../", 60) + "etc", err: ErrIsDirectory},
		"link the patch has just made": {path: "n", plan: map[string]change.Kind{"n": symlink}, err: ErrUnsafePath},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, dir, Options{Free: true})
		})
	}
}

func TestResolveSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, nil)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	defer socket.Close()
	for _, o := range []Options{{}, {Free: true}} {
		for path, about := range map[string]string{"fifo": "a FIFO", "s": "a socket"} {
			for _, use := range []Use{Edit, Entry} {
				resolveCase{path: path, use: use, err: ErrNotRegular, about: about}.check(t, dir, o)
			}
			resolveCase{path: path + "/x", err: ErrParentIsFile}.check(t, dir, o)
		}
	}
}

func TestRootSpelledThroughALink(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"real/a": "a", "alias": "-> real", "other": "-> real"})
	tree := open(t, filepath.Join(dir, "alias"), Options{})
	for _, spelling := range []string{"alias/a", "real/a", "other/a"} {
		loc, err := tree.Resolve(filepath.Join(dir, spelling), Edit, nil)
		require.NoError(t, err, spelling)
		assert.Equal(t, "a", loc.Path)
	}
	assert.Equal(t, filepath.Join(dir, "real"), tree.Root())
	assert.Equal(t, filepath.Join(dir, "real", "x"), tree.Abs("x"))
}

func TestForbiddenFolders(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"store/x": "x", "alias": "-> store", "a": "a"})
	forbidden := []string{filepath.Join(dir, "alias"), filepath.Join(dir, "later", "store")}
	for name, o := range map[string]Options{"confined": {Forbidden: forbidden}, "free": {Free: true, Forbidden: forbidden}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"store/x", "alias/x", "store/new", "store", "later/store/n", "sub/../store/x"} {
				resolveCase{path: path, err: ErrUnsafePath, about: "the means to undo"}.check(t, dir, o)
			}
			resolveCase{path: "later/storehouse", want: "later/storehouse"}.check(t, dir, o)
		})
	}
}

func TestBaseInsideGitIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Open(tempTree(t, map[string]string{".git/hooks/x": ""}), Options{Base: ".git/hooks"})
	assert.ErrorIs(t, err, ErrUnsafePath)
}

func TestManyFoldersDoNotUseUpDescriptors(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, nil)
	tree := open(t, dir, Options{})
	var wants []want
	for i := range 3 * maxFolders {
		wants = append(wants, want{path: strings.Repeat("d/", i%5+1) + string(rune('a'+i%26)) + "/" + strings.Repeat("x", i+1), after: file("x")})
	}
	require.NoError(t, plan(t, tree, wants...).write(tree, "op", Process))
	assert.LessOrEqual(t, len(tree.open), maxFolders)
	for _, w := range wants {
		s, _, err := tree.Read(w.path)
		require.NoError(t, err)
		require.Equal(t, change.File, s.Kind)
	}
}

// A folder in which another repository begins is a border for every path that leads over it; the root
// itself is none, and whoever is free knows no borders.
func TestForeignFolders(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{
		"f": "", "in/f": "", "in/deep/er/f": "", "beside/f": "", "via": "-> in/deep", "file": "-> in/f",
	})
	asked := map[string]int{}
	foreign := func(abs string) bool {
		asked[abs]++
		return abs == dir || abs == filepath.Join(dir, "in") || abs == filepath.Join(dir, "in", "deep")
	}
	_, err := Open(dir, Options{Foreign: foreign, Base: "in/deep"})
	require.ErrorIs(t, err, ErrForeign)
	for _, base := range []string{"", "in"} {
		tree := open(t, dir, Options{Foreign: foreign, Base: base})
		for _, path := range []string{"in/f", "in/new", "in/deep/er/f", "in/new/folder/f", "via/er/f", "file"} {
			_, err := tree.Resolve(dir+"/"+path, Edit, nil)
			require.ErrorIs(t, err, ErrForeign, path)
			require.ErrorIs(t, err, ErrUnsafePath, path)
			var pe *PathError
			require.ErrorAs(t, err, &pe)
			assert.Equal(t, "run oxpatch in in, with paths that count from there", pe.Hint, path)
		}
		for _, path := range []string{"f", "beside/f", "new/f"} {
			_, err := tree.Resolve(dir+"/"+path, Edit, nil)
			require.NoError(t, err, path)
		}
		_, err := tree.Resolve("er/f", Edit, nil)
		if base == "" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrForeign)
		}
	}
	for abs, n := range asked {
		assert.LessOrEqual(t, n, 3, "%s: once a tree", abs)
	}
	_, err = open(t, dir, Options{Foreign: foreign}).Resolve("file", Entry, nil)
	require.NoError(t, err, "the link itself is on this side")
	_, err = open(t, dir, Options{Foreign: foreign, Free: true}).Resolve("in/deep/er/f", Edit, nil)
	require.NoError(t, err)
}
