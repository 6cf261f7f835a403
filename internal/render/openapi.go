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

// addRecordSchema makes components of the schema of a record. Its definitions
// become components too, since a reference in an OpenAPI document starts at
// the document.
func addRecordSchema(schemas map[string]any, text []byte) error {
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		return fmt.Errorf("read the schema of a record: %w", err)
	}
	delete(record, "$schema")
	delete(record, "$id")
	definitions, _ := record["$defs"].(map[string]any)
	delete(record, "$defs")
	for name, definition := range definitions {
		schemas["Record."+name] = moveRefs(definition)
	}
	moveRefs(record)
	properties, ok := record["properties"].(map[string]any)
	if !ok {
		return fmt.Errorf("the schema of a record has no properties")
	}
	properties["url"] = map[string]any{"type": "string", "description": "Address of the record's page"}
	properties["relatedErrors"] = map[string]any{"type": "array", "items": map[string]any{"$ref": "#/components/schemas/RelatedError"}}
	properties["evidence"] = map[string]any{"type": []any{"object", "null"}, "description": "Proof that the record is right; null while there is none"}
	required, _ := record["required"].([]any)
	record["required"] = append(required, "url", "relatedErrors", "evidence")
	schemas["Record"] = record
	return nil
}

// moveRefs makes references into $defs point to components, in place.
func moveRefs(node any) any {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if ref, ok := value.(string); ok && key == "$ref" {
				if name, found := strings.CutPrefix(ref, "#/$defs/"); found {
					node[key] = "#/components/schemas/Record." + name
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
	return node
}
