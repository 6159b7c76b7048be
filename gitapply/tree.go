package gitapply

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitrepo"
)

const permBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// readState returns what stands at a path below top. A name that leads through something that is no
// folder has nothing standing at it. Content over max bytes is an ErrTooLarge.
func readState(top, name string, max int64) (change.State, error) {
	full := filepath.Join(top, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return change.State{}, nil
	}
	if err != nil {
		return change.State{}, err
	}
	st := change.State{Mode: info.Mode() & permBits}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		st.Kind = change.File
		if max > 0 && info.Size() > max {
			return st, &RefusedError{Kind: ErrTooLarge, Path: name, Problem: fmt.Sprintf("it has %d bytes, the limit is %d", info.Size(), max)}
		}
		st.Content, err = os.ReadFile(full)
	case mode&fs.ModeSymlink != 0:
		var target string
		target, err = os.Readlink(full)
		st = change.State{Kind: change.Symlink, Content: []byte(target)}
	case mode.IsDir():
		st.Kind = change.Dir
	default:
		st.Kind = change.Other
	}
	return st, err
}

// obstacle returns the part of a path, above its last component, that is no folder, and what it is;
// or that begins another repository (Kind Dir). "" says that there is none.
func obstacle(top, name string) (string, change.Kind) {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		part := filepath.Join(top, filepath.FromSlash(name[:i]))
		info, err := os.Lstat(part)
		switch {
		case err != nil:
			return "", change.Absent
		case info.Mode()&fs.ModeSymlink != 0:
			return name[:i], change.Symlink
		case !info.IsDir():
			return name[:i], change.File
		}
		if gitrepo.IsTop(part) {
			return name[:i], change.Dir
		}
	}
	return "", change.Absent
}

// blobID returns the object id of content as a blob.
func blobID(format string, content []byte) string {
	var h hash.Hash
	if strings.EqualFold(format, "sha256") {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// looksClean reports whether a file is what an entry of the index says, byte for byte.
func looksClean(format string, st change.State, line change.IndexLine, c repoConfig) bool {
	if line.Flags&FlagIntentToAdd != 0 || !kindFits(st, line, c) {
		return false
	}
	if st.Kind == change.Dir {
		return true // a submodule: git does not look into it
	}
	return blobID(format, st.Content) == line.OID
}

// kindFits compares the type, and the executable bit where the file system keeps one.
func kindFits(st change.State, line change.IndexLine, c repoConfig) bool {
	switch line.Mode {
	case modeGitlink:
		return st.Kind == change.Dir
	case modeLink:
		return st.Kind == change.Symlink || !c.symlinks && st.Kind == change.File
	default:
		return st.Kind == change.File && (!c.fileMode || st.Executable() == (line.Mode == modeExec))
	}
}

// filtered says that a file may be clean only behind its filters.
func filtered(st change.State, line change.IndexLine, c repoConfig) bool {
	return st.Kind == change.File && line.Flags&FlagIntentToAdd == 0 && kindFits(st, line, c) && line.Mode != modeLink
}
