package gitapply

import (
	"strings"
)

// brokenBinary checks the form of the data behind "GIT binary patch": one or two blocks, each a line
// with method and size, lines of base 85, and a blank line. It returns the number of the first line
// that is wrong, 0 for none. git gives up on the rest of the patch at such a line, and calls that a
// success.
func brokenBinary(lines []textLine) int {
	at := 1
	for block := 0; block < 2 && at < len(lines); block++ {
		if !isMethod(lines[at].s) {
			if block > 0 {
				return 0 // prose behind a single block
			}
			return lines[at].n
		}
		at++
		start := at
		for at < len(lines) && lines[at].s != "" {
			if !isBase85(lines[at].s) {
				return lines[at].n
			}
			at++
		}
		if at == start {
			return lines[at-1].n
		}
		at++
	}
	if at == 1 {
		return lines[0].n
	}
	return 0
}

func isMethod(l string) bool {
	size, ok := strings.CutPrefix(l, "literal ")
	if !ok {
		size, ok = strings.CutPrefix(l, "delta ")
	}
	return ok && size != "" && strings.Trim(size, "0123456789") == ""
}

// isBase85 checks a line: a letter for the number of bytes, and five digits for each four of them.
func isBase85(l string) bool {
	var n int
	switch c := l[0]; {
	case c >= 'A' && c <= 'Z':
		n = int(c-'A') + 1
	case c >= 'a' && c <= 'z':
		n = int(c-'a') + 27
	default:
		return false
	}
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	return len(l)-1 == (n+3)/4*5 && strings.Trim(l[1:], digits) == ""
}
