package textapply

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// byHints leaves chunks that could stand in several places those at the line numbers of the patch. A place
// exactly at its number, where the lines fit by the strictest pass, is certain if the numbers are right
// for a chunk that has only one place, or if the patch was made from this very text.
func (j *joint) byHints(earliest, latest []int) bool {
	trusted := false
	for i, c := range j.chunks {
		if earliest[i] == latest[i] && c.hint >= 0 && !c.free {
			if earliest[i] != c.hint {
				return false
			}
			trusted = true
		}
	}
	if !trusted && !j.madeFrom() {
		return false
	}
	narrowed := false
	for i, c := range j.chunks {
		if earliest[i] != latest[i] && c.hint >= earliest[i] && c.hint <= latest[i] && c.strictlyAt(c.hint) {
			c.only(c.hint)
			c.match, narrowed = matchLineHint, true
		}
	}
	return narrowed
}

// madeFrom reports whether the text is the blob that the patch names as its old side. An abbreviated
// id counts from seven digits on, as git abbreviates.
func (j *joint) madeFrom() bool {
	const least = 7
	id := strings.ToLower(j.s.Blob)
	if len(id) < least || !strings.ContainsAny(id, "123456789abcdef") {
		return false
	}
	head := fmt.Appendf(nil, "blob %d\x00", len(j.t.data))
	for _, h := range []hash.Hash{sha1.New(), sha256.New()} {
		h.Write(head)
		h.Write(j.t.data)
		if strings.HasPrefix(hex.EncodeToString(h.Sum(nil)), id) {
			return true
		}
	}
	return false
}
