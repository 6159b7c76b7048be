package schema_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
	"github.com/openoxide/oxpatch/schema"
)

const good = `{
  "schema": "oxpatch/1", "command": "apply", "ok": true, "applied": true, "exact": true, "mode": "text",
  "format": "envelope", "root": "/r", "duration_ms": 1, "id": "1a",
  "snapshot": {"commit": "0123456789abcdef0123456789abcdef01234567", "store": "/s", "undoable": true},
  "files": [{"path": "a", "change": "modify", "status": "applied", "unchanged": false, "added": 1, "removed": 0,
             "hunks": [{"index": 1, "status": "applied", "line": 1, "match": "exact", "also_at": [2]}]}],
  "applied_paths": ["a"], "skipped_paths": [], "conflicted_paths": [], "problems": []
}`

// The schema is closed: what it does not know, or what contradicts itself, is refused.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	checker, err := oxtest.NewChecker()
	require.NoError(t, err)
	_, err = checker.Check([]byte(good))
	require.NoError(t, err, "the document that the cases begin with")
	type doc = map[string]any
	problem := func(more doc) []any {
		p := doc{"severity": "error", "kind": "io", "message": "m"}
		for k, v := range more {
			p[k] = v
		}
		return []any{p}
	}
	file := func(d doc) doc { return d["files"].([]any)[0].(doc) }
	hunk := func(d doc) doc { return file(d)["hunks"].([]any)[0].(doc) }
	cases := map[string]func(d doc){
		"another version":               func(d doc) { d["schema"] = "oxpatch/2" },
		"an unknown command":            func(d doc) { d["command"] = "fly" },
		"an unknown member":             func(d doc) { d["extra"] = 1 },
		"no array of problems":          func(d doc) { delete(d, "problems") },
		"no array of paths":             func(d doc) { delete(d, "skipped_paths") },
		"null for an array":             func(d doc) { d["files"] = nil },
		"a failure without an error":    func(d doc) { d["ok"] = false },
		"a failure with a warning only": func(d doc) { d["ok"] = false; d["problems"] = problem(doc{"severity": "warning"}) },
		"a success with an error":       func(d doc) { d["problems"] = problem(nil) },
		"a check that applied":          func(d doc) { d["command"] = "check" },
		"an id of nothing applied":      func(d doc) { d["applied"] = false },
		"an id without a record":        func(d doc) { d["snapshot"] = doc{"commit": nil, "store": nil, "undoable": false} },
		"undoable without an id":        func(d doc) { d["id"] = nil },
		"an unknown kind":               func(d doc) { d["ok"] = false; d["problems"] = problem(doc{"kind": "odd"}) },
		"a file that failed":            func(d doc) { file(d)["status"] = "failed" },
		"an unknown change":             func(d doc) { file(d)["change"] = "touch" },
		"a hunk without an index":       func(d doc) { delete(hunk(d), "index") },
		"a line 0":                      func(d doc) { hunk(d)["line"] = 0 },
		"an unknown match":              func(d doc) { hunk(d)["match"] = "roughly" },
		"a path badly quoted":           func(d doc) { file(d)["path"] = `"caf\xe9"` },
		"a quoted path without its end": func(d doc) {
			d["applied_paths"] = []any{`"open`}
		},
		"a path listed twice":  func(d doc) { d["applied_paths"] = []any{"a", "a"} },
		"a twin not in base64": func(d doc) { d["root_base64"] = "%" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d doc
			require.NoError(t, json.Unmarshal([]byte(good), &d))
			spoil(d)
			data, err := json.Marshal(d)
			require.NoError(t, err)
			_, err = checker.Check(data)
			assert.Error(t, err)
		})
	}
}

// The closed lists stand in the code too.
func TestSchemaHasTheListsOfTheCode(t *testing.T) {
	t.Parallel()
	var d struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage // some are just true
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(schema.Oxpatch1), &d))
	for _, tt := range []struct{ file, goType, def, member string }{
		{"../problem.go", "Kind", "problem", "kind"},
		{"../problem.go", "Severity", "problem", "severity"},
		{"../applier.go", "FileStatus", "hunk", "status"},
		{"../snapshot/meta.go", "Kind", "operation", "kind"},
	} {
		inCode := constants(t, tt.file, tt.goType)
		require.NotEmpty(t, inCode, "%s has no constants of type %s", tt.file, tt.goType)
		var inSchema struct{ Enum []string }
		require.NoError(t, json.Unmarshal(d.Defs[tt.def].Properties[tt.member], &inSchema))
		slices.Sort(inSchema.Enum)
		assert.Equal(t, inCode, inSchema.Enum, "%s in %s", tt.goType, tt.file)
	}
}

// constants returns the values of a file's string constants of one type, sorted.
func constants(t *testing.T, file, goType string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != goType {
			return true
		}
		for _, v := range spec.Values {
			lit, ok := v.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			value, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	})
	slices.Sort(values)
	return values
}
