package udiff

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openoxide/oxpatch/textapply"
)

// ranges is a hunk header with numbers. It is compiled when it is needed: a program that is given
// another format has no use for it.
var ranges = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$`)
})

// hunk reads a hunk whose header is the current line. Lines belong to it as its counts say; where
// there are none, or what follows does not fit them, until something else begins.
func (p *parser) hunk(line string) error {
	c := textapply.Chunk{Line: p.line}
	header := p.cur
	old, new := -1, -1
	if m := ranges().FindStringSubmatch(line); m != nil {
		c.Hint, _ = strconv.Atoi(m[1])
		old, new = count(m[2]), count(m[4])
		if old == 0 {
			// "-5,0" means behind line 5.
			c.Hint++
		}
		// Behind numbers stands the heading of the function that the hunk is in. It tells the place of
		// the old lines; without any it is no line for the new ones to stand below.
		if m[5] != "" && old != 0 {
			c.Scopes = []string{strings.TrimRight(m[5], " \t")}
		}
	} else if scope := looseScope(line); scope != "" {
		c.Scopes = []string{scope}
	}
	marks := &endings{}
	var returns []bool // whether each line ends in a carriage return
	for p.more(old, new) {
		next, cr := strings.CutSuffix(p.peek(0), "\r")
		if strings.HasPrefix(next, `\`) {
			p.scan()
			marks.mark(c.Lines)
			continue
		}
		l, ok := textapply.ReadLine(next)
		if !ok {
			if err := p.endOfHunk(&c, next, old, new); err != nil {
				return err
			}
			break
		}
		p.scan()
		if cr && p.open.whole() && l.Op != textapply.Context && !strings.HasSuffix(header, "\r") {
			l.Text += "\r" // the diff has other line endings than the file, whose every byte it holds
		}
		c.Lines = append(c.Lines, l)
		returns = append(returns, cr)
		if l.Op != textapply.Insert {
			old--
		}
		if l.Op != textapply.Remove {
			new--
		}
	}
	c.Final = marks.final()
	if !p.open.whole() {
		c.Ending = changedEnding(c.Lines, returns)
	}
	if marks.any() {
		c.EOF = true
	}
	c.Lines = trimBlankTail(c.Lines, old, new)
	if c.Hint <= 1 {
		dropMark(c.Lines)
	}
	if len(c.Lines) == 0 {
		return p.fail(ErrEmpty, "the hunk has no lines")
	}
	p.open.chunks = append(p.open.chunks, c)
	return nil
}

func count(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// looseScope returns the text of a header without numbers: "@@ text", "@@ text @@".
func looseScope(line string) string {
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(line, "@@"), "@@"))
	if text == "..." || text == "…" || strings.HasPrefix(text, "-") {
		return ""
	}
	return text
}

// more reports whether the next line can still belong to the hunk.
func (p *parser) more(old, new int) bool {
	if p.text == "" {
		return false
	}
	next := p.peek(0)
	if old == 0 && new == 0 {
		// The counts are used up. A line behind them that looks like one of the hunk means that
		// they were wrong; git would drop it without a word.
		return strings.HasPrefix(next, `\`) || p.surplus(next)
	}
	if old > 0 && new > 0 || old > 0 && strings.HasPrefix(next, "-") || new > 0 && strings.HasPrefix(next, "+") {
		return !strings.HasPrefix(next, "diff --git ") && !strings.HasPrefix(next, "@@ -")
	}
	return !p.begins(next)
}

// surplus reports whether a line behind a complete hunk is one of it all the same.
func (p *parser) surplus(next string) bool {
	if p.begins(next) || next == "" || next == "\r" || strings.HasPrefix(next, "-- ") || next == "--" {
		return false // also the signature below a mailed patch
	}
	return next[0] == '+' || next[0] == '-' || next[0] == ' '
}

// begins reports whether a line starts something new: a section, a hunk, or the end of a fence.
func (p *parser) begins(next string) bool {
	switch {
	case strings.HasPrefix(next, "diff --git "), strings.HasPrefix(next, "@@"), strings.HasPrefix(next, "```"), strings.HasPrefix(next, "~~~"):
		return true
	case strings.HasPrefix(next, "--- "):
		return strings.HasPrefix(p.peek(1), "+++ ")
	}
	return false
}

