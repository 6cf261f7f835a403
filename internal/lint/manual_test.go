package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/kb"
	"errorkb/schema"
)

// TestManualHasEveryField wants each field of a record to have one heading in
// the manual, and the manual to agree with the schema about what is required.
func TestManualHasEveryField(t *testing.T) {
	manual, err := os.ReadFile("../../docs/records.md")
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]string{}
	var names []string
	for _, part := range regexp.MustCompile("(?m)^### ").Split(string(manual), -1)[1:] {
		heading, text, _ := strings.Cut(part, "\n")
		name := strings.Trim(heading, "`")
		names = append(names, name)
		entries[name], _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	}
	var want []string
	typ := reflect.TypeFor[kb.Record]()
	for i := range typ.NumField() {
		want = append(want, typ.Field(i).Tag.Get("json"))
	}
	slices.Sort(want)
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("the manual describes\n%q\nthe type has\n%q", names, want)
	}
	var doc struct{ Else struct{ Required []string } }
	if err := json.Unmarshal(schema.Record, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		first, _, _ := strings.Cut(strings.ReplaceAll(entries[name], "\n", " "), ". ")
		says := regexp.MustCompile(`\brequired\b`).MatchString(first)
		if is := slices.Contains(doc.Else.Required, name); is != says {
			t.Errorf("%s: required in the schema %v, in the manual %v (%s)", name, is, says, first)
		}
	}
}

// TestChecksManual compares the list of checks in the manual with the checks.
func TestChecksManual(t *testing.T) {
	const file = "../../docs/checks.md"
	var b strings.Builder
	b.WriteString(`# The checks on records

Made from the checks in internal/lint by go test ./internal/lint -update; not to be
edited by hand. Each finding of kb lint has the code of its check. An **error** keeps
the whole set from being loaded, a **warning** does not. **Warning, strict** is an
error in a record whose review is "reviewed".

| code | what it finds | severity |
|---|---|---|
`)
	severity := func(c CheckInfo) string {
		if c.Strict {
			return "warning, strict"
		}
		return string(c.Severity)
	}
	for _, c := range Checks() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", c.Code, c.Code, c.Name, severity(c))
	}
	for _, c := range Checks() {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s. %s\n", c.Code, sentence(severity(c)), markdownText(c.Description))
		if c.Advice != "" {
			fmt.Fprintf(&b, "\nAdvice: %s.\n", markdownText(c.Advice))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("docs/checks.md is not up to date (%v): run go test ./internal/lint -update", err)
	}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// markdownText keeps what Markdown would take for marks.
func markdownText(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "^", `\^`).Replace(s)
}
