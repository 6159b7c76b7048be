//go:build linux || darwin

package worktree

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

func TestExtendedAttributesAreKept(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"f": "one", "from": "moved", "new": ""})
	if err := unix.Setxattr(filepath.Join(dir, "f"), "user.note", []byte("kept"), 0); err != nil {
		oxtest.Lacks(t, "extended attributes in temporary folders: %v", err)
	}
	require.NoError(t, unix.Setxattr(filepath.Join(dir, "f"), "user.empty", nil, 0))
	require.NoError(t, unix.Setxattr(filepath.Join(dir, "from"), "user.note", []byte("moved"), 0))
	attr := func(name, key string) string {
		var buf [64]byte
		n, err := unix.Getxattr(filepath.Join(dir, name), key, buf[:])
		if err != nil {
			return err.Error()
		}
		return string(buf[:n])
	}
	tree := open(t, dir, Options{})
	j := plan(t, tree, want{path: "f", after: file("two")}, want{path: "from", after: gone},
		want{path: "to", after: file("moved"), old: "from"})
	require.NoError(t, j.write(tree, "op", Process))
	assert.Equal(t, "kept", attr("f", "user.note"))
	assert.Equal(t, "", attr("f", "user.empty"))
	assert.Equal(t, "moved", attr("to", "user.note"))
	require.NoError(t, tree.Restore("op", j.files, j.made, j.removed, Before))
	assert.Equal(t, "kept", attr("f", "user.note"))
	assert.Equal(t, "moved", attr("from", "user.note"))
}

// aclFor is an access list in the kernel's form that lets one more user read and write.
func aclFor(uid byte) []byte {
	entry := func(tag, perm byte, id [4]byte) []byte { return append([]byte{tag, 0, perm, 0}, id[:]...) }
	none := [4]byte{0xff, 0xff, 0xff, 0xff}
	acl := []byte{2, 0, 0, 0}
	acl = append(acl, entry(0x01, 6, none)...)
	acl = append(acl, entry(0x02, 6, [4]byte{uid, 0, 0, 0})...)
	acl = append(acl, entry(0x04, 4, none)...)
	acl = append(acl, entry(0x10, 6, none)...)
	return append(acl, entry(0x20, 0, none)...)
}

func TestAccessListIsKeptAndNoneIsInherited(t *testing.T) {
	t.Parallel()
	dir := tempTree(t, map[string]string{"with": "one", "without": "one"})
	if err := unix.Setxattr(filepath.Join(dir, "with"), "system.posix_acl_access", aclFor(77), 0); err != nil {
		oxtest.Lacks(t, "access lists in temporary folders: %v", err)
	}
	require.NoError(t, unix.Setxattr(dir, "system.posix_acl_default", aclFor(78), 0))
	tree := open(t, dir, Options{})
	j := plan(t, tree, want{path: "with", after: file("two")}, want{path: "without", after: file("two")})
	require.NoError(t, j.write(tree, "op", Process))
	var buf [128]byte
	n, err := unix.Getxattr(filepath.Join(dir, "with"), "system.posix_acl_access", buf[:])
	require.NoError(t, err)
	assert.Equal(t, aclFor(77), buf[:n])
	_, err = unix.Getxattr(filepath.Join(dir, "without"), "system.posix_acl_access", buf[:])
	assert.ErrorIs(t, err, unix.ENODATA)
	assert.Equal(t, fs.FileMode(0o644), mode(t, dir, "without"))
	assert.Equal(t, "two", content(t, dir, "without"))
}
