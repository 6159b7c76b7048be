package oxpatch

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openoxide/oxpatch/change"
)

// Schema names the version of the JSON form.
const Schema = "oxpatch/1"

// MarshalJSON returns the JSON form that --json prints. Arrays are always present; text that is
// not UTF-8 gets U+FFFD for the bytes that are not, and a twin member "…_base64" with the bytes.
func (r *Result) MarshalJSON() ([]byte, error) {
	w := wireResult{
		Schema: Schema, Command: r.Command, OK: r.OK, Applied: r.Applied, Exact: r.Exact,
		Mode: string(r.Mode), Format: string(r.Format), Root: r.Root,
		DurationMS:      r.Duration.Milliseconds(),
		Reverts:         r.Reverts,
		Restores:        r.Restores,
		Snapshot:        wireSnapshotOf(r.Snapshot),
		Files:           []wireFile{},
		AppliedPaths:    list(r.AppliedPaths),
		SkippedPaths:    list(r.SkippedPaths),
		ConflictedPaths: list(r.ConflictedPaths),
		Problems:        WireProblems(r.Problems),
	}
	w.ID = optional(r.ID)
	if r.Tree != nil {
		w.Tree = &wireTree{Files: r.Tree.Files, Bytes: r.Tree.Bytes, Read: &r.Tree.Read, Stored: &r.Tree.Stored}
	}
	w.Git = wireGitOf(r.Git)
	w.Diff, w.DiffBase64 = text(string(r.Diff))
	w.Root, w.RootBase64 = text(r.Root)
	for _, f := range r.Files {
		w.Files = append(w.Files, wireFileOf(f))
	}
	return marshal(w)
}

// MarshalJSON returns the JSON form of one problem, as in a result.
func (p Problem) MarshalJSON() ([]byte, error) { return marshal(wireProblemOf(p)) }

// WireProblems returns the problems for a JSON document; never nil.
func WireProblems(ps []Problem) []Problem {
	if ps == nil {
		return []Problem{}
	}
	return ps
}

