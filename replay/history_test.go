package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// node is a file of the made history. A nil node in a step deletes.
type node struct {
	mode string
	data string
}

func text(lines ...string) *node { return &node{"100644", strings.Join(lines, "\n") + "\n"} }

// history collects steps, each a commit, in the language of git fast-import.
type history struct {
	t     *testing.T
	input strings.Builder
	files map[string]*node
	n     int
}

func (h *history) commit(step map[string]*node) {
	h.n++
	fmt.Fprintf(&h.input, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n", 1700000000+h.n)
	for name, f := range step {
		if f == nil {
			fmt.Fprintf(&h.input, "D %s\n", name)
			delete(h.files, name)
			continue
		}
		fmt.Fprintf(&h.input, "M %s inline %s\ndata %d\n%s\n", f.mode, name, len(f.data), f.data)
		h.files[name] = f
	}
	h.input.WriteString("\n")
}

// edit commits one file with some text replaced; the text must be there n times at least, and the
// n-th (from 1) is meant.
func (h *history) edit(name string, n int, old, replacement string) {
	h.commit(map[string]*node{name: h.edited(name, n, old, replacement)})
}

func (h *history) edited(name string, n int, old, replacement string) *node {
	h.t.Helper()
	f := h.files[name]
	at := 0
	for range n {
		i := strings.Index(f.data[at:], old)
		require.GreaterOrEqual(h.t, i, 0, "%s: %q is not there %d times", name, old, n)
		at += i + len(old)
	}
	return &node{f.mode, f.data[:at-len(old)] + replacement + f.data[at:]}
}

func (h *history) move(from, to string, f *node) {
	h.commit(map[string]*node{from: nil, to: f})
}

// repository makes a bare repository of the commits.
func (h *history) repository() string {
	h.t.Helper()
	oxtest.NeedProgram(h.t, "git")
	dir := h.t.TempDir()
	for _, args := range [][]string{{"init", "-q", "--bare", "-b", "main", dir}, {"-C", dir, "fast-import", "--quiet"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir, "LC_ALL=C")
		cmd.Stdin = strings.NewReader(h.input.String())
		out, err := cmd.CombinedOutput()
		require.NoError(h.t, err, "%s", out)
	}
	return dir
}

// repeat makes n blocks of lines; %d in a line is the block's number.
func repeat(n int, lines ...string) []string {
	var out []string
	for i := range n {
		for _, l := range lines {
			out = append(out, strings.ReplaceAll(l, "%d", fmt.Sprint(i)))
		}
	}
	return out
}

const longName = "func (s *Server) registerEveryHandlerThatTheConfigurationAsksFor(ctx context.Context, "

// makeHistory returns a history of files that are hard to place edits in. Three of its commits
// change nothing that a patch of text can express.
func makeHistory(t *testing.T) *history {
	h := &history{t: t, files: map[string]*node{}}
	h.commit(map[string]*node{
		"blocks.go": text(repeat(12, "func f%d() error {", "\tif err := step(); err != nil {", "\t\treturn err",
			"\t}", "\tx := load()", "\tif err := x.Close(); err != nil {", "\t\treturn err", "\t}", "\treturn nil", "}", "")...),
		"long.go": text(repeat(3, append(append([]string{"func long%d() {"}, repeat(30, "\tcheck()", "\tif bad {", "\t\tfail()",
			"\t}")...), "}", "")...)...),
		"heading.go": text(append(
			repeat(4, longName+"first%d int) error {", "\tone()", "\ttwo()", "\tthree()", "\tfour()", "\tfive()", "\treturn nil", "}", ""),
			repeat(2, "func überträgt%d() { // "+strings.Repeat("ö", 40), "\tone()", "\ttwo()", "\tthree()", "\tfour()", "}", "")...)...),
		"crlf.txt": {"100644", strings.Join(repeat(10, "[section %d]", "key = 1", "other = 'x'", ""), "\r\n") + "\r\n"},
		"open.txt": {"100644", strings.Join(repeat(6, "item", "value - %d", "end"), "\n")},
		"Makefile": text(repeat(6, "target%d:", "\t@echo start", "\t@run \"it\"", "\t@echo done  ", "")...),
		"dup.py": text(repeat(3, "class C%d:", "    def run(self):", "        a = 1", "        return a", "",
			"    def stop(self):", "        a = 1", "        return a", "")...),
		"marked.txt":  {"100644", utf8BOM + "first\nsecond\nthird\nfourth\n"},
		"notes.md":    text(repeat(5, "# Part %d", "", "It\u2019s \u2013 \u201cso\u201d.", "", "- item", "- item", "")...),
		"old name.go": text(repeat(5, "func g%d() {", "\tbody()", "}", "")...),
		"nested.go":   text(repeat(4, "func n%d() {", "\tfor _, x := range list%d {", "\t\tuse%d(x)", "\t\tmore%d(x)", "\t}", "}", "")...),
		"gone.txt":    text("this", "goes"),
		"empty":       {"100644", ""},
		"image":       {"100644", "a\x00b"},
		"link":        {"120000", "notes.md"},
	})
	addEdits(h)
	addMoves(h)
	addUnfit(h)
	return h
}

func addEdits(h *history) {
	for i := 1; i <= 12; i += 3 {
		h.edit("blocks.go", i, "x := load", fmt.Sprintf("x := load%d", i))
		h.edit("blocks.go", i+1, "\treturn nil\n", "\tif x != nil {\n\t\tx.Done()\n\t}\n\treturn nil\n")
	}
	for i := 7; i <= 90; i += 23 {
		h.edit("long.go", i, "\t\tfail()\n", "\t\tlog()\n\t\tfail()\n")
		h.edit("long.go", i+5, "\tcheck()\n", "")
	}
	for i := 1; i <= 4; i++ {
		h.edit("heading.go", i, "\tthree(", fmt.Sprintf("\tthree(%d", i))
	}
	h.edit("heading.go", 5, "\tfour()\n", "\tfour()\n\tvier()\n")
	h.edit("crlf.txt", 4, "key = 1", "key = 2")
	h.edit("crlf.txt", 7, "other = 'x'\r\n", "other = 'x'\r\nadded = \"y\"\r\n")
	h.edit("open.txt", 2, "item\n", "")
	h.edit("open.txt", 6, "end", "last end")
	h.edit("Makefile", 3, "\t@echo done  \n", "\t@echo done\n")
	h.edit("Makefile", 5, "\t@run \"it\"\n", "\t@run \"it\"\n\t@run -x 'that'\n")
	h.edit("dup.py", 3, "        a = 1\n", "        a = 1\n        if a:\n            a = 2\n")
	h.edit("dup.py", 1, "class C2:", "class C9:")
	h.edit("marked.txt", 1, "first", "erstens")
	h.edit("marked.txt", 1, "fourth\n", "fourth\nfifth\n")
	h.edit("notes.md", 3, "- item\n", "")
	h.edit("notes.md", 2, "\u201cso\u201d", "\u201cnot so\u201d")
	h.edit("empty", 1, "", "no longer\n")
	h.edit("nested.go", 1, "\t\tuse2(x)\n", "\t\tuse2(x, 1)\n")
	h.edit("nested.go", 1, "\t\tmore3(x)\n", "\t\tif x != nil {\n\t\t\tmore3(x)\n\t\t}\n")
}

func addMoves(h *history) {
	h.move("old name.go", "new name.go", h.files["old name.go"])
	h.move("new name.go", "sub/third.go", h.edited("new name.go", 4, "\tbody()\n", "\tbody()\n\tmore()\n"))
	h.commit(map[string]*node{"gone.txt": nil, "fresh.txt": text("a", "", "b"), "blank": {"100644", ""},
		"notes.md": h.edited("notes.md", 1, "# Part 4", "# Part four")})
	all := h.files["blocks.go"]
	h.commit(map[string]*node{"blocks.go": {all.mode, strings.ReplaceAll(all.data, "step()", "stride()")}})
}

// addUnfit adds commits of which nothing, or not all, can be said in a patch of text.
func addUnfit(h *history) {
	h.commit(map[string]*node{"image": {"100644", "a\x00c"}, "link": {"120000", "dup.py"}})
	h.commit(map[string]*node{"Makefile": {"100755", h.files["Makefile"].data}})
	h.commit(map[string]*node{"open.txt": {"100644", h.files["open.txt"].data + "\n"}})
	h.commit(map[string]*node{"link": text("a file now"), "dup.py": h.edited("dup.py", 1, "class C9:", "class C8:")})
}
