package kb

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files")

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustDecode(t testing.TB, data []byte) *Source {
	t.Helper()
	source, findings := Decode("acme/mailer/queue-full.json", data)
	if len(findings) > 0 || source == nil {
		t.Fatalf("findings in a good record: %v", findings)
	}
	return source
}

// sameV2 compares every version 2 value of a record in its envelope with the
// canonical form that came of it.
func sameV2(t *testing.T, v2, canonical []byte) {
	t.Helper()
	var envelope struct{ Record map[string]any }
	var got map[string]any
	if err := json.Unmarshal(v2, &envelope); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(canonical, &got); err != nil {
		t.Fatal(err)
	}
	if len(envelope.Record) < 30 {
		t.Fatalf("only %d fields to compare", len(envelope.Record))
	}
	for key, want := range envelope.Record {
		if key == "schemaVersion" {
			want = float64(SchemaVersion)
		}
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s: got %v, want %v", key, got[key], want)
		}
	}
}

func TestDecodeVersion2(t *testing.T) {
	data := readTestdata(t, "v2.json")
	source := mustDecode(t, data)
	if source.Version != 2 {
		t.Errorf("version %d", source.Version)
	}
	canonical := source.Record.Canonical()
	golden := filepath.Join("testdata", "v2.golden.json")
	if *update {
		if err := os.WriteFile(golden, canonical, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := readTestdata(t, "v2.golden.json"); !bytes.Equal(canonical, want) {
		t.Errorf("canonical form differs from %s:\n%s", golden, canonical)
	}
	sameV2(t, data, canonical)
	again := mustDecode(t, canonical)
	if again.Version != 3 || !reflect.DeepEqual(again.Record, source.Record) {
		t.Errorf("canonical form reads back as\n%+v, want\n%+v", again.Record, source.Record)
	}

	r := source.Record
	want := []Capture{{Name: "name"}, {Name: "limit"}}
	if !reflect.DeepEqual(r.Captures, want) {
		t.Errorf("captures %v, want %v", r.Captures, want)
	}
	if r.Status != StatusActive || r.Review != ReviewGenerated || r.Role != RoleCause || r.Retry != RetryAfterFix {
		t.Errorf("defaults: %s %s %s %s", r.Status, r.Review, r.Role, r.Retry)
	}
	if r.FirstPublishedAt != r.ContentChangedAt {
		t.Errorf("firstPublishedAt %q", r.FirstPublishedAt)
	}
}

// TestDecodeSeed reads the version 2 record that the project starts from.
func TestDecodeSeed(t *testing.T) {
	shared := os.Getenv("KB_SHARED")
	if shared == "" {
		t.Skip("KB_SHARED is not set: the shared seeds are not at hand")
	}
	data, err := os.ReadFile(filepath.Join(shared, "seeds", "003_d8e77cc2984928fe.txt"))
	if err != nil {
		t.Fatal(err)
	}
	source := mustDecode(t, data)
	sameV2(t, data, source.Record.Canonical())
	if want := []string{source.Record.ErrorMessage}; !reflect.DeepEqual(source.Record.Examples.Match, want) {
		t.Errorf("examples.match %q, want the message", source.Record.Examples.Match)
	}
}

func TestDecodeBroken(t *testing.T) {
	good := string(mustDecode(t, readTestdata(t, "v2.json")).Record.Canonical())
	deep := strings.Repeat("[", 200_000)
	tests := []struct {
		name, data string
		want       string // beginning of the first finding
	}{
		{"empty", "", `f.json:1:1: [syntax] the file is empty`},
		{"white space", " \n\t", `f.json:1:1: [syntax] the file is empty`},
		{"byte order mark", "\ufeff" + good, `f.json:1:1: [encoding] the file starts with a byte order mark`},
		{"UTF-16", "\xff\xfe{\x00}\x00", `f.json:1:1: [encoding] the file is UTF-16`},
		{"invalid UTF-8", strings.Replace(good, "acme", "ac\xffme", 1), `f.json:4:14: [encoding] byte 0xff is not valid UTF-8`},
		{"NUL", strings.Replace(good, "acme", "ac\x00me", 1), `f.json:4:14: [encoding] there is a NUL byte`},
		{"half a surrogate pair", `{"id": "\ud800"}`, `f.json:1:9: [encoding] half a surrogate pair`},
		{"cut off", good[:len(good)/2], `f.json:`},
		{"cut in a string", `{"id": "abc`, `f.json:1:8: [syntax] the string that starts here is never closed`},
		{"trailing data", good + "{}", `f.json:71:1: [syntax] there is more text after the end`},
		{"trailing comma", `{"id": "x",}`, `f.json:1:12: [syntax] '}' stands where a key in double quotes should; remove the comma`},
		{"missing comma", "{\"id\": \"x\"\n\"repo\": 1}", `f.json:2:1: [syntax] '"' stands where a comma or the end should; put a comma`},
		{"comment", "{\n// hello\n}", `f.json:2:1: [syntax] '/' stands where a key in double quotes should; JSON has no comments`},
		{"single quotes", `{'id': 1}`, `f.json:1:2: [syntax] '\'' stands where a key`},
		{"line break in a string", "{\"id\": \"a\nb\"}", `f.json:1:10: [syntax] a line break stands unescaped`},
		{"bad escape", `{"id": "\x41"}`, "f.json:1:9: [syntax] \"\\\\x\" is no escape of JSON"},
		{"bad hex", `{"id": "\u12g4"}`, `f.json:1:9: [syntax] \u is not followed`},
		{"leading zero", `{"id": 012}`, `f.json:1:9: [syntax] '1' stands where a comma`},
		{"bare minus", `{"id": -}`, `f.json:1:9: [syntax] '}' stands where a digit`},
		{"no value", `{"id": }`, `f.json:1:8: [syntax] '}' stands where a value`},
		{"word", `nonsense`, `f.json:1:1: [syntax] 'n' stands where a value`},
		{"deep", deep, `f.json:1:34: [syntax] values are nested more than 32 deep`},
		{"array", `[1]`, `f.json:1:1: [type] is an array, want an object with a record`},
		{"no version", `{"id": "x"}`, `f.json:1:1: [schema-version] schemaVersion: the record does not say`},
		{"version 4", `{"schemaVersion": 4}`, `f.json:1:2: [schema-version] schemaVersion: schema version 4 is not known; versions 2 and 3 are read`},
		{"version as text", `{"schemaVersion": "3"}`, `f.json:1:2: [schema-version] schemaVersion: schema version "3" is not known`},
		{"duplicate key", strings.Replace(good, `"aliases": []`, `"id": ""`, 1), `f.json:6:3: [duplicate-key] the key "id" stands twice`},
		{"wrong type", strings.Replace(good, `"aliases": []`, `"aliases": "x"`, 1), `f.json:6:3: [type] aliases: is a string, want an array`},
		{"wrong type or null", strings.Replace(good, `"lineNumber": 41`, `"lineNumber": "41"`, 1), `f.json:34:3: [type] lineNumber: is a string, want a whole number or null`},
		{"fraction", strings.Replace(good, `"lineNumber": 41`, `"lineNumber": 41.5`, 1), `f.json:34:3: [type] lineNumber: is 41.5, want a whole number`},
		{"huge number", strings.Replace(good, `"lineNumber": 41`, `"lineNumber": 1e999`, 1), `f.json:34:3: [type] lineNumber: is 1e999, want a whole number`},
		{"wrong type of an element", strings.Replace(good, `"aliases": []`, `"aliases": ["a", 7]`, 1), `f.json:6:20: [type] aliases[1]: is a number, want a string`},
		{"unknown field", strings.Replace(good, `"aliases": []`, `"alias": []`, 1), `f.json:6:3: [unknown-field] alias: a record has no such field; is "aliases" meant?`},
		{"too large", good + strings.Repeat(" ", MaxFileSize), `f.json: [too-large] the file has more than 1048576 bytes`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, findings := Decode("f.json", []byte(test.data))
			if len(findings) != 1 {
				t.Fatalf("%d findings, want one: %v", len(findings), findings)
			}
			if got := findings[0].String(); !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if findings[0].Severity != FindingError {
				t.Errorf("severity %s", findings[0].Severity)
			}
		})
	}
}

// TestDecodeUnknownVersion2 wants a warning, and the field that is near.
func TestDecodeUnknownVersion2(t *testing.T) {
	data := bytes.Replace(readTestdata(t, "v2.json"), []byte(`"typeGuard"`), []byte(`"type_guard"`), 1)
	source, findings := Decode("f.json", data)
	if source == nil || len(findings) != 1 || findings[0].Severity != FindingWarning {
		t.Fatalf("findings %v", findings)
	}
	if want := `is "typeGuard" meant?`; findings[0].Advice != want {
		t.Errorf("advice %q, want %q", findings[0].Advice, want)
	}
}

// TestDecodeManyMistakes keeps a file that is wrong everywhere from taking long
// or filling the screen.
func TestDecodeManyMistakes(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"schemaVersion": 3`)
	for b.Len() < MaxFileSize-20 {
		b.WriteString(",\"k" + strings.Repeat("x", b.Len()%7) + `":1`)
	}
	b.WriteString("}")
	_, findings := Decode("f.json", []byte(b.String()))
	if len(findings) != MaxFindings {
		t.Errorf("%d findings, want %d", len(findings), MaxFindings)
	}
}

