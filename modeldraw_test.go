package oxpatch_test

import (
	"path"
	"slices"
	"strings"
)

// drawn is a patch in the envelope format with what it does to a tree.
type drawn struct {
	sections []string
	deeds    []deed
	misfits  bool // one of the sections does not fit
	taken    map[string]bool
}

// drawPatch draws a patch for the tree as the model has it.
func (w *story) drawPatch() *drawn {
	p := &drawn{taken: map[string]bool{}}
	draws := []func(*drawn) bool{w.drawAdd, w.drawAdd, w.drawOver, w.drawUpdate, w.drawUpdate, w.drawUpdate, w.drawUpdate,
		w.drawThrough, w.drawDelete, w.drawDelete, w.drawMove, w.drawMove, w.drawFolder, w.drawInPlaceOfFolder}
	for range 1 + w.random.IntN(4) {
		pickOne(w, draws)(p)
	}
	if len(p.deeds) > 0 && w.chance(7) {
		if path, ok := w.some(p, 'f', true); ok {
			p.misfits = true
			p.sections = append(p.sections, "*** Update File: "+path, "@@", "-no such line", "+but a new one")
		}
	}
	return p
}

func (p *drawn) does(d deed, sections ...string) bool {
	p.taken[d.path] = true
	p.deeds, p.sections = append(p.deeds, d), append(p.sections, sections...)
	return true
}

// some returns a path of a kind that the patch does not name yet; one with something in it if full is set.
func (w *story) some(p *drawn, kind byte, full bool) (string, bool) {
	var fit []string
	for _, path := range sortedKeys(w.m.tree) {
		if n := w.m.tree[path]; n.kind == kind && !p.taken[path] && (!full || n.data != "") && path != ".gitignore" {
			fit = append(fit, path)
		}
	}
	if len(fit) == 0 {
		return "", false
	}
	return pickOne(w, fit), true
}

// fresh makes up a name at which nothing stands and which nothing is in the way of.
func (w *story) fresh(p *drawn) (string, bool) {
	folders := []string{"", "", "deep/", "deep/er/", "new/", "new/er/", "a b/", "x/y/z/"}
	if !w.git {
		folders = append(folders, "caf\xe9/", "hollow/inner/", "hollow/")
	}
	name := pickOne(w, folders) + pickOne(w, []string{"one.txt", "two.txt", "three.txt", "four", "five six"})
	if _, there := w.m.tree[name]; there || p.taken[name] {
		return "", false
	}
	for _, up := range parents(name) {
		if n := w.m.tree[up]; n.kind != 0 && n.kind != 'd' || p.taken[up] {
			return "", false
		}
	}
	for t := range p.taken {
		if strings.HasPrefix(t, name+"/") {
			return "", false
		}
	}
	return name, true
}

func (w *story) newFile(lines []string) node {
	text := strings.Join(lines, "\n")
	if len(lines) > 0 {
		text += "\n"
	}
	return node{kind: 'f', mode: 0o666 &^ w.m.umask, data: text}
}

// newLines makes up the lines of a new file, and how a patch has them.
func (w *story) newLines() (lines, added []string) {
	for range w.random.IntN(5) {
		lines = append(lines, w.line())
		added = append(added, "+"+lines[len(lines)-1])
	}
	return lines, added
}

func (w *story) drawAdd(p *drawn) bool {
	name, ok := w.fresh(p)
	if !ok {
		return false
	}
	lines, added := w.newLines()
	return p.does(deed{path: name, after: w.newFile(lines)}, append([]string{"*** Add File: " + name}, added...)...)
}

// drawOver adds a file where there is one.
func (w *story) drawOver(p *drawn) bool {
	name, ok := w.some(p, 'f', false)
	if !ok {
		return false
	}
	lines, added := w.newLines()
	after := w.newFile(append(lines, w.line()))
	added = append(added, "+"+strings.TrimSuffix(after.data[strings.LastIndex(strings.TrimSuffix(after.data, "\n"), "\n")+1:], "\n"))
	after.mode = w.m.tree[name].mode
	return p.does(deed{path: name, before: w.m.tree[name], after: after}, append([]string{"*** Add File: " + name}, added...)...)
}

func (w *story) drawUpdate(p *drawn) bool {
	name, ok := w.some(p, 'f', true)
	if !ok {
		return false
	}
	return w.update(p, name, name)
}

func (w *story) update(p *drawn, name, spelled string) bool {
	before := w.m.tree[name]
	after := before
	chunk, ok := w.drawEdit(&after)
	if !ok {
		return false
	}
	return p.does(deed{path: name, before: before, after: after}, append([]string{"*** Update File: " + spelled}, chunk...)...)
}

// drawThrough edits a file by the name of a link to it.
func (w *story) drawThrough(p *drawn) bool {
	link, ok := w.some(p, 'l', false)
	if !ok {
		return false
	}
	target := path.Join(parentOf(link), w.m.tree[link].data)
	if n := w.m.tree[target]; n.kind != 'f' || n.data == "" || p.taken[target] {
		return false
	}
	p.taken[link] = true
	return w.update(p, target, link)
}

