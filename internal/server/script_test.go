package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"errorkb/internal/render"
)

// TestScripts runs the requests of testdata/*.txt. A script is made of blocks,
// each a request with what must hold of its answer:
//
//	POST /api/diagnose            method and target, sent as they stand
//	> Content-Type: text/plain    a header of the request
//	| some text                   a line of its body; the last newline is not sent
//	status 200
//	header Vary is Accept-Encoding
//	header Allow has POST
//	header ETag absent
//	body has some text
//	body lacks some text
//	body matches ^regular expression$
//	problem not-found             a problem document of this type
//	page not-found                the page of a problem of this type
//
// Lines that start with # are comments. Each block must have a status.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(newTestServer(t, testConfig(t)).Handler())
			defer server.Close()
			blocks := 0
			for _, b := range parseScript(t, script, string(text)) {
				blocks++
				b.run(t, server.Listener.Addr().String())
			}
			if blocks == 0 {
				t.Error("the script has no block")
			}
		})
	}
}

type block struct {
	place      string // file and line
	request    string // method and target
	headers    []string
	body       []string
	assertions []string
}

func parseScript(t *testing.T, name, text string) []*block {
	var blocks []*block
	var current *block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			current = nil
		case current == nil:
			current = &block{place: fmt.Sprintf("%s:%d", name, i+1), request: line}
			blocks = append(blocks, current)
		case strings.HasPrefix(line, "> "):
			current.headers = append(current.headers, line[2:])
		case strings.HasPrefix(line, "|"):
			current.body = append(current.body, strings.TrimPrefix(line[1:], " "))
		default:
			current.assertions = append(current.assertions, line)
		}
	}
	return blocks
}

// run sends the request over a connection of its own, byte for byte as the
// script has it: a client library would mend what is meant to be broken.
func (b *block) run(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	body := strings.Join(b.body, "\n")
	var raw bytes.Buffer
	fmt.Fprintf(&raw, "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", b.request)
	for _, h := range b.headers {
		raw.WriteString(h + "\r\n")
	}
	if b.body != nil {
		fmt.Fprintf(&raw, "Content-Length: %d\r\n", len(body))
	}
	raw.WriteString("\r\n" + body)
	if _, err := conn.Write(raw.Bytes()); err != nil {
		t.Fatalf("%s: send: %v", b.place, err)
	}
	method, _, _ := strings.Cut(b.request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: read the answer: %v", b.place, err)
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: read the body: %v", b.place, err)
	}
	checked := false
	for _, assertion := range b.assertions {
		word, rest, _ := strings.Cut(assertion, " ")
		checked = checked || word == "status" || word == "problem" || word == "page"
		if complaint := check(word, rest, response, content); complaint != "" {
			t.Errorf("%s: %s: %s: %s", b.place, b.request, assertion, complaint)
		}
	}
	if !checked {
		t.Errorf("%s: %s: no status is asserted", b.place, b.request)
	}
}

// check says what is wrong with an answer, or "".
func check(word, rest string, response *http.Response, content []byte) string {
	switch word {
	case "status":
		if got := fmt.Sprint(response.StatusCode); got != rest {
			return "got " + got + ": " + render.Shorten(string(content))
		}
		return ""
	case "header":
		return checkHeader(rest, response.Header)
	case "body":
		verb, want, _ := strings.Cut(rest, " ")
		return checkText(verb, want, string(content))
	case "problem":
		return checkProblem(rest, response, content)
	case "page":
		t, known := render.ProblemTypeOf(rest)
		if !known {
			return "there is no such type"
		}
		if response.StatusCode != t.Status || response.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			return fmt.Sprintf("got %d %s", response.StatusCode, response.Header.Get("Content-Type"))
		}
		return checkText("has", "/problems/"+rest+"/", string(content))
	}
	return "there is no such assertion"
}

func checkHeader(rest string, h http.Header) string {
	name, rest, _ := strings.Cut(rest, " ")
	verb, want, _ := strings.Cut(rest, " ")
	if verb == "absent" {
		if values := h.Values(name); len(values) > 0 {
			return fmt.Sprintf("got %q", values)
		}
		return ""
	}
	return checkText(verb, want, strings.Join(h.Values(name), ", "))
}

func checkText(verb, want, got string) string {
	holds := false
	switch verb {
	case "is":
		holds = got == want
	case "has":
		holds = want != "" && strings.Contains(got, want)
	case "lacks":
		holds = !strings.Contains(got, want)
	case "matches":
		holds = regexp.MustCompile(want).MatchString(got)
	default:
		return "there is no such verb"
	}
	if holds {
		return ""
	}
	return fmt.Sprintf("got %.300q", got)
}

func checkProblem(slug string, response *http.Response, content []byte) string {
	known, found := render.ProblemTypeOf(slug)
	if !found {
		return "there is no such type"
	}
	if got := response.Header.Get("Content-Type"); got != "application/problem+json" {
		return "got " + got
	}
	var p render.Problem
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return err.Error()
	}
	if p.Type != "/problems/"+slug+"/" || p.Status != known.Status || response.StatusCode != known.Status ||
		p.Title != known.Title || p.Detail == "" {
		return fmt.Sprintf("got %d %+v", response.StatusCode, p)
	}
	return ""
}
