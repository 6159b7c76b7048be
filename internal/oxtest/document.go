package oxtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openoxide/oxpatch/schema"
)

// Checker compares JSON documents with the schema. It may be used by several goroutines.
type Checker struct{ compiled *jsonschema.Schema }

// NewChecker compiles the schema, and the rules of its own draft on formats and encodings with it.
func NewChecker() (*Checker, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.Oxpatch1))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource(schema.URL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schema.URL)
	if err != nil {
		return nil, err
	}
	return &Checker{compiled}, nil
}

// Check reads what a command printed: exactly one document, as the schema wants it. It returns the
// document.
func (c *Checker) Check(output []byte) (map[string]any, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(output)) // refuses anything behind the document
	if err != nil {
		return nil, fmt.Errorf("not one JSON document: %w\n%s", err, output)
	}
	if err := c.compiled.Validate(doc); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output)
	}
	if bytes.Contains(output, []byte(`\ufffd`)) || bytes.ContainsRune(output, '\uFFFD') {
		if !bytes.Contains(output, []byte(`_base64"`)) {
			return nil, fmt.Errorf("bytes that are not UTF-8 without their base64 twin\n%s", output)
		}
	}
	object, _ := doc.(map[string]any)
	return object, nil
}

// CheckExit is Check for a program that exited with code: the document has to agree with it.
func (c *Checker) CheckExit(output []byte, code int) (map[string]any, error) {
	doc, err := c.Check(output)
	if err != nil {
		return nil, err
	}
	if doc["ok"] != (code == 0) {
		return nil, fmt.Errorf("ok is %v with exit code %d\n%s", doc["ok"], code, output)
	}
	applied, told := doc["applied"].(bool)
	if told && applied && (code == 1 || code == 2 || code == 5 || code == 130) {
		return nil, fmt.Errorf("applied with exit code %d, which means that nothing was changed\n%s", code, output)
	}
	return doc, nil
}

// At returns the value at a dotted path, such as problems.0.kind, in JSON but for strings, which are
// given as they are; null where there is none.
func At(doc any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i < 0 || i >= len(v) {
				return "null"
			}
			doc = v[i]
		default:
			return "null"
		}
	}
	if s, ok := doc.(string); ok {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}
