package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"errorkb/internal/kb"
	"errorkb/schema"
)

// recordSchema is the compiled schema and, by the location of a subschema,
// what it asks for in words (its keyword x-form).
type recordSchema struct {
	*jsonschema.Schema
	forms map[string]string
}

// loadSchema compiles the schema. It is part of the program, so a mistake in it
// is a mistake of ours and panics; the tests would see it.
var loadSchema = sync.OnceValue(func() recordSchema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Record))
	if err != nil {
		panic("lint: record.schema.json: " + err.Error())
	}
	id := doc.(map[string]any)["$id"].(string)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(id, doc); err != nil {
		panic("lint: record.schema.json: " + err.Error())
	}
	compiled, err := c.Compile(id)
	if err != nil {
		panic("lint: record.schema.json: " + err.Error())
	}
	forms := map[string]string{}
	collectForms(doc, id+"#", forms)
	return recordSchema{compiled, forms}
})

func collectForms(v any, location string, forms map[string]string) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if form, ok := m["x-form"].(string); ok {
		forms[location] = form
	}
	for key, child := range m {
		collectForms(child, location+"/"+key, forms)
	}
}

// checkSchema reports where the file breaks the schema.
func (s *subject) checkSchema() {
	sch := loadSchema()
	err := sch.Validate(s.source.Value())
	failed, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return
	}
	var leaves []*jsonschema.ValidationError
	collectLeaves(failed, &leaves)
	read := s.bad
	for _, leaf := range leaves {
		if len(s.found) >= kb.MaxFindings {
			return
		}
		for _, f := range sch.findings(leaf) {
			// Reading has seen wrong types and unknown fields already.
			if f.Field != "" && slices.Contains(read, f.Field) {
				continue
			}
			s.bad = append(s.bad, f.Field)
			if k, ok := leaf.ErrorKind.(*kind.Required); ok && f.Field == "" {
				s.bad = append(s.bad, k.Missing...)
			}
			f.Severity = kb.FindingError
			s.add(f)
		}
	}
}

func collectLeaves(e *jsonschema.ValidationError, leaves *[]*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		*leaves = append(*leaves, e)
	}
	for _, c := range e.Causes {
		collectLeaves(c, leaves)
	}
}

// maxMissing is the number of missing fields up to which each is a finding of
// its own; a file that lacks more is no record yet, which needs saying once.
const maxMissing = 5

// printer words what has no words of ours.
var printer = message.NewPrinter(language.English)

// findings says in friendly words what one keyword of the schema found.
func (r recordSchema) findings(e *jsonschema.ValidationError) []kb.Finding {
	field := fieldName(e.InstanceLocation)
	want := r.forms[e.SchemaURL]
	one := func(code, message string, args ...any) []kb.Finding {
		return []kb.Finding{{Field: field, Code: code, Message: fmt.Sprintf(message, args...), Advice: byCode[code].Advice}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		if field == "" && len(k.Missing) > maxMissing {
			return []kb.Finding{{Code: codeMissing, Message: fmt.Sprintf("lacks %d fields: %s", len(k.Missing), strings.Join(k.Missing, ", ")),
				Advice: "add them; the manual of the record format says what each holds"}}
		}
		var all []kb.Finding
		for _, name := range k.Missing {
			f := kb.Finding{Field: name, Code: codeMissing, Message: "is missing", Advice: byCode[codeMissing].Advice}
			if field != "" {
				f.Field = field + "." + name
			}
			all = append(all, f)
		}
		return all
	case *kind.Type:
		return one(codeType, "is %s, want %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.Enum:
		return one(codeValue, "is %s, want one of %s", quote(k.Got), listed(k.Want))
	case *kind.Pattern:
		return one(codeValue, "is %s, want %s", quote(k.Got), want)
	case *kind.Format:
		return one(codeValue, "is %s, want %s", quote(k.Got), want)
	case *kind.MinLength:
		return one(codeValue, "is empty, want %s", want)
	case *kind.MaxLength:
		return one(codeValue, "has %d characters, want %s", k.Got, want)
	case *kind.Minimum, *kind.Maximum:
		return one(codeValue, "is out of range, want %s", want)
	case *kind.FalseSchema, *kind.AdditionalProperties:
		// Decode has reported fields that it does not know; the schema calls
		// every field unknown as soon as one of them is wrong.
		return nil
	default:
		return one(codeValue, "%s", e.ErrorKind.LocalizedString(printer))
	}
}

// fieldName writes a location as findings do: examples.match[0].
func fieldName(location []string) string {
	var b strings.Builder
	for _, token := range location {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// quote shows a value of the record, shortened.
func quote(v any) string {
	s, ok := v.(string)
	if !ok {
		j, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(j)
	}
	return fmt.Sprintf("%q", shorten(s, 60))
}

func listed(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// shorten cuts a text at n bytes, at a character, and marks the cut.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
