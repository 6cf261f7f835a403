package server

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"errorkb/internal/render"
)

func init() {
	for _, media := range []string{"application/jsonl", "text/plain"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.FileBodyDecoder)
	}
	openapi3filter.RegisterBodyDecoder("application/schema+json", openapi3filter.JSONBodyDecoder)
}

// get asks a handler and gives its answer.
func get(t testing.TB, h http.Handler, r *http.Request) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func contentOf(t testing.TB, r *http.Response) []byte {
	t.Helper()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func openAPIDocument(t *testing.T, s *Server) *openapi3.T {
	t.Helper()
	answer := get(t, s.Handler(), httptest.NewRequest("GET", "/api/openapi.json", nil))
	document, err := openapi3.NewLoader().LoadFromData(contentOf(t, answer))
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(context.Background()); err != nil {
		t.Fatalf("the document is not valid: %v", err)
	}
	return document
}

// TestOpenAPIHasEveryRoute compares the routes that programs use with the
// operations of the document, both ways.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	document := openAPIDocument(t, s)
	var documented, routed []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, r := range s.routes() {
		pattern := s.pattern(r)
		if !s.forPrograms(pattern) {
			continue
		}
		for _, name := range r.args {
			pattern = strings.Replace(pattern, ":"+name, "{"+name+"}", 1)
		}
		routed = append(routed, r.method+" "+pattern)
	}
	slices.Sort(documented)
	slices.Sort(routed)
	if len(routed) == 0 || !slices.Equal(documented, routed) {
		t.Errorf("documented %q\nrouted %q", documented, routed)
	}
}

// sample is a request with the status that its answer must have.
type sample struct {
	operation string
	target    string
	media     string
	body      string
	status    int
}

var samples = []sample{
	{"listRecords", "/api/errors", "", "", 200},
	{"listRecords", "/api/errors?limit=2&sort=changed", "", "", 200},
	{"listRecords", "/api/errors?severity=terrible", "", "", 400},
	{"getRecord", "/api/errors/ec727a874bad4398", "", "", 200},
	{"getRecord", "/api/errors/fbc48e17530ae3db", "", "", 200},
	{"getRecord", "/api/errors/DUPLEX_CHANNEL_CAPABILITY_DENIED", "", "", 301},
	{"getRecord", "/api/errors/unknown", "", "", 404},
	{"search", "/api/search?q=duplex", "", "", 200},
	{"search", "/api/search?q=", "", "", 200},
	{"search", "/api/search", "", "", 400},
	{"search", "/api/search?q=break+the+index", "", "", 503},
	{"diagnose", "/api/diagnose", mediaText, "Error: Sandbox lease does not grant the duplex command stream capability.", 200},
	{"diagnose", "/api/diagnose", mediaText, "Environment driver \"local\" does not support duplex channels.", 200},
	{"diagnose", "/api/diagnose", mediaJSON, `{"text": "Sandbox lease did not grant any capability, they say."}`, 200},
	{"diagnose", "/api/diagnose", mediaText, "", 200},
	{"diagnose", "/api/diagnose", mediaJSON, `{"text": 1}`, 400},
	{"diagnose", "/api/diagnose", mediaText, strings.Repeat("x", 64<<10+1), 413},
	{"diagnose", "/api/diagnose", "image/png", "x", 415},
	{"proveRecord", "/api/errors/fbc48e17530ae3db/prove", "", "", 403},
	{"getDataset", "/api/dataset", "", "", 200},
	{"getDatasetLines", "/api/dataset.jsonl", "", "", 200},
	{"getModified", "/api/modified.json", "", "", 200},
	{"getRecordSchema", "/api/schema/record.json", "", "", 200},
	{"getOpenAPI", "/api/openapi.json", "", "", 200},
	{"getHealth", "/healthz", "", "", 200},
	{"getReady", "/readyz", "", "", 200},
	{"getVersion", "/version", "", "", 200},
	{"getMetrics", "/metrics", "", "", 200},
}

// TestOpenAPIAnswers asks every operation of the document and validates what
// comes back.
func TestOpenAPIAnswers(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	document := openAPIDocument(t, s)
	asked := map[string]bool{}
	for _, sample := range samples {
		asked[sample.operation] = true
		if err := validate(t, s, document, sample); err != nil {
			t.Errorf("%s %s: %v", sample.operation, sample.target, err)
		}
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if !asked[operation.OperationID] {
				t.Errorf("%s %s: no sample asks for it", method, path)
			}
		}
	}
}

