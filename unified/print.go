package unified

import (
	"bufio"
	"bytes"
	"hash"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// printer writes sections. Its writer holds back the first error until it is flushed, so that
// nothing in between needs to look.
type printer struct {
	w       *bufio.Writer
	context int
	newHash func() hash.Hash
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s)
	}
}

func (p *printer) section(s section) {
	same := bytes.Equal(s.old.Content, s.new.Content)
	var list []region
	if !same {
		list = s.regions()
	}
	p.put("diff --git ", header("a/", s.oldPath), " ", header("b/", s.newPath), "\n")
	p.modes(s)
	if s.rename() {
		p.put("similarity index ", strconv.Itoa(similarity(s, list)), "%\n")
		p.put("rename from ", header("", s.oldPath), "\nrename to ", header("", s.newPath), "\n")
	}
	switch {
	case same:
	case s.binary():
		p.index(s)
		p.binary(s)
	default:
		if s.old.Kind == change.Symlink && s.new.Kind == change.Symlink {
			p.index(s) // nothing else says that this is a link
		}
		p.names(s)
		p.body(s.old.Content, s.new.Content, list)
	}
}

func (p *printer) modes(s section) {
	oldMode, newMode := gitMode(s.old), gitMode(s.new)
	switch {
	case s.old.Kind == change.Absent:
		p.put("new file mode ", newMode, "\n")
	case s.new.Kind == change.Absent:
		p.put("deleted file mode ", oldMode, "\n")
	case oldMode != newMode:
		p.put("old mode ", oldMode, "\nnew mode ", newMode, "\n")
	}
}

// names prints the two lines in front of the hunks. A tab closes a name that holds a blank, or
// programs that expect a time stamp there would cut the name short.
func (p *printer) names(s section) {
	side := func(sign, prefix, name string, st change.State) {
		if st.Kind == change.Absent {
			p.put(sign, " /dev/null\n")
			return
		}
		end := "\n"
		if strings.Contains(name, " ") {
			end = "\t\n"
		}
		p.put(sign, " ", header(prefix, name), end)
	}
	side("---", "a/", s.oldPath, s.old)
	side("+++", "b/", s.newPath, s.new)
}

// header spells a name: behind its prefix unless it is absolute, quoted where git quotes.
func header(prefix, name string) string {
	if path.IsAbs(name) || filepath.IsAbs(name) {
		prefix = ""
	}
	if change.NeedsQuote(name) {
		return change.Quote(prefix + name)
	}
	return prefix + name
}

// similarity is the share of bytes, in percent of the longer side, that a rename keeps. Only
// equal contents have 100.
func similarity(s section, list []region) int {
	kept, longer := len(s.old.Content), max(len(s.old.Content), len(s.new.Content))
	if len(list) == 0 {
		return 100
	}
	for _, r := range list {
		kept -= r.oldEnd - r.oldStart
	}
	return min(99, int(int64(kept)*100/int64(longer)))
}
