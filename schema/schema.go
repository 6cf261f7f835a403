// Package schema holds the JSON Schema (2020-12) of a record.
package schema

import _ "embed"

// Record is the schema of a record file, version 3 and 2. The keyword x-form
// says in words what a pattern, format or limit asks for.
//
//go:embed record.schema.json
var Record []byte
