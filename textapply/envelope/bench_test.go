package envelope_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply/envelope"
)

// addition returns a patch that adds one file of about the size given, in bytes.
func addition(size int) string {
	line := "+" + strings.Repeat("x", 38) + "\n"
	return wrap("*** Add File: big.txt", strings.TrimSuffix(strings.Repeat(line, size/len(line)), "\n"))
}

// updates returns a patch with n sections of one chunk each.
func updates(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "*** Update File: dir/file%d.go\n@@ func f%d() {\n \ta()\n-\tb()\n+\tc()\n \td()\n", i, i)
	}
	return wrap(strings.TrimSuffix(b.String(), "\n"))
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"addition of 12 MB": addition(12 << 20),
		"3000 sections":     updates(3000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := envelope.Parse(text, envelope.Lenient)
				require.NoError(b, err)
			}
		})
	}
}

// A model's tokens are a few bytes each.
func BenchmarkPush(b *testing.B) {
	text := updates(3000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var p envelope.Parser
		for i := 0; i < len(text); i += 5 {
			_, err := p.Push(text[i:min(i+5, len(text))])
			require.NoError(b, err)
		}
		_, err := p.Finish()
		require.NoError(b, err)
	}
}
