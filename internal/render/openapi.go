package render

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// openAPI is the OpenAPI document as written by hand. openAPIJSON adds what
// would otherwise be said twice: the schema of a record, and the base path.
//
//go:embed openapi.json
var openAPI []byte

// openAPIJSON is the OpenAPI document of a site. The schema of a record is put
// in as component Record, with the fields that only the answer has.
func openAPIJSON(site Site, recordSchema []byte) ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(openAPI, &document); err != nil {
		return nil, fmt.Errorf("read openapi.json: %w", err)
	}
	document["servers"] = []any{map[string]any{"url": string(site.Base) + "/"}}
	if site.Base != "" {
		document["servers"] = []any{map[string]any{"url": string(site.Base)}}
	}
	components, _ := document["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	if err := addRecordSchema(schemas, recordSchema); err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode OpenAPI document: %w", err)
	}
	return append(out, '\n'), nil
}

// recordDefinition is the definition, in the schema of a record, that holds its
// fields.
const recordDefinition = "record"

// addRecordSchema makes components of the schema of a record. What files may
// leave out is always there in an answer, so every field is required.
func addRecordSchema(schemas map[string]any, text []byte) error {
	var schema struct {
		Definitions map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		return fmt.Errorf("read the schema of a record: %w", err)
	}
	record := schema.Definitions[recordDefinition]
	properties, ok := record["properties"].(map[string]any)
	if !ok {
		return fmt.Errorf("the schema of a record has no definition %q with properties", recordDefinition)
	}
	properties["url"] = map[string]any{"type": "string", "description": "Address of the record's page"}
	properties["relatedErrors"] = map[string]any{"type": "array", "items": map[string]any{"$ref": "#/components/schemas/RelatedError"}}
	properties["evidence"] = map[string]any{
		"anyOf":       []any{map[string]any{"$ref": "#/components/schemas/Proof"}, map[string]any{"type": "null"}},
		"description": "Proof that the record is right; null while there is none",
	}
	record["required"] = sortedKeys(properties)
	record["additionalProperties"] = false
	for name, definition := range schema.Definitions {
		moveRefs(definition)
		schemas[componentName(name)] = definition
	}
	return nil
}

// componentName is the name of a definition of the record's schema among the
// components: record becomes Record, another one Record.another.
func componentName(definition string) string {
	if definition == recordDefinition {
		return "Record"
	}
	return "Record." + definition
}

// moveRefs makes references into $defs point to components, in place: a
// reference in an OpenAPI document starts at the document.
func moveRefs(node any) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if ref, ok := value.(string); ok && key == "$ref" {
				if name, found := strings.CutPrefix(ref, "#/$defs/"); found {
					node[key] = "#/components/schemas/" + componentName(name)
				}
				continue
			}
			moveRefs(value)
		}
	case []any:
		for _, value := range node {
			moveRefs(value)
		}
	}
}
