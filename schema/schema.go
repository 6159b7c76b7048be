// Package schema holds the JSON Schema of what oxpatch prints with --json.
package schema

import _ "embed"

// Oxpatch1 is the schema (draft 2020-12) of the documents that carry "schema": "oxpatch/1".
//
//go:embed oxpatch-1.schema.json
var Oxpatch1 string

// URL identifies the schema; it is its $id.
const URL = "https://github.com/openoxide/oxpatch/schema/oxpatch-1.schema.json"
