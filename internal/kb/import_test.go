package kb

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	envelope := bytes.TrimSpace(readTestdata(t, "v2.json"))
	want := mustDecode(t, envelope).Record
	bare := envelope[len(`{"record":`):bytes.LastIndexByte(envelope[:len(envelope)-1], '}')]
	bare = append(bytes.Clone(bare[:bytes.LastIndex(envelope, []byte(`,"datasetVersion"`))-len(`{"record":`)]), '\n')
	canonical := want.Canonical()
	for _, test := range []struct {
		name  string
		data  string
		count int
	}{
		{"envelope", string(envelope), 1},
		{"bare", string(bare), 1},
		{"canonical", string(canonical), 1},
		{"array", "[" + string(envelope) + ",\n" + string(canonical) + "]", 2},
		{"lines", string(envelope) + "\n\n" + string(bare), 2},
		{"from our API", `{"record": ` + strings.Replace(string(canonical), "{", `{"url": "/x", "relatedErrors": [{"id": "y"}], "evidence": null,`, 1) + `, "datasetVersion": "v"}`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			records, findings := Import([]byte(test.data))
			if len(findings) > 0 || len(records) != test.count {
				t.Fatalf("%d records, findings %v", len(records), findings)
			}
			for _, r := range records {
				if !reflect.DeepEqual(r, want) {
					t.Errorf("got\n%s\nwant\n%s", r.Canonical(), canonical)
				}
			}
		})
	}
}

func TestImportBroken(t *testing.T) {
	good := string(bytes.TrimSpace(readTestdata(t, "v2.json")))
	for _, test := range []struct {
		name, data, want string
		count            int
	}{
		{"empty", "", ":1:1: [syntax] the file is empty", 0},
		{"no JSON", "hello", ":1:1: [syntax] 'h' stands where a value", 0},
		{"empty array", "[]", ":1:1: [empty] the array holds no record", 0},
		{"second line cut", good + "\n" + good[:50], ":2:", 1},
		{"element of an array", "[" + good + ", {}]", "[1].schemaVersion: the record does not say", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			records, findings := Import([]byte(test.data))
			if len(findings) != 1 || len(records) != test.count {
				t.Fatalf("%d records, findings %v", len(records), findings)
			}
			if got := findings[0].String(); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
