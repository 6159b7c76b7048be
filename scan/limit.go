package scan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openoxide/oxpatch/change"
)

// ErrLimit: a tree is larger than what is allowed. It comes as a *LimitError.
var ErrLimit = errors.New("tree too large")

// Limit names what there is too much of.
type Limit string

const (
	LimitFiles Limit = "files"
	LimitBytes Limit = "bytes"
)

// LimitError says that there is too much, and where most of it is.
type LimitError struct {
	What  Limit
	Most  int64 // what is allowed
	Least int64 // what there is at least
	Blame []Share
}

// Share is what a folder, or one large file, has of the whole.
type Share struct {
	Path string // "" is the root
	N    int64
}

func (e *LimitError) Error() string {
	return e.Text(func(bytes int64) string { return fmt.Sprintf("%d bytes", bytes) })
}

// Text is the message with sizes as size writes them.
func (e *LimitError) Text(size func(bytes int64) string) string {
	text, number := fmt.Sprintf("over %d files", e.Most), func(n int64) string { return strconv.FormatInt(n, 10) }
	if e.What == LimitBytes {
		text, number = fmt.Sprintf("over %s that are not in the store yet", size(e.Most)), size
	}
	var shares []string
	for _, s := range e.Blame {
		path := change.DisplayPath(s.Path)
		if path == "" {
			path = "the top folder"
		}
		shares = append(shares, path+" holds "+number(s.N))
	}
	if len(shares) > 0 {
		text += " (" + strings.Join(shares, ", ") + ")"
	}
	return text
}

// Is makes errors.Is(err, ErrLimit) true.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// maxBlamed is how many folders are blamed at most.
const maxBlamed = 3

func countOf(File) int64 { return 1 }

// SizeOf weighs a file by its bytes.
func SizeOf(f File) int64 { return f.Sight.Version.Size }

// Blame says where the weight is: in the deepest folder, or file, that has more than half of it; where
// no single one has so much, in the heaviest next to each other.
func Blame(files []File, weigh func(File) int64) []Share {
	weight := map[string]int64{}
	inside := map[string]map[string]bool{}
	for _, f := range files {
		n := weigh(f)
		for at := f.Path; ; {
			weight[at] += n
			if at == "" {
				break
			}
			up := ""
			if i := strings.LastIndexByte(at, '/'); i >= 0 {
				up = at[:i]
			}
			if inside[up] == nil {
				inside[up] = map[string]bool{}
			}
			inside[up][at] = true
			at = up
		}
	}
	at := ""
	for {
		shares := heaviest(inside[at], weight)
		if len(shares) > 0 && 2*shares[0].N > weight[at] {
			at = shares[0].Path
			continue
		}
		if at != "" || len(shares) == 0 {
			return []Share{{Path: at, N: weight[at]}}
		}
		return shares[:min(len(shares), maxBlamed)]
	}
}

func heaviest(paths map[string]bool, weight map[string]int64) []Share {
	var shares []Share
	for p := range paths {
		shares = append(shares, Share{Path: p, N: weight[p]})
	}
	slices.SortFunc(shares, func(a, b Share) int {
		if a.N != b.N {
			return int(min(1, max(-1, b.N-a.N)))
		}
		return strings.Compare(a.Path, b.Path)
	})
	return shares
}