func (w *story) drawDelete(p *drawn) bool {
	kind := byte('f')
	if w.chance(20) {
		kind = 'l'
	}
	name, ok := w.some(p, kind, false)
	if !ok {
		return false
	}
	if kind == 'f' { // a link to it may be named too
		for l, n := range w.m.tree {
			if n.kind == 'l' && path.Join(parentOf(l), n.data) == name {
				p.taken[l] = true
			}
		}
	}
	return p.does(deed{path: name, before: w.m.tree[name]}, "*** Delete File: "+name)
}

// drawMove moves a file, with or without an edit, to a new name or over another file.
func (w *story) drawMove(p *drawn) bool {
	from, ok := w.some(p, 'f', true)
	if !ok {
		return false
	}
	before := w.m.tree[from]
	after := before
	chunk, ok := w.drawEdit(&after)
	if !ok {
		return false
	}
	p.taken[from] = true
	to, ok := w.fresh(p)
	if w.chance(15) {
		to, ok = w.some(p, 'f', false)
	}
	if !ok || strings.HasPrefix(to, from+"/") {
		delete(p.taken, from)
		return false
	}
	p.does(deed{path: from, before: before}, append([]string{"*** Update File: " + from, "*** Move to: " + to}, chunk...)...)
	return p.does(deed{path: to, from: from, before: w.m.tree[to], after: after})
}

// drawFolder makes a folder in the place of a file.
func (w *story) drawFolder(p *drawn) bool {
	if !w.chance(30) {
		return false
	}
	name, ok := w.some(p, 'f', false)
	if !ok {
		return false
	}
	in := name + "/inside.txt"
	lines, added := w.newLines()
	p.does(deed{path: name, before: w.m.tree[name]}, "*** Delete File: "+name)
	return p.does(deed{path: in, after: w.newFile(lines)}, append([]string{"*** Add File: " + in}, added...)...)
}

// drawInPlaceOfFolder makes a file in the place of a folder with one file in it.
func (w *story) drawInPlaceOfFolder(p *drawn) bool {
	name, ok := w.some(p, 'f', false)
	dir := parentOf(name)
	if !ok || dir == "" || !w.chance(30) {
		return false
	}
	for other := range w.m.tree {
		if strings.HasPrefix(other, dir+"/") && other != name {
			return false
		}
	}
	for t := range p.taken {
		if strings.HasPrefix(t, dir+"/") {
			return false
		}
	}
	lines, added := w.newLines()
	p.taken[dir] = true
	p.does(deed{path: name, before: w.m.tree[name]}, "*** Delete File: "+name)
	return p.does(deed{path: dir, after: w.newFile(lines)}, append([]string{"*** Add File: " + dir}, added...)...)
}

// drawEdit changes a file by one chunk.
func (w *story) drawEdit(n *node) (chunk []string, ok bool) {
	e, ok := w.drawLineEdit(*n)
	if !ok {
		return nil, false
	}
	n.data = e.result()
	chunk = []string{"@@"}
	for _, l := range e.lines[e.from:e.at] {
		chunk = append(chunk, " "+l)
	}
	for _, l := range e.lines[e.at:e.end] {
		chunk = append(chunk, "-"+l)
	}
	for _, l := range e.new {
		chunk = append(chunk, "+"+l)
	}
	for _, l := range e.lines[e.end:e.to] {
		chunk = append(chunk, " "+l)
	}
	return chunk, true
}

// lineEdit puts new lines in the place of lines[at:end]; lines[from:to] is the context.
type lineEdit struct {
	lines             []string // without ends
	eol               string
	ended             bool // the last line has an end
	from, at, end, to int
	new               []string
}

func (e *lineEdit) result() string {
	lines := slices.Concat(e.lines[:e.at], e.new, e.lines[e.end:])
	text := strings.Join(lines, e.eol)
	if e.ended && len(lines) > 0 {
		text += e.eol
	}
	return text
}

// drawLineEdit draws an edit of a text whose lines are all different and end alike.
func (w *story) drawLineEdit(n node) (*lineEdit, bool) {
	e := &lineEdit{eol: "\n"}
	if strings.Contains(n.data, "\r\n") {
		e.eol = "\r\n"
	}
	body, ended := strings.CutSuffix(n.data, e.eol)
	e.ended, e.lines = ended, strings.Split(body, e.eol)
	if n.data == "" || !allDistinct(e.lines) {
		return nil, false
	}
	for _, l := range e.lines {
		if l == "" || strings.ContainsAny(l, "\r\n") || strings.TrimSpace(l) != l {
			return nil, false
		}
	}
	e.at = w.random.IntN(len(e.lines))
	e.end = e.at + 1
	e.new = []string{w.line()}
	last := e.end == len(e.lines)
	switch w.random.IntN(6) {
	case 0:
		e.new = append(e.new, w.line())
	case 1:
		if !last && len(e.lines) > 2 {
			e.new = nil
		}
	case 2:
		if !last {
			e.at = e.end // behind the line
		}
	}
	e.from, e.to = max(0, e.at-2), min(len(e.lines), e.end+2)
	if strings.Contains(n.data, "\x00") {
		e.from, e.to = e.at, e.end
		if e.at == e.end || strings.Contains(e.lines[e.at], "\x00") {
			return nil, false
		}
	}
	return e, true
}