func validate(t *testing.T, s *Server, document *openapi3.T, sample sample) error {
	t.Helper()
	route := findOperation(t, document, sample.operation)
	r := httptest.NewRequest(route.Method, sample.target, strings.NewReader(sample.body))
	if sample.media != "" {
		r.Header.Set("Content-Type", sample.media)
	}
	answer := get(t, s.Handler(), r)
	content := contentOf(t, answer)
	if answer.StatusCode != sample.status {
		t.Errorf("%s %s: status %d, want %d: %s", sample.operation, sample.target, answer.StatusCode, sample.status, content)
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route},
		Status:                 answer.StatusCode,
		Header:                 answer.Header,
		Body:                   io.NopCloser(bytes.NewReader(content)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	})
}

func findOperation(t *testing.T, document *openapi3.T, id string) *routers.Route {
	t.Helper()
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.OperationID == id {
				return &routers.Route{Spec: document, Server: document.Servers[0], Path: path, PathItem: item, Method: method, Operation: operation}
			}
		}
	}
	t.Fatalf("the document has no operation %q", id)
	return nil
}

// TestOpenAPIRefusesWrongAnswers makes sure that the validation above can fail.
func TestOpenAPIRefusesWrongAnswers(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	document := openAPIDocument(t, s)
	route := findOperation(t, document, "getRecord")
	r := httptest.NewRequest("GET", "/api/errors/ec727a874bad4398", nil)
	whole := string(contentOf(t, get(t, s.Handler(), r)))
	for _, wrong := range []string{
		`{}`,
		strings.Replace(whole, `"severity":"error"`, `"severity":"bad"`, 1),
		strings.Replace(whole, `"evidence":null`, `"evidence":7`, 1),
		strings.Replace(whole, `"slug":`, `"slag":`, 1),
		strings.Replace(whole, `"relatedErrors":[`, `"relatedErrors":[{},`, 1),
	} {
		if wrong == whole {
			t.Fatal("the answer is not what this test expects")
		}
		err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route},
			Status:                 200,
			Header:                 http.Header{"Content-Type": {"application/json"}},
			Body:                   io.NopCloser(strings.NewReader(wrong)),
		})
		if err == nil {
			t.Errorf("a wrong answer is taken: %.200s", wrong)
		}
	}
}

// TestOpenAPIRefusesWrongEvidence does the same for each part of the evidence.
func TestOpenAPIRefusesWrongEvidence(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	document := openAPIDocument(t, s)
	route := findOperation(t, document, "getRecord")
	r := httptest.NewRequest("GET", "/api/errors/fbc48e17530ae3db", nil)
	whole := string(contentOf(t, get(t, s.Handler(), r)))
	for _, change := range [][2]string{
		{`"evidence":{"record"`, `"evidence":{"rekord"`},
		{`"channel":"error"`, `"channel":"door"`},
		{`"steps":[{"text"`, `"steps":[{"txt"`},
		{`"chain":[{"message"`, `"chain":[{"massage"`},
		{`"lines":[`, `"lines":[1,`},
		{`"confidence":1`, `"confidence":2`},
		{`"again":true`, `"again":1`},
	} {
		wrong := strings.Replace(whole, change[0], change[1], 1)
		if wrong == whole {
			t.Fatalf("the answer does not hold %s: %s", change[0], whole)
		}
		err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route},
			Status:                 200,
			Header:                 http.Header{"Content-Type": {"application/json"}},
			Body:                   io.NopCloser(strings.NewReader(wrong)),
		})
		if err == nil {
			t.Errorf("%s is taken", change[1])
		}
	}
}

// TestProblemTypesHavePages makes sure that every type of problem has its page
func TestProblemTypesHavePages(t *testing.T) {
	s := newTestServer(t, testConfig(t))
	slugs := map[string]bool{}
	for _, p := range render.ProblemTypes() {
		slugs[p.Slug] = true
		answer := get(t, s.Handler(), httptest.NewRequest("GET", render.Base("").Address(render.PlaceProblem, p.Slug), nil))
		if content := string(contentOf(t, answer)); answer.StatusCode != 200 || !strings.Contains(content, p.Title) {
			t.Errorf("page of %s: status %d", p.Slug, answer.StatusCode)
		}
	}
	if len(slugs) < 10 {
		t.Errorf("only %d types: %v", len(slugs), slices.Sorted(maps.Keys(slugs)))
	}
}