func marshal(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

type wireResult struct {
	Schema          string       `json:"schema"`
	Command         string       `json:"command"`
	OK              bool         `json:"ok"`
	Applied         bool         `json:"applied"`
	Exact           bool         `json:"exact"`
	Mode            string       `json:"mode,omitempty"`
	Format          string       `json:"format,omitempty"`
	Root            string       `json:"root"`
	RootBase64      string       `json:"root_base64,omitempty"`
	DurationMS      int64        `json:"duration_ms"`
	ID              *string      `json:"id"`
	Reverts         []string     `json:"reverts,omitempty"`
	Restores        string       `json:"restores,omitempty"`
	Tree            *wireTree    `json:"tree,omitempty"`
	Snapshot        wireSnapshot `json:"snapshot"`
	Files           []wireFile   `json:"files"`
	AppliedPaths    []string     `json:"applied_paths"`
	SkippedPaths    []string     `json:"skipped_paths"`
	ConflictedPaths []string     `json:"conflicted_paths"`
	Problems        []Problem    `json:"problems"`
	Diff            string       `json:"diff,omitempty"`
	DiffBase64      string       `json:"diff_base64,omitempty"`
	Git             *wireGit     `json:"git,omitempty"`
}

// wireTree sums up a recorded tree; what is not known of one in the log is left out there.
type wireTree struct {
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	Read   *int   `json:"read,omitempty"`
	Stored *int64 `json:"stored,omitempty"`
}

type wireGit struct {
	Command      string `json:"command"`
	ExitCode     int    `json:"exit_code"`
	Stdout       string `json:"stdout"`
	StdoutBase64 string `json:"stdout_base64,omitempty"`
	Stderr       string `json:"stderr"`
	StderrBase64 string `json:"stderr_base64,omitempty"`
}

func wireGitOf(g *GitRun) *wireGit {
	if g == nil {
		return nil
	}
	w := &wireGit{Command: g.Command, ExitCode: g.ExitCode}
	w.Stdout, w.StdoutBase64 = text(string(g.Stdout))
	w.Stderr, w.StderrBase64 = text(string(g.Stderr))
	return w
}

type wireSnapshot struct {
	Commit       *string `json:"commit"`
	Store        *string `json:"store"`
	StoreBase64  string  `json:"store_base64,omitempty"`
	Undoable     bool    `json:"undoable"`
	Reason       string  `json:"reason,omitempty"`
	ReasonBase64 string  `json:"reason_base64,omitempty"`
}

type wireFile struct {
	Path      string     `json:"path"`
	OldPath   string     `json:"old_path,omitempty"`
	Change    string     `json:"change"`
	Status    FileStatus `json:"status"`
	Unchanged bool       `json:"unchanged"`
	Added     int        `json:"added"`
	Removed   int        `json:"removed"`
	Hunks     []wireHunk `json:"hunks"`
}

type wireHunk struct {
	Index  int        `json:"index"`
	Status FileStatus `json:"status"`
	Line   int        `json:"line,omitempty"`
	Match  string     `json:"match,omitempty"`
	AlsoAt []int      `json:"also_at,omitempty"`
}

type wireProblem struct {
	Severity      Severity        `json:"severity"`
	Kind          Kind            `json:"kind"`
	Input         string          `json:"input,omitempty"`
	Path          string          `json:"path,omitempty"`
	Hunk          int             `json:"hunk,omitempty"`
	Line          int             `json:"line,omitempty"`
	PatchLine     int             `json:"patch_line,omitempty"`
	Message       string          `json:"message"`
	MessageBase64 string          `json:"message_base64,omitempty"`
	Hint          string          `json:"hint,omitempty"`
	HintBase64    string          `json:"hint_base64,omitempty"`
	Nearest       *wireNearest    `json:"nearest,omitempty"`
	Candidates    []wireCandidate `json:"candidates,omitempty"`
}

type wireNearest struct {
	Line            int            `json:"line"`
	Score           float64        `json:"score"`
	FirstDifference wireDifference `json:"first_difference"`
}

type wireDifference struct {
	Line       int    `json:"line"`
	Want       string `json:"want"`
	WantBase64 string `json:"want_base64,omitempty"`
	// Have is null where the file has no such line.
	Have       *string `json:"have"`
	HaveBase64 string  `json:"have_base64,omitempty"`
}

type wireCandidate struct {
	Line        int    `json:"line"`
	Text        string `json:"text,omitempty"`
	TextBase64  string `json:"text_base64,omitempty"`
	Scope       string `json:"scope,omitempty"`
	ScopeBase64 string `json:"scope_base64,omitempty"`
}

func wireSnapshotOf(s Snapshot) wireSnapshot {
	w := wireSnapshot{Commit: optional(s.Commit), Undoable: s.Undoable}
	var store string
	store, w.StoreBase64 = text(s.Store)
	w.Store = optional(store)
	w.Reason, w.ReasonBase64 = text(s.Reason)
	return w
}

func wireFileOf(f FileResult) wireFile {
	w := wireFile{
		Path: f.Path, OldPath: f.OldPath, Change: f.Change, Status: f.Status, Unchanged: f.Unchanged,
		Added: f.Added, Removed: f.Removed, Hunks: []wireHunk{},
	}
	for _, h := range f.Hunks {
		w.Hunks = append(w.Hunks, wireHunk(h))
	}
	return w
}

func wireProblemOf(p Problem) wireProblem {
	w := wireProblem{
		Severity: p.Severity, Kind: p.Kind, Input: change.DisplayPath(p.Input), Path: p.Path, Hunk: p.Hunk, Line: p.Line, PatchLine: p.PatchLine,
	}
	w.Message, w.MessageBase64 = text(p.Message)
	w.Hint, w.HintBase64 = text(p.Hint)
	w.Nearest = wireNearestOf(p.Nearest)
	for _, c := range p.Candidates {
		wc := wireCandidate{Line: c.Line}
		wc.Text, wc.TextBase64 = text(c.Text)
		wc.Scope, wc.ScopeBase64 = text(c.Scope)
		w.Candidates = append(w.Candidates, wc)
	}
	return w
}

func wireNearestOf(n *Nearest) *wireNearest {
	if n == nil {
		return nil
	}
	d := n.FirstDifference
	w := &wireNearest{Line: n.Line, Score: math.Round(n.Score*100) / 100}
	w.FirstDifference.Line = d.Line
	w.FirstDifference.Want, w.FirstDifference.WantBase64 = text(d.Want)
	if !d.AtEnd {
		have, twin := text(d.Have)
		w.FirstDifference.Have, w.FirstDifference.HaveBase64 = &have, twin
	}
	return w
}

// text returns s for a JSON string and, where s is not UTF-8, its bytes in base64.
func text(s string) (valid, twin string) {
	if utf8.ValidString(s) {
		return s, ""
	}
	return strings.ToValidUTF8(s, "\uFFFD"), base64.StdEncoding.EncodeToString([]byte(s))
}

// WireText returns bytes as a JSON document has them: as text and, where they are not UTF-8, in base64
// too.
func WireText(data []byte) (valid, twin string) { return text(string(data)) }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func list(paths []string) []string {
	if paths == nil {
		return []string{}
	}
	return paths
}

// MarshalJSON returns the JSON form of one operation, as in the log.
func (op Operation) MarshalJSON() ([]byte, error) {
	w := wireOperation{
		ID: op.ID, Kind: op.Kind, State: op.State, Reverts: list(op.Reverts), Time: op.Time,
		Mode: op.Mode, Format: op.Format, Paths: op.Paths, Commit: op.Commit,
	}
	if w.Paths == nil {
		w.Paths = []OperationPath{}
	}
	w.Restores = op.Restores
	if op.Tree != nil {
		w.Tree = &wireTree{Files: op.Tree.Files, Bytes: op.Tree.Bytes}
	}
	w.Session, w.SessionBase64 = text(op.Session)
	w.Turn, w.TurnBase64 = text(op.Turn)
	w.Label, w.LabelBase64 = text(op.Label)
	w.Store, w.StoreBase64 = text(op.Store)
	return marshal(w)
}

type wireOperation struct {
	ID            string          `json:"id"`
	Kind          string          `json:"kind"`
	State         string          `json:"state"`
	Reverts       []string        `json:"reverts"`
	Time          time.Time       `json:"time"`
	Session       string          `json:"session,omitempty"`
	SessionBase64 string          `json:"session_base64,omitempty"`
	Turn          string          `json:"turn,omitempty"`
	TurnBase64    string          `json:"turn_base64,omitempty"`
	Label         string          `json:"label,omitempty"`
	LabelBase64   string          `json:"label_base64,omitempty"`
	Mode          string          `json:"mode,omitempty"`
	Format        string          `json:"format,omitempty"`
	Restores      string          `json:"restores,omitempty"`
	Tree          *wireTree       `json:"tree,omitempty"`
	Paths         []OperationPath `json:"paths"`
	Commit        string          `json:"commit"`
	Store         string          `json:"store"`
	StoreBase64   string          `json:"store_base64,omitempty"`
}
