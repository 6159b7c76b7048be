package change

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The quoted forms are what "git ls-files" of git 2.39.5 prints for such names with core.quotePath
// on. With it off, git quotes those that need it, but for names that are not UTF-8.
func TestQuote(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path, quoted string
		needs        bool
	}{
		"plain":                 {"plain", `"plain"`, false},
		"blank":                 {"a b", `"a b"`, false},
		"blanks at the ends":    {" a ", `" a "`, false},
		"tab":                   {"a\tb", `"a\tb"`, true},
		"line feed":             {"a\nb", `"a\nb"`, true},
		"carriage return":       {"a\x0db", `"a\rb"`, true},
		"bell":                  {"a\x07b", `"a\ab"`, true},
		"backspace":             {"a\x08b", `"a\bb"`, true},
		"vertical tab":          {"a\x0bb", `"a\vb"`, true},
		"form feed":             {"a\x0cb", `"a\fb"`, true},
		"escape":                {"a\x1bb", `"a\033b"`, true},
		"first control":         {"a\x01b", `"a\001b"`, true},
		"last control":          {"a\x1fb", `"a\037b"`, true},
		"delete":                {"a\x7fb", `"a\177b"`, true},
		"quote":                 {"a\"b", `"a\"b"`, true},
		"quote first":           {"\"ab", `"\"ab"`, true},
		"backslash":             {"a\\b", `"a\\b"`, true},
		"apostrophe":            {"a'b", `"a'b"`, false},
		"dollar and star":       {"$a*", `"$a*"`, false},
		"e acute":               {"caf\xc3\xa9", `"caf\303\251"`, false},
		"emoji":                 {"\xf0\x9f\x98\x80", `"\360\237\230\200"`, false},
		"Latin-1":               {"caf\xe9", `"caf\351"`, true},
		"digit behind an octal": {"\x017", `"\0017"`, true},
		"highest byte":          {"a\xff", `"a\377"`, true},
		"in a folder":           {"d\xc3\xa9/e\tf", `"d\303\251/e\tf"`, true},
		"leading dash":          {"-a", `"-a"`, false},
		"line separator":        {"a\xe2\x80\xa8b", `"a\342\200\250b"`, false},
		"surrogate":             {"a\xed\xa0\x80", `"a\355\240\200"`, true},
		"next line":             {"a\xc2\x85b", `"a\302\205b"`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.quoted, Quote(tt.path))
			assert.Equal(t, tt.needs, NeedsQuote(tt.path))
		})
	}
}

func TestDisplayPath(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a b", DisplayPath("a b"))
	assert.Equal(t, "dir/é", DisplayPath("dir/é"))
	assert.Equal(t, "a\tb", DisplayPath("a\tb"), "JSON has its own escapes")
	assert.Equal(t, `a"b`, DisplayPath(`a"b`))
	assert.Equal(t, `"\"a"`, DisplayPath(`"a`), "else it could be taken for a quoted one")
	assert.Equal(t, `"caf\351"`, DisplayPath("caf\xe9"))
	assert.Empty(t, DisplayPath(""))
}

// Go's string literals know all escapes that Quote uses.
func TestQuoteCanBeReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := string(rapid.SliceOf(rapid.Byte()).Draw(t, "path"))
		back, err := strconv.Unquote(Quote(path))
		assert.NoError(t, err)
		assert.Equal(t, path, back)
		shown := DisplayPath(path)
		if shown != path {
			back, err = strconv.Unquote(shown)
			assert.NoError(t, err)
			assert.Equal(t, path, back)
		}
	})
}
