package gitapply_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
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

// content is a file, or an entry of the index.
type content struct {
	Mode, OID, Path string
	Stage           int
	Text            *string
	Base64          []byte
	IntentToAdd     bool `json:"intent_to_add"`
}

func (c content) bytes() []byte {
	if c.Text != nil {
		return []byte(*c.Text)
	}
	return c.Base64
}

// pathMap has paths for keys, which in the file may be coded.
type pathMap[T any] map[string]T

func (m *pathMap[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "[]" {
		return nil
	}
	var raw map[string]T
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*m = pathMap[T]{}
	for k, v := range raw {
		(*m)[decodePath(k)] = v
	}
	return nil
}

func decodePath(p string) string {
	if coded, ok := strings.CutPrefix(p, "base64:"); ok {
		raw, _ := base64.StdEncoding.DecodeString(coded)
		return string(raw)
	}
	return p
}

type lists struct{ Applied, Skipped, Conflicted, Other []string }

func (l lists) normal() lists {
	for _, part := range []*[]string{&l.Applied, &l.Skipped, &l.Conflicted, &l.Other} {
		var out []string
		for _, p := range *part {
			out = append(out, decodePath(p))
		}
		slices.Sort(out)
		*part = out
	}
	return l
}

type scenario struct {
	Name, Git, Mode, Cwd, Head string
	Exit                       int
	Diff                       blob
	Before                     pathMap[content]
	Index                      pathMap[[]content]
	Objects                    json.RawMessage
	Config                     json.RawMessage
	Truth                      lists
	Truth3way                  lists `json:"truth_3way"`
	After                      pathMap[*content]
	IndexChanges               struct{ Added, Removed []content } `json:"index_changes"`
}

func (s scenario) base() string { b, _, _ := strings.Cut(s.Name, "."); return b }

func (s scenario) reverse() bool { return strings.HasPrefix(s.Mode, "reverse") }

// corpus returns the recorded runs of one version of git.
func corpus(t testing.TB, version string) []scenario {
	t.Helper()
	f, err := os.Open("../testdata/gitapply/cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []scenario
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var c scenario
		require.NoError(t, json.Unmarshal(scan.Bytes(), &c))
		if c.Git == version {
			all = append(all, c)
		}
	}
	require.NoError(t, scan.Err())
	return all
}