// endOfHunk judges a line that has no prefix: it ends a hunk without counts; where the counts want
// more it is a mistake.
func (p *parser) endOfHunk(c *textapply.Chunk, next string, old, new int) error {
	if old > 0 || new > 0 {
		p.line++
		return p.fail(ErrLine, "the line %q begins with neither a blank nor - nor +, and the hunk's counts want %d more old and %d more new lines",
			short(next), max(old, 0), max(new, 0))
	}
	return nil
}

// trimBlankTail takes empty lines off the end of a hunk without counts, or with counts that were too
// small: they are those in front of the next section.
func trimBlankTail(lines []textapply.Line, old, new int) []textapply.Line {
	for (old < 0 || new < 0) && len(lines) > 0 && lines[len(lines)-1] == (textapply.Line{Op: textapply.Context}) {
		lines = lines[:len(lines)-1]
		old, new = old+1, new+1
	}
	return lines
}

// dropMark takes a byte-order mark off the first line of both sides, if both have one: it is no part
// of the text that is edited, and the file keeps it.
func dropMark(lines []textapply.Line) {
	const mark = "\ufeff"
	isOld := func(l textapply.Line) bool { return l.Op != textapply.Insert }
	isNew := func(l textapply.Line) bool { return l.Op != textapply.Remove }
	i, j := slices.IndexFunc(lines, isOld), slices.IndexFunc(lines, isNew)
	if i < 0 || j < 0 || !strings.HasPrefix(lines[i].Text, mark) || !strings.HasPrefix(lines[j].Text, mark) {
		return
	}
	lines[i].Text = strings.TrimPrefix(lines[i].Text, mark)
	if j != i {
		lines[j].Text = strings.TrimPrefix(lines[j].Text, mark)
	}
}

// endings remembers which sides of a hunk end in a line without newline.
type endings struct{ old, new bool }

// mark notes "\ No newline at end of file" for the line before it.
func (e *endings) mark(lines []textapply.Line) {
	if len(lines) == 0 {
		return
	}
	op := lines[len(lines)-1].Op
	e.old = e.old || op != textapply.Insert
	e.new = e.new || op != textapply.Remove
}

func (e *endings) any() bool { return e.old || e.new }

// final says what becomes of the final newline.
func (e *endings) final() textapply.FinalNewline {
	switch {
	case e.new && !e.old:
		return textapply.FinalRemoved
	case e.old && !e.new:
		return textapply.FinalAdded
	}
	return textapply.FinalKept
}

// changedEnding returns the line ending that a hunk gives to its lines where it changes nothing else. What
// others say of line endings is by chance: who copies lines of a file and writes new ones beside them mixes
// them easily.
func changedEnding(lines []textapply.Line, returns []bool) textapply.LineEnding {
	var text [3][]string
	var cr [3]int
	for i, l := range lines {
		text[l.Op] = append(text[l.Op], l.Text)
		if returns[i] {
			cr[l.Op]++
		}
	}
	n := len(text[textapply.Insert])
	if n == 0 || !slices.Equal(text[textapply.Remove], text[textapply.Insert]) {
		return textapply.KeepEnding
	}
	switch [2]int{cr[textapply.Remove], cr[textapply.Insert]} {
	case [2]int{0, n}:
		return textapply.ToCRLF
	case [2]int{n, 0}:
		return textapply.ToLF
	}
	return textapply.KeepEnding
}

func short(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s…", strings.ToValidUTF8(s[:most], ""))
}
