package scan

import (
	"bytes"
	"crypto/sha1"
	"hash"
	"io"
	"strconv"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/worktree"
)

// Hash reads the file or link at a key and names its content. keep is the size up to which the
// content is returned too; that of a larger one is nil.
func Hash(t *worktree.Tree, key string, keep int64) (OID, worktree.Sight, []byte, error) {
	h := sha1.New()
	var kept *bytes.Buffer
	s, err := t.Stream(key, func(size int64) io.Writer {
		h.Reset()
		io.WriteString(h, "blob "+strconv.FormatInt(size, 10)+"\x00") //nolint:errcheck // a hash takes everything
		kept = nil
		if size > keep {
			return h
		}
		kept = bytes.NewBuffer(make([]byte, 0, size))
		return tee{h, kept}
	})
	if err != nil || s.Kind != change.File && s.Kind != change.Symlink {
		return OID{}, s, nil, err
	}
	if kept != nil {
		return OID(h.Sum(nil)), s, kept.Bytes(), nil
	}
	return OID(h.Sum(nil)), s, nil, nil
}

// tee writes to both, which never fails.
type tee struct {
	h hash.Hash
	b *bytes.Buffer
}

func (t tee) Write(data []byte) (int, error) {
	t.h.Write(data)
	return t.b.Write(data)
}
