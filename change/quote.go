package change

import (
	"strings"
	"unicode/utf8"
)

// DisplayPath returns the form in which a path is put into JSON and messages: as it is, unless it
// is not UTF-8 or begins with a double quote; then in git's C-quoted form, quotes included.
func DisplayPath(path string) string {
	if !utf8.ValidString(path) || strings.HasPrefix(path, `"`) {
		return Quote(path)
	}
	return path
}

// Quote returns path in double quotes with the escapes of git's quote_c_style: letter escapes for
// the usual control characters, backslash and double quote, octal for other bytes outside
// printable ASCII.
func Quote(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); i++ {
		c := path[i]
		if letter := escapeLetter(c); letter != 0 {
			b.WriteByte('\\')
			b.WriteByte(letter)
		} else if c < 0x20 || c >= 0x7f {
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// NeedsQuote reports whether path must be quoted in a diff header: where git with core.quotePath off
// quotes it, and where it is not UTF-8, so that the diff as a whole stays UTF-8.
func NeedsQuote(path string) bool {
	for i := 0; i < len(path); i++ {
		if c := path[i]; c < 0x20 || c == 0x7f || c == '"' || c == '\\' {
			return true
		}
	}
	return !utf8.ValidString(path)
}

func escapeLetter(c byte) byte {
	switch c {
	case '\a':
		return 'a'
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\v':
		return 'v'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	case '"', '\\':
		return c
	}
	return 0
}