func TestPosition(t *testing.T) {
	source := mustDecode(t, []byte(`{"datasetVersion": "x", "record": {
  "schemaVersion": 2,
  "solutions": [
    "one", "two"
  ],
  "examples": {"match": ["a", "b"], "noMatch": []}
}}`))
	for _, test := range []struct {
		field        string
		line, column int
	}{
		{"", 1, 35}, {"schemaVersion", 2, 3}, {"solutions", 3, 3}, {"solutions[1]", 4, 12},
		{"solutions[9]", 3, 3}, {"examples.match[0]", 6, 26}, {"examples.none", 6, 3}, {"none", 1, 35},
	} {
		if line, column := source.Position(test.field); line != test.line || column != test.column {
			t.Errorf("%q is at %d:%d, want %d:%d", test.field, line, column, test.line, test.column)
		}
	}
}

// FuzzDecode states the law: what decodes, canonicalises and decodes again to
// the same record and the same bytes; and every finding lies inside the file.
func FuzzDecode(f *testing.F) {
	f.Add(readTestdata(f, "v2.json"))
	f.Add(readTestdata(f, "v2.golden.json"))
	f.Add([]byte(`{"schemaVersion":3,"captures":[{"name":"\ud83d\ude00","x":1}],"examples":null}`))
	f.Add([]byte(`{"schemaVersion":2,"id":"a","errorMessage":"${a} ${b.a} %s"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		source, findings := Decode("f.json", data)
		for _, finding := range findings {
			if finding.Line < 0 || finding.Line > 1+bytes.Count(data, []byte("\n")) || finding.Column > len(data)+1 {
				t.Errorf("finding outside the file: %v", finding)
			}
		}
		if source == nil {
			if !HasErrors(findings) {
				t.Error("no record and no error")
			}
			return
		}
		if HasErrors(findings) {
			return
		}
		canonical := source.Record.Canonical()
		again, findings := Decode("f.json", canonical)
		if len(findings) > 0 {
			t.Fatalf("canonical form has findings: %v", findings)
		}
		if !reflect.DeepEqual(again.Record, source.Record) {
			t.Errorf("canonical form reads back as\n%+v, want\n%+v", again.Record, source.Record)
		}
		if !bytes.Equal(again.Record.Canonical(), canonical) {
			t.Error("the canonical form of the canonical form differs")
		}
	})
}
