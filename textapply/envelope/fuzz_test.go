package envelope_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply/envelope"
)

func FuzzParse(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.Patch.Text, uint(7))
	}
	f.Fuzz(func(t *testing.T, text string, at uint) {
		lenient, err := envelope.Parse(text, envelope.Lenient)
		if err != nil {
			var parseErr *envelope.ParseError
			require.ErrorAs(t, err, &parseErr)
		}
		strict, strictErr := envelope.Parse(text, envelope.Strict)
		if strictErr == nil {
			require.NoError(t, err)
			require.Equal(t, lenient, strict)
		}
		if err == nil {
			printed, err := envelope.Print(lenient)
			require.NoError(t, err, "what was parsed has a spelling")
			requireReadsBack(t, lenient, printed)
			text = lenient.Text
		}
		whole, wholeErr := stream(t, text)
		i := at % uint(len(text)+1)
		pieces, piecesErr := stream(t, text[:i], text[i:])
		require.Equal(t, wholeErr, piecesErr)
		require.Equal(t, whole, pieces)
		if err == nil && readAlike(text) {
			require.NoError(t, wholeErr)
			require.Equal(t, lenient, whole)
		}
	})
}
