package gitrepo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// maxPackedRefs bounds what is read of packed-refs: some 400,000 refs.
const maxPackedRefs = 32 << 20

// maxSymrefDepth is how many symbolic refs may lead to one another, as in git.
const maxSymrefDepth = 5

// Head returns what HEAD is: the full name of the branch that is checked out ("" when detached) and
// the object id of its commit ("" before the first commit). What cannot be read from files, as in
// a repository with reftables, is "" too.
func (r *Repo) Head() (ref, oid string) {
	if r.Format.Refs != "" && r.Format.Refs != "files" {
		return "", ""
	}
	name := "HEAD"
	for range maxSymrefDepth {
		target, id := r.readRef(name)
		if target == "" {
			return ref, id
		}
		name, ref = target, target
	}
	return ref, ""
}

// readRef reads one ref: the name it points to, or its object id, or neither.
func (r *Repo) readRef(name string) (target, oid string) {
	path := filepath.Join(r.refBase(name), filepath.FromSlash(name))
	if link, err := os.Readlink(path); err == nil && strings.HasPrefix(link, "refs/") {
		return link, ""
	}
	data, err := readSmall(path)
	if err != nil {
		return "", r.packed(name)
	}
	text := strings.TrimSpace(string(data))
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		return localRef(strings.TrimSpace(target)), ""
	}
	if isOID(text) {
		return "", text
	}
	return "", ""
}

// localRef returns name if it is below refs/ and made of plain components, else "": a HEAD must
// not make oxpatch read files elsewhere.
func localRef(name string) string {
	if strings.HasPrefix(name, "refs/") && filepath.IsLocal(filepath.FromSlash(name)) {
		return name
	}
	return ""
}

// refBase returns the directory that holds a ref: HEAD and three groups of refs belong to one
// working tree, all others are shared.
func (r *Repo) refBase(name string) string {
	if !strings.HasPrefix(name, "refs/") {
		return r.GitDir
	}
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			return r.GitDir
		}
	}
	return r.CommonDir
}

// packed looks a ref up in packed-refs. Its lines are "OID NAME"; those that begin with # or ^
// cannot match, since the blank before the name must follow an object id.
func (r *Repo) packed(name string) string {
	data, err := readBounded(filepath.Join(r.CommonDir, "packed-refs"), maxPackedRefs)
	if err != nil {
		return ""
	}
	needle := []byte(" " + name + "\n")
	for at := 0; ; {
		i := bytes.Index(data[at:], needle)
		if i < 0 {
			return ""
		}
		end := at + i
		start := bytes.LastIndexByte(data[:end], '\n') + 1
		if oid := string(data[start:end]); isOID(oid) {
			return oid
		}
		at = end + 1
	}
}
