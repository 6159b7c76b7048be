package worktree

import (
	"runtime"
	"strings"
)

// checkName refuses the names that no component of a confined path may have. path is what the
// message shows.
func checkName(path, name string) error {
	if isGitName(name) {
		return refuse(path, ErrUnsafePath, "%q is git's own folder, or a spelling of it on some file system; "+
			"a patch may not name it", name)
	}
	if runtime.GOOS == "windows" && !fixedOnWindows(name) {
		return refuse(path, ErrUnsafePath, "Windows would store %q under another name or as a device; "+
			"choose another name", name)
	}
	return nil
}

// isGitName reports whether some file system takes the name for .git: in any case, with code
// points in it that HFS+ ignores, with trailing dots and blanks or a stream name, which NTFS drops,
// or as its short name git~1. A backslash separates on NTFS, so each part counts. These are the
// spellings that git guards with core.protectHFS and core.protectNTFS; here they are taken
// together and on every platform, since a tree may be carried or mounted anywhere.
func isGitName(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		if isGitPart(strings.Map(dropIgnored, part)) {
			return true
		}
	}
	return false
}

func isGitPart(part string) bool {
	for _, prefix := range []string{".git", "git~1"} {
		if len(part) < len(prefix) || !strings.EqualFold(part[:len(prefix)], prefix) {
			continue
		}
		rest, _, _ := strings.Cut(part[len(prefix):], ":")
		if strings.Trim(rest, ". ") == "" {
			return true
		}
	}
	return false
}

// dropIgnored removes the code points that HFS+ ignores in names.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// fixedOnWindows reports whether Windows keeps the name as it is: no trailing dot or blank, no
// stream, no device name.
func fixedOnWindows(name string) bool {
	if strings.ContainsAny(name, ":\x00") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return false
	}
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return false
	}
	if rest, ok := strings.CutPrefix(base, "COM"); ok {
		return !isPort(rest)
	}
	if rest, ok := strings.CutPrefix(base, "LPT"); ok {
		return !isPort(rest)
	}
	return true
}

func isPort(s string) bool {
	switch s {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// components cuts a path at its separators; empty ones and "." are left out.
func components(path string) []string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	parts := strings.Split(path, "/")
	kept := parts[:0]
	for _, part := range parts {
		if part != "" && part != "." {
			kept = append(kept, part)
		}
	}
	return kept
}

// endsInFolder reports whether the text of the path can only mean a folder.
func endsInFolder(path string) bool {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") || path == "."
}
