package outputparse

import "strings"

// Unquote takes git's C-style quoting off a name: letter escapes and octal ones become the bytes
// they stand for. A name that is not in double quotes is returned as it is; so is one with an
// escape that git does not write.
func Unquote(name string) string {
	if len(name) < 2 || name[0] != '"' || name[len(name)-1] != '"' {
		return name
	}
	body := name[1 : len(name)-1]
	var b strings.Builder
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		c, n := escape(body[i+1:])
		if n == 0 {
			return name
		}
		b.WriteByte(c)
		i += 1 + n
	}
	return b.String()
}

// escape reads what follows a backslash and returns its byte and length, 0 if it is no escape.
func escape(s string) (byte, int) {
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(`abtnvfr"\'`, s[0]); i >= 0 {
		return "\a\b\t\n\v\f\r\"\\'"[i], 1
	}
	if len(s) < 3 {
		return 0, 0
	}
	value := 0
	for _, c := range []byte(s[:3]) {
		if c < '0' || c > '7' {
			return 0, 0
		}
		value = value*8 + int(c-'0')
	}
	return byte(value), 3
}

// quote returns a name as git prints it in the places where it quotes: in double quotes if it has
// to be. With high set bytes over 0x7f are escaped too, as git does unless core.quotePath is off.
func quote(name string, high bool) string {
	var b strings.Builder
	quoted := false
	for _, c := range []byte(name) {
		if i := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); i >= 0 {
			b.WriteByte('\\')
			b.WriteByte(`abtnvfr"\`[i])
			quoted = true
		} else if c < 0x20 || c == 0x7f || high && c >= 0x80 {
			b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
			quoted = true
		} else {
			b.WriteByte(c)
		}
	}
	if !quoted {
		return name
	}
	return `"` + b.String() + `"`
}
