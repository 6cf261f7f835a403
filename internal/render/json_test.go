package render

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"errorkb/internal/kb"
)

// dataRenderer is a renderer with the schema of a record, which the JSON
// documents need.
func dataRenderer(t *testing.T, s shelf, base Base) *Renderer {
	t.Helper()
	schema, err := os.ReadFile("../../schema/record.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return New(s, Options{Base: base, SiteURL: "https://kb.example.org", Schema: schema})
}

func dataShelf() shelf { return shelf{fullRecord(), plainRecord(), hostileRecord()} }

func documentOf(t *testing.T, r *Renderer, address string) []byte {
	t.Helper()
	doc, err := r.Document(context.Background(), address)
	return mustDocument(t, doc, err).Body
}

// TestRecordJSONKeepsEveryField reads each record back out of its answer.
func TestRecordJSONKeepsEveryField(t *testing.T) {
	s := dataShelf()
	r := dataRenderer(t, s, "/kb")
	for _, want := range s {
		body := documentOf(t, r, "/kb/api/errors/"+want.ID)
		var got struct {
			Record struct {
				kb.Record
				URL      string        `json:"url"`
				Related  []relatedJSON `json:"relatedErrors"`
				Evidence any           `json:"evidence"`
			} `json:"record"`
			Version string `json:"datasetVersion"`
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("%s: %v", want.ID, err)
		}
		if !bytes.Equal(got.Record.Canonical(), want.Canonical()) {
			t.Errorf("%s: the record is\n%s\nwant\n%s", want.ID, got.Record.Canonical(), want.Canonical())
		}
		if got.Record.URL != "/kb/errors/acme/tool/"+want.Slug+"/" || got.Version != s.Version() || got.Record.Related == nil {
			t.Errorf("%s: %+v", want.ID, got)
		}
		if bytes.Contains(body, []byte(`\u003c`)) || !bytes.HasSuffix(body, []byte("}\n")) || bytes.Count(body, []byte("\n")) != 1 {
			t.Errorf("%s: not in the form of the house: %.200s", want.ID, body)
		}
	}
	body := documentOf(t, r, "/kb/api/errors/"+fullRecord().ID)
	want := `"url":"/kb/errors/acme/tool/socket-busy/","relatedErrors":[{"id":"00000000000000a2","title":"The queue is full.","url":"/kb/errors/acme/tool/queue-full/","why":"named by the author"}],"evidence":null},"datasetVersion":"2026-09-23T08:17:48.524Z+1f3a9c2e"}` + "\n"
	if !strings.HasSuffix(string(body), want) {
		t.Errorf("the answer ends with %s", body[max(0, len(body)-300):])
	}
}

func TestListJSON(t *testing.T) {
	page := kb.Page{Items: []kb.Item{itemOf(plainRecord())}, Total: 7, Next: "a+b"}
	filter := kb.Filter{Repo: "acme/tool", Tag: "a&b", Sort: "changed", Limit: 1}
	body, next, err := ListJSON("/kb", "v", filter, page)
	if err != nil {
		t.Fatal(err)
	}
	const address = "/kb/api/errors?repo=acme%2Ftool&tag=a%26b&sort=changed&limit=1&cursor=a%2Bb"
	want := `{"items":[{"id":"00000000000000a2","repo":"acme/tool","slug":"queue-full","title":"The queue is full.","severity":"warning",` +
		`"url":"/kb/errors/acme/tool/queue-full/","contentChangedAt":"2026-08-22T00:00:00Z"}],"total":7,"next":"` + address + `","datasetVersion":"v"}` + "\n"
	if string(body) != want || next != address {
		t.Errorf("got  %s\nwant %s\nnext %s", body, want, next)
	}
	body, next, err = ListJSON("", "v", kb.Filter{}, kb.Page{})
	if want := `{"items":[],"total":0,"next":null,"datasetVersion":"v"}` + "\n"; err != nil || string(body) != want || next != "" {
		t.Errorf("an empty list: %s, next %q, %v", body, next, err)
	}
}

func TestSearchJSON(t *testing.T) {
	query := kb.Query{Text: "queue & co", Severity: "warning", Limit: 1, Offset: 2}
	result := kb.SearchResult{
		Text: "queue & co", Cut: true, Total: 9,
		Hits: []kb.Hit{{Item: itemOf(plainRecord()), Score: 0.5, Fragments: []kb.Fragment{
			{Field: kb.FieldTitle, Parts: []kb.Part{{Text: "The "}, {Text: "queue", Marked: true}, {Text: " is full."}}},
		}}},
		Facets: []kb.Facet{{Kind: kb.GroupTag, Groups: []kb.Group{{Name: "queue", Count: 9}}}},
	}
	body, next, err := SearchJSON("", "v", query, result)
	if err != nil {
		t.Fatal(err)
	}
	const address = "/api/search?q=queue+%26+co&severity=warning&limit=1&offset=3"
	want := `{"query":"queue & co","cut":true,"someWords":false,"total":9,"hits":[{"id":"00000000000000a2","repo":"acme/tool","slug":"queue-full",` +
		`"title":"The queue is full.","severity":"warning","url":"/errors/acme/tool/queue-full/","contentChangedAt":"2026-08-22T00:00:00Z","score":0.5,` +
		`"fragments":[{"field":"title","parts":[{"text":"The ","marked":false},{"text":"queue","marked":true},{"text":" is full.","marked":false}]}]}],` +
		`"facets":{"tag":[{"name":"queue","count":9}]},"next":"` + address + `","datasetVersion":"v"}` + "\n"
	if string(body) != want || next != address {
		t.Errorf("got  %s\nwant %s\nnext %s", body, want, next)
	}
	// The last page, and the last one that can be asked for, have no next one.
	for _, q := range []kb.Query{{Text: "x", Offset: 8}, {Text: "x", Offset: MaxSearchOffset}} {
		if _, next, err := SearchJSON("", "v", q, kb.SearchResult{Total: q.Offset + 1, Hits: result.Hits}); err != nil || next != "" {
			t.Errorf("after hit %d of %d: next %q, %v", q.Offset+1, q.Offset+1, next, err)
		}
	}
	if _, next, _ := SearchJSON("", "v", kb.Query{Offset: MaxSearchOffset}, kb.SearchResult{Total: 5000, Hits: result.Hits}); next != "" {
		t.Errorf("next is %q, which would be refused", next)
	}
	body, _, err = SearchJSON("", "v", kb.Query{}, kb.SearchResult{})
	if want := `{"query":"","cut":false,"someWords":false,"total":0,"hits":[],"facets":{},"next":null,"datasetVersion":"v"}` + "\n"; err != nil || string(body) != want {
		t.Errorf("no hits: %s, %v", body, err)
	}
}

// TestDatasetLines reads the records back.
func TestDatasetLines(t *testing.T) {
	s := shelf{fullRecord(), plainRecord()}
	lines := documentOf(t, dataRenderer(t, s, ""), "/api/dataset.jsonl")
	records, findings := kb.Import(lines)
	if kb.HasErrors(findings) || len(records) != len(s) {
		t.Fatalf("%d records, findings %v", len(records), findings)
	}
	for i, want := range s.filtered(kb.Filter{}) {
		if !bytes.Equal(records[i].Canonical(), want.Canonical()) {
			t.Errorf("line %d is not record %s", i+1, want.ID)
		}
	}
}

func TestModifiedIsNewestFirst(t *testing.T) {
	r := dataRenderer(t, shelf{plainRecord(), fullRecord()}, "")
	want := `{"00000000000000a1":"2026-09-23T08:17:48.524Z","00000000000000a2":"2026-08-22T00:00:00Z"}` + "\n"
	if got := string(documentOf(t, r, "/api/modified.json")); got != want {
		t.Errorf("got %s", got)
	}
	if got := string(documentOf(t, dataRenderer(t, nil, ""), "/api/modified.json")); got != "{}\n" {
		t.Errorf("without records: %q", got)
	}
}

func TestDataset(t *testing.T) {
	r := dataRenderer(t, dataShelf(), "/kb")
	var got struct {
		DatasetVersion string
		SchemaVersion  int
		Records        int
		Counts         map[string]map[string]int
		Repos          []struct {
			Repo    string
			Records int
			Commits []string
		}
		Files []datasetFile
	}
	if err := json.Unmarshal(documentOf(t, r, "/kb/api/dataset"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Records != 3 || got.SchemaVersion != kb.SchemaVersion || got.Counts["severity"]["warning"] != 1 || got.Counts["status"]["active"] != 1 {
		t.Errorf("got %+v", got)
	}
	if len(got.Repos) != 1 || got.Repos[0].Repo != "acme/tool" || got.Repos[0].Records != 3 || len(got.Repos[0].Commits) != 2 {
		t.Errorf("repos %+v", got.Repos)
	}
	if len(got.Files) != 3 {
		t.Fatalf("files %+v", got.Files)
	}
	for _, f := range got.Files {
		body := documentOf(t, r, f.URL)
		if sum := sha256.Sum256(body); len(body) != f.Bytes || hex.EncodeToString(sum[:]) != f.SHA256 || len(body) == 0 {
			t.Errorf("%s has other bytes than the data set says", f.URL)
		}
	}
}

// TestPlainDocuments makes each document that is no page twice, the second
// time with another renderer: the bytes must be the same.
func TestPlainDocuments(t *testing.T) {
	first, second := dataRenderer(t, dataShelf(), "/kb"), dataRenderer(t, dataShelf(), "/kb")
	addresses, err := first.jsonAddresses(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, address := range addresses {
		if seen[address] || !strings.HasPrefix(address, "/kb/") {
			t.Errorf("address %q", address)
		}
		seen[address] = true
		doc, found, err := first.jsonDocument(context.Background(), address)
		if err != nil || !found || doc.Status != 200 || doc.ContentType == "" || !utf8.Valid(doc.Body) {
			t.Errorf("%s: found %v, %d %s, %v", address, found, doc.Status, doc.ContentType, err)
		}
		if strings.HasSuffix(doc.ContentType, "json") && !json.Valid(doc.Body) {
			t.Errorf("%s: not JSON", address)
		}
		if !bytes.Equal(doc.Body, documentOf(t, second, address)) {
			t.Errorf("%s: other bytes the second time", address)
		}
	}
	if want := len(first.plainDocuments()) + len(dataShelf()); len(seen) != want {
		t.Errorf("%d addresses, want %d", len(seen), want)
	}
	for _, address := range []string{"/kb/api/errors/", "/kb/api/errors/unknown", "/kb/api/errors/a/b", "/api/errors", "/kb/api/nothing", "/kb/api/search"} {
		if _, found, err := first.jsonDocument(context.Background(), address); found || err != nil {
			t.Errorf("%s: found %v, %v", address, found, err)
		}
	}
}

// TestListsOfManyPages walks a source with more records than one page of a
// list holds.
func TestListsOfManyPages(t *testing.T) {
	var s shelf
	for i := range 2*kb.MaxLimit + 1 {
		r := plainRecord()
		r.ID = "0000000000" + strconv.Itoa(100_000+i)
		r.Slug = "queue-full-" + strconv.Itoa(i)
		s = append(s, r)
	}
	r := dataRenderer(t, s, "")
	if lines := bytes.Count(documentOf(t, r, "/api/dataset.jsonl"), []byte("\n")); lines != len(s) {
		t.Errorf("%d lines", lines)
	}
	var modified map[string]string
	if err := json.Unmarshal(documentOf(t, r, "/api/modified.json"), &modified); err != nil || len(modified) != len(s) {
		t.Errorf("%d times, %v", len(modified), err)
	}
	if entries := strings.Count(string(documentOf(t, r, "/feed.xml")), "<entry>"); entries != feedEntries {
		t.Errorf("%d entries in the feed", entries)
	}
	if urls := strings.Count(string(documentOf(t, r, "/sitemap.xml")), "/errors/acme/tool/"); urls != len(s) {
		t.Errorf("%d records in the sitemap", urls)
	}
}

func TestOpenAPINeedsTheSchema(t *testing.T) {
	for _, schema := range []string{"", "{", "{}", `{"$defs": {"record": {}}}`} {
		if _, err := openAPIJSON(testSite(), []byte(schema)); err == nil {
			t.Errorf("schema %q is taken", schema)
		}
	}
	r := dataRenderer(t, nil, "/kb")
	var document struct {
		Servers    []struct{ URL string }
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(documentOf(t, r, "/kb/api/openapi.json"), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Servers) != 1 || document.Servers[0].URL != "/kb" {
		t.Errorf("servers %v", document.Servers)
	}
	record := document.Components.Schemas["Record"]
	for field := range reflect.TypeFor[kb.Record]().Fields() {
		name := field.Tag.Get("json")
		if record.Properties[name] == nil {
			t.Errorf("the document lacks the field %s of a record", name)
		}
	}
	if len(record.Required) != len(record.Properties) {
		t.Errorf("%d of %d fields are required", len(record.Required), len(record.Properties))
	}
}

// TestOpenAPIHasNoKeyTwice: of two components with one name the last would win
// without a word.
func TestOpenAPIHasNoKeyTwice(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(openAPI))
	type object struct {
		keys map[string]bool // nil for a list
		key  bool            // the next string is a key
	}
	var open []*object
	count := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var in *object
		if len(open) > 0 {
			in = open[len(open)-1]
		}
		switch {
		case token == json.Delim('}'), token == json.Delim(']'):
			open = open[:len(open)-1]
			continue
		case in != nil && in.keys != nil && in.key:
			name := token.(string)
			if in.keys[name] {
				t.Errorf("the key %q stands twice, at byte %d", name, decoder.InputOffset())
			}
			in.keys[name], in.key = true, false
			count++
			continue
		case in != nil:
			in.key = true
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &object{keys: map[string]bool{}, key: true})
		case json.Delim('['):
			open = append(open, &object{})
		}
	}
	if count < 300 {
		t.Errorf("only %d keys", count)
	}
}
