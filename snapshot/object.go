package snapshot

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// oid is the SHA-1 name of a git object.
type oid [sha1.Size]byte

func (o oid) String() string { return hex.EncodeToString(o[:]) }

func parseOID(text string) (oid, error) {
	var o oid
	if len(text) != 2*len(o) {
		return o, fmt.Errorf("%q is not an object id", text)
	}
	_, err := hex.Decode(o[:], []byte(text))
	return o, err
}

// objType is the type of an object, in the numbers that packs use.
type objType byte

const (
	typeCommit objType = 1
	typeTree   objType = 2
	typeBlob   objType = 3
	typeDelta  objType = 6 // a delta whose base is given as the distance to it in the pack
)

func (t objType) String() string {
	switch t {
	case typeCommit:
		return "commit"
	case typeTree:
		return "tree"
	case typeBlob:
		return "blob"
	}
	return "type " + strconv.Itoa(int(t))
}

// hashObject names an object. The store is private and its contents are its owner's, so the plain,
// fast SHA-1 does: there is nobody to defend against who could plant a collision.
func hashObject(t objType, data []byte) oid {
	h := sha1.New()
	h.Write([]byte(t.String() + " " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return oid(h.Sum(nil))
}

// hashBlobs names contents as blobs, side by side where they are large.
func hashBlobs(contents [][]byte, ahead *Ahead) []oid {
	names := make([]oid, len(contents))
	size := 0
	for _, c := range contents {
		size += len(c)
	}
	workers := min(runtime.GOMAXPROCS(0), len(contents))
	if size < minParallel {
		workers = 1 // starting others would take longer
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(contents); i = int(next.Add(1)) - 1 {
			if w := ahead.of(contents[i]); w != nil {
				names[i] = w.name()
			} else {
				names[i] = hashObject(typeBlob, contents[i])
			}
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return names
}

// treeEntry is a line of a tree.
type treeEntry struct {
	name string
	dir  bool
	id   oid
}

// encodeTree writes a tree. Names here are such that git's order, in which a folder's name counts
// as ending in a slash, is that of the bytes: none is the beginning of another but among numbers,
// which are all blobs.
func encodeTree(entries []treeEntry) []byte {
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.name, b.name) })
	var data []byte
	for _, e := range entries {
		mode := "100644 "
		if e.dir {
			mode = "40000 "
		}
		data = append(data, mode...)
		data = append(data, e.name...)
		data = append(data, 0)
		data = append(data, e.id[:]...)
	}
	return data
}

// decodeTree returns the names and ids in a tree.
func decodeTree(data []byte) (map[string]oid, error) {
	entries := make(map[string]oid)
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		_, name, blank := bytes.Cut(head, []byte{' '})
		if !ok || !blank || len(rest) < len(oid{}) {
			return nil, errors.New("not a tree, or cut short")
		}
		entries[string(name)] = oid(rest[:len(oid{})])
		data = rest[len(oid{}):]
	}
	return entries, nil
}

// encodeCommit writes a commit without parents. Author and committer are oxpatch itself: a record
// is no work of the user's, and no identity need be configured.
func encodeCommit(tree oid, when time.Time, message string) []byte {
	who := fmt.Sprintf("oxpatch <oxpatch@localhost> %d +0000", max(when.Unix(), 0))
	return fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s\n", tree, who, who, message)
}

// commitTree returns the tree of a commit.
func commitTree(data []byte) (oid, error) {
	text := string(data[:min(len(data), 64)])
	line, _, _ := strings.Cut(text, "\n")
	name, ok := strings.CutPrefix(line, "tree ")
	if !ok {
		return oid{}, errors.New("not a commit")
	}
	return parseOID(name)
}
