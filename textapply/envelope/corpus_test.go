package envelope_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
)

// A recorded run of Codex's apply_patch; see testdata/codex/README.md.
type recording struct {
	Name  string
	Patch struct {
		Text   string
		Base64 string
	}
	Exit   int
	Stdout string
	Stderr string
}

// usageError is the exit status of a wrong command line.
const usageError = 2

// recordings returns the cases that got as far as Codex's parser: those whose patch is UTF-8 and
// whose command line was right.
func recordings(tb testing.TB) []recording {
	tb.Helper()
	file, err := os.Open("../../testdata/codex/cases.jsonl")
	require.NoError(tb, err)
	defer file.Close()
	var all []recording
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r recording
		require.NoError(tb, json.Unmarshal(lines.Bytes(), &r))
		if r.Patch.Base64 == "" && r.Exit != usageError {
			all = append(all, r)
		}
	}
	require.NoError(tb, lines.Err())
	require.Greater(tb, len(all), 700)
	return all
}

func TestParseAgreesWithCodex(t *testing.T) {
	t.Parallel()
	for _, r := range recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			patch, err := envelope.Parse(r.Patch.Text, envelope.Lenient)
			if strings.HasPrefix(r.Stderr, "Invalid patch") {
				var parseErr *envelope.ParseError
				require.ErrorAs(t, err, &parseErr)
				assert.Equal(t, r.Stderr, err.Error()+"\n")
				assert.Nil(t, patch)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, envelope.Format, patch.Format)
			assert.Equal(t, r.Stderr == "No files were modified.\n", len(patch.Sections) == 0)
			assertLinesPointAtHeaders(t, patch)
			if r.Exit == 0 {
				assertFinds(t, patch, r)
			}
			assertMissingLinesAreOld(t, patch, r.Stderr)
		})
	}
}

// assertLinesPointAtHeaders checks the line numbers against Patch.Text.
func assertLinesPointAtHeaders(t *testing.T, patch *textapply.Patch) {
	t.Helper()
	lines := strings.Split(patch.Text, "\n")
	headers := []string{"*** Add File: ", "*** Delete File: ", "*** Update File: "}
	for _, s := range patch.Sections {
		assert.Contains(t, lines[s.Line-1], headers[s.Kind]+s.Path)
		for _, c := range s.Chunks {
			if first := lines[c.Line-1]; !strings.HasPrefix(first, "@@") {
				assert.Empty(t, c.Scopes)
				assert.Equal(t, strings.TrimRight(c.Lines[0].Text, "\r"), strings.TrimRight(first[min(1, len(first)):], "\r"))
			} else if len(c.Scopes) > 0 {
				assert.Contains(t, first, c.Scopes[0])
			}
		}
	}
}

// assertFinds checks that the sections are those Codex reports: additions, then updates, then
// deletions, each under its final name.
func assertFinds(t *testing.T, patch *textapply.Patch, r recording) {
	t.Helper()
	groups := make([]string, 3)
	for _, s := range patch.Sections {
		switch {
		case s.Kind == textapply.Add:
			groups[0] += "A " + s.Path + "\n"
		case s.Kind == textapply.Delete:
			groups[2] += "D " + s.Path + "\n"
		case s.MoveTo != "":
			groups[1] += "M " + s.MoveTo + "\n"
		default:
			groups[1] += "M " + s.Path + "\n"
		}
	}
	assert.Equal(t, r.Stdout, "Success. Updated the following files:\n"+strings.Join(groups, ""))
}

// assertMissingLinesAreOld checks that old lines or a scope which Codex did not find in a file are
// those of a chunk.
func assertMissingLinesAreOld(t *testing.T, patch *textapply.Patch, stderr string) {
	t.Helper()
	var olds, scopes []string
	for _, s := range patch.Sections {
		for _, c := range s.Chunks {
			olds = append(olds, strings.Join(c.Old(), "\n")+"\n")
			scopes = append(scopes, strings.Join(c.Scopes, "\n"))
		}
	}
	if where, found := strings.CutPrefix(stderr, "Failed to find expected lines in "); found {
		_, old, _ := strings.Cut(where, ":\n")
		assert.Contains(t, olds, old)
	}
	if scope, found := strings.CutPrefix(stderr, "Failed to find context '"); found {
		scope, _, _ = strings.Cut(scope, "' in $")
		assert.Contains(t, scopes, scope)
	}
}

func TestStreamedCorpusParsesTheSameHoweverItIsCut(t *testing.T) {
	t.Parallel()
	for _, r := range recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			text := strings.TrimSpace(r.Patch.Text)
			if parsed, err := envelope.Parse(r.Patch.Text, envelope.Lenient); err == nil {
				text = parsed.Text
			}
			want, wantErr := stream(t, text)
			if readAlike(text) {
				parsed, err := envelope.Parse(text, envelope.Lenient)
				assert.Equal(t, wantErr, err)
				assert.Equal(t, want, parsed)
			}
			for i := range len(text) {
				got, err := stream(t, text[:i], text[i:])
				require.Equal(t, wantErr, err, "cut at byte %d", i)
				require.Equal(t, want, got, "cut at byte %d", i)
			}
			random := rand.New(rand.NewPCG(1, uint64(len(text))))
			for range 20 {
				pieces := cut(text, random)
				got, err := stream(t, pieces...)
				require.Equal(t, wantErr, err, "%q", pieces)
				require.Equal(t, want, got, "%q", pieces)
			}
		})
	}
}

// readAlike reports whether the parser is bound to read text as Parse does. Parse drops a second
// carriage return from a line's end, unwraps heredocs, and reports a missing last line before
// anything that is wrong in front of it.
func readAlike(text string) bool {
	_, err := envelope.Parse(text, envelope.Lenient)
	return !strings.Contains(text, "\r\r\n") && !strings.HasPrefix(text, "<<") && !errors.Is(err, envelope.ErrEnd)
}

func cut(text string, random *rand.Rand) []string {
	var pieces []string
	for text != "" {
		n := min(len(text), random.IntN(9))
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// stream pushes the pieces and finishes. On the way it checks that sections never become fewer
// and that all but the last are final.
func stream(t *testing.T, pieces ...string) (*textapply.Patch, error) {
	t.Helper()
	var p envelope.Parser
	var finished []textapply.Section
	known := 0
	for _, piece := range pieces {
		sections, err := p.Push(piece)
		require.GreaterOrEqual(t, len(sections), known)
		known = len(sections)
		for i := len(finished); i < known-1; i++ {
			finished = append(finished, sections[i])
		}
		if err != nil {
			_, finishErr := p.Finish()
			require.Same(t, err, finishErr)
			return nil, err
		}
	}
	patch, err := p.Finish()
	if err == nil {
		require.GreaterOrEqual(t, len(patch.Sections), known)
		require.Equal(t, finished, append([]textapply.Section(nil), patch.Sections[:len(finished)]...))
	}
	return patch, err
}
