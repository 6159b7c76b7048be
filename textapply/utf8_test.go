package textapply

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The numbers are those of Rust's Utf8Error (valid_up_to and error_len), which Codex prints.
func TestInvalidUTF8IsDescribedAsByRust(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ data, want string }{
		"Latin-1":                           {"caf\xe9 au lait", "invalid utf-8 sequence of 1 bytes from index 3"},
		"stray continuation":                {"\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"never a lead byte":                 {"a\xff", "invalid utf-8 sequence of 1 bytes from index 1"},
		"overlong, two bytes":               {"\xc0\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"overlong, three bytes":             {"\xe0\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"overlong, four bytes":              {"\xf0\x80\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"overlong, second byte of four":     {"\xf0\x80x", "invalid utf-8 sequence of 1 bytes from index 0"},
		"beyond, second byte of four":       {"\xf4\x90x", "invalid utf-8 sequence of 1 bytes from index 0"},
		"surrogate":                         {"ab\xed\xa0\x80", "invalid utf-8 sequence of 1 bytes from index 2"},
		"beyond the last code point":        {"\xf4\x90\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"far beyond":                        {"\xf5\x80\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"two bytes of three":                {"\xe2\x82x", "invalid utf-8 sequence of 2 bytes from index 0"},
		"two bytes of four":                 {"\xf0\x9fxx", "invalid utf-8 sequence of 2 bytes from index 0"},
		"three bytes of four":               {"–\xf0\x9f\x98x", "invalid utf-8 sequence of 3 bytes from index 3"},
		"one byte of two":                   {"\xc3(", "invalid utf-8 sequence of 1 bytes from index 0"},
		"ends after one of two":             {"a\xc3", "incomplete utf-8 byte sequence from index 1"},
		"ends after one of three":           {"\xe2", "incomplete utf-8 byte sequence from index 0"},
		"ends after two of three":           {"\xe2\x82", "incomplete utf-8 byte sequence from index 0"},
		"ends after three of four":          {"\xf0\x9f\x98", "incomplete utf-8 byte sequence from index 0"},
		"ends, but the second byte is bad":  {"\xe0\x80", "invalid utf-8 sequence of 1 bytes from index 0"},
		"ends in half a surrogate":          {"\xed\xa0", "invalid utf-8 sequence of 1 bytes from index 0"},
		"a replacement character is proper": {"\ufffd\xff", "invalid utf-8 sequence of 1 bytes from index 3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := MakePlan(patchOf(update("f", chunk("+x"))), files("f", tt.data), codexPolicy())
			require.Len(t, plan.Errors(), 1)
			err := plan.Errors()[0]
			assert.ErrorIs(t, err, ErrNotText)
			assert.Equal(t, tt.want, err.Problem())
			assert.Empty(t, plan.Changes)
			assert.Empty(t, plan.Steps)
		})
	}
}

// The described bytes are the longest beginning of a well-formed sequence, or one byte.
func TestInvalidLengthIsAMaximalSubpart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.ByteRange(0x80, 0xff), 1, 4).Draw(t, "bytes")
		if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
			return
		}
		beginning := 0 // Go waits for more bytes only where more could complete the sequence
		for beginning < len(b) && !utf8.FullRune(b[:beginning+1]) {
			beginning++
		}
		want := max(1, beginning)
		if beginning == len(b) {
			want = 0
		}
		assert.Equal(t, want, invalidLength(b), "%x", b)
	})
}
