package outputparse

import "strings"

// names is the list of known names in the forms in which git prints them.
type names struct {
	forms map[string]string // form → name
	// odd are the names that one line does not simply hold, by what stands before the first line
	// feed or carriage return in them.
	odd       map[string][]string
	multiline bool
}

func newNames(known []string) names {
	n := names{forms: map[string]string{}, odd: map[string][]string{}}
	for _, name := range known {
		for _, form := range []string{quote(name, true), quote(name, false), name} {
			n.forms[form] = name // the raw form last: it wins over another name's quoted one
		}
		if strings.ContainsAny(name, "\n\r") {
			n.odd[beginning(name)] = append(n.odd[beginning(name)], name)
			n.multiline = true
		}
	}
	return n
}

func beginning(text string) string {
	if i := strings.IndexAny(text, "\n\r"); i >= 0 {
		return text[:i]
	}
	return text
}

func (n names) given() bool { return len(n.forms) > 0 }

// lookup returns the names that a printed one stands for: one, two for "OLD => NEW", or nil.
func (n names) lookup(printed string) []string {
	if name, ok := n.forms[printed]; ok {
		return []string{name}
	}
	for at := 0; ; {
		i := strings.Index(printed[at:], " => ")
		if i < 0 {
			return nil
		}
		old, okOld := n.forms[printed[:at+i]]
		new, okNew := n.forms[printed[at+i+4:]]
		if okOld && okNew {
			return []string{old, new}
		}
		at += i + 4
	}
}
