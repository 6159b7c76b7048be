package textapply

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

var codexLine = regexp.MustCompile(`([^\r\n]*)(\r\n|\n|\r|$)`)

// referenceUpdate is the update of codex-cli 0.171.0 written as plainly as can be: rules of whole
// lists of lines, without edits. It is false where a chunk has no place.
func referenceUpdate(content string, chunks []Chunk) (string, bool) {
	var lines, ends []string
	preferred := ""
	for _, m := range codexLine.FindAllStringSubmatch(content, -1) {
		if m[0] == "" {
			continue
		}
		lines, ends = append(lines, m[1]), append(ends, m[2])
		if preferred == "" {
			preferred = m[2]
		}
	}
	if preferred == "" {
		preferred = "\n"
	}
	gone := make([]bool, len(lines))
	before := make([][]string, len(lines)+1) // what comes in front of each line
	cursor := 0
	for _, c := range chunks {
		at, next, body, ok := referencePlace(lines, c, cursor)
		if !ok {
			return "", false
		}
		cursor = next
		run := at // what a run of removed and added lines brings stands where the run begins
		for _, l := range body {
			switch l.Op {
			case Insert:
				before[run] = append(before[run], l.Text)
			case Remove:
				gone[at] = true
				at++
			case Context:
				at++
				run = at
			}
		}
	}
	var out strings.Builder
	for i := 0; i <= len(lines); i++ {
		for _, s := range before[i] {
			out.WriteString(s + preferred)
		}
		if i < len(lines) && !gone[i] {
			if ends[i] == "" {
				ends[i] = preferred
			}
			out.WriteString(lines[i] + ends[i])
		}
	}
	return out.String(), true
}

func referencePlace(lines []string, c Chunk, cursor int) (at, next int, body []Line, ok bool) {
	for _, scope := range c.Scopes {
		m, ok := naiveSeek(lines, []string{scope}, cursor, false)
		if !ok {
			return 0, 0, nil, false
		}
		cursor = m.Line + 1
	}
	old := c.Old()
	if len(old) == 0 {
		return len(lines), cursor, c.Lines, true
	}
	m, ok := naiveSeek(lines, old, cursor, c.EOF)
	if !ok && old[len(old)-1] == "" {
		c.Lines = dropTrailingBlank(c.Lines)
		old = old[:len(old)-1]
		m, ok = naiveSeek(lines, old, cursor, c.EOF)
	}
	return m.Line, m.Line + len(old), c.Lines, ok
}

func TestUpdateIsTheReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := []string{"a", "b", "", " a", "a ", "x–y", "x-y"}[:rapid.IntRange(2, 7).Draw(t, "words")]
		content := drawFile(t, words)
		chunks := drawChunks(t, words, content)
		want, wantOK := referenceUpdate(content, chunks)
		tree := files("f", content)
		plan := MakePlan(patchOf(update("f", chunks...)), tree, codexPolicy())
		if !assert.Equal(t, wantOK, len(plan.Errors()) == 0, "%v", plan.Errors()) || !wantOK {
			return
		}
		assert.Equal(t, want, carryOut(t, tree, plan).outcome()["f"])
		checkSteps(t, tree, plan, codexPolicy())
	})
}

// drawFile draws a file of the given lines with all kinds of terminators.
func drawFile(t *rapid.T, words []string) string {
	var b strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		b.WriteString(rapid.SampledFrom(words).Draw(t, "line"))
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"}).Draw(t, "end"))
	}
	if rapid.Bool().Draw(t, "unfinished") {
		b.WriteString(rapid.SampledFrom(words).Draw(t, "line"))
	}
	return b.String()
}

// drawChunks draws chunks that follow the file loosely, so that a good part of them fits.
func drawChunks(t *rapid.T, words []string, content string) []Chunk {
	lines := splitText([]byte(content), Policy{LoneCR: LoneCRAlways})
	at := 0
	var chunks []Chunk
	for range rapid.IntRange(1, 3).Draw(t, "chunks") {
		var c Chunk
		at += rapid.IntRange(0, 3).Draw(t, "skip")
		if at > 0 && at <= lines.Len() && rapid.IntRange(0, 3).Draw(t, "scope") == 0 {
			c.Scopes = []string{string(lines.Line(at - 1))}
		}
		for range rapid.IntRange(1, 5).Draw(t, "size") {
			op := Op(rapid.IntRange(0, 2).Draw(t, "op"))
			text := rapid.SampledFrom(words).Draw(t, "text")
			if op != Insert && at < lines.Len() {
				text = string(lines.Line(at))
				at++
			}
			c.Lines = append(c.Lines, Line{op, text})
		}
		if rapid.IntRange(0, 3).Draw(t, "blank at the end") == 0 {
			c.Lines = append(c.Lines, Line{Op(rapid.IntRange(0, 2).Draw(t, "op")), ""})
		}
		c.EOF = rapid.IntRange(0, 5).Draw(t, "eof") == 0
		chunks = append(chunks, c)
	}
	return chunks
}
