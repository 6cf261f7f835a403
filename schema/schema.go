// Package schema holds the JSON Schemas (2020-12) of a record and of a scenario.
package schema

import _ "embed"

// Record is the schema of a record file, version 3 and 2. The keyword x-form
// says in words what a pattern, format or limit asks for.
//
//go:embed record.schema.json
var Record []byte

// Scenario is the schema of a scenario file.
//
//go:embed scenario.schema.json
var Scenario []byte
