package outputparse_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blob is a text of the corpus: a string, or an object with its bytes in base64.
type blob []byte

func (b *blob) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = blob(text)
		return nil
	}
	var coded struct{ Base64 []byte }
	err := json.Unmarshal(data, &coded)
	*b = coded.Base64
	return err
}

type recorded struct {
	Name, Git, Mode string
	Exit            int
	Stdout, Stderr  blob
	StderrV         blob `json:"stderr_v"`
	ExitReal        *int `json:"exit_real"`
	Truth           lists
	Sections        []struct{ Old, New, Op string }
}

type lists struct{ Applied, Skipped, Conflicted, Other []string }

func (l lists) all() []string {
	var all []string
	for _, part := range [][]string{l.Applied, l.Skipped, l.Conflicted, l.Other} {
		all = append(all, part...)
	}
	return all
}

func (l *lists) decode() {
	for _, part := range []*[]string{&l.Applied, &l.Skipped, &l.Conflicted, &l.Other} {
		for i, p := range *part {
			if coded, ok := strings.CutPrefix(p, "base64:"); ok {
				raw, _ := base64.StdEncoding.DecodeString(coded)
				(*part)[i] = string(raw)
			}
		}
	}
}

func corpus(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open("../testdata/gitapply/cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []recorded
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var c recorded
		require.NoError(t, json.Unmarshal(scan.Bytes(), &c))
		c.Truth.decode()
		all = append(all, c)
	}
	require.NoError(t, scan.Err())
	require.NotEmpty(t, all)
	return all
}
