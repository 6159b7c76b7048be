package textapply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// trueEdit is a file, what it is to become, and chunks that say so.
type trueEdit struct {
	before, after string
	chunks        []Chunk
}

// drawTrueEdit draws an edit of a file whose lines all differ and end alike, so that the wanted
// bytes do not depend on any rule but that of the final newline.
func drawTrueEdit(t *rapid.T) trueEdit {
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
	var script []Line
	for i := range rapid.IntRange(0, 25).Draw(t, "length") {
		op := rapid.SampledFrom([]Op{Context, Context, Context, Remove, Insert}).Draw(t, "op")
		script = append(script, Line{op, fmt.Sprintf("\t%s%d – x ", []string{"same", "old", "new"}[op], i)})
	}
	whole := Chunk{Lines: script}
	e := trueEdit{chunks: cutChunks(t, script)}
	finished := rapid.Bool().Draw(t, "finished")
	if len(whole.Old()) < 2 || len(whole.New()) < 2 {
		end = "\n" // an unfinished line alone does not show its terminator
	}
	if len(whole.Old()) == 0 {
		finished = true
	}
	join := func(lines []string) string {
		text := strings.Join(lines, end)
		if finished && len(lines) > 0 {
			text += end
		}
		return text
	}
	e.before, e.after = join(whole.Old()), join(whole.New())
	if e.before == "" && end != "\n" {
		e.after = strings.ReplaceAll(e.after, end, "\n")
	}
	return e
}

// cutChunks cuts a script behind some of its context lines and takes surplus context away.
func cutChunks(t *rapid.T, script []Line) []Chunk {
	var chunks []Chunk
	start := 0
	for i := range script {
		last := i == len(script)-1
		restHasOld := len(Chunk{Lines: script[i+1:]}.Old()) > 0
		if !last && (script[i].Op != Context || !restHasOld || !rapid.Bool().Draw(t, "cut")) {
			continue
		}
		if lines := trimContext(t, script[start:i+1]); lines != nil {
			chunks = append(chunks, Chunk{Lines: lines})
		}
		start = i + 1
	}
	return chunks
}

func trimContext(t *rapid.T, lines []Line) []Line {
	changes := false
	for _, l := range lines {
		changes = changes || l.Op != Context
	}
	if !changes {
		return nil
	}
	for lines[0].Op == Context && len(Chunk{Lines: lines}.Old()) > 1 && rapid.Bool().Draw(t, "trim head") {
		lines = lines[1:]
	}
	for lines[len(lines)-1].Op == Context && len(Chunk{Lines: lines}.Old()) > 1 && rapid.Bool().Draw(t, "trim tail") {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestTrueEditsGiveTheWantedBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawTrueEdit(t)
		tree := files("f", e.before)
		plan := MakePlan(patchOf(update("f", e.chunks...)), tree, carefulPolicy())
		require.Empty(t, plan.Errors())
		assert.Equal(t, e.after, carryOut(t, tree, plan).outcome()["f"])
	})
}

// The patch's spelling of context must not get into the file, whichever pass matched.
func TestLooseContextKeepsTheBytesOfTheFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawTrueEdit(t)
		loosen := rapid.SampledFrom([]func(string) string{
			strings.TrimSpace,
			func(s string) string { return strings.TrimRight(s, " ") },
			func(s string) string { return strings.ReplaceAll(s, "–", "-") },
		}).Draw(t, "spelling")
		for i, c := range e.chunks {
			loose := Chunk{}
			for _, l := range c.Lines {
				if l.Op != Insert {
					l.Text = loosen(l.Text)
				}
				loose.Lines = append(loose.Lines, l)
			}
			e.chunks[i] = loose
		}
		tree := files("f", e.before)
		plan := MakePlan(patchOf(update("f", e.chunks...)), tree, carefulPolicy())
		require.Empty(t, plan.Errors())
		assert.Equal(t, e.after, carryOut(t, tree, plan).outcome()["f"])
	})
}

// With terminators of all kinds, a line that stays keeps all its bytes; only the end of the last
// one may go, where the unfinished line behind it is removed, or come, where lines follow it.
func TestKeptLinesAreNotTouched(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawTrueEdit(t)
		end := splitText([]byte(e.before), Policy{}).firstTerminator()
		before := mixEnds(t, e.before, end)
		text := splitText([]byte(before), carefulPolicy())
		tree := files("f", before)
		plan := MakePlan(patchOf(update("f", e.chunks...)), tree, carefulPolicy())
		require.Empty(t, plan.Errors())
		after := carryOut(t, tree, plan).outcome()["f"]
		at := 0
		for i := range text.Len() {
			line := string(text.Line(i))
			if strings.HasPrefix(line, "\told") {
				continue
			}
			found := strings.Index(after[at:], line+text.terminator(i))
			if found < 0 {
				found = len(after) - at - len(line)
				require.Equal(t, line, after[at+found:], "only the last line may lose its end")
				require.Empty(t, text.terminator(text.Len()-1), "and only in an unfinished file")
			}
			at += found + len(line)
		}
	})
}

func mixEnds(t *rapid.T, s, end string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(s, end) {
		if text, ok := strings.CutSuffix(line, end); ok {
			line = text + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		}
		b.WriteString(line)
	}
	return b.String()
}
